"""The radius, or the cost of a prototype, that gives about as many prototypes as are wanted."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..selection.grid import propose_grid
from ..selection.parameters import (
    check_eps,
    check_n_prototypes,
    check_own_radii,
    check_weights,
    is_count,
)
from ..selection.path import has_prefixes
from ..selection.selected import Selection
from ..solvers import find_solver
from .path import PVMPath, pvm_path

__all__ = ["find_cost", "find_eps"]

_N_RADII = _N_COSTS = 20

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]


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
        no radii and one cost only; for ``radii="own"`` there is :func:`find_cost`.

    Returns
    -------
    float
        The radius. Of several equally good ones the smallest, whose balls are purest.

    Notes
    -----
    The number is that of the greedy, unless `options` name another solver; the default of
    the classifier may select a few more or fewer at the same radius.

    Two paths are computed: one over the suggested grid of radii, one between the
    neighbours of the best of them. Numbers of prototypes do not fall strictly with the
    radius, so that a wish may be missed by a few; ``n_prototypes=`` of the classifier
    then cuts off what is too many.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier, find_eps
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier(eps=find_eps(X, y, 12), solver="greedy").fit(X, y)
    >>> len(clf.prototype_indices_)
    12
    """
    wanted = _check_wish(n_prototypes, y)
    _check_options(options)
    random_state = _fixed(random_state)
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
    if (_shortfall(_counts(path), wanted).sum(axis=1) < 0).all():
        # Even the largest radius leaves too many: look among all distances.
        rng = np.random.default_rng(random_state)
        path = search(eps=propose_grid(path.training, _N_RADII, rng=rng, max_quantile=1.0))
    best = int(_missed(_counts(path), wanted).argmin())
    below, above = path.eps[max(best - 1, 0)], path.eps[min(best + 1, len(path.eps) - 1)]
    finer = np.append(np.linspace(below, above, _N_RADII), path.eps[best])
    path = search(eps=finer)
    return float(path.eps[_missed(_counts(path), wanted).argmin()])


def find_cost(
    X: Any,
    y: Any,
    n_prototypes: int | dict[Any, int],
    *,
    eps: float | str | None = "auto",
    radii: str = "own",
    solver: Any = "greedy",
    solver_options: dict[str, Any] | None = None,
    sample_weight: Any = None,
    random_state: Any = None,
    **options: Any,
) -> float:
    """Search for the cost whose selection has about `n_prototypes` prototypes.

    Where prototypes take radii of their own it is the cost that decides how many are worth
    having, as the radius does where they share one.

    Parameters
    ----------
    X, y : training points and labels
        As in :meth:`PVMClassifier.fit`.
    n_prototypes : int or dict
        How many are wanted in total, or of each class named. There is one cost for all
        classes, so that several wishes can only be met on the whole: the sum of what is
        missed is made small.
    eps, radii, solver, solver_options, random_state
        As in :class:`PVMClassifier`.
    sample_weight
        As in :meth:`PVMClassifier.fit`.
    **options
        Further arguments of :func:`pvm_path`, such as ``metric`` or ``candidates``, but no
        costs.

    Returns
    -------
    float
        The cost. Of several equally good ones the lowest: what is too many can be cut off.

    See Also
    --------
    find_eps : The radius that all share, to the same end.

    Notes
    -----
    The greedy solver's selection for any cost is a prefix of that for none, so that one run
    tells which numbers there are, and the nearest of them is found. With ``min_per_class=1``
    the first prototype of each class stays at any cost. Prototypes whose drops
    in the objective are equal, often those that cover few points, come or go together:
    a wish may be missed by some of them, and ``n_prototypes=`` of the classifier then cuts
    off what is too many. With other solvers two paths are computed: one over a wide range
    of costs, one between the neighbours of the best of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier, find_cost
    >>> X, y = load_iris(return_X_y=True)
    >>> cost = find_cost(X, y, 6)
    >>> clf = PVMClassifier(radii="own", prototype_cost=cost, solver="greedy").fit(X, y)
    >>> len(clf.prototype_indices_)
    5
    """
    wanted = _check_wish(n_prototypes, y)
    _check_cost_options(options)
    limit = check_eps(eps, own=check_own_radii(radii))
    search = partial(
        pvm_path,
        X,
        y,
        eps="auto" if limit is None else limit,
        radii=radii,
        solver=solver,
        solver_options=solver_options,
        sample_weight=sample_weight,
        random_state=_fixed(random_state),
        **options,
    )
    if has_prefixes(find_solver(solver)):
        without_bound = {**(solver_options or {}), "bound": False}
        path = search(prototype_costs=0.0, solver_options=without_bound)
        least = options.get("min_per_class", 1)
        return _cost_of_prefix(path.selections[0][0], len(path.classes), wanted, least)
    grid = _wide_grid(y, sample_weight)
    best = int(_missed(_counts(search(prototype_costs=grid)), wanted).argmin())
    below, above = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    path = search(prototype_costs=np.append(np.geomspace(below, above, _N_COSTS), grid[best]))
    return float(path.prototype_costs[_missed(_counts(path), wanted).argmin()])


