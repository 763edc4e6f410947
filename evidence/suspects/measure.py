"""Labels flipped on purpose, and who finds them: find_label_issues, neighbours, cleanlab.

All see the same rows: features standardised, pixels as they are. A ranking is judged by how many
of the flipped labels are among its first so many as were flipped, what is listed outright by how
much of it was flipped.
"""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from experiments.machine import PAPER
from experiments.parts import Parts
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier, find_label_issues

from ..sets import load_set, load_sets
from ..trust_measures import Doubt, precision_at
from .cleanlab_peer import ask_cleanlab, cleanlab_version

# The form of the score was chosen among a few on these.
TUNED = ("iris", "wine", "breast cancer", "digits", "USPS")
FRESH = (
    "glass",
    "vowel",
    "Fashion-MNIST",
    "mixture, 8 classes in 5-d",
    "blobs, 40 classes",
    "12 classes of 3 clusters",
    "mixture, 3 classes in 2-d",
    "spiral of 5 arms",
    "blobs, 10 classes",
    "blobs of 3, 12 and 85 %",
    "diabetes",
    "heart",
    "liver",
    "moons",
)
SHARES = (0.02, 0.05, 0.1)
N_DRAWS = 10
MOST_ROWS, N_FOLDS, N_TREES = 500, 5, 100
FACTORS = (0.75, 1.5)
Neighbors = (10, 5)
SCORE = "src/protocover/_inspection/label_issues.py"


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Flip labels of every set in every way."""
    names = ("iris", "wine", "glass", "moons") if quick else (*TUNED, *FRESH)
    most, n_trees = (120, 10) if quick else (MOST_ROWS, N_TREES)
    version = cleanlab_version()
    settings = [
        {
            "name": name,
            "kind": kind,
            "n_draws": 2 if quick else N_DRAWS,
            "most": most,
            "cleanlab": version and {"version": version, "n_trees": n_trees},
        }
        for name, data in load_sets(names, most).items()
        for kind in kinds_of(data.y)
    ]
    cells = parts.keep_all("suspects", measure, settings)
    return {"cleanlab": version, "frozen": last_change(SCORE), "cells": cells}


def kinds_of(y: NDArray[Any]) -> tuple[str, ...]:
    """Return the ways to flip labels: with two classes there is only one other."""
    return ("uniform",) if len(np.unique(y)) == 2 else ("uniform", "similar")


def last_change(path: str) -> dict[str, str] | None:
    """Return commit and date of the last change of a file, where git knows."""
    command = ["git", "log", "-1", "--no-merges", "--format=%h %as", "--", path]
    root = Path(__file__).parents[2]
    try:
        told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = told.stdout.split()
    return {"commit": found[0], "date": found[1]} if found else None


def measure(
    name: str, kind: str, n_draws: int, most: int, cleanlab: dict[str, Any] | None
) -> dict[str, Any]:
    """Flip labels of one set in one way, several times for each share."""
    data = load_set(name, most)
    X = StandardScaler().fit_transform(data.X) if data.kind == "features" else data.X
    table = cdist(X, X)
    draws = [(share, seed) for share in SHARES for seed in range(n_draws)]
    flipped = [flip(data.y, table, share, kind, np.random.default_rng(k)) for share, k in draws]
    doubts = [doubt_by_prototypes(X, y) | doubt_by_neighbors(table, y) for y, _ in flipped]
    if cleanlab:
        theirs = doubt_by_cleanlab(X, [y for y, _ in flipped], cleanlab["n_trees"])
        doubts = [ours | more for ours, more in zip(doubts, theirs, strict=True)]
    judged = [judge(d, rows, len(X)) for d, (_, rows) in zip(doubts, flipped, strict=True)]
    shares = {
        f"{share:g}": summarize([j for j, (s, _) in zip(judged, draws, strict=True) if s == share])
        for share in SHARES
    }
    size = {"n": len(X), "n_classes": len(np.unique(data.y)), "n_draws": n_draws}
    return {"name": name, "kind": kind, **size, "shares": shares}


def flip(
    y: NDArray[Any], table: NDArray[np.float64], share: float, kind: str, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Give a share of the points another class; return all labels and the rows changed.

    Uniform is any other class, similar that of the nearest point of another class.
    """
    rows = rng.choice(len(y), max(1, round(share * len(y))), replace=False)
    n_classes, labels = int(y.max()) + 1, y.copy()
    if kind == "similar":
        rivals = np.where(y[rows][:, None] == y, np.inf, table[rows])
        labels[rows] = y[rivals.argmin(axis=1)]
    else:
        labels[rows] = (y[rows] + rng.integers(1, n_classes, len(rows))) % n_classes
    return labels, rows


