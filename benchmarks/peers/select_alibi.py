"""Select prototypes with alibi's ProtoSelect, in an environment of its own.

Run by bench_peers.py: python select_alibi.py problem.npz answer.json
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from alibi.prototypes import ProtoSelect
from alibi.utils.kernel import EuclideanDistance
from memory import PeakMemory


def main(problem: str, answer: str) -> None:
    data = np.load(problem)
    X, y = data["X"], data["y"]
    settings = {"eps": float(data["eps"]), "lambda_penalty": float(data["cost"])}
    ProtoSelect(EuclideanDistance(), **settings).fit(X[:50], y[:50]).summarize(5)
    with PeakMemory() as memory:
        start = time.process_time()
        summary = ProtoSelect(EuclideanDistance(), **settings).fit(X, y).summarize(len(X))
        seconds = time.process_time() - start
    found = {
        "version": f"alibi {version('alibi')}",
        "seconds": seconds,
        "megabytes": memory.megabytes,
        "candidates": summary.data["prototype_indices"].tolist(),
        "labels": summary.data["prototype_labels"].tolist(),
    }
    with open(answer, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