def _cost_of_prefix(
    whole: Selection, n_classes: int, wanted: int | dict[int, int], min_per_class: int
) -> float:
    """Return the cost that cuts a greedy selection for no cost off nearest to what is wanted.

    It lies in the middle between the highest drop of those cut off and the next higher one.
    """
    if len(whole.score) == 0:
        raise ValueError(
            "no cost gives any prototypes: every ball holds as much weight of other classes as "
            "of any one; change eps or metric"
        )
    stays = np.zeros(len(whole.score), dtype=bool)
    if min_per_class:  # the first of each class, at any cost
        stays[np.unique(whole.classes, return_index=True)[1]] = True
    order = np.lexsort((-whole.score, ~stays))
    score, classes = whole.score[order], whole.classes[order]
    counts = np.cumsum(classes[:, np.newaxis] == np.arange(n_classes), axis=0)
    falls = np.where(stays[order], np.inf, score)
    ends = np.flatnonzero(np.append(falls[1:] < falls[:-1], True))[::-1]  # the lowest cost first
    best = ends[_missed(counts[ends], wanted).argmin()]
    cut_off = score[best + 1 :].max(initial=0.0)
    above = score[: best + 1][score[: best + 1] >= cut_off]
    return float((above.min() if len(above) else cut_off) + cut_off) / 2.0


def _wide_grid(y: Any, sample_weight: Any) -> Floats:
    """Return costs from one that only breaks ties to one that leaves nothing."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    weights = check_weights(sample_weight, codes, classes)
    some = weights[weights > 0.0]
    return np.geomspace(some.mean() / len(some), some.sum(), _N_COSTS)


def _fixed(random_state: Any) -> int:
    """Return a seed: the candidates of all paths are to be the same."""
    if is_count(random_state):
        return int(random_state)
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31))


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
    if options.get("radii", "shared") == "own":
        raise ValueError(
            "find_eps searches for the radius that all prototypes share, got radii='own'; with "
            "radii of their own find_cost(X, y, n_prototypes) finds the cost"
        )
    if np.size(options.get("prototype_costs", 0.0)) > 1:
        raise ValueError(
            "prototype_costs must be one cost, for which the radius is then found, got "
            f"{options['prototype_costs']!r}"
        )


def _check_cost_options(options: dict[str, Any]) -> None:
    """Refuse costs, which are what is searched for, and a grid of radii."""
    for name in ("prototype_cost", "prototype_costs"):
        if name in options:
            raise TypeError(f"find_cost searches for the cost itself, got {name}; leave it out")
    if "n_eps" in options:
        raise TypeError("find_cost takes one eps, got n_eps; leave it out")


def _counts(path: PVMPath) -> Counts:
    """Return the prototypes of each class at each setting, shape (n_settings, n_classes)."""
    return path.n_prototypes_by_class.reshape(-1, len(path.classes))


def _shortfall(counts: Counts, wanted: int | dict[int, int]) -> Counts:
    """How many prototypes are missing at each setting, in total or of each class named.

    Shape (n_settings, n_wishes); negative where there are too many.
    """
    if isinstance(wanted, int):
        return np.asarray(wanted - counts.sum(axis=1, keepdims=True))
    return np.asarray(np.array(list(wanted.values())) - counts[:, list(wanted)])


def _missed(counts: Counts, wanted: int | dict[int, int]) -> Counts:
    """By how much each setting misses what is wanted, on the whole."""
    return np.asarray(np.abs(_shortfall(counts, wanted)).sum(axis=1))
