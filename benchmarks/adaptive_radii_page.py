"""The measurements of adaptive_radii.py, its budgets and its comparison with proset, as text.

Sentences that compare follow from the numbers; docs/adaptive-radii-results.md has a place
for each section.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.statistics import corrected_resampled_t, signed_ranks

from page import table, write_section

PAGE = "adaptive-radii-results.md"
NAMES = {
    "adaptive": "own radii, greedy",
    "ratio": "own radii, ratio greedy",
    "exact": "own radii, exact",
    "shared": "shared radius",
    "shared, as many": "shared radius, at most as many",
    "k-medoids": "k-medoids, as many",
    "K-means": "K-means, as many",
    "LVQ": "LVQ, as many",
    "condensed": "condensed neighbours",
    "edited": "edited neighbours",
    "1-NN": "1-NN",
    "proset": "proset",
}
FEW = 0.05  # what is called significant
HALF_POINT = 0.5

Results = dict[str, dict[str, Any]]


def column(result: dict[str, Any], method: str, key: str) -> np.ndarray:
    """One number of a method for each split that has it; errors in per cent."""
    values = [split[method][key] for split in result["splits"] if method in split]
    return np.array(values, dtype=float) * (100.0 if key == "error" else 1.0)


def behind(result: dict[str, Any], method: str, other: str) -> tuple[float, float]:
    """How much more `method` errs than `other` on a set, in points, and the corrected p."""
    differences = column(result, method, "error") - column(result, other, "error")
    return float(differences.mean()), corrected_resampled_t(
        differences, result["n_train"], result["n_test"]
    )


def won_and_lost(differences: np.ndarray) -> str:
    won, lost = int(np.sum(differences < -1e-9)), int(np.sum(differences > 1e-9))
    return f"{won} : {lost}"


def over_sets(differences: np.ndarray) -> str:
    """Two-sided p of Wilcoxon's signed ranks."""
    differences = differences[np.abs(differences) > 1e-9]
    return shown_p(signed_ranks(differences)) if len(differences) > 4 else "-"


def shown_p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def ratio_of(some: list[float], others: list[float]) -> float:
    """Geometric mean of ratios."""
    return float(np.exp(np.mean(np.log(np.maximum(some, 1.0) / np.maximum(others, 1.0)))))


def summary(results: Results, proset: dict[str, Any]) -> str:
    """Every other method against own radii chosen by the greedy, over the sets."""
    methods = [name for name in NAMES if name not in ("adaptive", "exact", "proset")]
    rows = [summary_row(method, pairs(results, method)) for method in methods]
    if proset:
        rows.append(summary_row("proset", list(proset_pairs(results, proset).values())))
    head = ["method", "sets", "its error, %", "own radii's", "difference (own less it)"]
    head += ["own radii won : lost", "Wilcoxon p", "own prototypes / its", "its seconds / own's"]
    return table(head, rows)


def pairs(results: Results, method: str) -> list[dict[str, tuple[float, float]]]:
    """Means of own radii and of another method on each set that has both."""
    keys = ("error", "size", "seconds")
    return [
        {key: (column(r, "adaptive", key).mean(), column(r, method, key).mean()) for key in keys}
        for r in results.values()
        if method in r["splits"][0]
    ]


def proset_pairs(results: Results, proset: dict[str, Any]) -> dict[str, dict]:
    """Do the same for proset by set, on the splits it was fitted to."""
    found = {}
    for name, told in proset.items():
        if not told or name not in results:
            continue
        ours = [split["adaptive"] for split in results[name]["splits"][: len(told)]]
        pair = {
            key: tuple(float(np.mean([one[key] for one in some])) for some in (ours, told))
            for key in ("error", "size", "seconds")
        }
        pair["error"] = tuple(100.0 * error for error in pair["error"])
        found[name] = pair
    return found


