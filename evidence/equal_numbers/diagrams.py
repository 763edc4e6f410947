"""Demšar's diagram: mean ranks of methods, and bars over those that are not told apart."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from experiments.statistics import Ranking

OURS, OTHERS = "#0072B2", "#000000"
_STEP = 0.55


def draw_ranking(ax: Any, ranking: Ranking, *, title: str, ours: Collection[str] = ()) -> None:
    """Draw mean ranks on a line, the best on the left, with the critical difference above.

    Parameters
    ----------
    ax : Axes
        To draw on; its frame is taken away.
    ranking : Ranking
        Methods under the names they are shown by.
    title : str
        What stands above.
    ours : collection of str
        Names to draw in colour.
    """
    names, ranks = list(ranking.mean_ranks), list(ranking.mean_ranks.values())
    last = len(names)
    ax.axis("off")
    ax.set(xlim=(-3.4, last + 4.2), ylim=(-_STEP * (last + 1) / 2 - 1.0, 1.5))
    ax.set_title(title, loc="left", fontweight="bold")
    _draw_scale(ax, last, ranking.critical_difference)
    for bar, clique in enumerate(ranking.cliques):
        ends = ranking.mean_ranks[clique[0]] - 0.06, ranking.mean_ranks[clique[-1]] + 0.06
        ax.plot(ends, [-0.18 - 0.16 * bar] * 2, color="#555555", linewidth=3.5, zorder=1)
    below = -0.18 - 0.16 * len(ranking.cliques) - 0.35
    for place, (name, mean) in enumerate(zip(names, ranks, strict=True)):
        on_left = place < (last + 1) // 2
        height = below - _STEP * (place if on_left else last - 1 - place)
        end = 0.7 if on_left else last + 0.3
        color = OURS if name in ours else OTHERS
        ax.plot([mean, mean, end], [0.0, height, height], color=color, linewidth=1.1, zorder=2)
        side = {"x": end - 0.1, "ha": "right"} if on_left else {"x": end + 0.1, "ha": "left"}
        weight = "bold" if name in ours else "normal"
        text = f"{name}  {mean:.2f}" if on_left else f"{mean:.2f}  {name}"
        ax.text(y=height, s=text, va="center", color=color, fontweight=weight, **side)


def _draw_scale(ax: Any, last: int, critical_difference: float) -> None:
    """Draw the line of ranks, and how far apart two methods must be to be told apart."""
    ax.plot([1, last], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, last + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1.0)
        ax.text(rank, 0.2, str(rank), ha="center", va="bottom")
    ends = [1, 1 + critical_difference]
    ax.plot(ends, [1.0, 1.0], color="black", linewidth=1.2)
    for end in ends:
        ax.plot([end, end], [0.92, 1.08], color="black", linewidth=1.2)
    middle = f"critical difference {critical_difference:.2f}"
    ax.text(ends[1] + 0.15, 1.0, middle, ha="left", va="center")
