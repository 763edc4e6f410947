"""Selections for many radii and costs from one pass over the dissimilarities.

The balls of the largest radius are built once, each membership marked with the first
radius it belongs to; those of a smaller radius are a filter away. For the paper's greedy
the selection for any cost is a prefix of that for the lowest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from .candidates import check_candidate_names
from .examples import check_examples
from .formulation import Selection
from .frames import make_frame
from .radius import suggest_eps
from .resources import check_n_jobs, progress_bar
from .solvers import Solver, check_options, find_solver
from .sweep import solve_radius, split_by_class
from .training import Training, prepare_training, training_levels
from .validation import check_costs, check_radii, check_verbose

__all__ = ["PVMPath", "pvm_path", "solve_path"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PVMPath:
    """Selections over a grid of radii and costs.

    Parameters
    ----------
    eps : ndarray of float, shape (n_eps,)
        Rising radii.
    prototype_costs : ndarray of float, shape (n_costs,)
        Rising costs of a prototype.
    classes : ndarray, shape (n_classes,)
        Labels, sorted.
    selections : tuple of tuples of Selection, shape (n_eps, n_costs)
        The prototypes, as candidates' numbers in order of selection.
    """

    eps: Floats
    prototype_costs: Floats
    classes: NDArray[Any]
    selections: tuple[tuple[Selection, ...], ...]

    @cached_property
    def n_prototypes(self) -> NDArray[np.intp]:
        """Number of prototypes, shape (n_eps, n_costs)."""
        return np.asarray(self._table(lambda selection: len(selection.candidates)))

    @cached_property
    def n_prototypes_by_class(self) -> NDArray[np.intp]:
        """The same for each class, shape (n_eps, n_costs, n_classes)."""
        count = partial(np.bincount, minlength=len(self.classes))
        return np.asarray(self._table(lambda selection: count(selection.classes)))

    @cached_property
    def covered(self) -> NDArray[np.intp]:
        """Number of points covered by their own class, shape (n_eps, n_costs)."""
        return np.asarray(self._table(lambda selection: selection.covered.sum()))

    @cached_property
    def miscovered(self) -> NDArray[np.intp]:
        """Number of times a point is covered by another class, shape (n_eps, n_costs)."""
        return np.asarray(self._table(lambda selection: selection.miscovered.sum()))

    @cached_property
    def objective(self) -> Floats:
        """The objective, shape (n_eps, n_costs)."""
        return np.asarray(self._table(lambda selection: selection.objective))

    @cached_property
    def lower_bound(self) -> Floats:
        """A proved lower bound on it, -inf where there is none, shape (n_eps, n_costs)."""
        return np.asarray(self._table(lambda selection: selection.lower_bound))

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

    def _table(self, tell: Any) -> Any:
        """Arrange what `tell` says of each selection over the grid."""
        return np.array([[tell(one) for one in row] for row in self.selections])


def pvm_path(
    X: Any,
    y: Any,
    *,
    eps: ArrayLike | int = 20,
    prototype_costs: ArrayLike | None = None,
    solver: Any = "greedy",
    solver_options: dict[str, Any] | None = None,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    candidates: Any = "train",
    sample_weight: Any = None,
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
    eps : array-like or int, default=20
        Radii, or how many :func:`suggest_eps` is to propose.
    prototype_costs : array-like or None, default=None
        Costs of a prototype; None for the default of :class:`PVMClassifier` alone.
    solver, metric, metric_params, candidates, sample_weight, closed_ball, n_jobs, \
random_state, verbose
        As in :class:`PVMClassifier`.
    solver_options : dict or None, default=None
        As there, but a ``time_limit``, given or that of "auto", is for each class at each
        radius and cost.

    Returns
    -------
    PVMPath
        Tables over the grid, and every selection.

    Notes
    -----
    Memory is that of one fit at the largest radius. With the greedy solver all costs of a
    radius come from one run; other solvers run once for each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import pvm_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = pvm_path(X, y, eps=[0.5, 1.0, 1.5], prototype_costs=[0.01, 1.0, 5.0])
    >>> path.n_prototypes
    array([[31, 18,  6],
           [ 8,  5,  4],
           [ 4,  4,  3]])
    """
    found = find_solver(solver)
    options = check_options(found, solver_options)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    check_n_jobs(n_jobs)
    check_verbose(verbose)
    check_candidate_names(X, candidates)
    training = prepare_training(
        X,
        y,
        sample_weight,
        metric=metric,
        metric_params=metric_params,
        candidates=candidates,
        check=check_examples,
        rng=rng,
        verbose=verbose,
    )
    if isinstance(eps, int | np.integer):
        seed = int(rng.integers(2**31))
        eps = suggest_eps(
            X, y, int(eps), metric=metric, metric_params=metric_params, random_state=seed
        )
    radii = check_radii(eps)
    costs = check_costs(prototype_costs, training.weights)
    levels = training_levels(
        training, radii=radii, closed=closed_ball, rng=rng, n_jobs=n_jobs, verbose=verbose
    )
    return solve_path(
        training,
        levels,
        radii=radii,
        costs=costs,
        solver=found,
        options=options,
        rng=rng,
        verbose=verbose,
    )


def solve_path(
    training: Training,
    levels: csr_array,
    *,
    radii: Floats,
    costs: Floats,
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    verbose: int,
) -> PVMPath:
    """Solve every class's problem for rising `radii`, with their `levels`, and rising `costs`."""
    shares = split_by_class(
        levels, training.codes, training.weights, len(training.classes), len(radii)
    )
    with progress_bar(range(len(radii)), len(radii), "radii", verbose) as bar:
        rows = tuple(solve_radius(shares, k, costs, solver, rng, options) for k in bar)
    return PVMPath(radii, costs, training.classes, rows)
