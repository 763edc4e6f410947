"""Digest about 200 runs, to show that a change of names or structure changes no answer.

Run: python tools/digests.py            compare with tools/digests.json, exit 1 on a difference
     python tools/digests.py --only dask   the same for the runs whose names contain "dask"
     python tools/digests.py --renew    write tools/digests.json (say why in the commit)
     python tools/digests.py --show "fit wine, solver exact"   print what is digested

A digest is keyed by what is run, in words that do not depend on the names of the API, and is
made of values only: prototypes, order, counts, objective, bounds, predictions, explanations and
the numbers in files. Floats count to 12 significant digits. The digests hold for the versions
of the packages recorded next to them; with others, renew them before the change to be checked.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import hashlib
import importlib.metadata
import io
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
from sklearn.preprocessing import scale

import protocover as pc
from protocover import dissimilarity as ds

RECORD = Path(__file__).with_suffix(".json")
PACKAGES = ("highspy", "numpy", "scipy", "scikit-learn")
Run = Callable[[], Any]
PAPER: dict[str, Any] = {"radii": "shared", "cross_class": True, "min_per_class": 0}
OWN = {"radii": "adaptive"}
ONE = {"radii": "shared"}


# --- data ---------------------------------------------------------------------------------


def _table(load: Callable[..., Any], n: int | None = None) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    X = scale(X) if load is not load_digits else X
    return X[:n], y[:n]


IRIS = load_iris(return_X_y=True)
WINE = _table(load_wine)
CANCER = _table(load_breast_cancer)
DIGITS = _table(load_digits, 600)


def mixed_frame() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with numbers, categories, a flag and missing values."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=120)
    frame = pd.DataFrame(
        {
            "age": 40 + 10 * y + rng.normal(0, 6, 120).round(1),
            "dose": rng.gamma(2.0, 1 + y).round(2),
            "site": rng.choice(["arm", "leg", "back"], 120),
            "smoker": rng.random(120) < 0.2 + 0.2 * y,
        }
    )
    frame.loc[::7, "dose"] = np.nan
    frame.loc[::11, "site"] = None
    return frame, np.array(["low", "mid", "high"])[y]


def words() -> tuple[list[str], np.ndarray]:
    """Return sequences of four letters whose frequencies differ by class."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 25)
    chances = np.array([[4, 2, 1, 1], [1, 4, 2, 1], [1, 1, 2, 4]]) / 8
    return ["".join(rng.choice(list("ACGT"), 20, p=chances[k])) for k in y], y


def bits() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 50)
    return rng.random((100, 64)) < np.where(y[:, None] == 1, 0.35, 0.2), y


def plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 1.5 * np.eye(3)[y, :2], y


# --- what is digested ---------------------------------------------------------------------


def certificate(model: Any) -> str:
    """Return what a bound rests on: "verified", "solver" or "none"."""
    return str(model.certificate_)


def chosen(model: Any) -> list[Any]:
    """Return everything about the prototypes of a classifier."""
    return [
        model.candidate_indices_,
        model.prototype_indices_,
        model.prototype_sources_,
        model.prototype_labels_,
        model.prototype_radii_,
        model.covered_count_,
        model.newly_covered_count_,
        model.miscovered_count_,
        model.classes_,
        model.class_count_,
        model.eps_,
        model.prototype_cost_,
        model.objective_,
        model.lower_bound_,
        model.gap_,
        certificate(model),
    ]


def explained(model: Any, X: Any) -> list[Any]:
    why = model.explain(X)
    values = [getattr(why, field.name) for field in dataclasses.fields(why)]
    return values if why.contributions is not None else values[:-1]


def answers(model: Any, X: Any) -> list[Any]:
    """Return what a classifier says of samples."""
    return [
        model.predict(X),
        model.decision_function(X),
        explained(model, X),
        model.transform(X),
    ]


def fitted(
    data: tuple[Any, Any], *, weight: Any = None, unlabeled: Any = None, **params: Any
) -> Any:
    X, y = data
    return pc.PVMClassifier(**params).fit(X, y, weight, unlabeled=unlabeled)


