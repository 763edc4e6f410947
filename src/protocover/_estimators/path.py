"""The path: models for a grid of radii and costs from one pass over the dissimilarities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .._resources import limited_threads
from .._selection.parameters import check_adaptive_radii, check_min_per_class, check_parameter
from .._selection.path import PostponedBounds, formulate_path, solve_path
from .._selection.radii import grid_of_costs, grid_of_radii
from .._selection.selection import Selection
from .._selection.training import Training, after_candidates
from .._typing import Floats
from ..candidates._pool import numbers, source_names, training_rows
from ..data._frames import make_frame
from ..solvers._registry import check_options, find_solver
from .classifier import PVMClassifier
from .fitting import Settings, check_training_points, prepare, with_selection
from .model import by_column

Arrays = tuple[tuple[NDArray[Any], ...], ...]


@dataclass(frozen=True, eq=False)
class PVMPath:
    """Selections over a grid of radii and costs.

    What :func:`pvm_path` returns. It holds on to the training points, of which
    :meth:`model` makes models.

    Attributes
    ----------
    eps : ndarray of float, shape (n_eps,)
        Rising radii, or limits where prototypes have their own, inf for none.
    prototype_costs : ndarray of float, shape (n_costs,)
        Rising costs of a prototype.
    classes : ndarray, shape (n_classes,)
        Labels, sorted.
    training : Training
        Points of positive weight, candidates and the fitted dissimilarity.
    selections : tuple of tuples of Selection, [eps][cost]
        Everything about the prototypes of each setting, in order of selection.
    candidate_indices, prototype_labels, prototype_indices, prototype_sources : tuple of tuples \