def summary_row(method: str, found: list[dict[str, tuple[float, float]]]) -> list[str]:
    """Compare over the sets."""
    own, its = np.array([pair["error"] for pair in found]).T
    sizes = np.array([pair["size"] for pair in found]).T
    seconds = np.array([pair["seconds"] for pair in found]).T
    time_ratio = np.exp(np.mean(np.log(np.maximum(seconds[1], 1e-4) / seconds[0])))
    return [
        NAMES[method],
        f"{len(found)}",
        f"{its.mean():.1f}",
        f"{own.mean():.1f}",
        f"{(own - its).mean():+.1f}",
        won_and_lost(own - its),
        over_sets(own - its),
        f"{ratio_of(sizes[0], sizes[1]):.2g}",
        f"{time_ratio:.1g}",
    ]


def by_set(results: Results) -> str:
    """Error and number of prototypes of every method on every set."""
    shown = [name for name in NAMES if name not in ("exact", "proset")]
    rows = []
    for name, result in sorted(results.items()):
        shape = f"{result['n_train']} x {result['n_features']}, {result['n_classes']}"
        if result["kind"] == "table":
            shape = f"{result['n_train']}, distances, {result['n_classes']}"
        rows.append([name, shape, *(cell(result, method) for method in shown)])
    return table(["data", "training, classes", *(NAMES[name] for name in shown)], rows)


def cell(result: dict[str, Any], method: str) -> str:
    if method not in result["splits"][0]:
        return "-"
    error, size = (column(result, method, key).mean() for key in ("error", "size"))
    return f"{error:.1f} / {size:.0f}"


def tests(results: Results) -> str:
    """Own radii against the shared radius, set by set, the largest gain first."""
    found = sorted(
        (behind(result, "adaptive", "shared"), name) for name, result in results.items()
    )
    rows = []
    for (difference, p), name in found:
        result = results[name]
        ratio = column(result, "adaptive", "size").mean() / column(result, "shared", "size").mean()
        many = behind(result, "adaptive", "shared, as many")
        cells = [f"{difference:+.1f}", shown_p(p), f"{ratio:.2f}"]
        rows.append([name, *cells, f"{many[0]:+.1f}", shown_p(many[1])])
    head = ["data", "own less shared, points", "p", "prototypes, own / shared"]
    return table([*head, "own less shared with as many", "p"], rows)


def verdict(results: Results) -> str:
    """Say how many sets were won and lost, and by how much."""
    found = {name: behind(result, "adaptive", "shared") for name, result in results.items()}
    lower = [name for name, (points, p) in found.items() if points < 0 and p < FEW]
    higher = [name for name, (points, p) in found.items() if points > 0 and p < FEW]
    points = np.array([points for points, _ in found.values()])
    near = int(np.sum(np.abs(points) <= HALF_POINT))
    errors, sizes = (
        np.array(
            [[column(r, m, key).mean() for m in ("adaptive", "shared")] for r in results.values()]
        ).T
        for key in ("error", "size")
    )
    growth = np.log(sizes[0] / sizes[1])
    return (
        f"With all parameters chosen by cross-validation, radii of their own err on "
        f"{errors[0].mean():.1f} % and one shared radius on {errors[1].mean():.1f} % (means over "
        f"{len(points)} sets). The errors are within half a point of each other on {near} sets, "
        f"lower by more on {np.sum(points < -HALF_POINT)} and higher by more on "
        f"{np.sum(points > HALF_POINT)}. By the corrected test of each set the error is lower on "
        f"{listed(lower)}, and higher on {listed(higher)}. They keep "
        f"{ratio_of(sizes[0], sizes[1]):.2g} times as many prototypes in the geometric mean, "
        f"fewer on {np.sum(growth < -1e-9)} sets and more on {np.sum(growth > 1e-9)} (Wilcoxon p "
        f"{over_sets(growth)})."
    )


def listed(names: list[str]) -> str:
    if not names:
        return "none"
    return f"{len(names)} ({', '.join(sorted(names))})"


