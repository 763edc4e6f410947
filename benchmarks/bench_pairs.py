"""Rates of covers of pair lists: on one machine, and in rounds on a Dask cluster.

Run: python benchmarks/bench_pairs.py [--samples 1000000] [--neighbors 20] [--dask-samples 1000000]

The pairs are the nearest neighbours of random samples in three dimensions, written to a Parquet
file first. Every stage runs in a process of its own, so peak memory is that of the stage.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def write_pairs(path, n, k):
    """Write the `k` nearest neighbours of each of `n` samples, and return the radius they span."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter
    from scipy.spatial import cKDTree

    X = np.random.default_rng(0).random((n, 3), dtype=np.float32).astype(float)
    tree, radius = cKDTree(X), 0.0
    schema = pa.schema([("i", pa.int64()), ("j", pa.int64()), ("distance", pa.float64())])
    with ParquetWriter(path, schema) as writer:
        for start in range(0, n, 100_000):
            distance, j = tree.query(X[start : start + 100_000], k + 1)
            i = np.repeat(np.arange(start, start + len(j)), k)
            columns = [i, j[:, 1:].ravel(), distance[:, 1:].ravel()]
            writer.write_table(pa.table(columns, schema=schema))
            radius = max(radius, float(distance.max()))
    return radius


def on_one_machine(path, n, eps):
    """Read a list and cover it with the greedy solver."""
    from protocover import BallCover, pairs_to_graph

    clock = [time.perf_counter(), time.process_time()]
    graph = pairs_to_graph(path, n_samples=n, directed=True)
    read = time.process_time() - clock[1]
    cover = BallCover(eps=eps, metric="precomputed", solver="greedy").fit(graph)
    return {
        "pairs": graph.nnz,
        "read": read,
        "cpu": time.process_time() - clock[1],
        "seconds": time.perf_counter() - clock[0],
        "selected": fingerprint(cover),
    }


def on_dask(path, n, eps, selection="rounds"):
    """Cover a list in rounds on two workers of one thread."""
    from distributed import Client, LocalCluster
    from protocover.distributed import DaskBallCover

    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "8GB"}
    with (
        LocalCluster(dashboard_address=None, host="127.0.0.1", **options) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        cover = DaskBallCover(eps=eps, metric="precomputed", selection=selection)
        cover.fit_pairs(path, n_samples=n, directed=True)
        seconds = time.perf_counter() - start
        peak = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
        cpu = client.run(time.process_time)
    return {
        "seconds": seconds,
        "cpu": sum(cpu.values()) + time.process_time(),
        "worker_gb": max(peak.values()),
        "selected": fingerprint(cover),
    }


def fingerprint(cover):
    """Describe a choice so that two can be compared."""
    chosen = cover.candidate_indices_
    return [len(chosen), int((chosen * (np.arange(len(chosen)) % 1009 + 1)).sum())]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--neighbors", type=int, default=20)
    parser.add_argument("--dask-samples", type=int, default=1_000_000)
    parser.add_argument("--stage", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        stage, path, radius = options.stage
        run = {"local": on_one_machine, "dask": on_dask}[stage]
        found = run(path, options.samples, float(radius))
        found["gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps(found))
        return
    runs = [("local", options.samples, options.neighbors)]
    runs += [(stage, options.dask_samples, 10) for stage in ("local", "dask")]
    with tempfile.TemporaryDirectory() as folder:
        for stage, n, k in runs:
            path = Path(folder) / f"{n}-{k}.parquet"
            if not path.exists():
                radius = write_pairs(path, n, k)
            call = [sys.executable, __file__, "--stage", stage, path, str(radius)]
            call += ["--samples", str(n)]
            print(stage, n, k, subprocess.run(call, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
