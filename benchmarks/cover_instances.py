"""Plain set covers for benchmarks: OR-Library, PACE 2025, balls of points, graphs.

Each instance is a boolean csc table of rows by columns and the cost of each column.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.spatial import cKDTree
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

__all__ = ["FAMILIES", "instances"]

Instance = tuple[str, csc_array, np.ndarray]

OR_LIBRARY = tuple(
    f"scp{name}" for name in ("41", "51", "a1", "b1", "c1", "d1", "e1", "clr10", "cyc06", "nre1")
)
PACE = ("001", "021", "041", "051", "070", "085")


def instances(families: tuple[str, ...]) -> Iterator[Instance]:
    """Yield the instances of some families."""
    for family in families:
        yield from FAMILIES[family]()


def _data() -> Path:
    return Path(os.environ.get("PROTOCOVER_DATA", "data")) / "covers"


def or_library() -> Iterator[Instance]:
    """Yield the instances of the OR-Library that are at hand."""
    for name in OR_LIBRARY:
        path = _data() / f"{name}.txt.gz"
        if path.exists():
            yield name, *_read_scp(path)
    if (_data() / "rail507.gz").exists():
        yield "rail507", *_read_rail(_data() / "rail507.gz")


def _numbers(path: Path) -> np.ndarray:
    with gzip.open(path, "rt") as file:
        return np.array(file.read().split(), dtype=np.int64)


def _read_scp(path: Path) -> tuple[csc_array, np.ndarray]:
    """Read rows that list the columns which cover them."""
    numbers = _numbers(path)
    n_rows, n_columns = numbers[:2]
    cost, place = numbers[2 : 2 + n_columns], 2 + n_columns
    rows = []
    for _ in range(n_rows):
        size = numbers[place]
        rows.append(numbers[place + 1 : place + 1 + size] - 1)
        place += size + 1
    return _from_rows(rows, n_columns), cost.astype(float)


def _read_rail(path: Path) -> tuple[csc_array, np.ndarray]:
    """Read columns that list their rows."""
    numbers = _numbers(path)
    n_rows, n_columns = numbers[:2]
    place, cost, columns = 2, np.empty(n_columns), []
    for j in range(n_columns):
        cost[j], size = numbers[place : place + 2]
        columns.append(numbers[place + 2 : place + 2 + size] - 1)
        place += size + 2
    return csc_array(_from_rows(columns, n_rows).T), cost


def _from_rows(rows: list[np.ndarray], n_columns: int) -> csc_array:
    ends = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    table = csr_array(
        (np.ones(ends[-1], dtype=bool), np.concatenate(rows), ends), shape=(len(rows), n_columns)
    )
    return _plain(table)


def _plain(table: csr_array) -> csc_array:
    """Return a table of True and False in canonical form."""
    table = csc_array(table).astype(bool)
    table.sum_duplicates()
    table.sort_indices()
    return table


def pace() -> Iterator[Instance]:
    """Yield the dominating set instances that are at hand."""
    for name in PACE:
        path = _data() / f"pace_exact_{name}.gr.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt") as file:
            lines = [line.split() for line in file if line.strip() and line[0] != "c"]
        n = int(lines[0][2])
        edges = np.array(lines[1:], dtype=np.int64).T - 1
        yield f"pace{name}", *_dominating(n, edges)


def _dominating(n: int, edges: np.ndarray) -> tuple[csc_array, np.ndarray]:
    """Return the cover of a graph's nodes by their closed neighbourhoods."""
    a, b = edges
    table = csr_array((np.ones(len(a), dtype=bool), (a, b)), shape=(n, n))
    return _plain(table + table.T + eye_array(n, dtype=bool, format="csr")), np.ones(n)


def digits() -> Iterator[Instance]:
    """Yield balls of several radii about the digits."""
    X = load_digits().data
    for eps in (20, 25, 30):
        yield f"digits-{eps}", *_balls(X, eps)


def _balls(X: np.ndarray, eps: float) -> tuple[csc_array, np.ndarray]:
    table = radius_neighbors_graph(X, eps, include_self=True)
    return _plain(table), np.ones(len(X))


def points() -> Iterator[Instance]:
    """Yield balls about uniform points in two and three dimensions."""
    for n, dimension, size in ((3000, 2, 6), (3000, 2, 20), (3000, 3, 10), (20_000, 2, 8)):
        X = np.random.default_rng(0).random((n, dimension))
        volume = {2: np.pi, 3: 4 / 3 * np.pi}[dimension]
        eps = (size / n / volume) ** (1 / dimension)
        yield f"points-{dimension}d-{n}-{size}", *_balls(X, eps)


def neighbours() -> Iterator[Instance]:
    """Yield graphs of nearest neighbours of uniform points of the plane."""
    for n in (5000, 20_000):
        X = np.random.default_rng(1).random((n, 2))
        table = kneighbors_graph(X, 8, include_self=False)
        yield f"neighbours-{n}", _plain(table + eye_array(n, format="csr")), np.ones(n)


def small_worlds() -> Iterator[Instance]:
    """Yield rings of 3,000 nodes with 4 or 8 neighbours each, a tenth of them drawn at random."""
    for edges in (6000, 12_000):
        n, rng = 3000, np.random.default_rng(2)
        a = np.repeat(np.arange(n), -(-edges // n))[:edges]
        step = np.tile(np.arange(1, -(-edges // n) + 1), n)[:edges]
        away = rng.random(len(a)) < 0.1
        b = np.where(away, rng.integers(0, n, len(a)), (a + step) % n)
        keep = a != b
        yield f"small-world-{2 * edges}", *_dominating(n, np.stack((a[keep], b[keep])))


def large_neighbours(n: int) -> Instance:
    """Return a large graph of nearest neighbours in the plane."""
    X = np.random.default_rng(1).random((n, 2))
    nearest = cKDTree(X).query(X, k=9)[1]
    table = csr_array(
        (np.ones(nearest.size, dtype=bool), nearest.ravel(), np.arange(0, nearest.size + 1, 9)),
        shape=(n, n),
    )
    return f"neighbours-{n}", _plain(table), np.ones(n)


FAMILIES = {
    "orlib": or_library,
    "pace": pace,
    "digits": digits,
    "points": points,
    "neighbours": neighbours,
    "small-worlds": small_worlds,
}