def doubt_by_prototypes(X: NDArray[np.float64], y: NDArray[Any]) -> dict[str, Doubt]:
    """Doubt labels by find_label_issues, with default parameters and other radii."""
    shared = PVMClassifier(**PAPER).fit(X, y)
    models = {"shared radius": shared, "own radii": PVMClassifier(radii="adaptive").fit(X, y)}
    for factor in FACTORS:
        models[f"shared radius x {factor:g}"] = PVMClassifier(
            eps=factor * shared.eps_, **PAPER
        ).fit(X, y)
    return {name: listed(model, X, y) for name, model in models.items()}


def listed(model: PVMClassifier, X: NDArray[np.float64], y: NDArray[Any]) -> Doubt:
    """Read scores off the list of suspects; the others come after it, all alike."""
    found = find_label_issues(model, X, y, refit=False)
    score, flagged = np.full(len(y), -1.0), np.zeros(len(y), dtype=bool)
    score[found.row], flagged[found.row] = found.score, True
    return Doubt(score, flagged)


def doubt_by_neighbors(table: NDArray[np.float64], y: NDArray[Any]) -> dict[str, Doubt]:
    """Doubt labels by the share of the nearest points with another one.

    Ties go to the nearest of the own label and of another: the nearer the other, the worse.
    """
    far = table.copy()
    np.fill_diagonal(far, np.inf)
    other = y[:, None] != y
    own, rival = np.where(other, np.inf, far).min(axis=1), np.where(other, far, np.inf).min(axis=1)
    closeness = np.where(np.isinf(own), 1.0, own / np.maximum(own + rival, 1e-300))
    found = {}
    for k in Neighbors:
        near = np.argpartition(far, k, axis=1)[:, :k]
        share = np.take_along_axis(other, near, axis=1).mean(axis=1)
        # A step of the share is 1/k, of which the closeness takes at most half.
        found[f"{k}-NN disagreement"] = Doubt(share + closeness / (2 * k), share > 0.5)
    return found


def doubt_by_cleanlab(
    X: NDArray[np.float64], labellings: list[NDArray[Any]], n_trees: int
) -> list[dict[str, Doubt]]:
    """Doubt labels by cleanlab, from probabilities that no point had a say in for itself."""
    probabilities = {
        name: np.array([out_of_fold(model, X, y) for y in labellings])
        for name, model in (
            ("1-NN", KNeighborsClassifier(1)),
            ("10-NN", KNeighborsClassifier(10)),
            ("forest", RandomForestClassifier(n_trees, random_state=0)),
        )
    }
    return ask_cleanlab(np.array(labellings), probabilities)


def out_of_fold(model: Any, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Predict the probabilities of all classes by cross-validation."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # A rare class may be missing in a fold: its probability is then 0 there.
        warnings.filterwarnings("ignore", message="The least populated class|Number of classes")
        return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def judge(
    doubts: dict[str, Doubt], rows: NDArray[np.intp], n_points: int
) -> dict[str, dict[str, float]]:
    """Judge every ranking and every list by the rows that were flipped."""
    truth = np.zeros(n_points, dtype=bool)
    truth[rows] = True
    return {
        name: {
            "precision": precision_at(doubt.score, truth),
            "average_precision": float(average_precision_score(truth, doubt.score)),
            "auc": float(roc_auc_score(truth, doubt.score)),
            "n_listed": float(doubt.flagged.sum()),
            "n_right": float((doubt.flagged & truth).sum()),
            "n_flipped": float(len(rows)),
        }
        for name, doubt in doubts.items()
    }


def summarize(judged: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Average over draws; of precision keep each one."""
    found = {}
    for name in judged[0]:
        means = {key: np.mean([draw[name][key] for draw in judged]) for key in judged[0][name]}
        each = [round(draw[name]["precision"], 4) for draw in judged]
        found[name] = {key: round(float(mean), 4) for key, mean in means.items()} | {"each": each}
    return found
