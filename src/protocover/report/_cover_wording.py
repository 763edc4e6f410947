"""What a report on a cover says in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .._estimators import BallCover
from .._inspection.proportions import percent
from ._wording import (
    describe_candidates,
    describe_metric,
    describe_solver,
    short_number,
)


def describe_cover(cover: BallCover) -> str:
    """Return the first sentence of the report."""
    n, n_points = len(cover.counts_), len(cover.labels_)
    what = "case" if (cover.representative_indices_ >= 0).all() else "representative"
    some = f"{n:,} {what}{' stands' if n == 1 else 's stand'} for {n_points:,}"
    share = float(cover.counts_.sum()) / n_points
    near = f"within {short_number(cover.eps_)} of {'it' if n == 1 else 'one of them'}"
    lie = f"{percent(share)} of them lie {near}" if share < 1.0 else f"all of them lie {near}"
    return f"{some}: {lie}{_weighted(cover, share)}."


def describe_cover_settings(
    cover: BallCover, how: Mapping[str, str] | None, *, n_columns: int
) -> list[tuple[str, str]]:
    """Return pairs of a heading and what was asked under it, the caller's own first."""
    features = f", {n_columns:,} feature{'s'[: n_columns != 1]}" if n_columns else ""
    own = {str(head): str(text) for head, text in (how or {}).items()}
    lines = [
        ("Cases", f"{len(cover.labels_):,}{features}"),
        ("Question", _describe_question(cover)),
        ("Dissimilarity", describe_metric(cover.metric, cover.metric_params)),
        ("Radius", _describe_radius(cover)),
        ("May stand for others", _describe_candidates(cover.candidates)),
        ("Selection", describe_solver(cover.solver)),
    ]
    if cover.must_include is not None and len(cover.must_include):
        lines.append(("In any case", f"{len(cover.must_include):,} cases that were given"))
    if cover.candidate_cost is not None:
        lines.append(("Prices", "each case has its own"))
    ours = [(head, own.pop(head, text)) for head, text in lines]
    return [*own.items(), *ours]


def _weighted(cover: BallCover, share: float) -> str:
    """Say what share of the weight is covered, where that is another."""
    if math.isclose(cover.coverage_, share, rel_tol=0.0, abs_tol=5e-4):
        return ""
    return f", {percent(cover.coverage_)} of their weight"


def _describe_question(cover: BallCover) -> str:
    """Return what was asked for."""
    if cover.max_representatives is not None:
        return f"the best {cover.max_representatives:,}: those that leave least uncovered"
    least = "the fewest" if cover.candidate_cost is None else "the cheapest"
    if cover.coverage is not None:
        return f"{least} that cover {percent(cover.coverage)}"
    if cover.cost is not None:
        return f"only those that are worth {short_number(cover.cost)} uncovered cases each"
    return f"{least} that cover all that can be covered"


def _describe_candidates(candidates: Any) -> str:
    """Return who was allowed to stand for others."""
    everyone = isinstance(candidates, str) and candidates == "train"
    return "any case" if everyone else describe_candidates(candidates)


def _describe_radius(cover: BallCover) -> str:
    """Return the radius, and where it comes from."""
    eps: Any = short_number(cover.eps_)
    if not isinstance(cover.eps, str):
        return f"{eps}, as given"
    share = percent(0.95 if cover.coverage is None else cover.coverage)
    n = cover.max_representatives
    some = "as many as the root of their number" if n is None else f"{n:,}"
    return f"{eps}: the smallest at which {some} cover {share}"
