"""Against alibi's ProtoSelect, R's protoclass, k-medoids and condensed nearest neighbours.

Run: make bench-peers, which installs alibi in an environment of its own; R's protoclass
takes part where R and that package are installed already. With --write the tables go into
docs/benchmarks.md, and a sentence into the README.

alibi and protoclass solve the same greedy problem on the same matrix (USPS at the second
percentile of its distances): their selections are checked against ours under each one's
conventions, and time from rows to selection and peak memory are compared within this run.
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
from pathlib import Path

import numpy as np

from bench_fit import load
from page import table, write_section

PEERS = Path(__file__).parent / "peers"
SECOND_PERCENTILE = 8.008664118315512
# Any cost below one stops at the same place. alibi subtracts it from the gains and breaks
# ties by what rounding leaves of that; a power of two leaves nothing.
COST = 2.0**-13


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--alibi-python", help="interpreter of an environment with alibi")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and README")
    options = parser.parse_args()
    name, X, y, _ = load()
    eps = SECOND_PERCENTILE if name == "USPS" else float(np.sqrt(1.4 * X.shape[1]))
    print(f"{name}: {len(X)} x {X.shape[1]}, eps = {eps:.4f}, lambda = {COST:.2g}")
    with tempfile.TemporaryDirectory() as folder:
        rows = compare(Path(folder), X.astype(np.float64), y, eps, options.alibi_python)
    header = ["peer", "time / ours", "memory / ours", "prototypes", "same selection"]
    print(table(header, rows))
    if options.write:
        write_section("benchmarks.md", "peers", table(header, rows))
        write_section("../README.md", "peers", in_words(name, len(X), rows))


def in_words(name, n_points, rows) -> str:
    """Say the table in a sentence for each peer that took part."""
    return "\n".join(
        f"On {name} ({n_points} points) {peer} takes {time} times as long and {memory} times the "
        f"memory; same prototypes: {same}."
        for peer, time, memory, _, same in rows
        if memory
    )


def compare(folder, X, y, eps, alibi_python) -> list[list[str]]:
    """Return a row of the table for each peer that is there."""
    rows = []
    for peer, closed, run in (
        ("alibi ProtoSelect", True, lambda: run_alibi(folder, alibi_python)),
        ("R protoclass", False, lambda: run_protoclass(folder, X, y, eps)),
    ):
        save(folder, X, y, eps, closed=closed)
        theirs = run()
        if theirs is None:
            rows.append([peer, "not installed", "", "", ""])
            continue
        ours = run_protocover(folder)
        rows.append(
            [
                peer,
                f"{theirs['seconds'] / ours['seconds']:.0f}",
                f"{theirs['megabytes'] / ours['megabytes']:.0f}",
                f"{len(theirs['labels'])}",
                agreement(ours, theirs),
            ]
        )
    return rows


def save(folder, X, y, eps, *, closed) -> None:
    np.savez(folder / "problem.npz", X=X, y=y, eps=eps, cost=COST, closed=closed)


def run_protocover(folder) -> dict:
    return run_python(sys.executable, "select_protocover.py", folder)


def run_alibi(folder, python) -> dict | None:
    if not python or not Path(python).exists():
        return None
    return run_python(python, "select_alibi.py", folder)


def run_python(python, script, folder) -> dict:
    answer = folder / "answer.json"
    command = [python, PEERS / script, folder / "problem.npz", answer]
    subprocess.run(command, check=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    return json.loads(answer.read_text())


def run_protoclass(folder, X, y, eps) -> dict | None:
    found = shutil.which("Rscript") and subprocess.run(
        ["Rscript", "-e", "stopifnot(requireNamespace('protoclass', quietly = TRUE))"],
        capture_output=True,
    )
    if not found or found.returncode:
        return None
    np.savetxt(folder / "X.csv", X, delimiter=",", fmt="%.17g")
    np.savetxt(folder / "y.csv", y, fmt="%d")
    answer = folder / "answer.csv"
    script = PEERS / "select_protoclass.R"
    command = [
        "Rscript",
        script,
        folder / "X.csv",
        folder / "y.csv",
        repr(eps),
        repr(COST),
        answer,
    ]
    subprocess.run(command, check=True)
    lines = list(csv.DictReader(answer.open()))
    return {
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
