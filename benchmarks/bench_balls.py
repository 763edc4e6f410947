"""Billions of pairs per second in building balls, ours and others', in one run.

Run: python benchmarks/bench_balls.py [--points 12000] [--repeats 5] [--few-dimensions 2 3]
`--write` puts the times on one core, as multiples of ours, into docs/big-data.md.

All are asked which points are within eps of which candidates, about 50 to a ball, and must
find as many as ours does up to rounding at the boundary; ours alone decides every pair as
double precision does and returns a sorted sparse table. On one core processor time is
counted, which other work on the machine disturbs less than the clock; on two the clock.

In few dimensions, where trees find the pairs, it is 200,000 points and 17 to a ball, and all
are multiples of the time in which SciPy's cKDTree is built and tells the pairs: our balls, and
all of a greedy fit, with a radius given and proposed.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import KDTree, NearestNeighbors, radius_neighbors_graph
from threadpoolctl import threadpool_limits

from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import build_balls
from protocover.dissimilarity import Euclidean


def in_threads(work, pieces, n_threads):
    """Run `work` over the pieces; one thread is this one."""
    if n_threads == 1:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, pieces))


def bare_product(X, Z, eps, n_threads):
    """Multiply in tiles that stay in cache and do nothing with them: the least it can take."""

    def work(rows):
        out = np.empty((256, 512), np.float32)
        for start in range(0, len(Z), 512):
            some, others = X[rows], Z[start : start + 512]
            np.matmul(some, others.T, out=out[: len(some), : len(others)])

    in_threads(work, [slice(i, i + 256) for i in range(0, len(X), 256)], n_threads)


def ours(X, Z, eps, n_threads):
    return build_balls(Euclidean(), X, Z, eps=eps, n_jobs=n_threads).nnz


def large_blocks(X, Z, eps, n_threads):
    """Blocks of 2048 rows against all candidates, in plain NumPy."""
    z_norms = np.einsum("ij,ij->i", Z, Z)

    def work(rows):
        some = X[rows]
        squares = np.einsum("ij,ij->i", some, some)[:, None] + z_norms - 2 * (some @ Z.T)
        return len(np.flatnonzero(squares < eps**2))

    return sum(in_threads(work, [slice(i, i + 2048) for i in range(0, len(X), 2048)], n_threads))


def scikit_learn(X, Z, eps, n_threads):
    with threadpool_limits(n_threads):
        model = NearestNeighbors(radius=eps, algorithm="brute").fit(Z)
        return sum(len(row) for row in model.radius_neighbors(X, return_distance=False))


def scikit_learn_tree(X, Z, eps, n_threads):
    """Ask a tree over the candidates for the neighbours of a thousand points."""
    return KDTree(Z).query_radius(X[:1000], eps, count_only=True).sum() * len(X) / 1000


def faiss_range(X, Z, eps, n_threads):
    import faiss

    faiss.omp_set_num_threads(n_threads)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(Z)
    return int(index.range_search(X, eps**2)[0][-1])


def compiled_scan():
    """Products in tiles, and a compiled loop that compares and compacts each at once."""
    import numba

    @numba.njit("i8(f4[:,::1], f4, i4[::1], i4[::1])", nogil=True)
    def pick(table, limit, rows, columns):
        found = 0
        for i in range(table.shape[0]):
            for start in range(0, table.shape[1], 16):
                any_small = False
                for j in range(start, min(start + 16, table.shape[1])):
                    any_small |= table[i, j] <= limit
                if any_small:
                    for j in range(start, min(start + 16, table.shape[1])):
                        if table[i, j] <= limit:
                            rows[found], columns[found] = i, j
                            found += 1
        return found

    def run(X, Z, eps, n_threads):
        left = np.column_stack((-2 * X, np.einsum("ij,ij->i", X, X), np.ones(len(X), X.dtype)))
        right = np.column_stack((Z, np.ones(len(Z), Z.dtype), np.einsum("ij,ij->i", Z, Z)))

        def work(rows):
            i, j = np.empty(256 * 512, np.int32), np.empty(256 * 512, np.int32)
            memory = np.empty(256 * 512, np.float32)
            found = []
            for start in range(0, len(Z), 512):
                some, others = left[rows], right[start : start + 512]
                table = memory[: len(some) * len(others)].reshape(len(some), len(others))
                np.matmul(some, others.T, out=table)
                n = pick(table, np.float32(eps**2), i, j)
                found.append((i[:n] + rows.start, j[:n] + start))
            return sum(len(pair[0]) for pair in found)

        pieces = [slice(i, i + 256) for i in range(0, len(X), 256)]
        return sum(in_threads(work, pieces, n_threads))

    return run


def contenders(n_features):
    """Name and function of all that can run here."""
    functions = {
        "bare product": bare_product,
        "ours": ours,
        "large NumPy blocks": large_blocks,
        "scikit-learn, brute": scikit_learn,
    }
    if n_features <= 32:
        functions["scikit-learn, tree"] = scikit_learn_tree
    if find_spec("faiss"):
        functions["faiss"] = faiss_range
    if find_spec("numba"):
        functions["tiles, compiled scan"] = compiled_scan()
    return functions


def radius(X, members):
    """Find a radius at which a ball holds about so many points."""
    table = Euclidean().pairwise(X[:1500], X[:1500])
    return float(np.quantile(table[np.triu_indices(1500, 1)], members / len(X)))


def least_times(functions, X, Z, eps, n_threads, repeats):
    clock = time.process_time if n_threads == 1 else time.perf_counter
    least = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            with threadpool_limits(1):
                start = clock()
                found = function(X, Z, eps, n_threads)
                seconds = clock() - start
            if name == "scikit-learn, tree":
                seconds *= len(X) / 1000
            if found is not None and name != "scikit-learn, tree":
                assert abs(found / ours.found - 1) < 1e-3, (name, found, ours.found)
            least[name] = min(least[name], seconds)
    return least


def tree_pairs(X, y, eps):
    """Let SciPy's tree tell each pair once, in no order, up to rounding."""
    return 2 * len(cKDTree(X).query_pairs(eps, output_type="ndarray")) + len(X)


