"""Against alibi's ProtoSelect and R's protoclass, which solve the same greedy problem.

Run: make bench-peers, which installs alibi in an environment of its own. R's protoclass is not
downloaded: make bench-peers PROTOCLASS=folder takes the package's source, or an R library that
it is installed in, where Rscript is at hand. With --write the table goes into
docs/benchmarks.md, and a sentence for each peer into the README, if both took part.

Both see the same matrix (USPS at the second percentile of its distances): their selections are
checked against ours under each one's conventions. Time is that of the processor, on one thread,
from rows to selection; memory is by how much the process grows meanwhile.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import protocover
from bench_fit import load
from page import table, write_section

PEERS = Path(__file__).parent / "peers"
SECOND_PERCENTILE = 8.008664118315512
# Any cost below one stops at the same place. alibi subtracts it from the gains and breaks
# ties by what rounding leaves of that; a power of two leaves nothing.
COST = 2.0**-13


# Threads of linear algebra wait for one another, and that counts as processor time.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ENVIRONMENT = {**os.environ, **ONE_THREAD, "TF_CPP_MIN_LOG_LEVEL": "3"}
HEADER = ["peer", "time / ours", "memory / ours", "prototypes", "same selection"]


@dataclass(frozen=True)
class Absent:
    """A peer that took no part."""

    reason: str


@dataclass(frozen=True)
class Compared:
    """The rows of the table, and the versions of those that took part."""

    rows: list[list[str]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


def main() -> None:
    options = parse()
    name, X, y, _ = load()
    eps = SECOND_PERCENTILE if name == "USPS" else float(np.sqrt(1.4 * X.shape[1]))
    print(f"{name}: {len(X)} x {X.shape[1]}, eps = {eps:.4f}, lambda = {COST:.2g}")
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = compare(Path(folder), X.astype(np.float64), y, eps, options)
    told = f"{table(HEADER, found.rows)}\n\n{conditions(before, found.versions)}"
    print(told)
    absent = [peer for peer, _, memory, *_ in found.rows if not memory]
    if options.write and absent:
        print(f"Not written: {', '.join(absent)} took no part, whose rows were measured before.")
    elif options.write:
        write_section("benchmarks.md", "peers", told)
        write_section("../README.md", "peers", in_words(name, len(X), found.rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alibi-python", help="interpreter of an environment with alibi")
    parser.add_argument(
        "--protoclass", help="folder of protoclass's source, or R library that it is installed in"
    )
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and README")
    return parser.parse_args()


def conditions(load_before: float, versions: list[str]) -> str:
    """Say when this was measured, with what, and on how busy a machine."""
    return (
        f"Measured on {time.strftime('%Y-%m-%d')} with {', '.join(versions)}; "
        f"{load_before:.1f} processes were at work at the start, {os.getloadavg()[0]:.1f} at the "
        "end, this one among them."
    )


def in_words(name, n_points, rows) -> str:
    """Say the table in a sentence for each peer that took part."""
    return "\n".join(
        f"On {name} ({n_points} points) {peer} takes {time} times the processor time and "
        f"{memory} times the memory; same prototypes: {same}."
        for peer, time, memory, _, same in rows
        if memory
    )


def compare(folder, X, y, eps, options) -> Compared:
    """Compare with each peer that is there."""
    found = Compared(versions=[f"protocover {protocover.__version__}"])
    for peer, closed, run in (
        ("alibi ProtoSelect", True, lambda: run_alibi(folder, options.alibi_python)),
        ("R protoclass", False, lambda: run_protoclass(folder, X, y, eps, options.protoclass)),
    ):
        save(folder, X, y, eps, closed=closed)
        theirs = run()
        if isinstance(theirs, Absent):
            found.rows.append([peer, f"not measured: {theirs.reason}", "", "", ""])
            continue
        found.rows.append([peer, *hold(run_protocover(folder), theirs)])
        found.versions.append(theirs["version"])
    return found


def hold(ours, theirs) -> list[str]:
    """Hold a peer's answer against ours."""
    return [
        f"{theirs['seconds'] / ours['seconds']:.0f}",
        f"{theirs['megabytes'] / ours['megabytes']:.0f}",
        f"{len(theirs['labels'])}",
        agreement(ours, theirs),
    ]


def save(folder, X, y, eps, *, closed) -> None:
    np.savez(folder / "problem.npz", X=X, y=y, eps=eps, cost=COST, closed=closed)


def run_protocover(folder) -> dict[str, Any]:
    return run_python(sys.executable, "select_protocover.py", folder)


def run_alibi(folder, python) -> dict[str, Any] | Absent:
    if not python or not Path(python).exists():
        return Absent("no --alibi-python")
    return run_python(python, "select_alibi.py", folder)


def run_python(python, script, folder) -> dict[str, Any]:
    answer = folder / "answer.json"
    command = [python, PEERS / script, folder / "problem.npz", answer]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    return json.loads(answer.read_text())


def run_protoclass(folder, X, y, eps, package) -> dict[str, Any] | Absent:
    """Let R choose, with the package's source as it lies or from a library."""
    if not package:
        return Absent("no --protoclass")
    if not shutil.which("Rscript"):
        return Absent("no Rscript")
    if not any((Path(package) / part).is_dir() for part in ("R", "protoclass")):
        raise SystemExit(
            "--protoclass must be a folder with the package's source, which has a folder R, or "
            f"an R library, which has a folder protoclass, got {package}"
        )
    np.savetxt(folder / "X.csv", X, delimiter=",", fmt="%.17g")
    np.savetxt(folder / "y.csv", y, fmt="%d")
    answer, script = folder / "answer.csv", PEERS / "select_protoclass.R"
    files = [folder / "X.csv", folder / "y.csv"]
    command = ["Rscript", script, package, *files, repr(eps), repr(COST), answer]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    lines = list(csv.DictReader(answer.open()))
    return {
        "version": lines[0]["version"],
        "seconds": float(lines[0]["seconds"]),
        "megabytes": float(lines[0]["megabytes"]),
        "candidates": [int(line["candidate"]) for line in lines],
        "labels": [int(line["label"]) for line in lines],
    }


def agreement(ours, theirs) -> str:
    """Say whether two selections are the same set of (candidate, class) pairs."""
    pairs = [set(zip(one["candidates"], one["labels"], strict=True)) for one in (ours, theirs)]
    if pairs[0] == pairs[1]:
        return "yes"
    return f"{len(pairs[0] & pairs[1])} shared, {len(pairs[0] ^ pairs[1])} in one only"


if __name__ == "__main__":
    main()
