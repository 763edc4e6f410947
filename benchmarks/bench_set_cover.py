"""Plain set covers: ours beside HiGHS's branch and cut, pycft and OR-Tools, at equal time.

Run: python benchmarks/bench_set_cover.py [--families orlib pace ...] [--limit 2 10]
[--peers PYTHON] [--solvers highs pycft ortools] [--instances scp41 ...] [--csv FILE]

`--peers` is the interpreter of an environment with highspy, pycft and ortools; without one
only ours are run. Each solver runs in a process of its own on one thread, with the time limit in
seconds of a quiet machine; the times shown are processor times, instances read before. `auto` has
no limit. The instances of the OR-Library and of PACE are read from PROTOCOVER_DATA.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from cover_instances import FAMILIES, instances
from page import table
from protocover.solvers import CoverProblem, auto, exact

SCRIPT = Path(__file__).parent / "peers" / "solve_set_cover.py"
HEADER = ("instance", "limit", "solver", "value", "bound", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--instances", nargs="+", help="only these instances")
    parser.add_argument("--limit", type=float, nargs="+", default=[2.0, 10.0])
    parser.add_argument("--solvers", nargs="+", default=["highs", "pycft", "ortools"])
    parser.add_argument("--peers", help="interpreter of an environment with the other packages")
    parser.add_argument("--csv", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    rows = []
    for name, cover, cost in instances(tuple(options.families)):
        if options.instances and name not in options.instances:
            continue
        problem, step = as_problem(cover, cost)
        rows.append((name, "", "auto", *ours(auto, problem, step)))
        for limit in options.limit:
            found = ours(exact, problem, step, time_limit=limit)
            rows.append((name, limit, "exact", *found))
            for solver in options.solvers if options.peers else ():
                found = peer(options.peers, solver, cover, cost, limit)
                rows.append((name, limit, solver, *found))
        for row in rows:
            if row[0] == name:
                print(" | ".join(map(str, row)), flush=True)
    print(f"\n{table(HEADER, rows)}\n")
    if options.csv:
        lines = (",".join(map(str, row)) for row in (HEADER, *rows))
        options.csv.write_text("\n".join(lines) + "\n")


def as_problem(cover, cost):
    """Return the cover as a problem, and what a unit of cost is there."""
    n_rows, n_columns = cover.shape
    if (cost == 1.0).all():
        step = 1.0 / (n_rows + 1)
        return CoverProblem(cover, np.zeros(n_columns), np.ones(n_rows), step), step
    most = np.full(n_rows, float(cost.sum()) + 1.0)
    return CoverProblem(cover, cost, most, 0.0), 1.0


def ours(solver, problem, step, **options):
    """Return value, bound and processor time of one of our solvers."""
    begun = time.process_time()
    solution = solver(problem, **options)
    seconds = time.process_time() - begun
    value, bound = round(solution.objective / step, 3), round(solution.lower_bound / step, 3)
    return f"{value:g}", f"{bound:g}", f"{seconds:.2f}"


def peer(python, solver, cover, cost, limit):
    """Return value, bound and processor time of another package."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cover.npz"
        np.savez(path, indptr=cover.indptr, indices=cover.indices, cost=cost)
        command = [python, str(SCRIPT), solver, str(path), str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return "failed", "", ""
    value, bound, seconds = json.loads(done.stdout.splitlines()[-1])
    return f"{value:g}", f"{bound:g}", f"{seconds:.2f}"


if __name__ == "__main__":
    main()
