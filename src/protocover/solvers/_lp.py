"""Linear and integer programs of set cover, solved by HiGHS through `highspy` or SciPy.

All programs are about ``min cost @ x + prize @ s`` subject to ``cover @ x + s >= 1``. Linear ones
are solved as their dual, a packing: ``max sum(y)`` subject to ``cover.T @ y <= cost`` and
``0 <= y <= prize``. It has one column for each row of `cover` and no slacks.

`highspy` is used if it can be. It keeps a packing in memory, so that the simplex method continues
from the last basis. Otherwise `scipy.optimize` starts each program from scratch. Answers are
reproducible with either; among several optima the two may choose differently. No bound rests on
what is returned here: callers check it in exact arithmetic, or report it as the solver's claim.
"""

from __future__ import annotations

import ctypes
import logging
import math
import sys
import time
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csc_array, hstack, vstack
from scipy.sparse import eye_array as identity

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# HiGHS compares with absolute tolerances around 1e-7; larger numbers are scaled down to this.
_COMFORTABLE = 2.0**30
_NO_LIMIT = 2**31 - 1
# Iterations from one look at the clock to the next: a tenth of a second at 60,000 rows.
_LOOK_EVERY = 25
# SciPy starts each program from scratch: limits below this many iterations for each row and
# column, plus a constant, are meant for a program that continues, and are raised to it.
_COLD, _COLD_CONSTANT = 5, 1000


@dataclass(frozen=True, eq=False)
class PackingSolution:
    """Where a linear program ended.

    Parameters
    ----------
    columns : ndarray of float
        Values of the packing's columns.
    multipliers : ndarray of float
        Non-negative multipliers of its rows, up to the solver's tolerance.
    value : float
        Objective of the packing as the solver counts it.
    solved : bool
        Whether that is the optimum, and not what iterations or time allowed.
    basis : object
        Basis to start another solve from; None if the backend keeps none.
    """

    columns: Floats
    multipliers: Floats
    value: float
    solved: bool
    basis: Any


@dataclass(frozen=True, eq=False)
class RelaxedCover:
    """A solution of the linear relaxation, clipped to its bounds but not repaired.

    Parameters
    ----------
    fraction : ndarray of float, shape (n_columns,)
        Between 0 and 1.
    dual : ndarray of float, shape (n_rows,)
        Between 0 and `prize`; it may overpay columns by the solver's tolerance.
    value : float
        ``sum(dual)``.
    solved : bool
        Whether the solver reached the optimum within its limits.
    """

    fraction: Floats
    dual: Floats
    value: float
    solved: bool


@dataclass(frozen=True, eq=False)
class CoverSelection:
    """What branch and cut found.

    Parameters
    ----------
    selected : ndarray of int or None
        Columns selected, in increasing order; None if no selection was found.
    value : float
        Their objective, recomputed; infinite if there are none.
    bound : float
        Lower bound that the solver claims for all selections.
    status : {"optimal", "infeasible", "limit", "failed"}
        ``"infeasible"`` if there is no selection of at most `incumbent_value`, ``"limit"`` if
        nodes or time ran out, ``"failed"`` if the solver gave up.
    """

    selected: Indices | None
    value: float
    bound: float
    status: str


class PackingProgram(Protocol):
    """A packing whose bounds may change from solve to solve."""

    def solve(
        self,
        upper: Floats,
        ceilings: Floats,
        *,
        price: float = 0.0,
        basis: Any = None,
        iterations: float = math.inf,
        deadline: float = math.inf,
    ) -> PackingSolution:
        """Maximise the sum of the columns up to `upper` with rows up to `ceilings`.

        `price` is the cost of the extra column, if there is one.
        """

    def extend(self, cover: csc_array) -> None:
        """Add further columns of the cover, which are rows of the packing without the extra."""


def make_packing(
    cover: csc_array, extra: Floats | None = None, *, verbose: bool = False
) -> PackingProgram:
    """Return the packing of `cover`, with one `extra` unbounded column if given."""
    if backend() == "highspy":
        return _HighspyPacking(cover, extra, verbose=verbose)
    return _ScipyPacking(cover, extra, verbose=verbose)


