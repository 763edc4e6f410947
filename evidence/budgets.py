"""Our machine with a given number of prototypes, its radius and cost chosen in inner folds.

`PVMClassifierCV` chooses the settings by the greedy within each budget; the one chosen is fitted
by the greedy or by the default solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from experiments.tuning import make_folds

from protocover import PVMClassifier, PVMClassifierCV, pvm_path, suggest_eps

N_FOLDS = 5
N_RADII, N_LIMITS = 8, 4
COSTS = (1.0, 3.0)
# The recorded results are of the paper's machine, in which any sample may serve any class.
PAPER = {"cross_class": True, "min_per_class": 0}


@dataclass(frozen=True)
class Budget:
    """At most so many prototypes, of each class or in total."""

    number: int
    each_class: bool = True

    def keeps(self, labels: np.ndarray) -> np.ndarray:
        """Tell which of the prototypes, in the order of selection, are within the budget."""
        if not self.each_class:
            return np.arange(len(labels)) < self.number
        return ranks_in_class(labels) < self.number

    def of(self, n_classes: int) -> int | dict[int, int]:
        """Return it as `PVMClassifier` takes it."""
        return dict.fromkeys(range(n_classes), self.number) if self.each_class else self.number


@dataclass(frozen=True, eq=False)
class Chosen:
    """Prototypes in the order of selection: rows of the training part, classes and radii."""

    rows: np.ndarray
    labels: np.ndarray
    radii: np.ndarray

    @classmethod
    def of(cls, model: PVMClassifier) -> Chosen:
        return cls(model.candidate_indices_, model.prototype_labels_, model.prototype_radii_)

    def within(self, budget: Budget) -> Chosen:
        kept = budget.keeps(self.labels)
        return Chosen(self.rows[kept], self.labels[kept], self.radii[kept])

    def error(self, across: np.ndarray, y: np.ndarray) -> float:
        """Return the share of wrong answers for points at these distances from all rows."""
        if len(self.rows) == 0:
            return 1.0
        # Of equally near prototypes that of the first class answers, as in the package.
        order = np.argsort(self.labels, kind="stable")
        multiples = across[:, self.rows[order]] / self.radii[order]
        return float(np.mean(self.labels[order][multiples.argmin(axis=1)] != y))


@dataclass(frozen=True, eq=False)
class Grid:
    """Radii, or limits of own radii, and costs to choose from."""

    radii: str
    eps: np.ndarray
    costs: np.ndarray

    @classmethod
    def of(cls, radii: str, within: np.ndarray, y: np.ndarray) -> Grid:
        """Take the paper's radii, or some of them as limits and none, and a few costs."""
        n_eps = N_RADII if radii == "shared" else N_LIMITS - 1
        eps = suggest_eps(within, y, n_eps, metric="precomputed")
        if radii == "adaptive":
            eps = np.append(eps, np.inf)
        return cls(radii, eps, np.array([1.0 / len(y), *COSTS]))

    def choices(self, within: np.ndarray, y: np.ndarray) -> list[Chosen]:
        """Return what the greedy chooses at each setting, cost by cost for each radius."""
        path = pvm_path(
            within,
            y,
            eps=self.eps,
            radii=self.radii,
            prototype_costs=self.costs,
            metric="precomputed",
            solver="greedy",
            solver_options={"bound": False},
            n_jobs=1,
            **PAPER,
        )
        tables = (path.candidate_indices, path.prototype_labels, path.prototype_radii)
        settings = [(k, c) for k in range(len(self.eps)) for c in range(len(self.costs))]
        return [Chosen(*(table[k][c] for table in tables)) for k, c in settings]

    def setting(self, number: int) -> tuple[float, float]:
        """Return radius or limit, and cost, of a setting."""
        k, c = divmod(number, len(self.costs))
        return float(self.eps[k]), float(self.costs[c])


def choose_settings(
    grid: Grid, within: np.ndarray, y: np.ndarray, budgets: Sequence[Budget], *, seed: int
) -> list[int]:
    """Return the number of the setting with the least error in inner folds, for each budget.

    Of equals the one with fewest prototypes. Budgets in total that are shares of the training
    part rather than numbers a class should be given as what they are in four fifths of it.
    """
    search = PVMClassifierCV(
        eps=grid.eps,
        radii=grid.radii,
        prototype_costs=grid.costs,
        metric="precomputed",
        cv=make_folds(within, y, seed=seed, n_folds=N_FOLDS),
        rule="best",
        max_search_samples=None,
        solver="greedy",
        solver_options={"bound": False},
        n_jobs=1,
        **PAPER,
    )
    n_classes = int(y.max()) + 1
    chosen = []
    for budget in budgets:
        search.set_params(max_prototypes=budget.of(n_classes)).fit(within, y)
        chosen.append(int(search.best_index_))
    return chosen


def fit_default(
    grid: Grid, number: int, within: np.ndarray, y: np.ndarray, budget: Budget
) -> Chosen:
    """Fit a setting by the default solver, with the budget as part of the problem."""
    radius, cost = grid.setting(number)
    model = PVMClassifier(
        eps=None if np.isinf(radius) else radius,
        radii=grid.radii,
        metric="precomputed",
        prototype_cost=cost,
        max_prototypes=budget.of(int(y.max()) + 1),
        n_jobs=1,
        random_state=0,
        **PAPER,
    )
    return Chosen.of(model.fit(within, y))


def ranks_in_class(labels: np.ndarray) -> np.ndarray:
    """Return how many of the same label come before each."""
    ranks = np.zeros(len(labels), dtype=int)
    for label in np.unique(labels):
        own = labels == label
        ranks[own] = np.arange(own.sum())
    return ranks
