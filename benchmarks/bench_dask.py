"""Rates of the tasks that a fit on Dask is made of, and what they add up to on a large cluster.

Run: python benchmarks/bench_dask.py [--write]

Each rate is that of one core, in processor time: the functions that the tasks run are called
here, in this process, on made data of 16 features in single precision, the fastest of several
repetitions. Absolute rates depend on the machine, so that the pairs are also given as a ratio to
the bare matrix product, taken in turn. ``--write`` puts the tables into docs/dask.md.
"""

from __future__ import annotations

import argparse
import time

import dask.array as da
import numpy as np
from threadpoolctl import threadpool_limits

from distributed import Client, LocalCluster
from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import Euclidean
from protocover.distributed import DaskPVMClassifier
from protocover.distributed._blocks import CandidateBlock, chunk_cover, reduce_block
from protocover.distributed._chunks import Chunk
from protocover.distributed._rounds import report
from protocover.distributed._selection import _solve

N_FEATURES, N_CLASSES = 16, 10
N_POINTS, N_CANDIDATES = 50_000, 8192
MEMBERS = 300  # points in a ball, on average: enough for the memberships to be measured
REPEATS = 5


def make_points(n, seed=0):
    """Draw from a mixture of Gaussians, five for each class."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).normal(scale=2.0, size=(5 * N_CLASSES, N_FEATURES))
    source = rng.integers(len(centers), size=n)
    X = centers[source] + rng.normal(size=(n, N_FEATURES))
    return X.astype(np.float32), source % N_CLASSES


def radius_for(X, share):
    """Radius within which lies a given share of all pairs."""
    rows = np.random.default_rng(1).choice(len(X), 2000, replace=False)
    return float(np.quantile(Euclidean().pairwise(X[rows], X[rows]), share))


def fastest(*functions, clock=time.perf_counter, repeats=REPEATS):
    """Least seconds of each function, over repetitions taken in turn."""
    least = [np.inf] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = clock()
            function()
            least[k] = min(least[k], clock() - start)
    return least


def measure_rates():
    """Pairs and memberships a second on one core, and the bare product's pairs a second."""
    X, y = make_points(N_POINTS)
    eps = radius_for(X, MEMBERS / N_POINTS)
    chunk = Chunk(X, y, np.ones(len(y)), np.arange(len(y)))
    block = CandidateBlock(np.arange(N_CANDIDATES), X[:N_CANDIDATES], np.full(N_CANDIDATES, -1))
    options = {"eps": eps, "closed": False, "n_classes": N_CLASSES}
    part = chunk_cover(chunk, block, Euclidean(), **options)
    reduced = reduce_block(block, [part], prototype_cost=1e-5)
    n_found = sum(cover.nnz for cover in part.covers)
    n_kept = sum(share.memberships for share in reduced)
    largest = max(range(N_CLASSES), key=lambda label: reduced[label].memberships)
    share, n_own = reduced[largest], int((y == largest).sum())
    nothing = np.packbits(np.zeros(n_own, dtype=bool))
    product, cover, reduce, ask, solve = fastest(
        lambda: bare_product(X, X[:N_CANDIDATES]),
        lambda: chunk_cover(chunk, block, Euclidean(), **options),
        lambda: reduce_block(block, [part], prototype_cost=1e-5),
        lambda: report(share, nothing, None, ask=32, prototype_cost=1e-5),
        lambda: _solve([share], None, prototype_cost=1e-5, max_prototypes=None),
        clock=time.process_time,
    )
    n_pairs = N_POINTS * N_CANDIDATES
    return {
        "product": n_pairs / product,
        "cover": n_pairs / cover,
        "reduce": n_found / reduce,
        "report": share.memberships / ask,
        "solve": share.memberships / solve,
        "kept": n_kept / n_found,
        "bytes": sum(s.cover.indices.nbytes + s.cover.data.nbytes for s in reduced) / n_kept,
    }