of ndarray, [eps][cost]
        What the attributes of these names are in :class:`PVMClassifier`; so are
        `prototype_radii`.
    n_prototypes, covered, miscovered : ndarray of int, shape (n_eps, n_costs)
        Number of prototypes, of points covered by their own class, and of times that one is
        covered by another class.
    n_prototypes_by_class : ndarray of int, shape (n_eps, n_costs, n_classes)
        Number of prototypes of each class.
    objective, lower_bound : ndarray of float, shape (n_eps, n_costs)
        As in :class:`PVMClassifier`.

    See Also
    --------
    PVMClassifierCV : Chooses a setting by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import pvm_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = pvm_path(X, y, eps=[0.5, 1.0, 1.5])
    >>> path.candidate_indices[2][0], path.prototype_labels[2][0]
    (array([  0,  79, 100, 105]), array([0, 1, 2, 2]))
    >>> path.model(2).predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """

    eps: Floats
    prototype_costs: Floats
    training: Training = field(repr=False)
    _classifier: PVMClassifier = field(repr=False)
    _solved: tuple[tuple[Selection, ...], ...] = field(repr=False)
    _postponed: PostponedBounds | None = field(repr=False)
    _bounded: dict[int, tuple[Selection, ...]] = field(repr=False, default_factory=dict)

    @property
    def classes(self) -> NDArray[Any]:
        """Labels, sorted."""
        return self.training.classes

    @cached_property
    def selections(self) -> tuple[tuple[Selection, ...], ...]:
        """The selections, with candidates by their place among all of them, [eps][cost]."""
        place = numbers(self.training.pools)
        return tuple(
            tuple(solved.renumbered(place[solved.candidates]) for solved in self._with_bounds(k))
            for k in range(len(self.eps))
        )

    def model(self, eps_index: int, cost_index: int = 0) -> PVMClassifier:
        """Return the classifier of one setting, without solving anything again.

        Parameters
        ----------
        eps_index : int
            Which of the radii `eps`.
        cost_index : int, default=0
            Which of the `prototype_costs`.

        Returns
        -------
        PVMClassifier
            As it comes from `fit` on the same data with that radius and cost.
        """
        model: PVMClassifier = with_selection(
            self._classifier,
            self._with_bounds(eps_index)[cost_index],
            self.training,
            eps=float(self.eps[eps_index]),
            cost=float(self.prototype_costs[cost_index]),
        )
        return model

    @cached_property
    def candidate_indices(self) -> Arrays:
        """Place of each prototype among all candidates, [eps][cost]; its row if those are `X`."""
        return self._chosen(numbers(self.training.pools))

    @cached_property
    def prototype_labels(self) -> Arrays:
        """The class that each prototype stands for, [eps][cost]."""
        return self._arrange(lambda solved: self.classes[solved.classes])

    @cached_property
    def prototype_radii(self) -> Arrays:
        """The radius of each prototype, [eps][cost]."""
        return tuple(
            tuple(
                np.full(len(solved.candidates), eps) if solved.radii is None else solved.radii
                for solved in row
            )
            for eps, row in zip(self.eps, self._solved, strict=True)
        )

    @cached_property
    def prototype_indices(self) -> Arrays:
        """Row of `X` of each prototype, -1 if it is not one, [eps][cost]."""
        return self._chosen(training_rows(self.training.pools))

    @cached_property
    def prototype_sources(self) -> Arrays:
        """Where each prototype comes from, [eps][cost]: "train", "unlabeled", "given", ..."""
        return self._chosen(source_names(self.training.pools))

    @cached_property
    def n_prototypes(self) -> NDArray[np.intp]:
        """Number of prototypes, shape (n_eps, n_costs)."""
        return self._table(lambda selection: len(selection.candidates))

    @cached_property
    def n_prototypes_by_class(self) -> NDArray[np.intp]:
        """The same for each class, shape (n_eps, n_costs, n_classes)."""
        count = partial(np.bincount, minlength=len(self.classes))
        return self._table(lambda selection: count(selection.classes))

    @cached_property
    def covered(self) -> NDArray[np.intp]:
        """Number of points covered by their own class, shape (n_eps, n_costs)."""
        return self._table(lambda selection: selection.newly_covered.sum())

    @cached_property
    def miscovered(self) -> NDArray[np.intp]:
        """Number of times a point is covered by another class, shape (n_eps, n_costs)."""
        return self._table(lambda selection: selection.miscovered.sum())

    @cached_property
    def objective(self) -> Floats:
        """The objective, shape (n_eps, n_costs)."""
        return self._table(lambda selection: selection.objective)

    @cached_property
    def lower_bound(self) -> Floats:
        """A proved lower bound on it, -inf where there is none, shape (n_eps, n_costs)."""
        rows = map(self._with_bounds, range(len(self.eps)))
        return np.array([[selection.lower_bound for selection in row] for row in rows])

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each radius and cost."""
        eps, cost = np.meshgrid(self.eps, self.prototype_costs, indexing="ij")
        columns: dict[str, Any] = {"eps": eps, "prototype_cost": cost}
        for name in ("n_prototypes", "covered", "miscovered", "objective", "lower_bound"):
            columns[name] = getattr(self, name)
        flat = {name: values.ravel() for name, values in columns.items()}
        by_class = self.n_prototypes_by_class.reshape(-1, len(self.classes))
        flat |= {f"n_prototypes_{c}": by_class[:, k] for k, c in enumerate(self.classes)}
        return make_frame(flat)

    def _with_bounds(self, eps_index: int) -> tuple[Selection, ...]:
        """Return the selections of one radius with their bounds, which may come only now."""
        if self._postponed is None:
            return self._solved[eps_index]
        k = range(len(self.eps))[eps_index]
        if k not in self._bounded:
            found = self._postponed.selections(k)
            self._bounded[k] = tuple(by_column(one, self.training) for one in found)
        return self._bounded[k]

    def _arrange(self, tell: Callable[[Selection], Any]) -> tuple[tuple[Any, ...], ...]:
        """Arrange what `tell` says of each selection over the grid."""
        return tuple(tuple(tell(solved) for solved in row) for row in self._solved)

    def _chosen(self, values: NDArray[Any]) -> Arrays:
        """Take from one value a candidate those of each setting's prototypes."""
        return self._arrange(lambda solved: values[solved.candidates])

    def _table(self, tell: Callable[[Selection], Any]) -> NDArray[Any]:
        """Arrange the numbers that `tell` says of each selection over the grid."""
        return np.array(self._arrange(tell))


