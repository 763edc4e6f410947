"""The radius that gives about as many prototypes as are wanted."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..selection.grid import propose_grid
from ..selection.parameters import check_n_prototypes, is_count
from .path import PVMPath, pvm_path

__all__ = ["find_eps"]

_N_RADII = 20


def find_eps(
    X: Any,
    y: Any,
    n_prototypes: int | dict[Any, int],
    *,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    candidates: Any = "train",
    unlabeled: Any = None,
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
    metric, metric_params, candidates, unlabeled, random_state
        As in :class:`PVMClassifier` and its `fit`.
    **options
        Further arguments of :func:`pvm_path`, such as ``solver`` or ``sample_weight``, but
        no radii and one cost only.

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
    wanted = _check_wish(n_prototypes, y)
    _check_options(options)
    if not is_count(random_state):  # the candidates of all paths are to be the same
        random_state = int(check_random_state(random_state).randint(2**31))
    search = partial(
        pvm_path,
        X,
        y,
        metric=metric,
        metric_params=metric_params,
        candidates=candidates,
        unlabeled=unlabeled,
        random_state=random_state,
        **options,
    )
    path = search(n_eps=_N_RADII)
    if (_shortfall(path, wanted).sum(axis=1) < 0).all():
        # Even the largest radius leaves too many: look among all distances.
        rng = np.random.default_rng(random_state)
        path = search(eps=propose_grid(path.training, _N_RADII, rng=rng, max_quantile=1.0))
    best = int(_missed(path, wanted).argmin())
    below, above = path.eps[max(best - 1, 0)], path.eps[min(best + 1, len(path.eps) - 1)]
    finer = np.append(np.linspace(below, above, _N_RADII), path.eps[best])
    path = search(eps=finer)
    return float(path.eps[_missed(path, wanted).argmin()])


def _check_wish(n_prototypes: Any, y: Any) -> int | dict[int, int]:
    """Return how many prototypes are wanted, a mapping's labels turned into class numbers."""
    wanted = check_n_prototypes(n_prototypes, np.unique(np.asarray(y)))
    total = sum(wanted.values()) if isinstance(wanted, dict) else wanted
    if wanted is None or not total:
        raise ValueError(
            "n_prototypes must be a whole number or a dict of them, and ask for one prototype at "
            f"least, got {n_prototypes!r}"
        )
    return wanted


def _check_options(options: dict[str, Any]) -> None:
    """Refuse radii, which are what is searched for, and more than one cost."""
    for name in ("eps", "n_eps"):
        if name in options:
            raise TypeError(f"find_eps searches for eps itself, got {name}; leave it out")
    if np.size(options.get("prototype_costs", 0.0)) > 1:
        raise ValueError(
            "prototype_costs must be one cost, for which the radius is then found, got "
            f"{options['prototype_costs']!r}"
        )


def _shortfall(path: PVMPath, wanted: int | dict[int, int]) -> NDArray[np.intp]:
    """How many prototypes are missing at each radius, in total or of each class named.

    Shape (n_eps, n_wishes); negative where there are too many.
    """
    if isinstance(wanted, int):
        return wanted - path.n_prototypes
    return np.array(list(wanted.values())) - path.n_prototypes_by_class[:, 0, list(wanted)]


def _missed(path: PVMPath, wanted: int | dict[int, int]) -> NDArray[np.intp]:
    """By how much each radius misses what is wanted, on the whole."""
    return np.asarray(np.abs(_shortfall(path, wanted)).sum(axis=1))
