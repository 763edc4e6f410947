"""What stability.py has measured, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from experiments.figures import save
from experiments.statistics import signed_ranks
from experiments.words import table
from matplotlib import pyplot as plt

from ..verdicts import LEVEL, shown_p

CHANGES = {
    "bootstrap": "bootstrap",
    "order": "another order of rows",
    "labels": "5 % of labels changed",
}
MACHINES = {
    "shared, greedy": "shared radius, greedy",
    "shared, auto": "shared radius, default solver",
    "adaptive, greedy": "own radii, greedy",
    "adaptive, auto": "own radii, default solver",
}
FEW = {f"{key}, few": name for key, name in MACHINES.items()} | {
    "k-medoids, few": "k-medoids",
    "random, few": "random points",
}
# Pairs of methods whose difference is asked for: what it is about, one, the other.
ASKED = {
    "default solver less greedy, shared radius": ("shared, auto", "shared, greedy"),
    "default solver less greedy, own radii": ("adaptive, auto", "adaptive, greedy"),
    "own less shared radii, default solver": ("adaptive, auto", "shared, auto"),
    "shared radius, default, less k-medoids": ("shared, auto", "k-medoids"),
    "own radii, default, less k-medoids": ("adaptive, auto", "k-medoids"),
}
COLORS = ("#56B4E9", "#0072B2", "#E69F00", "#D55E00", "#009E73", "#777777")

Results = dict[str, Any]


def write(results: Results, folder: Path) -> str:
    """Return the page, with a picture in a folder."""
    few = results["number"]
    return "\n".join(
        (
            "# Stability of a selection\n",
            tell_short(results),
            tell_how(results),
            f"## With {few} prototypes a class\n",
            draw(results, folder),
            tabulate(results, FEW),
            tell_differences(results),
            "## As it comes\n",
            "Without a number, as `PVMClassifier()` chooses, and with own radii. These "
            "selections are of different sizes, and of two large ones more rows agree by chance "
            "alone: compare down the column with care.\n",
            tabulate(results, MACHINES),
            "## Another order of the rows\n",
            tell_order(results),
            "## Every set\n",
            tabulate_sets(results),
        )
    )


def of_set(results: Results, name: str, change: str, method: str, what: str) -> np.ndarray:
    """Return one number of every draw on a set."""
    return np.array([draw[what] for draw in results["sets"][name][change][method]])


def means_of(results: Results, change: str, method: str, what: str) -> np.ndarray:
    """Return the mean over the draws, for each set."""
    return np.array(
        [of_set(results, name, change, method, what).mean() for name in results["sets"]]
    )


def tell_short(results: Results) -> str:
    """Say who keeps most under each change, and where the best of ours stands."""
    lines = []
    for change, words in CHANGES.items():
        means = {m: means_of(results, change, m, "jaccard").mean() for m in FEW}
        best = max(means, key=means.get)
        ours = max((m for m in FEW if m.removesuffix(", few") in MACHINES), key=means.get)
        rest = f"; of ours {FEW[ours]} keeps most ({means[ours]:.2f})" if best != ours else ""
        lines.append(
            f"- **{words[0].upper()}{words[1:]}**: {FEW[best]} keeps most (Jaccard "
            f"{means[best]:.2f}){rest}; random points {means['random, few']:.2f}."
        )
    return (
        f"How much of a selection of {results['number']} a class stays when the data change a "
        "little, on average over the sets:\n\n" + "\n".join(lines) + "\n"
    )


def tell_how(results: Results) -> str:
    """Say what was measured."""
    sets = results["sets"]
    return (
        f"On {len(sets)} sets of at most {results['most_rows']} rows ({', '.join(sets)}) "
        "prototypes are chosen from the data as they are and from data changed in one of three "
        f"ways, each drawn {results['n_draws']} times: as many rows drawn with replacement, the "
        f"same rows in another order, or {100 * results['noise']:.0f} % of the labels changed. "
        "Radius and cost are the defaults, found anew on the changed data.\n\n"
        "**Jaccard** is the share of rows that both selections have among those that one of them "
        "has; after a bootstrap among rows that were drawn. **Distance** is that of a prototype "
        "from the nearest one of the other selection, on average both ways, in units of the "
        "median distance of two rows of the set: it says whether prototypes that have changed "
        "were replaced by near ones.\n"
    )


def draw(results: Results, folder: Path) -> str:
    """Draw the Jaccard index of every set, and the mean."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), sharey=True, layout="constrained")
    for ax, (change, title) in zip(axes, CHANGES.items(), strict=True):
        for place, (method, color) in enumerate(zip(FEW, COLORS, strict=True)):
            found = means_of(results, change, method, "jaccard")
            ax.plot(found, [place] * len(found), "o", color=color, alpha=0.45, markersize=5)
            ax.plot(found.mean(), place, "|", color="black", markersize=16, markeredgewidth=2)
        ax.set(title=title, xlim=(-0.03, 1.03), xlabel="Jaccard index")
        ax.grid(axis="x", color="#dddddd", linewidth=0.6)
        ax.set_axisbelow(True)
    axes[0].set_yticks(range(len(FEW)), FEW.values())
    axes[0].invert_yaxis()
    caption = (
        f"How much of {results['number']} prototypes a class stays: a dot is a set, the bar the "
        "mean over sets; further right is more stable."
    )
    return save(figure, folder, "stability", caption).replace(f"({folder.name}/", "(")