def solve_relaxation(
    cover: csc_array,
    cost: Floats,
    prize: Floats | None = None,
    *,
    method: str = "interior-point",
    iterations: int | None = None,
    time_limit: float | None = None,
) -> RelaxedCover:
    """Solve the linear relaxation of a cover once.

    Parameters
    ----------
    cover : sparse array of shape (n_rows, n_columns)
        Which column covers which row; stored values do not matter.
    cost : ndarray of shape (n_columns,)
        Non-negative.
    prize : ndarray of shape (n_rows,) or None
        Penalty of each uncovered row; infinite, or None for all, if it must be covered.
    method : {"interior-point", "simplex"}, default="interior-point"
        The interior point method runs without crossover where the backend allows it; its
        solution lies inside the optimal face.
    iterations : int or None
        Limit of the method's iterations; the same point on every machine.
    time_limit : float or None
        Seconds.
    """
    n_rows, n_columns = cover.shape
    prize = np.full(n_rows, np.inf) if prize is None else np.asarray(prize, dtype=np.float64)
    if 0 in cover.shape:
        return RelaxedCover(np.zeros(n_columns), prize, float(prize.sum()), True)
    scale = scale_of(cost, prize)
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    kind = _HighspyPacking if backend() == "highspy" else _ScipyPacking
    found = kind(cover, None, method=method).solve(
        prize / scale,
        cost / scale,
        iterations=math.inf if iterations is None else iterations,
        deadline=deadline,
    )
    dual = np.clip(found.columns * scale, 0.0, prize)
    return RelaxedCover(
        np.clip(found.multipliers, 0.0, 1.0), dual, float(dual.sum()), found.solved
    )


def solve_mip(
    cover: csc_array,
    cost: Floats,
    prize: Floats | None = None,
    *,
    incumbent_value: float | None = None,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    verbose: bool = False,
) -> CoverSelection:
    """Select columns by HiGHS's branch and cut, on one thread.

    The root node is not bounded by `max_nodes`: it may take long, so limit the size of what is
    passed.

    Parameters
    ----------
    cover, cost, prize
        As in `solve_relaxation`.
    incumbent_value : float or None
        Only selections of at most this value are looked for. Pass the incumbent's value less
        the step of the objective to ask for better ones only.
    max_nodes : int or None
        Nodes of the search tree.
    time_limit : float or None
        Seconds; answers are reproducible without.
    verbose : bool, default=False
        Whether HiGHS writes its log.
    """
    n_rows, n_columns = cover.shape
    prize = np.full(n_rows, np.inf) if prize is None else np.asarray(prize, dtype=np.float64)
    scale = scale_of(cost, prize)
    penalised = np.flatnonzero(np.isfinite(prize))
    objective = np.concatenate((cost, prize[penalised])) / scale
    slacks = csc_array(identity(n_rows, format="csc")[:, penalised])
    rows, lower = hstack((_ones(cover), slacks), format="csc"), np.ones(n_rows)
    upper = np.full(n_rows, np.inf)
    if incumbent_value is not None:
        # As a row: the cutoff options of HiGHS have returned false optima.
        rows = vstack((rows, csc_array(objective[None, :])), format="csc")
        lower, upper = np.append(lower, -np.inf), np.append(upper, incumbent_value / scale)
    if len(objective) == 0:
        return CoverSelection(np.empty(0, dtype=np.intp), 0.0, 0.0, "optimal")
    run = _highspy_mip if backend() == "highspy" else _scipy_mip
    status, x, bound = run(
        csc_array(rows), objective, (lower, upper), n_columns, max_nodes, time_limit, verbose
    )
    if status == "infeasible":
        value = math.inf if incumbent_value is None else incumbent_value
        return CoverSelection(None, math.inf, value, status)
    selected = None if x is None else np.flatnonzero(x[:n_columns] > 0.5)
    value = math.inf if selected is None else _value(cover, cost, prize, selected)
    bound = 0.0 if not math.isfinite(bound) else max(bound * scale, 0.0)
    return CoverSelection(selected, value, min(bound, value), status)


def scale_of(cost: Floats, prize: Floats) -> float:
    """Return the power of two to divide costs by so that HiGHS's tolerances suit them."""
    finite = prize[np.isfinite(prize)]
    largest = max(float(cost.max(initial=1.0)), float(finite.max(initial=1.0)))
    return float(2.0 ** max(0, math.ceil(math.log2(largest / _COMFORTABLE))))