def neighbors_graph(X, y, eps):
    return radius_neighbors_graph(X, eps, include_self=True, n_jobs=1).nnz


def our_balls(X, y, eps):
    return build_balls(Euclidean(), X, X, eps=eps, n_jobs=1).nnz


def greedy_fit(X, y, eps):
    PVMClassifier(eps=eps, solver="greedy", n_jobs=1, **PAPER).fit(X, y)


def greedy_fit_auto(X, y, eps):
    PVMClassifier(eps="auto", solver="greedy", n_jobs=1, random_state=0, **PAPER).fit(X, y)


FEW_DIMENSIONS = {
    "cKDTree, built and pairs": tree_pairs,
    "scikit-learn, graph": neighbors_graph,
    "our balls": our_balls,
    "our greedy fit": greedy_fit,
    "the same, eps='auto'": greedy_fit_auto,
}


def few_dimensions(n_features, repeats, n_points=200_000):
    """Compare with trees, and print multiples of the time of SciPy's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_points, n_features))
    y = (X[:, 0] + 0.5 * rng.normal(size=n_points) > 0).astype(int) + (X[:, -1] > 1)
    eps = radius(X, 17)
    least = dict.fromkeys(FEW_DIMENSIONS, np.inf)
    for _ in range(repeats):
        for name, function in FEW_DIMENSIONS.items():
            start = time.process_time()
            found = function(X, y, eps)
            least[name] = min(least[name], time.process_time() - start)
            assert found is None or abs(found / tree_pairs(X, y, eps) - 1) < 1e-6, name
    print(
        f"{n_features} dimensions, {n_points} points, "
        f"{tree_pairs(X, y, eps) / n_points:.0f} a ball"
    )
    tree = least["cKDTree, built and pairs"]
    for name, seconds in least.items():
        limit = "  (at most 8)" if name == "our greedy fit" and n_features < 4 else ""
        print(f"  {name:<26}{seconds:>7.2f} s{seconds / tree:>7.1f}{limit}", flush=True)
    return least


def write_tables(wide, few, n_points):
    """Write times on one core as multiples of ours, a row for each way."""
    ways = list(dict.fromkeys(name for least in wide.values() for name in least))
    text = (
        f"All pairs of {n_points:,} points, about 50 to a ball, in processor time on one core, "
        "as multiples of ours:\n\n"
    )
    text += table(
        ["time / ours", *(f"{p} features" for p in wide)],
        [[name, *(_ratio(least, name, "ours") for least in wide.values())] for name in ways],
    )
    text += "\n\n200,000 points in few dimensions, about 17 to a ball:\n\n"
    text += table(
        ["time / our balls", *(f"{p} features" for p in few)],
        [
            [name, *(_ratio(least, name, "our balls") for least in few.values())]
            for name in FEW_DIMENSIONS
        ],
    )
    write_section("big-data.md", "balls", text)


def _ratio(least, name, ours):
    return f"{least[name] / least[ours]:.2g}" if name in least else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=12_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dimensions", type=int, nargs="*", default=[16, 256])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--few-dimensions", type=int, nargs="*", default=[2, 3, 4, 5])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    few = {p: few_dimensions(p, given.repeats) for p in given.few_dimensions}
    wide = {}
    for n_features in given.dimensions:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(given.points, n_features)).astype(np.float32)
        Z = X.copy()  # the same points, but nobody may use the symmetry
        eps = radius(X, 50)
        ours.found = ours(X, Z, eps, 1)
        functions = contenders(n_features)
        for n_threads in given.threads:
            least = least_times(functions, X, Z, eps, n_threads, given.repeats)
            if n_threads == 1:
                wide[n_features] = least
            peers = [t for name, t in least.items() if name not in ("bare product", "ours")]
            print(
                f"{n_features} dimensions, {n_threads} threads, {ours.found / len(X):.0f} a ball"
            )
            for name, seconds in least.items():
                rate = len(X) * len(Z) / seconds / 1e9
                print(f"  {name:<22}{rate:>7.3f} billion pairs a second")
            print(f"  ours / best of the others: {least['ours'] / min(peers):.2f}  (at most 1.3)")
    if given.write:
        write_tables(wide, few, given.points)


if __name__ == "__main__":
    main()