def bare_product(X, Z):
    """Multiply in blocks, as everything that computes distances must at least."""
    for start in range(0, len(X), 4096):
        X[start : start + 4096] @ Z.T


def rates_text(rates):
    rows = [
        ["bare product", "pairs", f"{rates['product']:.1e}", "1"],
        [
            "balls of a block in a chunk, and their sums",
            "pairs",
            f"{rates['cover']:.1e}",
            f"{rates['product'] / rates['cover']:.1f}",
        ],
        ["reducing a block", "memberships found", f"{rates['reduce']:.1e}", ""],
        ["a block's report in a round", "memberships kept", f"{rates['report']:.1e}", ""],
        ["greedy and bound of a class", "memberships kept", f"{rates['solve']:.1e}", ""],
    ]
    header = ["task", "counted in", "a second of a core", "time / bare product"]
    return (
        f"{table(header, rows)}\n\n{N_POINTS} points x {N_CANDIDATES} candidates, {N_FEATURES} "
        f"features, {N_CLASSES} classes, {MEMBERS} points in a ball. Reducing kept "
        f"{100 * rates['kept']:.0f} % of the memberships, at {rates['bytes']:.0f} bytes each."
    )


def paper_text(rates, n=1e8, cores=100, memberships=2.5e9, n_rounds=200):
    """Say what n points cost on so many cores, from the rates."""
    rows = []
    for name, candidates in (("all points", n), ("a million", 1e6)):
        pairs = n * candidates
        found = memberships / rates["kept"]
        rows.append(
            [
                name,
                f"{pairs:.0e}",
                span(pairs / rates["cover"] / cores),
                span(found / rates["reduce"] / cores),
                span(memberships / N_CLASSES / rates["solve"]),
                span(n_rounds * memberships / rates["report"] / cores),
            ]
        )
    header = ["candidates", "pairs", "cover", "reduction", "classes", f"{n_rounds} rounds"]
    share = memberships * rates["bytes"] / N_CLASSES
    return (
        f"{table(header, rows)}\n\nn = {n:.0e}, {cores} workers of one core, {memberships:.1e} "
        f"reduced memberships, {N_CLASSES} equal classes of {share / 1e9:.1f} GB each."
    )


def span(seconds):
    """Write a duration in the unit that suits it."""
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds:.2g} s"


def cluster_text(n=20_000):
    """Time of a whole fit on two worker processes over that of the plain classifier."""
    X, y = make_points(n, seed=1)
    eps = radius_for(X, 50 / n)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        dX, dy = client.persist(
            [da.from_array(X, chunks=(n // 4, N_FEATURES)), da.from_array(y, chunks=n // 4)]
        )
        plain, classes, rounds = fastest(
            lambda: PVMClassifier(eps=eps, n_jobs=2, solver="greedy", **PAPER).fit(X, y),
            lambda: DaskPVMClassifier(eps=eps, selection="classes", **PAPER).fit(dX, dy),
            lambda: DaskPVMClassifier(eps=eps, selection="rounds", **PAPER).fit(dX, dy),
            repeats=3,
        )
    rows = [
        ["PVMClassifier, two threads", "1"],
        ["DaskPVMClassifier, a task for each class", f"{classes / plain:.1f}"],
        ["DaskPVMClassifier, rounds", f"{rounds / plain:.1f}"],
    ]
    return (
        f"{table(['fit', 'time'], rows)}\n\n{n} points, all of them candidates, 50 points in a "
        "ball, two worker processes of one core on one machine."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the tables into docs/dask.md")
    write = parser.parse_args().write
    with threadpool_limits(1):
        rates = measure_rates()
    sections = {
        "rates": rates_text(rates),
        "on paper": paper_text(rates),
        "cluster": cluster_text(),
    }
    for name, text in sections.items():
        print(text, end="\n\n")
        if write:
            write_section("dask.md", name, text)


if __name__ == "__main__":
    main()
