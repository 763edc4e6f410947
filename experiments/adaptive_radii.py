"""Radii of their own on the digits: test error with at most so many prototypes.

For each number of prototypes the limit on the radii, the cost of a prototype and the greedy
that chooses are those of the lowest error in folds of the training images, where the first
so many prototypes in order of selection are kept. A shared radius and its cost are chosen
in the same way. Test images are looked at once for each number, with what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocover import pvm_path
from protocover._estimators.search_results import choose

from .machine import PAPER

# The most prototypes that a model may keep, one after the other.
AT_MOST = (
    *(20, 30, 50, 70, 100, 150, 200, 250, 350, 500),
    *(700, 1000, 1400, 2000, 2800, 3372, 4000, 5000),
)
N_FOLDS = 5
# Beside the machine's least cost, which only breaks ties.
COSTS = (1.0, 3.0, 10.0, 30.0)
# The solvers of each machine; one greedy suffices for the paper's.
SOLVERS = {"shared": ("greedy",), "adaptive": ("greedy", "ratio-greedy")}

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Setting = dict[str, Any]


def judge_fold(
    table: Floats,
    y: Labels,
    train: NDArray[np.intp],
    held: NDArray[np.intp],
    *,
    radii: Floats,
    at_most: Sequence[int],
) -> dict[str, Any]:
    """Judge every setting at every number of prototypes on the part of a fold that is held out.

    Parameters
    ----------
    table : ndarray, shape (n, n)
        Distances between training images.
    y : ndarray of int, shape (n,)
        Their digits.
    train, held : ndarray of int
        Rows to choose prototypes from and to judge them by.
    radii : ndarray, shape (n_radii,)
        The radii, or the limits on radii of their own, for which there is also no limit.
    at_most : sequence of int
        The numbers of prototypes.
    """
    within, rest = table[np.ix_(train, train)], table[np.ix_(held, train)]
    costs = [1.0 / len(y), *COSTS]
    settings, errors, sizes = [], [], []
    for machine, solvers in SOLVERS.items():
        limits = [*radii.tolist(), None] if machine == "adaptive" else radii.tolist()
        for solver in solvers:
            path = _path(within, y[train], machine, solver, limits, costs)
            for i, j in np.ndindex(len(limits), len(costs)):
                kind = {"machine": machine, "solver": solver}
                settings.append(kind | {"limit": limits[i], "cost": costs[j]})
                size = np.minimum(at_most, path.n_prototypes[i, j])
                # Numbers that the machine does not reach are answered alike.
                found = {k: wrong(path, (i, j), k, rest, y[held]).mean() for k in set(size)}
                errors.append([float(found[k]) for k in size])
                sizes.append(size.tolist())
    return {"at_most": at_most, "settings": settings, "error": errors, "size": sizes}


def choose_settings(folds: list[dict[str, Any]]) -> list[Setting]:
    """Return the setting of each machine of the lowest error in the folds, for each number."""
    settings = folds[0]["settings"]
    errors = np.array([fold["error"] for fold in folds]).transpose(2, 1, 0)
    sizes = np.mean([fold["size"] for fold in folds], axis=0).T
    chosen = []
    for machine in SOLVERS:
        rows = [k for k, setting in enumerate(settings) if setting["machine"] == machine]
        for at_most, error, size in zip(folds[0]["at_most"], errors, sizes, strict=True):
            best = choose(1.0 - error[rows], size[rows], rule="best")
            cv_error = float(error[rows[best]].mean())
            chosen.append(settings[rows[best]] | {"at_most": at_most, "cv_error": cv_error})
    return chosen


def trace_curves(
    table: Floats, y: Labels, test_table: Floats, y_test: Labels, chosen: list[Setting]
) -> dict[str, Any]:
    """Test what the folds have chosen, one curve for each machine.

    Of each model there is also `only`: how many images it alone gets wrong, of the two that
    may keep as many prototypes.
    """

    @cache
    def fit(machine: str, solver: str, limit: float | None, cost: float) -> Any:
        return _path(table, y, machine, solver, [limit], [cost])

    rows, missed = [], {}
    for setting in chosen:
        path = fit(*(setting[name] for name in ("machine", "solver", "limit", "cost")))
        size = min(setting["at_most"], int(path.n_prototypes[0, 0]))
        mine = missed[setting["machine"], setting["at_most"]] = wrong(
            path, (0, 0), size, test_table, y_test
        )
        rows.append(setting | {"size": size, "error": float(mine.mean())})
    curves: dict[str, Any] = {machine: [] for machine in SOLVERS}
    for row in rows:
        (other,) = set(SOLVERS) - {row["machine"]}
        mine, theirs = (missed[machine, row["at_most"]] for machine in (row["machine"], other))
        curves[row["machine"]].append(row | {"only": int(np.sum(mine & ~theirs))})
    return {machine: _by_column(rows) for machine, rows in curves.items()}


def wrong(
    path: Any, setting: tuple[int, int], size: int, table: Floats, y: Labels
) -> NDArray[np.bool_]:
    """Return which answers are wrong.

    The first `size` prototypes of the model of that setting answer, by the distance as a
    multiple of the radius; equals in the order of their digits, as in a model of their own.
    """
    i, j = setting
    if size == 0:
        return np.ones(len(y), dtype=bool)
    order = np.argsort(path.prototype_labels[i][j][:size], kind="stable")
    rows = path.candidate_indices[i][j][order]
    multiples = table[:, rows] / path.prototype_radii[i][j][order]
    return path.prototype_labels[i][j][order][multiples.argmin(axis=1)] != y


def _path(
    table: Floats, y: Labels, machine: str, solver: str, limits: list[Any], costs: list[float]
) -> Any:
    """Choose prototypes for all limits and costs."""
    return pvm_path(
        table,
        y,
        eps=limits,
        **{**PAPER, "radii": machine},
        prototype_costs=costs,
        solver=solver,
        solver_options={"bound": False} if solver == "greedy" else None,
        metric="precomputed",
        n_jobs=1,
    )


def _by_column(rows: list[Setting]) -> dict[str, list[Any]]:
    """Arrange rows as columns."""
    names = ("at_most", "size", "error", "only", "cv_error", "solver", "limit", "cost")
    return {name: [row[name] for row in rows] for name in names}