def fit(data: tuple[Any, Any], *, queries: Any = None, **params: Any) -> list[Any]:
    """Return the prototypes and answers of a fit, and whether it can be rechecked."""
    X, y = data
    model = fitted(data, **params)
    queries = X if queries is None else queries
    given = {"sample_weight": params.get("weight"), "unlabeled": params.get("unlabeled")}
    checked = model.verify(X, y, **given).ok
    return [chosen(model), answers(model, queries), checked]


def cover(X: Any, *, weight: Any = None, **params: Any) -> list[Any]:
    model = pc.BallCover(**params).fit(X, sample_weight=weight)
    return [
        model.candidate_indices_,
        model.labels_,
        model.counts_,
        model.coverage_,
        model.eps_,
        model.objective_,
        model.lower_bound_,
        model.gap_,
        certificate(model),
        model.predict(X),
        model.transform(X),
        model.verify(X, sample_weight=weight).ok,
    ]


def path(data: tuple[Any, Any], **params: Any) -> list[Any]:
    found = pc.pvm_path(*data, **params)
    return [
        found.eps,
        found.prototype_costs,
        [list(row) for row in found.candidate_indices],
        [list(row) for row in found.prototype_labels],
        found.n_prototypes,
        found.covered,
        found.miscovered,
        found.objective,
        found.lower_bound,
        chosen(found.model(0, 0)),
    ]


def search(data: tuple[Any, Any], **params: Any) -> list[Any]:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = pc.PVMClassifierCV(cv=folds, random_state=0, **params).fit(*data)
    scores = {
        key: value
        for key, value in model.cv_results_.items()
        if "test_score" in key or "n_prototypes" in key
    }
    best = model.best_estimator_
    return [list(scores.values()), chosen(best), best.predict(data[0])]


def grown(data: tuple[Any, Any], parts: int, **params: Any) -> list[Any]:
    X, y = data
    model = pc.PVMClassifier(**params)
    steps = []
    for rows in np.array_split(np.arange(len(y)), parts):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        steps.append(chosen(model))
    return [steps, model.predict(X)]


def resampled(data: tuple[Any, Any], **params: Any) -> list[Any]:
    model = pc.PVMSelector(**params)
    X, y = model.fit_resample(*data)
    return [np.asarray(X), y, model.sample_indices_]


def issues(data: tuple[Any, Any], **params: Any) -> list[Any]:
    X, y = data
    y = y.copy()
    y[::25] = (y[::25] + 1) % (y.max() + 1)
    found = pc.find_label_issues(fitted((X, y), **params), X, y)
    return numbers_in(found)


def evaluated(data: tuple[Any, Any], **params: Any) -> list[Any]:
    X, y = data
    held_out = np.arange(len(y)) % 4 == 0
    model = fitted((X[~held_out], y[~held_out]), **params)
    return numbers_in(pc.evaluate(model, X[held_out], y[held_out]))


def reported(model: Any, *given: Any) -> list[Any]:
    from protocover.report import summarize

    return numbers_in(summarize(model, *given))


def saved(model: Any, X: Any) -> list[Any]:
    """Return what a model says after it was written to a file and read again."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.protocover"
        pc.save_model(model, file)
        again = pc.load_model(file)
    if hasattr(model, "classes_"):
        return [chosen(again), answers(again, X)]
    return [again.candidate_indices_, again.predict(X), again.transform(X)]


def on_dask(data: tuple[Any, Any], chunks: int, **params: Any) -> list[Any]:
    import dask.array as da

    from distributed import Client
    from protocover.distributed import DaskPVMClassifier

    X, y = data
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        dX = da.from_array(X, chunks=(chunks, X.shape[1]))
        model = DaskPVMClassifier(**params).fit(dX, da.from_array(y, chunks=chunks))
        return [chosen(model), model.predict(dX).compute()]


def command(table: pd.DataFrame, *words: str) -> list[Any]:
    """Return the cells of the tables, and the numbers of the summary, that a command writes."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "table.csv", Path(folder) / "out"
        table.to_csv(source, index=False)
        name, *options = words
        call = [sys.executable, "-m", "protocover", name, source, "-q", *options]
        if name in ("fit", "cover"):
            call += ["--output", output]
        run = subprocess.run(call, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr)
        files = sorted(output.glob("*.csv")) if output.is_dir() else []
        # Sorted by their cells: the names of files may change.
        tables = sorted(_cells(file.read_text()) for file in files)
        return [tables, _cells(run.stdout) if name == "predict" else []]


