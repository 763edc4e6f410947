"""The radius that gives about as many prototypes as are wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimators import PVMPath, pvm_path
from .grid import suggest_eps
from .validation import check_n_prototypes

__all__ = ["find_eps"]

_N_RADII = 20


def find_eps(
    X: Any,
    y: Any,
    n_prototypes: int | dict[Any, int],
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    random_state: Any = None,
    **options: Any,
) -> float:
    """Search for the radius whose selection has about `n_prototypes` prototypes.

    Parameters
    ----------
    X, y : training points and labels
        As in :meth:`PVMClassifier.fit`.
    n_prototypes : int or dict
        How many are wanted in total, or of each class named. There is one radius for all
        classes, so that several wishes can only be met on the whole: the sum of what is
        missed is made small.
    metric, metric_params, random_state
        As in :class:`PVMClassifier`.
    **options
        Further arguments of :func:`pvm_path`, such as ``solver`` or ``candidates``, but
        one cost only.

    Returns
    -------
    float
        The radius. Of several equally good ones the smallest, whose balls are purest.

    Notes
    -----
    Two paths are computed: one over the suggested grid of radii, one between the
    neighbours of the best of them. Numbers of prototypes do not fall strictly with the
    radius, so that a wish may be missed by a few; ``n_prototypes=`` of the classifier
    then cuts off what is too many.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier, find_eps
    >>> X, y = load_iris(return_X_y=True)
    >>> len(PVMClassifier(find_eps(X, y, 12)).fit(X, y).prototype_indices_)
    12
    """
    classes = np.unique(np.asarray(y))
    wanted = check_n_prototypes(n_prototypes, classes)
    if wanted is None:
        raise ValueError("n_prototypes must be a whole number or a dict of them, got None")
    how: dict[str, Any] = {
        "metric": metric,
        "metric_params": metric_params,
        "random_state": random_state,
    }
    grid = suggest_eps(X, y, _N_RADII, **how)
    path = pvm_path(X, y, eps=grid, **how, **options)
    if (_shortfall(path, wanted) < 0).all():
        # Even the largest radius leaves too many: look among all distances.
        grid = suggest_eps(X, y, _N_RADII, max_quantile=1.0, **how)
        path = pvm_path(X, y, eps=grid, **how, **options)
    best = int(_missed(path, wanted).argmin())
    below, above = path.eps[max(best - 1, 0)], path.eps[min(best + 1, len(path.eps) - 1)]
    finer = np.append(np.linspace(below, above, _N_RADII), path.eps[best])
    path = pvm_path(X, y, eps=finer, **how, **options)
    return float(path.eps[_missed(path, wanted).argmin()])


def _shortfall(path: PVMPath, wanted: int | dict[int, int]) -> NDArray[np.intp]:
    """How many prototypes are missing at each radius; negative where there are too many."""
    if isinstance(wanted, int):
        return wanted - path.n_prototypes[:, 0]
    counts = path.n_prototypes_by_class[:, 0, list(wanted)]
    return np.asarray((np.array(list(wanted.values())) - counts).sum(axis=1))


def _missed(path: PVMPath, wanted: int | dict[int, int]) -> NDArray[np.intp]:
    """By how much each radius misses what is wanted."""
    if isinstance(wanted, int):
        return np.abs(_shortfall(path, wanted))
    counts = path.n_prototypes_by_class[:, 0, list(wanted)]
    return np.asarray(np.abs(np.array(list(wanted.values())) - counts).sum(axis=1))