def tabulate(results: Results, methods: dict[str, str]) -> str:
    """Tabulate means over the sets."""
    rows = []
    for method, name in methods.items():
        sizes = [one["size"][method] for one in results["sets"].values()]
        row = [name, f"{np.mean(sizes):.0f}"]
        for what in ("jaccard", "distance"):
            row += [f"{means_of(results, change, method, what).mean():.2f}" for change in CHANGES]
        rows.append(row)
    header = ["", "prototypes", *(f"Jaccard, {short}" for short in CHANGES)]
    return table([*header, *(f"distance, {short}" for short in CHANGES)], rows)


def tell_differences(results: Results) -> str:
    """Tabulate differences of the Jaccard index, judged over the sets."""
    rows, clear = [], []
    for asked, (one, other) in ASKED.items():
        row = [asked]
        for change, words in CHANGES.items():
            pair = (means_of(results, change, f"{m}, few", "jaccard") for m in (one, other))
            gap = np.subtract(*pair)
            p = signed_ranks(gap)
            row.append(f"{gap.mean():+.2f} (p {shown_p(p)})")
            if p < LEVEL:
                clear.append(f"- {asked}, {words}: {gap.mean():+.2f}")
        rows.append(row)
    said = (
        "Clear over the sets (Wilcoxon's signed ranks, p < 0.05):\n\n" + "\n".join(clear)
        if clear
        else "No difference is clear over the sets (Wilcoxon's signed ranks, p < 0.05)."
    )
    header = ["difference of Jaccard indices", *CHANGES.values()]
    return f"{table(header, rows)}\n{said}\n"


def tell_order(results: Results) -> str:
    """Say what the order of rows alone does to prototypes and objective."""
    rows, told = [], []
    for method, name in MACHINES.items():
        every = [one for found in results["sets"].values() for one in found["order"][method]]
        gaps = np.abs([one["objective"] for one in every])
        same, equal = sum(one["jaccard"] == 1.0 for one in every), int(np.sum(gaps < 1e-6))
        rows.append([name, str(len(every)), str(same), str(equal), f"{gaps.max():.2g}"])
        told.append(f"{name} in {equal} (the same rows in {same})")
    header = ["", "draws", "same rows", "same objective", "largest difference of objectives"]
    return (
        "The same points in another order are the same problem: only ties may fall differently, "
        "for of equally good candidates the one of the lower row is taken. The objective counts "
        "points, so that ties are many. The same objective comes out, of "
        f"{rows[0][1]} draws, with {'; '.join(told)}. Where the objective is the same, the "
        "prototypes that differ are as good as one another; where it is not, a tie has led the "
        "solver elsewhere. Who needs the same rows again must keep their order, or the model.\n\n"
        f"{table(header, rows)}"
    )


def tabulate_sets(results: Results) -> str:
    """Tabulate the Jaccard index on every set, folded."""
    told = []
    for change, words in CHANGES.items():
        rows = [
            [name, *(f"{of_set(results, name, change, m, 'jaccard').mean():.2f}" for m in FEW)]
            for name in results["sets"]
        ]
        told.append(
            f"<details><summary>Jaccard index, {words}, {results['number']} a class</summary>\n\n"
            f"{table(['set', *FEW.values()], rows)}\n</details>\n"
        )
    return "\n".join(told)
