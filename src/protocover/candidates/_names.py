"""Names of features: those of candidates in a data frame against those of the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from .._exceptions import warn_caller
from ..data._frames import in_memory


def check_candidate_names(X: Any, candidates: Any, unlabeled: Any = None) -> None:
    """Refuse candidates in a data frame whose columns are not those of X, in that order."""
    names = _get_feature_names(in_memory(X))
    asked = candidates if isinstance(candidates, list | tuple) else [candidates]
    for rows in asked:
        _check_names("candidates", rows, names)
    _check_names("unlabeled", unlabeled, names)


def _check_names(parameter: str, rows: Any, names: Any) -> None:
    """Check one set of rows as scikit-learn checks those of queries."""
    if len(getattr(rows, "shape", ())) != 2:
        return
    own = _get_feature_names(in_memory(rows, name=parameter))
    if own is None and names is not None:
        warn_caller(f"{parameter} does not have valid feature names, but X has feature names")
    elif names is None and own is not None:
        warn_caller(f"{parameter} has feature names, but X has none")
    elif own is not None and not np.array_equal(own, names):
        new = sorted(set(own) - set(names))
        missing = sorted(set(names) - set(own))
        found = f"not in X: {', '.join(new) or 'none'}; missing: {', '.join(missing) or 'none'}"
        raise ValueError(
            f"The feature names of {parameter} should match those of X and be in the same order; "
            + (found if new or missing else f"X has {', '.join(names)}, got {', '.join(own)}")
        )