@cache
def backend() -> str:
    """Return how HiGHS is called: ``"highspy"`` or ``"scipy"``.

    OR-Tools and `highspy` from 1.15 on cannot be loaded into one process: each comes with a
    library of the same name, and the second to be imported gets the first one's. If OR-Tools is
    installed SciPy is used, so that either order of import works and the answer does not depend
    on it.
    """
    if "ortools" in sys.modules or find_spec("ortools") is not None:
        logger.info("OR-Tools is installed, which cannot share a process with highspy")
        return "scipy"
    try:
        _highspy()
    except Exception as error:  # a broken binary raises more than ImportError
        logger.info("linear programs are solved by SciPy, as highspy is not usable: %s", error)
        return "scipy"
    return "highspy"


@cache
def _highspy() -> Any:
    """Import `highspy`; an ImportError if it has been linked to the HiGHS of another package.

    The versions are compared before any object is made: with another layout that would write
    into memory that is not its own.
    """
    import highspy

    core = highspy._core
    built = (core.HIGHS_VERSION_MAJOR, core.HIGHS_VERSION_MINOR, core.HIGHS_VERSION_PATCH)
    library = ctypes.CDLL(core.__file__)
    if hasattr(library, "Highs_version"):
        library.Highs_version.restype = ctypes.c_char_p
        loaded = library.Highs_version().decode()
        if loaded != ".".join(map(str, built)):
            raise ImportError(f"highspy {built} was linked to HiGHS {loaded} of another package")
    return highspy


class _HighspyPacking:
    """A packing in the memory of `highspy`."""

    def __init__(
        self,
        cover: csc_array,
        extra: Floats | None,
        *,
        verbose: bool = False,
        method: str = "simplex",
    ) -> None:
        self._cover, self._extra, self._verbose, self._method = cover, extra, verbose, method
        self._highs: Any = None

    def solve(
        self,
        upper: Floats,
        ceilings: Floats,
        *,
        price: float = 0.0,
        basis: Any = None,
        iterations: float = math.inf,
        deadline: float = math.inf,
    ) -> PackingSolution:
        """Change the bounds and continue from `basis`, by default from the last one."""
        if self._highs is None:
            self._highs = self._begin()
        highs, n_rows, n_columns = self._highs, len(upper), len(ceilings)
        rows, columns = np.arange(n_rows, dtype=np.int32), np.arange(n_columns, dtype=np.int32)
        highs.changeColsBounds(n_rows, rows, np.zeros(n_rows), upper)
        highs.changeRowsBounds(n_columns, columns, np.full(n_columns, -np.inf), ceilings)
        if self._extra is not None:
            highs.changeColCost(n_rows, price)
        if basis is not None:
            highs.setBasis(basis)
        solved = self._run(iterations, deadline)
        values, multipliers = self._answer(n_rows + (self._extra is not None), n_columns)
        return PackingSolution(
            values, multipliers, -highs.getObjectiveValue(), solved, highs.getBasis()
        )

    def extend(self, cover: csc_array) -> None:
        """Add rows to the packing; the last basis stays dual feasible."""
        self._cover = hstack((self._cover, cover), format="csc")
        if self._highs is not None:
            n = cover.shape[1]
            ends, indices = cover.indptr[:-1].astype(np.int32), cover.indices.astype(np.int32)
            floor, ceilings = np.full(n, -np.inf), np.zeros(n)
            self._highs.addRows(n, floor, ceilings, cover.nnz, ends, indices, np.ones(cover.nnz))

    def _answer(self, n_values: int, n_multipliers: int) -> tuple[Floats, Floats]:
        """Return finite values and multipliers, also if no optimum was reached."""
        answer = self._highs.getSolution()
        values, multipliers = np.array(answer.col_value), -np.array(answer.row_dual)
        if len(values) != n_values or len(multipliers) != n_multipliers:
            return np.zeros(n_values), np.zeros(n_multipliers)  # it was not even begun
        if not (np.isfinite(values).all() and np.isfinite(multipliers).all()):
            return np.nan_to_num(values), np.nan_to_num(multipliers)
        return values, multipliers

    def _begin(self) -> Any:
        """Return HiGHS with the packing in its memory."""
        highs = _new_highs(self._verbose)
        # Our reductions leave HiGHS's presolve nothing to do; it would take longer than the
        # simplex method after it, and does not look at the clock. What it undoes after an
        # interior point method without crossover is at times no optimum.
        solver = "simplex" if self._method == "simplex" else "ipx"
        _set(highs, presolve="off", solver=solver, run_crossover="off")
        table = self._cover.tocsr()
        n_rows, n_columns = table.shape
        bounds = (np.full(n_columns, -np.inf), np.zeros(n_columns))
        ones = np.ones(table.nnz)
        _pass(highs, table, ones, -np.ones(n_rows), (np.zeros(n_rows), np.zeros(n_rows)), bounds)
        if self._extra is not None:
            columns = np.arange(n_columns, dtype=np.int32)
            highs.addCol(0.0, 0.0, np.inf, n_columns, columns, self._extra)
        return highs

    def _run(self, iterations: float, deadline: float) -> bool:
        """Run HiGHS; return whether it reached the optimum."""
        highs = self._highs
        limit = int(min(iterations, _NO_LIMIT))
        _set(highs, simplex_iteration_limit=limit, ipm_iteration_limit=limit)
        try:
            return _run_watched(highs, deadline) == "kOptimal"
        except BaseException:
            # Ctrl-C went right through HiGHS, which is in no state to be asked again.
            self._highs = None
            raise


