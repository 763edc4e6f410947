"""A fitted BallCover as JSON and arrays, and back after checking that all of it fits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..balls import traits_of
from ..data.fields import check_array, check_indices, check_number, check_record, refuse
from ..estimators import BallCover
from ..estimators.cover_parts import Kept
from .classifiers import (
    check_places,
    decode_dissimilarity,
    encode_dissimilarity,
    read_features,
    row_width,
    write_features,
    write_parameters,
)
from .encoding import construct, decode_record, encode_attributes
from .selections import decode_solution, encode_solution
from .values import Arrays, Loaded

__all__ = ["decode_cover", "encode_cover"]

_PLAIN = (
    "eps_",
    "representatives_",
    "representative_indices_",
    "representative_rows_",
    "representative_sources_",
    "labels_",
    "counts_",
    "coverage_",
    "objective_",
    "lower_bound_",
)


def encode_cover(model: BallCover, arrays: Arrays) -> dict[str, Any]:
    """Return the JSON of a fitted cover."""
    return {
        "parameters": write_parameters(model, arrays),
        "fitted": encode_attributes(model, _PLAIN, arrays),
        "features": write_features(model, arrays),
        "solution": encode_solution(model.solution_, arrays),
        "dissimilarity": encode_dissimilarity(model.dissimilarity_, arrays),
    }


def decode_cover(content: Any, arrays: Loaded) -> BallCover:
    """Return the cover that a JSON of `encode_cover` stands for."""
    keys = ("parameters", "fitted", "features", "solution", "dissimilarity")
    record = check_record(content, "a cover", keys)
    model: BallCover = construct(BallCover, record["parameters"], arrays)
    read_features(model, record["features"], arrays)
    fitted = decode_record(record["fitted"], "the fitted attributes", _PLAIN, arrays)
    n = _check_fitted(fitted)
    width = row_width(fitted["representatives_"])
    if width is not None and width != getattr(model, "n_features_in_", None):
        refuse(f"representatives with {width} features do not fit the model")
    solution = decode_solution(record["solution"], arrays)
    if len(solution.selected) > n:
        refuse(f"there are {n} representatives, but {len(solution.selected)} were chosen")
    dissimilarity = decode_dissimilarity(
        record["dissimilarity"], arrays, n_prototypes=n, n_features=width
    )
    if traits_of(dissimilarity).pairwise:
        below = dissimilarity.n_candidates_
        check_indices(fitted["representatives_"], "representatives_", below=below)
    model._keep(_as_kept(fitted, solution, dissimilarity))
    return model


def _check_fitted(fitted: dict[str, Any]) -> int:
    """Check the fitted attributes against one another, and return how many were chosen."""
    n = len(check_array(fitted["representative_indices_"], "representative_indices_"))
    check_places(fitted, "representative", n)
    if not 0.0 < check_number(fitted["eps_"], "eps_") < np.inf:
        refuse(f"eps_ must be a finite number above 0, got {fitted['eps_']!r}")
    if not 0.0 <= check_number(fitted["coverage_"], "coverage_") <= 1.0:
        refuse(f"coverage_ must be a share from 0 to 1, got {fitted['coverage_']!r}")
    for name in ("objective_", "lower_bound_"):
        check_number(fitted[name], name)
    labels = check_array(fitted["labels_"], "labels_", kinds="i", shape=(None,))
    check_indices(labels + 1, "labels_", below=n + 1)
    check_indices(fitted["counts_"], "counts_", length=n, below=len(labels) + 1)
    return n


def _as_kept(fitted: dict[str, Any], solution: Any, dissimilarity: Any) -> Kept:
    """Put together what a cover keeps from the attributes of a file."""
    return Kept(
        eps=fitted["eps_"],
        representatives=fitted["representatives_"],
        indices=fitted["representative_indices_"],
        rows=fitted["representative_rows_"],
        sources=fitted["representative_sources_"],
        labels=fitted["labels_"],
        counts=fitted["counts_"],
        coverage=fitted["coverage_"],
        objective=fitted["objective_"],
        lower_bound=fitted["lower_bound_"],
        solution=solution,
        dissimilarity=dissimilarity,
    )