def losses(results: Results, proset: dict[str, Any]) -> str:
    """Name every set on which it does worse than another method by more than half a point."""
    lines = []
    for other in [m for m in NAMES if m not in ("adaptive", "ratio", "exact")]:
        found = {
            name: behind(result, "adaptive", other)[0]
            for name, result in results.items()
            if other in result["splits"][0]
        }
        if other == "proset":
            found = {
                name: np.subtract(*pair["error"])
                for name, pair in proset_pairs(results, proset).items()
            }
        worse = sorted((-points, name) for name, points in found.items() if points > HALF_POINT)
        told = ", ".join(f"{name} ({-points:+.1f})" for points, name in worse)
        lines.append(f"- **{NAMES[other]}**: {told or 'on no set'}.")
    return (
        "Sets on which own radii, chosen by the greedy, err by more than half a point more than "
        "another method, and by how many points:\n\n" + "\n".join(lines)
    )


def many_classes(results: Results) -> str:
    """Say where the search keeps everything."""
    whole = []
    for name, result in sorted(results.items()):
        kept = column(result, "adaptive", "size").mean() / result["n_train"]
        if kept > FEW * 10:
            whole.append(f"{name} ({100 * kept:.0f} %)")
    return (
        "Sets where the search keeps more than half of the training points, the nearest "
        f"neighbour rule or close to it: {', '.join(whole) or 'none'}."
    )


def exact(results: Results) -> str:
    """Compare the three solvers where the exact one has a proof."""
    rows, totals = [], []
    for name, result in sorted(results.items()):
        proved = [split for split in result["splits"] if "exact" in split]
        if not proved:
            continue
        means = {
            method: [
                np.mean([split[method][key] for split in proved]) for key in ("error", "size")
            ]
            for method in ("adaptive", "ratio", "exact")
        }
        totals.append([100 * means[method][0] for method in means])
        above = np.mean([s["ratio"]["objective"] / s["exact"]["objective"] for s in proved])
        cells = [f"{100 * error:.1f} / {size:.0f}" for error, size in means.values()]
        rows.append([name, len(proved), *cells, f"{100 * (above - 1):.1f}"])
    own, ratio, best = np.array(totals).T
    head = [
        "data",
        "splits proved",
        "greedy",
        "ratio greedy",
        "exact",
        "ratio's objective, % above",
    ]
    return (
        f"{table(head, rows)}\n\nMean error over these sets: greedy {own.mean():.1f} %, ratio "
        f"greedy {ratio.mean():.1f} %, exact {best.mean():.1f} %. The exact selection errs less "
        f"than the ratio greedy's on {np.sum(best < ratio - 1e-9)} sets and more on "
        f"{np.sum(best > ratio + 1e-9)}."
    )


def budgets(results: Results) -> str:
    """Compare the machines at equal numbers of prototypes, and at any, over the sets."""
    rows = []
    for place, name in enumerate(row_names(results)):
        found = {m: means_at(results, m, place) for m in ("shared", "adaptive", "ratio", "paper")}
        rows.append([name, *budget_cells(found)])
    head = ["at most, a class", "shared", "own, greedy", "own, ratio greedy", "paper's"]
    for name in ("greedy", "ratio greedy"):
        head += [f"{name} less shared, points", "won : lost", "Wilcoxon p", "prototypes / shared"]
    return table(head, rows)


def measured_on(some: Results, every: Results) -> str:
    """Say on which of the sets something was measured."""
    if len(some) == len(every):
        return f"Measured on all {len(every)} sets."
    return f"Measured so far on {len(some)} of the {len(every)} sets: {', '.join(some)}."


def row_names(results: Results) -> list[str]:
    """Return what each row of a split's results is about."""
    result = next(iter(results.values()))
    names = []
    for row in result["splits"][0]:
        if row["machine"] == "adaptive" and row["budget"] is not None:
            names.append(f"{row['budget'] // result['n_classes']}")
        elif row["machine"] == "adaptive":
            word = "least error" if row["rule"] == "best" else "within a standard error"
            names.append(f"any, {word}")
    return names


def means_at(results: Results, machine: str, place: int) -> np.ndarray:
    """Mean error in % and number of prototypes on each set, at one budget."""
    found = []
    for result in results.values():
        rows = [[r for r in split if r["machine"] == machine][place] for split in result["splits"]]
        found.append([np.mean([row[key] for row in rows]) for key in ("error", "size")])
    return np.array(found).T * [[100.0], [1.0]]