class _ScipyPacking:
    """A packing that SciPy solves from scratch each time."""

    def __init__(
        self,
        cover: csc_array,
        extra: Floats | None,
        *,
        verbose: bool = False,
        method: str = "simplex",
    ) -> None:
        rows = csc_array(_ones(cover).T)
        self._rows = rows if extra is None else hstack((rows, csc_array(extra[:, None])), "csc")
        self._has_extra, self._verbose, self._method = extra is not None, verbose, method

    def solve(
        self,
        upper: Floats,
        ceilings: Floats,
        *,
        price: float = 0.0,
        basis: Any = None,
        iterations: float = math.inf,
        deadline: float = math.inf,
    ) -> PackingSolution:
        """Solve with these bounds; zeros where a limit was reached, for SciPy gives no more."""
        objective = -np.ones(len(upper))
        if self._has_extra:
            objective, upper = np.append(objective, price), np.append(upper, np.inf)
        simplex = self._method == "simplex"
        options: dict[str, Any] = {"disp": self._verbose, "presolve": not simplex}
        if simplex:
            iterations = max(iterations, _COLD * sum(self._rows.shape) + _COLD_CONSTANT)
        if iterations < _NO_LIMIT:
            options["maxiter"] = int(iterations)
        if deadline < math.inf:
            options["time_limit"] = max(deadline - time.monotonic(), 1e-3)
        found = linprog(
            objective,
            A_ub=self._rows,
            b_ub=ceilings,
            bounds=np.column_stack((np.zeros(len(upper)), upper)),
            method="highs-ds" if simplex else "highs-ipm",
            options=options,
        )
        if found.status != 0:
            return PackingSolution(np.zeros(len(upper)), np.zeros(len(ceilings)), 0.0, False, None)
        return PackingSolution(found.x, -found.ineqlin.marginals, -float(found.fun), True, None)

    def extend(self, cover: csc_array) -> None:
        """Add rows to the packing."""
        self._rows = vstack((self._rows, csc_array(_ones(cover).T)), format="csc")


