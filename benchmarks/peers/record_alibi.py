"""Record what alibi's ProtoSelect answers on small tables, for tests of the migration guide.

Run in an environment with alibi:
python benchmarks/peers/record_alibi.py tests/recorded/alibi_recorded.json

The tables are those of protoclass_recorded.json beside it (points x candidates, with ties).
Dissimilarities are handed over as a table: examples are row or column numbers.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from alibi.prototypes import ProtoSelect


def answer(table, y, eps, cost, budget) -> dict:
    def distance(candidates, points):
        return table[np.ix_(points[:, 0], candidates[:, 0])].T

    points, candidates = (np.arange(size)[:, None] for size in table.shape)
    peer = ProtoSelect(distance, eps=eps, lambda_penalty=cost).fit(points, y, candidates)
    found = peer.summarize(budget or table.shape[1]).data
    return {
        "candidates": found["prototype_indices"].tolist(),
        "labels": found["prototype_labels"].tolist(),
    }


def main(path: str) -> None:
    problems = json.loads((Path(path).parent / "protoclass_recorded.json").read_text())
    recorded = []
    for number, problem in enumerate(problems):
        table = np.array(problem["dissimilarities"])
        _, y = np.unique(problem["labels"], return_inverse=True)
        near = np.sort(table, axis=None)
        for eps in (float(near[len(near) // 10]), float(near[len(near) // 4])):
            for cost, budget in ((None, None), (2.0**-10, None), (1.0, None), (2.0**-10, 3)):
                setting = {"problem": number, "eps": eps, "cost": cost, "budget": budget}
                recorded.append(setting | answer(table, y, eps, cost, budget))
    Path(path).write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
