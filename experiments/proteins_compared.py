"""PVM, K-medoids and a support vector machine on one kernel matrix, fold by fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from protocover import PVMClassifier, pvm_path
from protocover.dissimilarity import kernel_to_distance

from .baselines.medoids import choose_medoids
from .machine import PAPER

# Equally spaced up to the median, as in the paper, and closer together below the first.
PERCENTILES = (*(0.1 * step for step in range(10)), *range(1, 51, 2), 50)
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
COSTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Curve = dict[str, Any]


def compare_methods(kernel: Floats, y: NDArray[Any], train: Rows, held: Rows) -> dict[str, Curve]:
    """Return sizes, and numbers of wrong answers on `held`, over each method's parameter."""
    distances = kernel_to_distance(kernel)
    return {
        "PVM": _run_pvm(distances, y, train, held),
        "K-medoids": _run_medoids(distances, y, train, held),
        "SVM": _run_machine(kernel, y, train, held),
    }


def average(folds: Sequence[dict[str, Any]], n: int) -> dict[str, Curve]:
    """Return each method's curve over all folds: mean sizes, and the error of all `n`."""
    curves = {}
    for method in ("PVM", "K-medoids", "SVM"):
        wrong = np.sum([fold[method]["wrong"] for fold in folds], axis=0)
        curves[method] = {
            "parameter": folds[0][method]["parameter"],
            "size": np.mean([fold[method]["size"] for fold in folds], axis=0).tolist(),
            "error": (wrong / n).tolist(),
        }
    return curves


def count_prototypes(kernel: Floats, y: NDArray[Any], eps: float) -> dict[str, Any]:
    """Fit PVM to all proteins, and count what it keeps."""
    model = PVMClassifier(eps=eps, metric="precomputed", solver="greedy", n_jobs=1, **PAPER).fit(
        kernel_to_distance(kernel), y
    )
    labels = model.prototype_labels_
    return {
        "eps": eps,
        "Positive": int(np.sum(labels == "Positive")),
        "Negative": int(np.sum(labels == "Negative")),
        "prototypes": model.candidate_indices_,
    }


def best_radius(curves: dict[str, Curve]) -> float:
    """Return the radius of the lowest error, the largest of equals."""
    errors = np.array(curves["PVM"]["error"])
    return float(curves["PVM"]["parameter"][np.flatnonzero(errors == errors.min())[-1]])


def thin_out(y: NDArray[Any], n: int) -> Rows:
    """Return all positive rows and random negative ones, `n` together."""
    positive, negative = np.flatnonzero(y == "Positive"), np.flatnonzero(y != "Positive")
    drawn = np.random.default_rng(0).permutation(negative)[: n - len(positive)]
    return np.sort(np.concatenate((positive, drawn)))


def radii(distances: Floats) -> Floats:
    """Return percentiles of the positive distances between proteins."""
    pairs = distances[np.triu_indices(len(distances), k=1)]
    shares = np.array(PERCENTILES) / 100.0
    return np.unique(np.quantile(pairs[pairs > 0.0], shares, method="lower"))


def _run_pvm(distances: Floats, y: NDArray[Any], train: Rows, held: Rows) -> Curve:
    """Compute the path of PVM over all radii."""
    path = pvm_path(
        distances[np.ix_(train, train)],
        y[train],
        eps=radii(distances),
        metric="precomputed",
        solver="greedy",
        solver_options={"bound": False},
        n_jobs=1,
        **PAPER,
    )
    rest = distances[np.ix_(held, train)]
    wrong = []
    for (chosen,) in path.selections:
        nearest = rest[:, chosen.candidates].argmin(axis=1)
        wrong.append(int(np.sum(path.classes[chosen.classes][nearest] != y[held])))
    return {"parameter": path.eps, "size": path.n_prototypes[:, 0], "wrong": wrong}


def _run_medoids(distances: Floats, y: NDArray[Any], train: Rows, held: Rows) -> Curve:
    """Take a share of each class as medoids."""
    chosen = choose_medoids(
        y[train],
        SHARES,
        within=lambda rows: distances[np.ix_(train[rows], train[rows])],
        seed=0,
        init="random",
    )
    wrong = []
    for rows in (train[places] for places in chosen):
        nearest = rows[distances[np.ix_(held, rows)].argmin(axis=1)]
        wrong.append(int(np.sum(y[nearest] != y[held])))
    return {"parameter": SHARES, "size": list(map(len, chosen)), "wrong": wrong}


def _run_machine(kernel: Floats, y: NDArray[Any], train: Rows, held: Rows) -> Curve:
    """Train support vector machines of rising cost; their size is that of the support."""
    own, rest = kernel[np.ix_(train, train)], kernel[np.ix_(held, train)]
    machines = [SVC(C=cost, kernel="precomputed").fit(own, y[train]) for cost in COSTS]
    return {
        "parameter": COSTS,
        "size": [int(machine.n_support_.sum()) for machine in machines],
        "wrong": [int(np.sum(machine.predict(rest) != y[held])) for machine in machines],
    }
