"""Who knows when to keep silent: risk against coverage, and calibrated probabilities.

Every split trains on two thirds of the points. The answers on the rest are ranked by a confidence;
risk is the share of wrong answers among the most confident, coverage how many these are.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from experiments.machine import PAPER
from experiments.parts import Parts
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier

from ..sets import DataSet, load_set, load_sets
from ..trust_measures import aurc, bin_confidence, brier, excess_aurc, risk_curve

SETS = (
    "iris",
    "wine",
    "breast cancer",
    "diabetes",
    "glass",
    "vowel",
    "heart",
    "liver",
    "digits",
    "USPS",
    "Fashion-MNIST",
    "moons",
    "mixture, 8 classes in 5-d",
    "12 classes of 3 clusters",
)
N_SPLITS, MOST_ROWS, N_FOLDS, N_TREES = 10, 500, 5, 100
# scikit-learn has temperatures since 1.8.
HAS_TEMPERATURE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
CALIBRATIONS = ("sigmoid", "temperature") if HAS_TEMPERATURE else ("sigmoid",)
COVERAGES = np.arange(1, 51) / 50

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """Standardised or raw rows to train on and to answer."""

    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to test points, and how confident each is."""

    label: Labels
    confidence: Floats


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Measure every set."""
    names = ("iris", "wine", "moons") if quick else SETS
    size = {"n_splits": N_SPLITS, "most": MOST_ROWS, "n_trees": N_TREES}
    if quick:
        size = {"n_splits": 2, "most": 150, "n_trees": 10}
    settings = [{"name": name, **size} for name in load_sets(names, size["most"])]
    return {"sets": parts.keep_all("abstention", measure, settings), **size}


def measure(name: str, n_splits: int, most: int, n_trees: int) -> dict[str, Any]:
    """Measure all methods on the splits of one set."""
    data = load_set(name, most)
    splitter = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0)
    ranked: dict[str, list[dict[str, Any]]] = {}
    calibrated: dict[str, list[dict[str, Any]]] = {}
    insides = []
    for train, test in splitter.split(data.X, data.y):
        split = prepare(data, train, test)
        models = fit_prototypes(split)
        probabilities = calibrate(split, n_trees)
        for method, answers in rank(split, models, probabilities).items():
            ranked.setdefault(method, []).append(judge(answers, split.y_test))
        for method, p in probabilities.items():
            calibrated.setdefault(method, []).append(judge_probabilities(p, split.y_test))
        insides.append(look_inside(models["shared radius"], split))
    return {
        "name": name,
        "n_train": len(train),
        "n_test": len(test),
        "ranked": {method: gather(some) for method, some in ranked.items()},
        "calibrated": {method: add_up(some) for method, some in calibrated.items()},
        "inside": {key: np.mean([one[key] for one in insides]) for key in insides[0]},
    }


def prepare(data: DataSet, train: Labels, test: Labels) -> Split:
    """Standardise features on the training points; pixels share a scale."""
    A, B = data.X[train], data.X[test]
    if data.kind == "features":
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
    return Split(A, data.y[train], B, data.y[test])


def fit_prototypes(split: Split) -> dict[str, PVMClassifier]:
    """Fit ours with its default parameters."""
    models = {
        "shared radius": PVMClassifier(**PAPER),
        "own radii": PVMClassifier(radii="adaptive"),
    }
    return {name: model.fit(split.X, split.y) for name, model in models.items()}


def calibrate(split: Split, n_trees: int) -> dict[str, Floats]:
    """Return probabilities from cross-validated scores, by every method of calibration."""
    models = {
        "shared radius": PVMClassifier(**PAPER),
        "own radii": PVMClassifier(radii="adaptive"),
        "1-NN": KNeighborsClassifier(1),
        "forest": RandomForestClassifier(n_trees, random_state=0),
    }
    found = {}
    for method in CALIBRATIONS:
        for name, model in models.items():
            calibrated = CalibratedClassifierCV(model, method=method, cv=N_FOLDS)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The least populated class")
                calibrated.fit(split.X, split.y)
            found[f"{name}, {method}"] = calibrated.predict_proba(split.X_test)
    return found


def rank(
    split: Split, models: dict[str, PVMClassifier], probabilities: dict[str, Floats]
) -> dict[str, Answers]:
    """Return the answers of all methods with all their confidences."""
    found = {}
    for name, model in models.items():
        for word, answers in explain(model, split.X_test).items():
            found[f"{name}, {word}"] = answers
    found |= ask_nearest(split)
    for name, p in probabilities.items():
        found[name] = Answers(p.argmax(axis=1), p.max(axis=1))
    return found


def explain(model: PVMClassifier, X: Floats) -> dict[str, Answers]:
    """Read confidences off `explain`: all are of the same answers."""
    why = model.explain(X)
    # Whoever is inside comes first; margins below one another by a share of 1.
    squeezed = why.margin / (1.0 + np.abs(why.margin))
    confidences = {
        "margin": why.margin,
        "inside, then margin": why.inside + squeezed,
        "nearness": -why.relative_distance,
        "ratio": _ratio(why.relative_distance, why.runner_up_relative_distance),
    }
    return {word: Answers(why.label, confidence) for word, confidence in confidences.items()}


def ask_nearest(split: Split) -> dict[str, Answers]:
    """Answer by the nearest training point; the nearest of another class tells how sure."""
    table = cdist(split.X_test, split.X)
    label = split.y[table.argmin(axis=1)]
    own = table.min(axis=1)
    rival = np.where(split.y == label[:, None], np.inf, table).min(axis=1)
    return {
        "1-NN, ratio": Answers(label, _ratio(own, rival)),
        "1-NN, margin": Answers(label, rival - own),
    }


def judge(answers: Answers, y: Labels) -> dict[str, Any]:
    """Measure one ranking on one split."""
    wrong = answers.label != y
    risk = risk_curve(answers.confidence, wrong)
    return {
        "error": wrong.mean(),
        "aurc": aurc(answers.confidence, wrong),
        "excess": excess_aurc(answers.confidence, wrong),
        "risk": risk[np.ceil(COVERAGES * len(wrong)).astype(int) - 1],
    }


def judge_probabilities(p: Floats, y: Labels) -> dict[str, Any]:
    """Measure probabilities on one split."""
    return {"brier": brier(p, y), "bins": bin_confidence(p.max(axis=1), p.argmax(axis=1) == y)}


def look_inside(model: PVMClassifier, split: Split) -> dict[str, float]:
    """Measure the answers inside a ball, and as many of the largest margin."""
    why = model.explain(split.X_test)
    wrong = why.label != split.y_test
    n_inside = int(why.inside.sum())
    risk = risk_curve(why.margin, wrong)
    return {
        "coverage": why.inside.mean(),
        "wrong": wrong.mean(),
        "wrong_inside": wrong[why.inside].mean() if n_inside else 0.0,
        "wrong_by_margin": risk[n_inside - 1] if n_inside else 0.0,
    }


def gather(judged: list[dict[str, Any]]) -> dict[str, Any]:
    """Keep what is tested by split, and the mean curve."""
    kept = {key: [round(float(one[key]), 5) for one in judged] for key in ("error", "aurc")}
    return kept | {
        "excess": round(float(np.mean([one["excess"] for one in judged])), 5),
        "risk": np.mean([one["risk"] for one in judged], axis=0).round(5).tolist(),
    }


def add_up(judged: list[dict[str, Any]]) -> dict[str, Any]:
    """Keep scores by split, and the bins of all splits together."""
    bins = np.sum([one["bins"] for one in judged], axis=0)
    return {"brier": [round(one["brier"], 5) for one in judged], "bins": bins.round(4).tolist()}


def _ratio(own: Floats, rival: Floats) -> Floats:
    """Return 1 minus own / rival, in 0 to 1; equal distances, 0 or not, tell nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = own / rival
    return 1.0 - np.where(np.isnan(share), 1.0, share)
