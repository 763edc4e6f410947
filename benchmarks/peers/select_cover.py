"""Choose representatives by one method, in a process of its own.

Run by bench_covers.py: python select_cover.py method problem.npz answer.json

`problem.npz` has rows of length one `X`, the radius `eps` in cosine distance, a number `k` and
a share `coverage`. The answer has the rows chosen, in order, the processor time, and how far
the process grew. Packages are imported, and what compiles at its first call has had one, before
the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial

import numpy as np
from memory import PeakMemory


def ball_cover(X, eps, k, coverage, *, asked, **options):
    """Ask for the best k or for a share, by the default solver or another."""
    from protocover import BallCover

    wish = {"max_representatives": k} if asked == "k" else {"coverage": coverage}
    return BallCover(eps=eps, metric="cosine", n_jobs=1, **wish, **options).fit(X)


def community_detection(X, eps, k, coverage):
    """Return the centre of each community of sentence-transformers, the largest first."""
    from sentence_transformers.util import community_detection

    found = community_detection(X, threshold=1 - eps, min_community_size=1)
    return [community[0] for community in found]


def prob_cover(X, eps, k, coverage, *, steps):
    """Choose by scikit-activeml's ProbCover, whose radius is given here, from no label."""
    from skactiveml.pool import ProbCover
    from sklearn.metrics.pairwise import cosine_distances

    # The radius is chosen from a list by clusters; of a list of one there is little to choose.
    query = ProbCover(n_classes=2, deltas=[eps], distance_func=cosine_distances, random_state=0)
    return query.query(X, np.full(len(X), np.nan), batch_size=steps)


def butina(X, eps, k, coverage):
    """Return the centre of each of RDKit's Butina clusters, which wants all distances listed."""
    from rdkit.ML.Cluster import Butina

    below = np.concatenate([1 - X[:i] @ X[i] for i in range(1, len(X))])
    return [cluster[0] for cluster in Butina.ClusterData(below, len(X), eps, isDistData=True)]


def apricot(X, eps, k, coverage):
    """Choose by apricot's facility location: k rows with the largest sum of similarities."""
    from apricot import FacilityLocationSelection

    return FacilityLocationSelection(k, metric="cosine", random_state=0).fit(X).ranking


def farthest_point(X, eps, k, coverage, *, steps):
    """Take the row farthest from those taken, again and again: the k-centre greedy."""
    chosen = [0]
    nearest = 1 - X @ X[0]
    while len(chosen) < min(steps, len(X)):
        chosen.append(int(nearest.argmax()))
        np.minimum(nearest, 1 - X @ X[chosen[-1]], out=nearest)
    return chosen


def random_choice(X, eps, k, coverage, *, steps):
    """Take rows in an order drawn at random."""
    return np.random.default_rng(0).permutation(len(X))[:steps]


METHODS = {
    "best k": partial(ball_cover, asked="k"),
    "best k, greedy": partial(ball_cover, asked="k", solver="greedy"),
    "share": partial(ball_cover, asked="coverage"),
    "share, greedy": partial(ball_cover, asked="coverage", solver="greedy"),
    "community_detection": community_detection,
    "ProbCover": prob_cover,
    "Butina": butina,
    "apricot": apricot,
    "farthest point": farthest_point,
    "random": random_choice,
}


def main(method: str, problem: str, answer: str) -> None:
    data = np.load(problem)
    X, eps, k, coverage = data["X"], float(data["eps"]), int(data["k"]), float(data["coverage"])
    choose, steps = METHODS[method], int(data["steps"])
    more = method in ("ProbCover", "farthest point", "random")
    choose(X[:200].copy(), eps, 3, coverage, **({"steps": 3} if more else {}))
    with PeakMemory() as memory:
        start = time.process_time()
        found = choose(X, eps, k, coverage, **({"steps": steps} if more else {}))
        seconds = time.process_time() - start
    told = {"seconds": seconds, "megabytes": memory.megabytes}
    if hasattr(found, "candidate_indices_"):
        told["gap"] = found.gap_
        found = found.candidate_indices_
    told["chosen"] = [int(row) for row in found]
    with open(answer, "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
