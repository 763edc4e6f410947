"""``--about N``: the radius, or the cost of a prototype, that leaves about so many."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from sklearn.preprocessing import StandardScaler

from ..estimators.budget import find_cost, find_eps
from .cases import Cases
from .console import UsageError
from .estimator import Distance

__all__ = ["settle_about"]

_QUICK = 1000


def settle_about(options: Namespace, distance: Distance, training: Cases) -> Namespace:
    """Return the options with the radius or the cost in place that `about` asks for."""
    _check(options)
    X: Any = StandardScaler().fit_transform(training.X) if distance.scaled else training.X
    shared = {
        "metric": distance.metric,
        "metric_params": distance.params,
        "sample_weight": training.weights,
        "candidates": options.candidates,
        "cross_class": options.cross_class,
        "min_per_class": options.min_per_class,
        "class_weight": "balanced" if options.balance else None,
        "closed_ball": options.closed_ball,
        "n_jobs": options.n_jobs,
        "random_state": options.seed,
    }
    # Solvers differ in how many they need; the one that will choose is asked where it is quick.
    if len(training) <= _QUICK:
        shared["solver"] = options.solver or "auto"
    found = Namespace(**vars(options))
    if options.radii == "shared" and options.eps is None:
        if options.prototype_cost is not None:
            shared["prototype_costs"] = options.prototype_cost[0]
        found.eps = [find_eps(X, training.y, options.about, **shared)]
    else:
        eps = options.eps[0] if isinstance(options.eps, list) else options.eps or "auto"
        limit = None if eps == "none" else eps
        cost = find_cost(X, training.y, options.about, eps=limit, radii=options.radii, **shared)
        found.eps, found.prototype_cost = options.eps or "auto", [cost]
    return found


def _check(options: Namespace) -> None:
    """Refuse what does not go with a number that is asked for."""
    own = options.radii == "own"
    several = isinstance(options.eps, list) and len(options.eps) > 1
    if several or len(options.prototype_cost or []) > 1:
        raise UsageError("--about finds the radius or the cost itself; give one of each at most")
    if options.prototype_cost is not None and (own or options.eps is not None):
        raise UsageError("--about finds the cost of a prototype; leave out --prototype-cost")
    if options.n_prototypes is not None:
        raise UsageError("--about and --n-prototypes both say how many; leave one out")