def predicted(table: pd.DataFrame, target: str) -> list[Any]:
    """Return the predictions of the command line for a model of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "table.csv", Path(folder) / "out"
        table.to_csv(source, index=False)
        start = [sys.executable, "-m", "protocover"]
        subprocess.run(
            [*start, "fit", source, "--target", target, "-q", "--output", output], check=True
        )
        run = subprocess.run(
            [*start, "predict", output, source], check=True, capture_output=True, text=True
        )
    return _cells(run.stdout)


def _cells(text: str) -> list[list[str]]:
    """Return the rows of a table without its header."""
    return list(csv.reader(io.StringIO(text)))[1:]


def numbers_in(value: Any) -> list[float]:
    """Return all numbers in a result, in rising order: names and structure may change."""
    return sorted(_numbers(value))


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
        return
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif isinstance(value, np.ndarray | list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float | np.number) and np.isfinite(value):
        yield float(value)


def written(value: Any) -> str:
    """Write a result down, floats with 12 digits."""
    if isinstance(value, sparse.spmatrix | sparse.sparray):
        value = value.toarray()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, pd.DataFrame):
        value = value.to_numpy().tolist()
    if isinstance(value, list | tuple):
        return "[" + ",".join(written(item) for item in value) + "]"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return f"{value:.12g}"
    if isinstance(value, int | str | np.integer | np.str_) or value is None:
        return str(value)
    raise TypeError(f"no way to write down {type(value).__name__}")


# --- the runs -----------------------------------------------------------------------------


def runs() -> Iterator[tuple[str, Run]]:
    """Yield what is run, and the run."""
    yield from _fits_by_metric()
    yield from _fits_by_object()
    yield from _fits_by_solver()
    yield from _fits_with_options()
    yield from _fits_with_candidates()
    yield from _budgets()
    yield from _graphs()
    yield from _batches()
    yield from _paths()
    yield from _searches()
    yield from _covers()
    yield from _after_the_fit()
    yield from _dask()
    yield from _commands()


def _fits_by_metric() -> Iterator[tuple[str, Run]]:
    plain = ["euclidean", "sqeuclidean", "cosine", "cityblock", "chebyshev", "canberra"]
    plain += ["braycurtis", "correlation", "mahalanobis", "seuclidean", "nan_euclidean"]
    plain += ["minkowski", "haversine"]
    for metric in plain:
        data = (IRIS[0][:, :2], IRIS[1]) if metric == "haversine" else IRIS
        params = {"metric_params": {"p": 3}} if metric == "minkowski" else {}
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield (
                f"fit iris, {metric}, {name}",
                lambda d=data, m=metric, p=params, r=radii: fit(d, metric=m, **p, **r),
            )
    for metric in ("jaccard", "hamming", "dice", "rogerstanimoto"):
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield (
                f"fit bits, {metric}, {name}",
                lambda m=metric, r=radii: fit(bits(), metric=m, **r),
            )
    for name, radii in (("adaptive", OWN), ("one radius", ONE)):
        yield (
            f"fit iris, function of two samples, {name}",
            lambda r=radii: fit(IRIS, metric=lambda a, b: float(abs(a - b).max()), **r),
        )
        yield (
            f"fit iris, precomputed distances, {name}",
            lambda r=radii: fit(
                (ds.Euclidean().fit(IRIS[0]).pairwise(*[IRIS[0]] * 2), IRIS[1]),
                metric="precomputed",
                **r,
            ),
        )
        yield (
            f"fit a mixed table, gower by name, {name}",
            lambda r=radii: fit(mixed_frame(), metric="gower", **r),
        )
        yield (
            f"fit sparse rows of bits, cosine, {name}",
            lambda r=radii: fit(
                (sparse.csr_matrix(bits()[0].astype(float)), bits()[1]), metric="cosine", **r
            ),
        )


def _fits_by_object() -> Iterator[tuple[str, Run]]:
    images = (DIGITS[0][:150], DIGITS[1][:150])
    objects: list[tuple[str, Any, Callable[[], Any]]] = [
        ("rbf kernel", lambda: ds.KernelDistance("rbf"), lambda: IRIS),
        ("polynomial kernel", lambda: ds.KernelDistance("poly"), lambda: IRIS),
        ("linear kernel", lambda: ds.KernelDistance("linear"), lambda: WINE),
        ("tangent distance", lambda: ds.TangentDistance((8, 8)), lambda: images),
        ("spectrum of words", lambda: ds.SpectrumDistance(3), words),
        ("mismatch of words", lambda: ds.MismatchDistance(4, 1), words),
        ("gower of a mixed table", lambda: ds.Gower(), mixed_frame),
        ("gower with a penalty", lambda: ds.Gower(missing_penalty=0.5), mixed_frame),
        ("tanimoto of bits", lambda: ds.Tanimoto(), bits),
        ("rank", lambda: ds.RankDissimilarity(), lambda: IRIS),
        ("discriminant adaptive", lambda: ds.DANN(), lambda: IRIS),
    ]
    for what, make, data in objects:
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield (
                f"fit {what}, {name}",
                lambda m=make, d=data, r=radii: fit(d(), metric=m(), **r),
            )


def _fits_by_solver() -> Iterator[tuple[str, Run]]:
    solvers = ("auto", "greedy", "ratio-greedy", "lp-rounding", "local-search", "exact")
    for solver in solvers:
        for what, data in (("wine", WINE), ("digits", DIGITS)):
            for name, radii in (("adaptive", OWN), ("the paper's problem", PAPER)):
                yield (
                    f"fit {what}, solver {solver}, {name}",
                    lambda s=solver, d=data, r=radii: fit(
                        d,
                        solver=s,
                        random_state=0,
                        **({"solver_options": {"max_nodes": 200}} if s == "exact" else {}),
                        **r,
                    ),
                )


def _fits_with_options() -> Iterator[tuple[str, Run]]:
    weight = 1 + np.arange(len(WINE[1])) % 3
    fraction = np.round(0.5 + (np.arange(len(WINE[1])) % 7) / 7, 3)
    labels = np.array(["a", "b", "c"])[WINE[1]]
    options: list[tuple[str, Any, dict[str, Any]]] = [
        ("defaults", WINE, {}),
        ("defaults on cancer", CANCER, {}),
        ("one radius on cancer", CANCER, ONE),
        ("labels of text", (WINE[0], labels), {}),
        ("closed balls", IRIS, {"closed_ball": True, "eps": 0.5, **ONE}),
        ("closed balls, adaptive", IRIS, {"closed_ball": True, "eps": 0.5}),
        ("label for outliers", WINE, {"outlier_label": -1, "eps": 1.5}),
        (
            "most frequent label for outliers",
            WINE,
            {"outlier_label": "most_frequent", "eps": 1.5, **ONE},
        ),
        ("integer weights", WINE, {"weight": weight}),
        ("integer weights, one radius", WINE, {"weight": weight, **ONE}),
        ("fractional weights", WINE, {"weight": fraction}),
        ("fractional weights, one radius", WINE, {"weight": fraction, **PAPER}),
        ("zero weights", WINE, {"weight": (weight > 1).astype(float)}),
        ("balanced classes", CANCER, {"class_weight": "balanced"}),
        ("weights of classes", CANCER, {"class_weight": {0: 3.0, 1: 1.0}, **ONE}),
        ("no radius limit", WINE, {"eps": None}),
        ("candidates of any class", WINE, {"cross_class": True}),
        ("classes without prototypes allowed", WINE, {"prototype_cost": 40.0, "min_per_class": 0}),
        ("one prototype per class at least", WINE, {"prototype_cost": 40.0}),
        ("cost 0.5", WINE, {"prototype_cost": 0.5}),
        ("cost 2, one radius", WINE, {"prototype_cost": 2.0, **ONE}),
        ("cost 0, one radius", IRIS, {"prototype_cost": 0.0, **ONE}),
        ("one class", (IRIS[0][:50], IRIS[1][:50]), {"eps": 0.6}),
        ("the plane", plane(1500), {}),
        ("the plane, one radius", plane(1500), ONE),
        ("two threads", DIGITS, {"n_jobs": 2}),
    ]
    for what, data, params in options:
        yield f"fit with {what}", lambda d=data, p=params: fit(d, **p)
    frame = pd.DataFrame(WINE[0]).add_prefix("f")
    yield "fit a data frame", lambda: fit((frame, pd.Series(labels)))


def _fits_with_candidates() -> Iterator[tuple[str, Run]]:
    given = WINE[0][::5] + 0.01
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("a number of samples", {"candidates": 60, "random_state": 0}),
        ("a fraction of the samples", {"candidates": 0.3, "random_state": 0}),
        ("k-means", {"candidates": "kmeans", "random_state": 0}),
        ("hull", {"candidates": "hull", "random_state": 0}),
        ("an array", {"candidates": given}),
        ("samples and an array", {"candidates": ["train", given]}),
        ("unlabeled samples", {"unlabeled": given}),
    ]
    for what, params in kinds:
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield (
                f"fit wine, candidates: {what}, {name}",
                lambda p=params, r=radii: fit(WINE, **p, **r),
            )


def _budgets() -> Iterator[tuple[str, Run]]:
    for limit in (3, 10, 25):
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            for solver in ("auto", "greedy", "exact"):
                yield (
                    f"fit wine, at most {limit} prototypes, solver {solver}, {name}",
                    lambda k=limit, s=solver, r=radii: fit(
                        WINE,
                        max_prototypes=k,
                        solver=s,
                        **r,
                        **({"solver_options": {"max_nodes": 100}} if s == "exact" else {}),
                    ),
                )
    for name, radii in (("adaptive", OWN), ("one radius", ONE)):
        yield (
            f"fit wine, at most 1 and 2 prototypes of two classes, {name}",
            lambda r=radii: fit(WINE, max_prototypes={0: 1, 2: 2}, **r),
        )
        yield (
            f"fit digits, at most 20 prototypes, {name}",
            lambda r=radii: fit(DIGITS, max_prototypes=20, **r),
        )


def _graphs() -> Iterator[tuple[str, Run]]:
    X, y = plane(600)
    near = radius_neighbors_graph(X, 0.4, mode="distance")
    nearest = kneighbors_graph(X, 15, mode="distance")
    for what, graph, eps in (("radius", near, 0.35), ("nearest neighbours", nearest, 0.15)):
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield (
                f"fit a graph of {what}, {name}",
                lambda g=graph, e=eps, r=radii: fit(
                    (g, y), metric="precomputed", eps=e, outlier_label=-1, **r
                ),
            )
        yield (
            f"cover a graph of {what}",
            lambda g=graph, e=eps: cover(g, metric="precomputed", eps=e),
        )


def _batches() -> Iterator[tuple[str, Run]]:
    order = np.random.default_rng(1).permutation(len(WINE[1]))
    data = WINE[0][order], WINE[1][order]
    for name, params in (
        ("adaptive", {"eps": 3.0}),
        ("one radius", {"eps": 2.5, **ONE}),
        ("at most 12", {"eps": 2.5, "max_prototypes": 12, **ONE}),
        ("greedy", {"eps": 2.5, "solver": "greedy", **PAPER}),
    ):
        yield f"fit wine in 4 batches, {name}", lambda p=params: grown(data, 4, **p)


def _paths() -> Iterator[tuple[str, Run]]:
    costs = [0.01, 0.5, 2.0]
    for what, data, eps in (("wine", WINE, [1.0, 2.0, 3.0]), ("iris", IRIS, [0.3, 0.8, 1.5])):
        for solver in ("greedy", "auto"):
            for name, radii in (("adaptive", OWN), ("one radius", PAPER)):
                yield (
                    f"path of {what}, solver {solver}, {name}",
                    lambda d=data, e=eps, s=solver, r=radii: path(
                        d, eps=e, prototype_costs=costs, solver=s, **r
                    ),
                )
    yield "radii suggested for wine", lambda: pc.suggest_eps(*WINE)
    yield "radii suggested for digits", lambda: pc.suggest_eps(*DIGITS)


def _searches() -> Iterator[tuple[str, Run]]:
    yield "search on wine, defaults", lambda: search(WINE)
    yield "search on cancer, defaults", lambda: search(CANCER)
    yield "search on wine, one radius", lambda: search(WINE, **ONE)
    yield "search on iris, one radius, the paper's problem", lambda: search(IRIS, **PAPER)
    yield (
        "search on wine, given grid",
        lambda: search(WINE, eps=[1.0, 2.0, 3.0], prototype_costs=[0.5, 1.0]),
    )
    yield "search on wine, at most 8 prototypes", lambda: search(WINE, max_prototypes=8)
    yield (
        "search on wine, at most 8 prototypes, one radius",
        lambda: search(WINE, max_prototypes=8, **ONE),
    )
    yield "search on wine, greedy", lambda: search(WINE, solver="greedy")
    yield "search on bits, jaccard", lambda: search(bits(), metric="jaccard")
    yield "search on digits with a sample of 300", lambda: search(DIGITS, max_search_samples=300)


def _covers() -> Iterator[tuple[str, Run]]:
    X, _ = plane(800)
    weight = 1.0 + np.arange(800) % 4
    price = np.round(0.5 + (np.arange(800) % 5) / 5, 1)
    for solver in ("auto", "greedy", "ratio-greedy", "local-search", "lp-rounding", "exact"):
        limits = {"solver_options": {"max_nodes": 50}} if solver == "exact" else {}
        yield (
            f"cover wine, solver {solver}",
            lambda s=solver, p=limits: cover(WINE[0], eps=2.5, solver=s, random_state=0, **p),
        )
        yield (
            f"cover wine with at most 12, solver {solver}",
            lambda s=solver, p=limits: cover(
                WINE[0], eps=2.5, max_representatives=12, solver=s, random_state=0, **p
            ),
        )
        yield (
            f"cover 0.9 of wine, solver {solver}",
            lambda s=solver, p=limits: cover(
                WINE[0], eps=2.5, coverage=0.9, solver=s, random_state=0, **p
            ),
        )
    options: list[tuple[str, dict[str, Any]]] = [
        ("automatic radius", {}),
        ("a radius", {"eps": 0.5}),
        ("at most 20", {"eps": 0.5, "max_representatives": 20}),
        ("coverage 0.95", {"eps": 0.5, "coverage": 0.95}),
        ("cost 3", {"eps": 0.5, "cost": 3.0}),
        ("given samples", {"eps": 0.5, "must_include": [3, 700]}),
        (
            "given samples, at most 20",
            {"eps": 0.5, "must_include": [3, 700], "max_representatives": 20},
        ),
        ("costs of candidates", {"eps": 0.5, "candidate_cost": price}),
        (
            "costs of candidates, coverage 0.9",
            {"eps": 0.5, "candidate_cost": price, "coverage": 0.9},
        ),
        ("weights", {"eps": 0.5, "weight": weight, "max_representatives": 20}),
        ("weights, coverage 0.9", {"eps": 0.5, "weight": weight, "coverage": 0.9}),
        ("closed balls", {"eps": 0.5, "closed_ball": True}),
        ("a number of candidates", {"eps": 0.6, "candidates": 200, "random_state": 0}),
        ("cityblock", {"eps": 0.6, "metric": "cityblock"}),
    ]
    for what, params in options:
        yield f"cover the plane: {what}", lambda p=params: cover(X, **p)
    yield "cover words", lambda: cover(words()[0], metric=ds.SpectrumDistance(3), eps=0.8)


def _after_the_fit() -> Iterator[tuple[str, Run]]:
    for what, data in (("wine", WINE), ("cancer", CANCER)):
        for name, radii in (("adaptive", OWN), ("one radius", ONE)):
            yield f"label issues of {what}, {name}", lambda d=data, r=radii: issues(d, **r)
            yield f"evaluate {what}, {name}", lambda d=data, r=radii: evaluated(d, **r)
            yield (
                f"report on {what}, {name}",
                lambda d=data, r=radii: reported(fitted(d, **r), *d),
            )
            yield (
                f"file of a model of {what}, {name}",
                lambda d=data, r=radii: saved(fitted(d, **r), d[0]),
            )
    yield (
        "report on a mixed table",
        lambda: reported(fitted(mixed_frame(), metric="gower"), *mixed_frame()),
    )
    yield (
        "file of a model of a mixed table",
        lambda: saved(fitted(mixed_frame(), metric="gower"), mixed_frame()[0]),
    )
    yield (
        "file of a model of words",
        lambda: saved(fitted(words(), metric=ds.MismatchDistance(4, 1)), words()[0]),
    )
    yield "file of a cover", lambda: saved(pc.BallCover(eps=2.5).fit(WINE[0]), WINE[0])
    yield "report on a cover", lambda: reported(pc.BallCover(eps=2.5).fit(WINE[0]), WINE[0])
    yield "select wine, adaptive", lambda: resampled(WINE)
    yield "select wine, one radius, greedy", lambda: resampled(WINE, solver="greedy", **ONE)
    yield "nearest-neighbour export of wine", lambda: fitted(WINE, **ONE).to_knn().predict(WINE[0])
    yield (
        "coverage of wine",
        lambda: [
            fitted(WINE).coverage(*WINE).balls.toarray(),
            fitted(WINE, **ONE).coverage(*WINE).balls,
        ],
    )


def _dask() -> Iterator[tuple[str, Run]]:
    for name, params in (
        ("one radius", {"eps": 2.5}),
        ("one radius, in rounds", {"eps": 2.5, "selection": "rounds"}),
        ("adaptive", {"eps": 3.0, **OWN}),
        ("at most 9", {"eps": 2.5, "max_prototypes": 9}),
        ("the paper's problem, in rounds", {"eps": 2.5, "selection": "rounds", **PAPER}),
    ):
        yield f"dask fit of wine, {name}", lambda p=params: on_dask(WINE, 50, **p)


def _commands() -> Iterator[tuple[str, Run]]:
    frame, labels = mixed_frame()
    mixed = frame.assign(risk=labels)
    wine = pd.DataFrame(WINE[0]).add_prefix("f").assign(kind=np.array(["a", "b", "c"])[WINE[1]])
    plain = wine.drop(columns="kind")
    yield "command fit wine", lambda: command(wine, "fit", "--target", "kind")
    yield (
        "command fit wine, one radius",
        lambda: command(wine, "fit", "--target", "kind", "--radii", "shared"),
    )
    yield (
        "command fit wine, at most 6",
        lambda: command(wine, "fit", "--target", "kind", "--max-prototypes", "6"),
    )
    yield (
        "command fit wine, given radius",
        lambda: command(wine, "fit", "--target", "kind", "--eps", "3", "--test-size", "0"),
    )
    yield "command fit a mixed table", lambda: command(mixed, "fit", "--target", "risk")
    yield "command cover wine", lambda: command(plain, "cover")
    yield (
        "command cover wine, at most 10",
        lambda: command(plain, "cover", "--max-representatives", "10"),
    )
    yield "command cover 0.9 of wine", lambda: command(plain, "cover", "--coverage", "0.9")
    yield "command predict wine", lambda: predicted(wine, "kind")
    yield "command predict a mixed table", lambda: predicted(mixed, "risk")


# --- comparing ----------------------------------------------------------------------------


def digest(run: Run) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hashlib.sha256(written(run()).encode()).hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="runs whose names contain this text")
    parser.add_argument("--renew", action="store_true", help="write the digests down")
    parser.add_argument("--show", help="print what the digest of one run is made of")
    given = parser.parse_args()
    if given.show:
        print(written(dict(runs())[given.show]()))
        return 0
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {"digests": {}}
    found, differences, start = dict[str, str](), 0, time.monotonic()
    for name, run in runs():
        if given.only not in name:
            continue
        assert name not in found, f"two runs are called {name!r}"
        try:
            found[name] = digest(run)
        except Exception as error:
            found[name] = "failed"
            print(f"FAILED  {name}: {type(error).__name__}: {error}")
        if found[name] != recorded["digests"].get(name):
            differences += 1
            print(f"CHANGED {name}" if name in recorded["digests"] else f"NEW     {name}")
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    if versions != recorded.get("packages", versions):
        print(f"The digests were recorded with {recorded['packages']}, this is {versions}.")
    print(f"{len(found)} runs, {differences} changed, {time.monotonic() - start:.0f} s")
    if given.renew:
        kept = {**recorded["digests"], **found} if given.only else found
        RECORD.write_text(json.dumps({"packages": versions, "digests": kept}, indent=1) + "\n")
        return 0
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