def budget_cells(found: dict[str, np.ndarray]) -> list[str]:
    shared = found["shared"]
    cells = [f"{found[m][0].mean():.1f}" for m in ("shared", "adaptive", "ratio", "paper")]
    for machine in ("adaptive", "ratio"):
        less = found[machine][0] - shared[0]
        cells += [f"{less.mean():+.1f}", won_and_lost(less), over_sets(less)]
        cells += [f"{ratio_of(found[machine][1], shared[1]):.2g}"]
    return cells


def against_paper(results: Results) -> str:
    """Compare with the machine as the paper has it, at a cost of 1/n."""
    sentences = []
    for place, name in list(enumerate(row_names(results)))[-2:]:
        own, paper = (means_at(results, machine, place) for machine in ("adaptive", "paper"))
        less = own[0] - paper[0]
        sentences.append(
            f"{name.partition(', ')[2]}, {own[0].mean():.1f} % against {paper[0].mean():.1f} %, "
            f"{won_and_lost(less)} sets won and lost (Wilcoxon p {over_sets(less)}), with "
            f"{ratio_of(own[1], paper[1]):.2g} times as many prototypes"
        )
    return (
        "Own radii, chosen by the greedy, against the paper's machine as it stands, with one "
        f"radius and a cost of 1/n, at any number of prototypes: {'; '.join(sentences)}."
    )


def run(results: Results) -> str:
    """Say how, when and beside what it was measured."""
    runs = [result["run"] for result in results.values()]
    dates = sorted({one["date"] for one in runs})
    loads = [one["load"] for one in runs]
    minutes = sum(one["cpu_seconds"] for one in runs) / 60
    searches = [
        f"{np.mean([column(r, m, 'search').mean() for r in results.values()]):.1f} s ({NAMES[m]})"
        for m in ("shared", "adaptive", "ratio")
    ]
    return (
        f"`make bench-adaptive-radii`, {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, load "
        f"{min(loads):.0f} to {max(loads):.0f} on two cores; {minutes:.0f} minutes of processor "
        f"time. The search over all settings took {', '.join(searches)} a split, on "
        f"average; these programs search on tables of distances. Times in the table are of one "
        "fit with what was chosen."
    )


def sections(
    results: Results,
    at_budgets: Results,
    proset: dict[str, Any],
    usps: dict[str, Any],
    tangent: dict[str, Any],
) -> dict[str, str]:
    """Return all sections; those on the digits are of the paper's experiments."""
    return {
        "budgets": f"{measured_on(at_budgets, results)}\n\n{budgets(at_budgets)}\n\n"
        f"{against_paper(at_budgets)}",
        "verdict": verdict(results),
        "summary": summary(results, proset),
        "tests": tests(results),
        "sets": by_set(results),
        "losses": f"{losses(results, proset)}\n\n{many_classes(results)}",
        "exact": exact(results),
        "run": run(results),
        "digits": digits(usps, tangent),
    }


def write_page(*measured: dict[str, Any]) -> None:
    """Write all sections from what was measured."""
    for name, text in sections(*measured).items():
        write_section(PAGE, name, text)


def digits(euclidean: dict[str, Any], tangent: dict[str, Any]) -> str:
    """Return the table of the digits, from the results of the paper's experiments."""
    rows = []
    for place, at_most in enumerate(euclidean["adaptive_radii"]["adaptive"]["at_most"]):
        cells = []
        for result in (euclidean, tangent):
            for machine in ("shared", "adaptive"):
                curve = result["adaptive_radii"][machine]
                error, size = curve["error"][place], curve["size"][place]
                cells.append(f"{100 * error:.1f} / {size}")
            cells.append(curve["solver"][place].replace("-", " "))
        rows.append([f"{at_most:,}", *cells])
    head = ["at most"]
    for distance in ("Euclidean", "tangent"):
        head += [f"{distance}: shared radius", "own radii", "chosen by"]
    return (
        f"{table(head, rows)}\n\nError in % on the test images / prototypes kept. 1-NN with all "
        f"images: {100 * euclidean['1-NN']['error']:.1f} %, with tangent distance "
        f"{100 * tangent['1-NN']['error']:.1f} %."
    )
