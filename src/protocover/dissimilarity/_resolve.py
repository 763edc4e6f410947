"""The dissimilarity that `metric` names, computes or is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from .._balls import traits_of
from ._euclidean import Cosine, Euclidean, SquaredEuclidean
from ._function import Function
from ._gower import Gower
from ._metric import METRIC_ALIASES, METRIC_NAMES, Metric
from ._precomputed import Precomputed

_OWN = {
    "euclidean": Euclidean,
    "sqeuclidean": SquaredEuclidean,
    "cosine": Cosine,
    "precomputed": Precomputed,
}
# Those of this package that take `metric_params`.
_OWN_WITH_PARAMETERS: dict[str, Any] = {"gower": Gower}


def resolve_metric(metric: Any, params: dict[str, Any] | None = None) -> Any:
    """Return a new, unfitted dissimilarity for whatever `metric` is.

    Parameters
    ----------
    metric : str, callable, or object with ``fit`` and ``pairwise``
        As in ``PVMClassifier(metric=...)``.
    params : dict or None, default=None
        Parameters of a named metric or further arguments of a callable.
    """
    if not (params is None or isinstance(params, Mapping)):
        raise ValueError(
            f"metric_params must be a dict such as {{'p': 3}}, or None, got {params!r}"
        )
    if isinstance(metric, str):
        return _resolve_name(metric, params)
    if hasattr(metric, "pairwise") and hasattr(metric, "fit"):
        if params:
            raise ValueError(
                f"metric_params go with a named metric or a callable; set the parameters of "
                f"{type(metric).__name__} itself"
            )
        return clone(metric, safe=False)
    if callable(metric):
        return Function(metric, params)
    raise ValueError(
        "metric must be the name of a metric, a function of two points, or an object with "
        f"fit and pairwise, got {metric!r}"
    )


def input_tags(metric: Any, params: dict[str, Any] | None = None) -> dict[str, bool]:
    """Return scikit-learn's tags for the input that `metric` takes.

    Empty for anything that is not a metric, which `fit` will refuse.
    """
    try:
        made = metric if hasattr(metric, "pairwise") else resolve_metric(metric, params)
    except ValueError:
        return {}
    traits = traits_of(made)
    return {
        "pairwise": traits.precomputed,
        "sparse": traits.accepts_graph if traits.precomputed else traits.accepts_sparse,
        "allow_nan": traits.allows_nan,
        "positive_only": traits.positive_only,
        **traits.input_tags,
    }


def _resolve_name(name: str, params: dict[str, Any] | None) -> Any:
    """Look a metric up by name, or by what SciPy or scikit-learn call it otherwise."""
    full = METRIC_ALIASES.get(name, name)
    if full in _OWN:
        if params:
            raise ValueError(f"metric {name!r} takes no metric_params, got {params!r}")
        return _OWN[full]()
    if full in _OWN_WITH_PARAMETERS:
        return _OWN_WITH_PARAMETERS[full](**(params or {}))
    if full in METRIC_NAMES:
        return Metric(name, params)
    known = ", ".join(sorted(METRIC_NAMES | {"l2"} | set(_OWN) | set(_OWN_WITH_PARAMETERS)))
    raise ValueError(f"metric must be one of {known}, got {name!r}")
