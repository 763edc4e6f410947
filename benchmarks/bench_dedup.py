"""Compare covers with semhash at removing near duplicates of embeddings.

Run: python benchmarks/bench_dedup.py --semhash PYTHON [--samples 100000]

PYTHON is an interpreter with semhash, which needs no model for given embeddings. The
embeddings are 64 principal components of Fashion-MNIST (from PROTOCOVER_DATA), repeated with
noise and normalized. A violation is a dropped row whose cosine similarity to every kept row is
below the threshold, counted from the embeddings. The limit on processor time is the same for all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMIT = 600  # seconds of processor time
THRESHOLD = 0.95


def make_embeddings(n, path):
    """Write normalized principal components of Fashion-MNIST with noise."""
    from sklearn.decomposition import PCA

    found = sorted(Path(os.environ["PROTOCOVER_DATA"]).rglob("*train-images*ubyte.gz"))
    source = next(file for file in found if "fashion" in str(file).lower())
    with gzip.open(source) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    Z = PCA(64, random_state=0).fit_transform(images.astype(np.float32) / 255)
    rng = np.random.default_rng(0)
    X = Z[rng.integers(len(Z), size=n)]
    X = X + rng.normal(scale=0.2 * X.std(axis=0), size=X.shape)
    np.save(path, (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32))


def by_cover(X, solver="greedy"):
    """Keep the representatives of a cover."""
    from protocover import BallCover

    cover = BallCover(eps=1.0 - THRESHOLD, metric="cosine", closed_ball=True, solver=solver)
    return cover.fit(X).representative_indices_


def by_semhash(X):
    """Keep what semhash keeps."""
    from semhash import SemHash

    records = [str(k) for k in range(len(X))]
    index = SemHash.from_embeddings(X, records, model=None)
    return np.array([int(one) for one in index.self_deduplicate(threshold=THRESHOLD).selected])


def violations(X, kept):
    """Count the dropped rows that are far from every kept one."""
    dropped = np.setdiff1d(np.arange(len(X)), kept)
    near = [
        (X[dropped[k : k + 2000]] @ X[kept].T).max(axis=1) for k in range(0, len(dropped), 2000)
    ]
    # Single-precision products are rounded.
    return int((np.concatenate(near) < THRESHOLD - 1e-5).sum()) if len(dropped) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--semhash", help="a Python with semhash")
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        name, path = options.stage
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        X, start = np.load(path), time.process_time()
        kept = {"cover": by_cover, "semhash": by_semhash}[name](X)
        np.save(f"{path}.{name}.npy", kept)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps({"cpu": time.process_time() - start, "gb": peak}))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.npy")
        make_embeddings(options.samples, path)
        X = np.load(path)
        for name, python in (("cover", sys.executable), ("semhash", options.semhash)):
            if python is None:
                continue
            call = [python, __file__, "--stage", name, path]
            run = subprocess.run(call, capture_output=True, text=True)
            if run.returncode:
                print(name, "no result:", run.stderr.strip().splitlines()[-1:])
                continue
            kept = np.load(f"{path}.{name}.npy")
            print(name, len(kept), "kept,", violations(X, kept), "violations,", run.stdout.strip())


if __name__ == "__main__":
    main()
