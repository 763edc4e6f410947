"""Representatives without labels: BallCover beside what others choose with, in one run.

Run: make bench-covers, which installs sentence-transformers (no model is loaded),
scikit-activeml, RDKit and apricot in an environment of their own; or
python benchmarks/bench_covers.py [--sizes 5000] [--peers PYTHON] [--limit 300] [--write].

The points are Fashion-MNIST where it is at hand (PROTOCOVER_DATA): its 70,000 images and the
first 30,000 mirrored, shuffled, projected on their first 384 principal components, of length
one; else made data, 2,000 directions with noise about them. The radius is 0.25 in cosine
distance, community_detection's default. Each method runs in a process of its own on one core;
one that grows beyond 4 GB in all, or takes more processor time than the limit, is ended there
and the table says so; --greedy leaves out our default solver, --ours whatever is not ours: the
rows of the other methods stay as they are on the page. --graph compares a cover from a
neighbour graph with one from rows, and nothing else. Whatever is chosen is judged here, by the
same count of who is covered.
--write puts the tables into docs/benchmarks.md, each size into its own section.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from experiments.datasets import DataNotFoundError, load_fashion_mnist
from sklearn.neighbors import radius_neighbors_graph
from threadpoolctl import threadpool_limits

from page import rows_of, table, write_section
from protocover import BallCover

SCRIPT = Path(__file__).parent / "peers" / "select_cover.py"
EPS, K, SHARE, WIDTH = 0.25, 100, 0.9, 384
GIGABYTES = 4.0
OURS = {
    "BallCover": ("best k", "share"),
    'BallCover, `solver="greedy"`': ("best k, greedy", "share, greedy"),
}
PEERS = {
    "community_detection": "community_detection (sentence-transformers)",
    "ProbCover": "ProbCover (scikit-activeml)",
    "Butina": "Butina (RDKit)",
    "apricot": "facility location (apricot)",
}
HERE = {"farthest point": "farthest point first", "random": "random choice"}
HEADER = ["method", f"covered by {K}", f"needed for {SHARE:.0%}", "time", "memory", "gap"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--peers", help="interpreter of an environment with the other packages")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each method")
    parser.add_argument("--greedy", action="store_true", help="leave out our default solver")
    parser.add_argument("--ours", action="store_true", help="leave out the other methods")
    parser.add_argument("--graph", action="store_true", help="a graph against rows, only")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    name, points = embeddings(max(options.sizes))
    if options.graph:
        text = table(["step", "time", "representatives"], from_graph(points[: options.sizes[0]]))
        print(text)
        if options.write:
            write_section("benchmarks.md", "covers of a graph", text)
        return
    for size in options.sizes:
        ours = {name: OURS[name] for name in list(OURS)[options.greedy :]}
        others = {} if options.ours else {**HERE, **PEERS}
        rows = compare(points[:size], ours, others, options.peers, options.limit)
        if options.ours:
            known = rows_of("benchmarks.md", f"covers of {size}")
            rows += [row for row in known if row[0] not in OURS]
        text = f"{name}, {size:,} x {WIDTH}:\n\n{table(HEADER, rows)}"
        print(text, flush=True)
        if options.write:
            write_section("benchmarks.md", f"covers of {size}", text)


def embeddings(n_points):
    """Return rows of length one in single precision, and what they are."""
    try:
        images = load_fashion_mnist()
    except DataNotFoundError:
        name, X = "Made data", mixture(n_points)
    else:
        name, X = "Fashion-MNIST by principal components", projected(images)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return name, X.astype(np.float32)


def projected(images):
    """Project 100,000 images, some of them mirrored, on their first components."""
    own = np.concatenate((images.data, images.test_data)).reshape(-1, 28, 28)
    X = np.concatenate((own, own[:30_000, :, ::-1])).reshape(-1, 784).astype(np.float32)
    X -= X.mean(axis=0)
    components = np.linalg.eigh((X.T @ X).astype(np.float64))[1][:, ::-1][:, :WIDTH]
    X = X @ components.astype(np.float32)
    return X[np.random.default_rng(0).permutation(len(X))].astype(np.float64)


def mixture(n_points):
    """Return directions with noise about them, as many as there are topics."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(2_000, WIDTH))
    often = rng.choice(2_000, n_points, p=rng.dirichlet(np.full(2_000, 0.5)))
    return topics[often] + rng.normal(size=(n_points, WIDTH)) * rng.uniform(
        0.2, 0.6, (n_points, 1)
    )


def compare(X, ours, others, python, limit) -> list[list[str]]:
    """Return a row for each of our ways and each other method."""
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(problem, X=X, eps=EPS, k=K, coverage=SHARE, steps=K)
        found = {
            name: [run(sys.executable, one, problem, limit) for one in methods]
            for name, methods in ours.items()
        }
        base = found['BallCover, `solver="greedy"`'][1]
        np.savez(
            problem, X=X, eps=EPS, k=K, coverage=SHARE, steps=2 * len(base.get("chosen", range(K)))
        )
        for method, name in others.items():
            interpreter = sys.executable if method in HERE else python
            found[name] = [run(interpreter, method, problem, limit)] * 2
    return [in_words(X, name, *pair, base=base) for name, pair in found.items()]


