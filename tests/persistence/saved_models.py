"""A small fitted model for every built-in dissimilarity and every kind of examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array, csr_matrix
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, PVMSelector
from protocover.candidates import HullCandidates, KMeansCandidates
from protocover.dissimilarity import (
    DANN,
    Cosine,
    Euclidean,
    Gower,
    KernelDistance,
    Metric,
    MismatchDistance,
    RankDissimilarity,
    SpectrumDistance,
    SquaredEuclidean,
    TangentDistance,
    Tanimoto,
)


@dataclass(frozen=True)
class Example:
    model: Any
    X: Any
    y: Any
    queries: Any

    def fitted(self):
        return self.model.fit(self.X, self.y)


def _rows(seed=0, n=24, p=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, p)) + y[:, None], y


def _positive(seed=0, n=24, p=4):
    X, y = _rows(seed, n, p)
    return np.abs(X) + 0.1, y


def _with(model, X, y, n_queries=9):
    return Example(model, X[n_queries:], y[n_queries:], X[:n_queries])


# Radii of their own without a floor.
OWN = {**PAPER, "radii": "adaptive"}


def _pentagons():
    """Three pentagons, of which two prototypes each are needed and the linear program says 5."""
    angle = 2 * np.pi * np.arange(5) / 5
    one = np.column_stack((np.cos(angle), np.sin(angle)))
    far = np.array([[0, 50], [1, 50], [0, 51]])
    X = np.vstack([*(one + np.array([10 * i, 0]) for i in range(3)), far])
    return X, np.repeat([0, 1], [15, 3])


def _sequences(kind):
    rng = np.random.default_rng(1)
    y = np.arange(20) % 2
    words = ["".join(rng.choice(list("AACG" if c else "CGTT"), size=8)) for c in y]
    return {
        "list": words,
        "array": np.array(words),
        "objects": np.array(words, dtype=object),
        "letters": [list(word) for word in words],
        "series": pd.Series(words, name="read", index=[f"r{i}" for i in range(20)]),
        "frame": pd.DataFrame({"read": words}),
    }[kind], y


def _sequence_example(metric, kind):
    X, y = _sequences(kind)
    rows = (lambda a, b: X.iloc[a:b]) if hasattr(X, "iloc") else (lambda a, b: X[a:b])
    return Example(PVMClassifier(metric=metric, **PAPER), rows(6, 20), y[6:], rows(0, 6))


def frame(n=24, seed=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, "ill", "well").astype(object)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, size=n),
            "weight": np.where(rng.random(n) < 0.2, np.nan, rng.normal(70, 9, size=n)),
            "colour": pd.Categorical(rng.choice(["red", "blue"], n), categories=["blue", "red"]),
            "stage": pd.Categorical(
                rng.choice(["I", "II", "III"], n), categories=["I", "II", "III"], ordered=True
            ),
            "town": rng.choice(["Rome", "Bonn"], n),
            "note": np.where(rng.random(n) < 0.3, None, "x").astype(object),
            "smokes": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "visits": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "agreed": pd.array(rng.random(n) < 0.5, dtype="boolean"),
        },
        index=[f"case {i}" for i in range(n)],
    )
    table.loc[table.index[::7], ["visits", "agreed", "colour", "town"]] = None
    return table, y


def _polars():
    table, y = frame()
    columns = {
        "age": table["age"].to_list(),
        "weight": [None if np.isnan(v) else v for v in table["weight"]],
        "town": [v if isinstance(v, str) else None for v in table["town"]],
        "smokes": table["smokes"].to_list(),
        "since": [v.to_pydatetime() for v in table["since"]],
        "day": [v.date() for v in table["since"]],
    }
    made = pl.DataFrame(columns).with_columns(
        pl.Series("stage", list(table["stage"]), dtype=pl.Enum(["I", "II", "III"])),
        pl.Series("colour", ["blue"] * 12 + ["red"] * 12, dtype=pl.Categorical),
        pl.Series("small", range(24), dtype=pl.Int8),
    )
    return made, y


def _table(seed=3, n=20):
    X, y = _rows(seed, n)
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), y


def _kernel(seed=3, n=20):
    D, y = _table(seed, n)
    return np.exp(-(D**2)), y


def _gower(table, y):
    rows = (lambda a, b: table.iloc[a:b]) if hasattr(table, "iloc") else (lambda a, b: table[a:b])
    return Example(PVMClassifier(metric=Gower(), **PAPER), rows(8, 24), y[8:], rows(0, 8))


def _square(metric, table, y):
    return Example(PVMClassifier(metric=metric, **PAPER), table, y, table[:7])


_NUMERIC = ("cityblock", "mahalanobis", "seuclidean")
_X, _Y = _rows()
_BITS = np.random.default_rng(8).random((len(_Y), 12)) < 0.4
_IMAGES, _DIGITS = _positive(5, 24, 36)
_TABLE, _TABLE_Y = _table()
_KERNEL, _KERNEL_Y = _kernel()


def examples():
    """Every combination, by name."""
    made = {name: _with(PVMClassifier(metric=name, **PAPER), _X, _Y) for name in _NUMERIC}
    made["jaccard"] = _with(PVMClassifier(metric="jaccard", **PAPER), _X > 0.5, _Y)
    for name, metric in {
        "euclidean": "euclidean",
        "Euclidean": Euclidean(),
        "SquaredEuclidean": SquaredEuclidean(),
        "Cosine": Cosine(),
        "minkowski, w": Metric("minkowski", {"p": 3, "w": np.array([1.0, 2.0, 3.0, 4.0])}),
        "rank": RankDissimilarity(),
        "rank of a metric": RankDissimilarity(Metric("cityblock")),
        "rank of DANN": RankDissimilarity(DANN(n_neighbors=5)),
        "DANN": DANN(n_neighbors=6, n_iterations=2),
        "poly kernel": KernelDistance("poly"),
        "kernel with parameters": KernelDistance("rbf", {"gamma": 0.3}),
    }.items():
        X, y = _positive()
        made[name] = _with(PVMClassifier(metric=metric, **PAPER), X, y)
    gappy = np.where(np.random.default_rng(4).random(_X.shape) < 0.1, np.nan, _X)
    made |= {
        "missing numbers": _with(PVMClassifier(metric="nan_euclidean", **PAPER), gappy, _Y),
        "metric_params": _with(
            PVMClassifier(metric="minkowski", metric_params={"p": 1.5}, **PAPER), _X, _Y
        ),
        "single precision": _with(PVMClassifier(**PAPER), _X.astype(np.float32), _Y),
        "columns first": _with(PVMClassifier(**PAPER), np.asfortranarray(_X), _Y),
        "DANN in its span": _with(PVMClassifier(metric=DANN(), **PAPER), *_rows(7, 21, 30)),
        "sparse array": _with(PVMClassifier(**PAPER), csr_array(np.maximum(_X, 0)), _Y),
        "sparse matrix": _with(
            PVMClassifier(metric="cosine", **PAPER), csr_matrix(np.maximum(_X, 0)), _Y
        ),
        "sparse cityblock": _with(
            PVMClassifier(metric="cityblock", **PAPER), csr_array(np.maximum(_X, 0)), _Y
        ),
        "bits": _with(PVMClassifier(metric=Tanimoto(), **PAPER), _BITS, _Y),
        "packed bits": _with(
            PVMClassifier(metric=Tanimoto(packed=True), **PAPER), np.packbits(_BITS, axis=1), _Y
        ),
        "sparse bits": _with(PVMClassifier(metric=Tanimoto(), **PAPER), csr_array(_BITS), _Y),
        "tangent": _with(PVMClassifier(metric=TangentDistance((6, 6)), **PAPER), _IMAGES, _DIGITS),
        "tangent, one side": _with(
            PVMClassifier(
                metric=TangentDistance(
                    (4, 9), sides="candidate", transformations=["shift_x", "rotation"], spring=0.0
                ),
                **PAPER,
            ),
            _IMAGES,
            _DIGITS,
        ),
        "rank of tangent": _with(
            PVMClassifier(metric=RankDissimilarity(TangentDistance((6, 6))), **PAPER),
            _IMAGES,
            _DIGITS,
        ),
        "precomputed": _square("precomputed", _TABLE, _TABLE_Y),
        "precomputed, given columns": Example(
            PVMClassifier(metric="precomputed", **PAPER), _TABLE[:, :9], _TABLE_Y, _TABLE[:5, :9]
        ),
        "precomputed kernel": _square(KernelDistance("precomputed"), _KERNEL, _KERNEL_Y),
        "rank of precomputed": _square(RankDissimilarity("precomputed"), _TABLE, _TABLE_Y),
        "Gower of a frame": _gower(*frame()),
        "Gower of a polars frame": _gower(*_polars()),
        "Gower of objects": _gower(frame()[0].drop(columns="since").to_numpy(object), frame()[1]),
        "Gower with kinds": Example(
            PVMClassifier(
                metric=Gower({"age": "ordered", "smokes": "asymmetric"}, {"weight": 0.5}), **PAPER
            ),
            *frame(),
            frame()[0][:5],
        ),
        "rank of Gower": Example(
            PVMClassifier(metric=RankDissimilarity(Gower()), **PAPER), *frame(), frame()[0][:5]
        ),
    }
    for kind in ("list", "array", "objects", "letters", "series", "frame"):
        made[f"mismatch of {kind}"] = _sequence_example(MismatchDistance(3, 1), kind)
        made[f"spectrum of {kind}"] = _sequence_example(SpectrumDistance(2), kind)
    made["rank of spectrum"] = _sequence_example(RankDissimilarity(SpectrumDistance(2)), "list")
    return made


def other_models():
    """Other parameters, labels and estimators, by name."""
    X, y = _X, _Y
    names = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    words = np.array(["ab", "c", "def"])[y]
    return {
        "labels are strings": _with(PVMClassifier(outlier_label="none", **PAPER), X, words),
        "labels are objects": _with(PVMClassifier(**PAPER), X, words.astype(object)),
        "labels are truths": _with(PVMClassifier(**PAPER), X, y > 0),
        "labels are small": _with(
            PVMClassifier(outlier_label="most_frequent", **PAPER), X, y.astype("i1")
        ),
        "one class": _with(PVMClassifier(**PAPER), X, np.zeros_like(y)),
        "no prototypes": _with(
            PVMClassifier(eps=1.0, prototype_cost=1e6, outlier_label=-1, **PAPER), X, y
        ),
        "frame": Example(PVMClassifier(closed_ball=True, **PAPER), names[9:], y[9:], names[:9]),
        "NumPy parameters": _with(
            PVMClassifier(eps=np.float64(1.5), n_jobs=np.int64(1), **PAPER), X, y
        ),
        "kmeans": _with(
            PVMClassifier(candidates=KMeansCandidates(2), random_state=0, **PAPER), X, y
        ),
        "several sources": _with(
            PVMClassifier(candidates=["train", HullCandidates(4), X[:3]], random_state=0, **PAPER),
            X,
            y,
        ),
        "budget": _with(PVMClassifier(eps=0.8, max_prototypes={0: 1, 2: 2}, **PAPER), X, y),
        "exact": _with(
            PVMClassifier(eps=1.0, solver="exact", solver_options={"time_limit": 5.0}, **PAPER),
            X,
            y,
        ),
        "leaves": Example(
            PVMClassifier(eps=1.3, prototype_cost=1.0, solver="exact", random_state=0, **PAPER),
            *_pentagons(),
            _pentagons()[0][::2] + 0.1,
        ),
        "own radii": _with(PVMClassifier(eps=2.0, outlier_label=-1, **OWN), X, y),
        "own radii without a limit": Example(
            PVMClassifier(eps=None, prototype_cost=1.0, **OWN), names[9:], y[9:], names[:9]
        ),
        "own radii of a table": Example(
            PVMClassifier(eps=None, metric="precomputed", **OWN),
            _TABLE,
            _TABLE_Y,
            _TABLE[:7],
        ),
        "defaults": _with(PVMClassifier(), X, y),
        "forced": _with(PVMClassifier(prototype_cost=1e6), X, y),
        "weights of classes": _with(
            PVMClassifier(class_weight={"ab": 2.0, "def": 0.5}, cross_class=True), X, words
        ),
        "balanced search": _with(PVMClassifierCV(n_eps=2, cv=2, class_weight="balanced"), X, y, 6),
        "cross-validated": Example(
            PVMClassifierCV(n_eps=4, cv=3, **PAPER), names[6:], y[6:], names[:6]
        ),
        "several settings": _with(
            PVMClassifierCV(
                eps=[0.5, 1.0, 2.0],
                prototype_costs=[0.1, 1.0],
                cv=2,
                metric=RankDissimilarity(),
                solver="ratio-greedy",
                rule="best",
                **PAPER,
            ),
            X,
            y,
            6,
        ),
        "selector": _with(PVMSelector(eps=1.0, **PAPER), X, y),
        "standardised": Example(
            Pipeline([("scale", StandardScaler()), ("pvm", PVMClassifier(**PAPER))]),
            names[9:],
            y[9:],
            names[:9],
        ),
        "ranged": _with(
            Pipeline(
                [
                    ("no", "passthrough"),
                    ("scale", MinMaxScaler()),
                    ("pvm", PVMClassifierCV(n_eps=3, cv=2, **PAPER)),
                ]
            ),
            X,
            y,
            6,
        ),
    }
