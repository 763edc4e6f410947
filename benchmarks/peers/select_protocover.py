"""Select prototypes with protocover, in a process of its own.

Run by bench_peers.py: python select_protocover.py problem.npz answer.json
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from memory import PeakMemory
from sklearn.base import clone

from paper import PAPER
from protocover import PVMClassifier

# One alone would be short beside what else the machine does.
N_FITS = 3


def main(problem: str, answer: str) -> None:
    data = np.load(problem)
    X, y = data["X"], data["y"]
    unfitted = PVMClassifier(
        eps=float(data["eps"]),
        prototype_cost=float(data["cost"]),
        closed_ball=bool(data["closed"]),
        solver="greedy",
        **PAPER,
    )
    clone(unfitted).fit(X[:50], y[:50])
    with PeakMemory() as memory:
        start = time.process_time()
        for _ in range(N_FITS):
            model = clone(unfitted).fit(X, y)
        seconds = (time.process_time() - start) / N_FITS
    found = {
        "seconds": seconds,
        "megabytes": memory.megabytes,
        "candidates": model.candidate_indices_.tolist(),
        "labels": model.prototype_labels_.tolist(),
    }
    with open(answer, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