def from_graph(X, repeats=3) -> list[list[str]]:
    """Return the processor time of covers from rows and from a graph, and of making the graph."""
    graph = neighbors(X)
    by_rows = BallCover(eps=EPS, metric="cosine", solver="greedy", n_jobs=1)
    by_graph = BallCover(eps=EPS, metric="precomputed", solver="greedy", n_jobs=1)
    steps = {
        "cover from rows": lambda: by_rows.fit(X),
        "graph by scikit-learn": lambda: neighbors(X),
        "cover from that graph": lambda: by_graph.fit(graph),
    }
    seconds = dict.fromkeys(steps, np.inf)
    with threadpool_limits(1):
        for _ in range(repeats):
            for name, step in steps.items():
                start = time.process_time()
                step()
                seconds[name] = min(seconds[name], time.process_time() - start)
    counts = [len(by_rows.candidate_indices_), "", len(by_graph.candidate_indices_)]
    base = seconds["cover from rows"]
    return [
        [name, f"{seconds[name] / base:.2g}", str(count)]
        for name, count in zip(steps, counts, strict=True)
    ]


def neighbors(X):
    """Let scikit-learn make a graph that reaches a little farther than the balls."""
    return radius_neighbors_graph(
        X, 1.05 * EPS, mode="distance", metric="cosine", include_self=True
    )


def run(python, method, problem, limit) -> dict:
    """Run one method within the limits, and return what it said or why it did not."""
    if python is None or not Path(python).exists():
        return {"ended": "not installed"}
    answer = problem.with_name("answer.json")
    answer.unlink(missing_ok=True)
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    process = subprocess.Popen(
        [python, "-W", "ignore", SCRIPT, method, problem, answer],
        env={**os.environ, **one_thread, "TOKENIZERS_PARALLELISM": "false"},
        stderr=subprocess.PIPE,
        text=True,
    )
    why = watch(process, limit)
    errors = process.stderr.read()
    if why is None and not answer.exists():
        print(errors, file=sys.stderr)
        why = "out of memory" if "MemoryError" in errors else "failed"
    told = {"ended": why} if why else json.loads(answer.read_text())
    print(f"  {method}: {why or told['seconds']}", file=sys.stderr, flush=True)
    return told


def watch(process, limit) -> str | None:
    """Wait for a process; end it and say why where it takes too much."""
    status, ticks = Path(f"/proc/{process.pid}"), os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        time.sleep(0.2)
        try:
            pages = int((status / "statm").read_text().split()[1])
            spent = (status / "stat").read_text().rsplit(")")[1].split()
        except (OSError, IndexError):
            continue
        why = None
        if pages * os.sysconf("SC_PAGE_SIZE") > GIGABYTES * 1e9:
            why = f"beyond {GIGABYTES:g} GB"
        if (int(spent[11]) + int(spent[12])) / ticks > limit:
            why = f"not done in {limit:g} s"
        if why:
            process.kill()
            process.wait()
            return why
    return None


def in_words(X, name, best, enough, *, base) -> list[str]:
    """Write a method's row."""
    if "ended" in enough:
        first = covered(X, best["chosen"])[:K][-1] if "chosen" in best else None
        return [name, "" if first is None else f"{first:.1%}", enough["ended"], "", "", ""]
    needed = np.flatnonzero(covered(X, enough["chosen"]) >= SHARE)
    asked = len(enough["chosen"])
    rows = best.get("chosen")
    return [
        name,
        best["ended"] if rows is None else f"{covered(X, rows)[:K][-1]:.1%}",
        str(needed[0] + 1) if len(needed) else "" if asked == K else f"more than {asked}",
        multiple(enough, base, "seconds"),
        multiple(enough, base, "megabytes"),
        f"{enough['gap']:.1%}" if "gap" in enough else "",
    ]


def multiple(told, base, key) -> str:
    """Write how many times what ours took another took; nothing where ours did not end."""
    return f"{told[key] / base[key]:.2g}" if key in base else ""


def covered(X, chosen):
    """Return the share within the radius of one of the first, the first two, and so on."""
    first = np.full(len(X), len(chosen))
    for start in range(0, len(chosen), 64):
        some = np.asarray(chosen[start : start + 64])
        inside = 1 - X @ X[some].T < EPS
        inside[some, np.arange(len(some))] = True
        at = np.where(inside.any(axis=1), start + inside.argmax(axis=1), len(chosen))
        np.minimum(first, at, out=first)
    return np.cumsum(np.bincount(first, minlength=len(chosen) + 1)[: len(chosen)]) / len(X)


if __name__ == "__main__":
    main()