class _Watch:
    """What HiGHS calls at each iteration: Ctrl-C is heard, and now and then the clock read.

    Limits of iterations would do for that as well, if the simplex method continued as it was. It
    does not: it perturbs the costs again, and in slices of a hundred iterations it cycles on
    programs of 60,000 rows that take two thousand at once.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline, self._calls = deadline, 0

    def __call__(self, kind: Any, message: str, state: Any, answer: Any, data: Any) -> None:
        """End the run if time is up."""
        self._calls += 1
        if self._calls % _LOOK_EVERY == 0 and time.monotonic() >= self._deadline:
            answer.user_interrupt = True


def _new_highs(verbose: bool) -> Any:
    """Return an empty HiGHS on one thread."""
    highs = _highspy().Highs()
    _set(highs, threads=1, output_flag=verbose)
    return highs


def _set(highs: Any, **options: Any) -> None:
    """Set options of HiGHS, which ignores what it does not know unless asked."""
    ok = _highspy().HighsStatus.kOk
    for name, value in options.items():
        if highs.setOptionValue(name, value) != ok:
            raise RuntimeError(f"HiGHS does not take the option {name}={value!r}")


def _pass(
    highs: Any,
    columns: Any,
    values: Floats,
    objective: Floats,
    bounds: tuple[Floats, Floats],
    row_bounds: tuple[Floats, Floats],
    integrality: NDArray[np.int32] | None = None,
) -> None:
    """Pass a program to HiGHS as plain arrays, whose lists it would copy number by number.

    Each column of the program is a compressed line of `columns`, with coefficients `values`.
    """
    module = _highspy()
    status = highs.passModel(
        len(objective),
        len(row_bounds[0]),
        columns.nnz,
        int(module.MatrixFormat.kColwise),
        int(module.ObjSense.kMinimize),
        0.0,
        objective,
        *bounds,
        *row_bounds,
        columns.indptr.astype(np.int32, copy=False),
        columns.indices.astype(np.int32, copy=False),
        values,
        np.zeros(len(objective), dtype=np.int32) if integrality is None else integrality,
    )
    if status != module.HighsStatus.kOk:
        raise RuntimeError("HiGHS does not take the program")


def _run_watched(highs: Any, deadline: float) -> str:
    """Run HiGHS so that Ctrl-C ends it; return the name of its model status."""
    kinds = _highspy().cb.HighsCallbackType
    highs.setCallback(_Watch(deadline), None)
    for kind in ("Simplex", "Ipm", "Mip"):
        highs.startCallback(getattr(kinds, f"kCallback{kind}Interrupt"))
    highs.run()
    return str(highs.getModelStatus().name)


def _highspy_mip(
    rows: csc_array,
    objective: Floats,
    row_bounds: tuple[Floats, Floats],
    n_binary: int,
    max_nodes: int | None,
    time_limit: float | None,
    verbose: bool,
) -> tuple[str, Floats | None, float]:
    """Return status, solution and bound of an integer program."""
    n = len(objective)
    highs = _new_highs(verbose)
    _set(highs, random_seed=0, mip_rel_gap=0.0)
    if max_nodes is not None:
        _set(highs, mip_max_nodes=int(max_nodes))
    if time_limit is not None:
        _set(highs, time_limit=float(time_limit))
    binary = np.arange(n) < n_binary
    bounds = (np.zeros(n), np.where(binary, 1.0, np.inf))
    _pass(highs, rows, rows.data, objective, bounds, row_bounds, binary.astype(np.int32))
    status = _run_watched(highs, math.inf)
    info, x = highs.getInfo(), np.array(highs.getSolution().col_value)
    has_solution = len(x) == n and math.isfinite(info.objective_function_value)
    names = {"kOptimal": "optimal", "kInfeasible": "infeasible"}
    limits = ("kTimeLimit", "kIterationLimit", "kSolutionLimit", "kInterrupt")
    known = names.get(status, "limit" if status in limits else "failed")
    return known, x if has_solution else None, float(info.mip_dual_bound)


def _scipy_mip(
    rows: csc_array,
    objective: Floats,
    row_bounds: tuple[Floats, Floats],
    n_binary: int,
    max_nodes: int | None,
    time_limit: float | None,
    verbose: bool,
) -> tuple[str, Floats | None, float]:
    """Return status, solution and bound of an integer program."""
    binary = np.arange(len(objective)) < n_binary
    options: dict[str, Any] = {"disp": verbose, "mip_rel_gap": 0.0}
    if max_nodes is not None:
        options["node_limit"] = int(max_nodes)
    if time_limit is not None:
        options["time_limit"] = float(time_limit)
    found = milp(
        objective,
        integrality=binary.astype(np.int32),
        bounds=Bounds(np.zeros(len(objective)), np.where(binary, 1.0, np.inf)),
        constraints=LinearConstraint(rows, *row_bounds),
        options=options,
    )
    bound = -math.inf if found.mip_dual_bound is None else float(found.mip_dual_bound)
    # It has no status of its own for the limit of nodes.
    at_limit = found.status == 1 or (found.status == 4 and max_nodes is not None)
    known = {0: "optimal", 2: "infeasible"}.get(found.status, "limit" if at_limit else "failed")
    return known, found.x, bound


def _ones(cover: csc_array) -> csc_array:
    """Return the memberships of `cover` as floats."""
    table = csc_array(cover)
    return csc_array((np.ones(table.nnz), table.indices, table.indptr), shape=table.shape)


def _value(cover: csc_array, cost: Floats, prize: Floats, selected: Indices) -> float:
    """Return the objective of a selection."""
    missed = np.asarray(_ones(cover)[:, selected].sum(axis=1)) == 0
    return float(cost[selected].sum() + prize[missed].sum())
