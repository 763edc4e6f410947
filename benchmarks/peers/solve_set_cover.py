"""Solve a set cover from a file with one of the other packages; print value, bound, seconds.

Run: python solve_set_cover.py {highs,pycft,ortools} FILE SECONDS
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def main():
    name, path, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
    data = np.load(path)
    begun = time.process_time()
    value, bound = SOLVERS[name](data["indptr"], data["indices"], data["cost"], limit)
    print(json.dumps([value, bound, time.process_time() - begun]))


def highs(indptr, indices, cost, limit):
    """Run HiGHS's branch and cut."""
    import highspy

    n, n_rows = len(cost), int(indices.max()) + 1
    model = highspy.Highs()
    for option, setting in (("output_flag", False), ("threads", 1), ("time_limit", 20 * limit)):
        model.setOptionValue(option, setting)
    begun = time.process_time()

    def watch(event):
        event.interrupt() if time.process_time() - begun >= limit else None

    for callback in (model.cbMipInterrupt, model.cbSimplexInterrupt, model.cbIpmInterrupt):
        callback.subscribe(watch)
    model.passModel(
        n, n_rows, len(indices), int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize), 0.0, cost, np.zeros(n), np.ones(n), np.ones(n_rows),
        np.full(n_rows, np.inf), indptr.astype(np.int32), indices.astype(np.int32),
        np.ones(len(indices)), np.ones(n, dtype=np.int32),
    )  # fmt: skip
    model.run()
    info = model.getInfo()
    return info.objective_function_value, info.mip_dual_bound


def pycft(indptr, indices, cost, limit):
    """Run the heuristic of Caprara, Fischetti and Toth."""
    from pycft import SetCoverSolver

    solver = SetCoverSolver()
    for j, price in enumerate(cost.tolist()):
        solver.add_set(indices[indptr[j] : indptr[j + 1]].tolist(), cost=price)
    solver.solve(time_limit=limit, verbose=0)
    return solver.get_cost(), solver.get_lower_bound()


def ortools(indptr, indices, cost, limit):
    """Run the greedy and the guided local search of OR-Tools."""
    from ortools.set_cover.python import set_cover

    model = set_cover.SetCoverModel()
    for j, price in enumerate(cost.tolist()):
        model.add_empty_subset(price)
        for row in indices[indptr[j] : indptr[j + 1]].tolist():
            model.add_element_to_last_subset(row)
    invariant = set_cover.SetCoverInvariant(model)
    set_cover.GreedySolutionGenerator(invariant).next_solution()
    search = set_cover.GuidedLocalSearch(invariant)
    search.initialize()
    end = time.process_time() + limit
    best = invariant.cost()
    while time.process_time() < end:
        search.next_solution(100)
        best = min(best, invariant.cost())
    return best, -np.inf


SOLVERS = {"highs": highs, "pycft": pycft, "ortools": ortools}

if __name__ == "__main__":
    main()
