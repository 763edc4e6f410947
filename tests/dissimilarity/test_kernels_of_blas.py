"""Balls do not depend on which kernels the linear algebra library picks for the processor.

OpenBLAS can be told to take those of another processor, whose sums come in another order.
Each program below runs in two processes that differ in nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = textwrap.dedent(
    """
    import hashlib, json, sys
    import numpy as np
    from scipy.spatial.distance import cdist
    from threadpoolctl import threadpool_info
    import tangent_digest
    from protocover import PVMClassifier
    from protocover._balls import build_balls
    from protocover.dissimilarity import *
    from protocover._maps import sammon_map

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 13)), rng.integers(0, 3, 200)
    grid = np.array([[i, j, 0.1 * i * j] for i in range(12) for j in range(12)]) / 3.0
    halves = (grid[:, 0] > 2.0).astype(int)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    words = ["".join(rng.choice(list("ACDEFG"), size=rng.integers(8, 40))) for _ in range(150)]
    wide = rng.normal(size=(60, 90))
    families = {
        "rbf": (KernelDistance("rbf", {"gamma": 0.05}), X, y),
        "rbf of a grid": (KernelDistance("rbf"), grid, halves),
        "linear": (KernelDistance("linear"), X, y),
        "poly of a grid": (KernelDistance("poly"), grid, halves),
        "cosine kernel": (KernelDistance("cosine"), X, y),
        "mismatch": (MismatchDistance(3, 1), words, y[:150]),
        "raw mismatch": (MismatchDistance(4, 2, normalize=False), words, y[:150]),
        "DANN": (DANN(), X, y),
        "DANN of a grid": (DANN(), grid, halves),
        "DANN of few points": (DANN(), wide, y[:60] > 0),
        "rank of a kernel": (RankDissimilarity(KernelDistance("poly")), X, y),
        "nan_euclidean": (Metric("nan_euclidean"), gaps, y),
        "mahalanobis": (Metric("mahalanobis"), X, y),
        "mahalanobis of a grid": (Metric("mahalanobis"), grid, halves),
        "seuclidean": (Metric("seuclidean"), X, y),
        "minkowski": (Metric("minkowski", {"p": 1.5}), X, y),
    }
    given = json.loads(sys.argv[1])
    answers = {}
    for name, (metric, examples, labels) in families.items():
        table = metric.fit(examples, labels).pairwise(examples, examples)
        ninth = np.sort(table, axis=None)[table.size // 9]
        ours = [float(table[0, 7]), float(table[5, 3]), float(ninth)]
        balls = hashlib.sha256()
        for eps in given.get(name, ours):
            for closed in (False, True):
                found = build_balls(metric, examples, examples, eps=eps, closed=closed)
                balls.update(found.indptr.astype(np.int64).tobytes())
                balls.update(found.indices.astype(np.int64).tobytes())
        model = PVMClassifier(metric=metric).fit(examples, labels)
        answers[name] = {
            "balls": balls.hexdigest(),
            "radii": ours,
            "model": [model.eps_, model.candidate_indices_.tolist()],
        }
    many = np.random.default_rng(9).normal(size=(1500, 30))
    dependent = np.hstack((many[:, :9], many[:, :3] - 2.0 * many[:, 3:6]))
    learned = [
        Metric("mahalanobis").fit(rows).params_["VI"].tolist() for rows in (many, dependent)
    ]
    tangent = [tangent_digest.digest(**setting) for setting in tangent_digest.SETTINGS]
    blas = sorted({str(lib.get("architecture")) for lib in threadpool_info()})
    placed = sammon_map(cdist(X, X)).coordinates.tolist()
    told = {"answers": answers, "tangent": tangent, "learned": learned, "map": placed}
    print(json.dumps({"blas": blas, **told}))
    """
)


# Some builds of NumPy crash in any product with kernels that their machine does not pick.
PRODUCT = "import numpy as np; a = np.ones((1700, 1700)); a @ a; a = a.astype('f4'); a @ a.T"


def _run(core, *program):
    # Of the paths of this process, so that the program finds what the tests find.
    environment = {
        **os.environ,
        "OPENBLAS_CORETYPE": core,
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-W", "ignore", "-c", *program]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def _answers(core, radii):
    done = _run(core, PROGRAM, json.dumps(radii))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def on_two_processors():
    cores = ("Haswell", "Nehalem", "Sandybridge", "Prescott")
    first, second = [core for core in cores if _run(core, PRODUCT).returncode == 0][:2]
    one = _answers(first, {})
    radii = {name: answer["radii"] for name, answer in one["answers"].items()}
    other = _answers(second, radii)
    if one["blas"] == other["blas"]:
        pytest.skip(f"OPENBLAS_CORETYPE has no effect here: BLAS is {one['blas']} either way")
    return one, other


def test_radii_that_are_distances_are_the_same_everywhere(on_two_processors):
    one, other = (answer["answers"] for answer in on_two_processors)
    for name in one:
        assert one[name]["radii"] == other[name]["radii"], name


def test_balls_with_a_distance_for_radius_hold_the_same_points(on_two_processors):
    one, other = (answer["answers"] for answer in on_two_processors)
    for name in one:
        assert one[name]["balls"] == other[name]["balls"], name


def test_the_same_model_is_fitted(on_two_processors):
    one, other = (answer["answers"] for answer in on_two_processors)
    for name in one:
        assert one[name]["model"] == other[name]["model"], name


def test_tangent_distances_are_the_same_to_the_last_bit(on_two_processors):
    one, other = on_two_processors
    assert one["tangent"] == other["tangent"]


def test_an_inverse_covariance_is_the_same_to_the_last_bit(on_two_processors):
    one, other = on_two_processors
    assert one["learned"] == other["learned"]


def test_a_map_is_the_same_to_the_last_bit(on_two_processors):
    """It starts from eigenvectors, and a bit decides in which valley it ends."""
    one, other = on_two_processors
    assert one["map"] == other["map"]