def pvm_path(
    X: Any,
    y: Any,
    *,
    eps: Any = None,
    n_eps: int | None = None,
    radii: str = "shared",
    prototype_costs: ArrayLike | None = None,
    solver: Any = "greedy",
    solver_options: dict[str, Any] | None = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    candidates: Any = "train",
    cross_class: bool = False,
    unlabeled: Any = None,
    sample_weight: Any = None,
    min_per_class: int = 1,
    class_weight: Any = None,
    closed_ball: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> PVMPath:
    """Choose prototypes for a grid of radii and costs in one pass.

    Parameters
    ----------
    X, y : training points and labels
        As in :meth:`PVMClassifier.fit`.
    eps : array-like, "auto" or None, default=None
        Radii; None for those that :func:`suggest_eps` proposes for these candidates, "auto"
        for that of :class:`PVMClassifier` alone. With ``radii="adaptive"`` these are limits, one
        of which may be None or inf for no limit; those proposed are quantiles of the
        distances from samples to the nearest sample of another class, by default 0.25, 0.5,
        0.75, 0.9 and 1. A single class gets no limit.
    n_eps : int or None, default=None
        How many to propose where `eps` is None; None for 20, with ``radii="adaptive"`` for 5.
    radii : {"shared", "adaptive"}, default="shared"
        As in :class:`PVMClassifier`.
    prototype_costs : array-like or None, default=None
        Costs of a prototype; None for the default of :class:`PVMClassifier` alone, 1/n or
        what `sample_weight` makes of it. With ``radii="adaptive"``, where the cost decides how
        many prototypes there are, None proposes up to seven in even steps of the logarithm,
        from the weight of one sample to an eighth of a class of mean size, and before them
        1/n if classes have fewer than 80 samples on average.
    solver, metric, metric_params, candidates, cross_class, class_weight, \
closed_ball, n_jobs, random_state, verbose
        As in :class:`PVMClassifier`.
    unlabeled, sample_weight
        As in :meth:`PVMClassifier.fit`.
    min_per_class : {1, 0}, default=1
        As in :class:`PVMClassifier`. At a radius within which no candidate covers a sample of
        a class, which `fit` refuses, the path has no prototype for it.
    solver_options : dict or None, default=None
        As in :class:`PVMClassifier`, but a ``time_limit`` is for each class at each radius
        and cost.

    Returns
    -------
    PVMPath
        Tables over the grid, every selection, and the model of every setting.

    Notes
    -----
    Memory is that of one fit at the largest radius. With the greedy solver all costs of a
    radius come from one run, and bounds, which take longer, are found for a radius when they
    are first asked for, in `lower_bound`, `selections` or a model; until then the path holds
    on to that memory, unless ``solver_options={"bound": False}`` says that none are wanted.
    Other solvers run once for each.

    With ``radii="adaptive"`` what is held are, for each limit, the memberships of the balls that
    may pay for themselves at the lowest cost, four bytes each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import pvm_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = pvm_path(X, y, eps=[0.5, 1.0, 1.5], prototype_costs=[0.01, 1.0, 5.0])
    >>> path.n_prototypes
    array([[32, 17,  7],
           [ 8,  5,  4],
           [ 4,  4,  3]])
    >>> model = path.model(1, 2)
    >>> model.eps_, model.prototype_cost_, len(model.prototypes_)
    (1.0, 5.0, 4)

    Radii of their own, up to 1 and without a limit:

    >>> path = pvm_path(X, y, eps=[1.0, None], radii="adaptive", prototype_costs=[0.01, 1.0, 5.0])
    >>> path.n_prototypes
    array([[12,  6,  5],
           [ 8,  5,  3]])
    >>> path.prototype_radii[1][2].round(2)
    array([2.09, 1.21, 1.48])
    """
    own, closed = check_adaptive_radii(radii), check_parameter("closed_ball", closed_ball)
    found = find_solver(solver)
    options = check_options(found, solver_options)
    check_parameter("verbose", verbose)
    classifier = PVMClassifier(
        radii=radii,
        metric=metric,
        metric_params=metric_params,
        candidates=candidates,
        cross_class=cross_class,
        solver=solver,
        solver_options=solver_options,
        min_per_class=min_per_class,
        class_weight=class_weight,
        closed_ball=closed,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
    )
    rng = classifier._generator()
    with limited_threads(n_jobs):
        points = check_training_points(classifier, X, unlabeled)
        training = prepare(classifier, points, y, sample_weight, unlabeled=unlabeled, rng=rng)
    rng = after_candidates(random_state, rng)
    if isinstance(eps, str):  # what that means is the classifier's to say
        eps = Settings.of(clone(classifier).set_params(eps=eps)).radius(training, rng)
    limits = grid_of_radii(eps, n_eps, training, own=own, rng=rng)
    least = check_min_per_class(min_per_class, None, len(training.classes))
    costs = grid_of_costs(prototype_costs, training.cost_weights, len(training.classes), own=own)
    balls = formulate_path(
        training,
        radii=limits,
        own=own,
        closed=closed,
        prototype_cost=float(costs[0]),
        solver=found,
        options=options,
        rng=rng,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    postponed = PostponedBounds.of(
        training,
        balls,
        costs,
        solver=found,
        options=options,
        rng=rng,
        min_per_class=least,
    )
    solved = solve_path(
        balls if postponed is None else postponed.without(),
        n_classes=len(training.classes),
        costs=costs,
        solver=found,
        options=options,
        rng=rng,
        min_per_class=least,
        verbose=verbose,
    )
    in_order = tuple(tuple(by_column(one, training) for one in row) for row in solved)
    return PVMPath(limits, costs, training, classifier, in_order, postponed)
