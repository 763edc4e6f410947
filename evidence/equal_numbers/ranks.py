"""Mean ranks of the methods over the sets, drawn and told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.figures import save
from experiments.statistics import Ranking, rank
from experiments.words import table
from matplotlib import pyplot as plt

from ..verdicts import shown_p
from .diagrams import draw_ranking
from .folds import NAMES, OURS, Results, budgets_of, means_of


def tell_ranks(results: Results, folder: Path) -> str:
    """Draw mean ranks, and say which differences they show."""
    sets = list(results["sets"])
    rankings = [rank_at(results, budget, sets) for budget in budgets_of(results)]
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.6), layout="constrained")
    for ax, ranking, k in zip(axes.flat, rankings, results["per_class"], strict=True):
        ours = [NAMES[method] for method in OURS]
        draw_ranking(ax, ranking, title=f"{k} prototypes a class", ours=ours)
    caption = (
        f"Mean ranks over {len(sets)} sets, 1 is best; a bar joins methods that Nemenyi's test "
        "does not tell apart at 5 %."
    )
    picture = save(figure, folder, "equal_numbers_ranks", caption)
    # The page lies beside its pictures.
    picture = picture.replace(f"({folder.name}/", "(")
    lines = [
        _tell_ranking(ranking, k)
        for ranking, k in zip(rankings, results["per_class"], strict=True)
    ]
    return "\n".join((picture, "\n".join(lines) + "\n", tell_halves(results)))


def rank_at(results: Results, budget: int, names: Sequence[str]) -> Ranking:
    """Rank all methods at one budget."""
    return rank(means_of(results, list(NAMES), budget, names), list(NAMES.values()))


def tell_greedy_ranks(results: Results) -> str:
    """Say what the mean ranks of ours are where the greedy chooses."""
    sets, greedy = list(results["sets"]), results | {"default": {}}
    rankings = [rank_at(greedy, budget, sets).mean_ranks for budget in budgets_of(results)]
    told = [
        f"{NAMES[method]} {', '.join(f'{means[NAMES[method]]:.2f}' for means in rankings)}"
        for method in OURS
    ]
    return f"With the greedy in all folds the mean ranks are: {'; '.join(told)}.\n"


def tell_halves(results: Results) -> str:
    """Tabulate mean ranks on sets that nothing was tuned on."""
    groups = {"all": list(results["sets"])}
    groups["not tuned on"] = [n for n, one in results["sets"].items() if not one["tuned"]]
    groups["fresh"] = [n for n, one in results["sets"].items() if one["fresh"]]
    groups = {
        name: names
        for k, (name, names) in enumerate(groups.items())
        if len(names) > 1 and names not in list(groups.values())[:k]
    }
    rows = []
    for method in NAMES.values():
        row = [method]
        for names in groups.values():
            row += [
                f"{rank_at(results, b, names).mean_ranks[method]:.1f}" for b in budgets_of(results)
            ]
        rows.append(row)
    header = ["mean rank"]
    for name, names in groups.items():
        header += [f"{name} ({len(names)}), {k}" for k in results["per_class"]]
    return table(header, rows)


def _tell_ranking(ranking: Ranking, k: int) -> str:
    """Say what one diagram shows."""
    best, means = next(iter(ranking.mean_ranks)), ranking.mean_ranks
    told = []
    for method in OURS:
        name = NAMES[method]
        far = ranking.critical_difference
        behind = [other for other in means if means[other] > means[name] + far]
        ahead = [other for other in means if means[other] < means[name] - far]
        told.append(
            f"{name} (rank {means[name]:.2f}) is told apart from "
            + (", ".join(behind) + " behind it" if behind else "none behind it")
            + (f" and from {', '.join(ahead)} ahead of it" if ahead else "")
        )
    return (
        f"- **{k} a class**: Friedman's p is {shown_p(ranking.p)}, the best is {best} "
        f"({means[best]:.2f}); {'; '.join(told)}."
    )
