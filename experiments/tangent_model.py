"""A closer look at a tangent distance model (section 5.2): what its prototypes are.

At the radius whose model has the number of prototypes nearest to the paper's, so that its
counts can be compared: the first prototypes and what they cover, a map of them, the way of
the greedy, and what the many prototypes after the first ones are good for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocover import PVMClassifier, pvm_path
from protocover._maps import sammon_map
from protocover.plotting._curves import running_error

from .digits_table import Digits, load_digits, pack_images
from .machine import PAPER
from .parts import Parts

# Of the paper: all prototypes, the first ones that it shows, and the cost that stops there.
TOTAL, FIRST, COST = 3372, 88, 6.0
# Radii between the two percentiles within which that number of prototypes is looked for.
BETWEEN, N_RADII = (1.0, 3.0), 41
N_DRAWN = 7


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return all counts and pictures of the model."""
    return parts.keep(
        run_model,
        n=300 if quick else 7291,
        folder=parts.folder / "digits",
        total=150 if quick else TOTAL,
        first=20 if quick else FIRST,
    )


def run_model(n: int, folder: Path, total: int, first: int) -> dict[str, Any]:
    """Find the radius, fit the model and take it apart."""
    digits = load_digits(n, folder)
    eps = find_radius(digits, total)
    model = PVMClassifier(eps=eps, metric="precomputed", solver="greedy", n_jobs=1, **PAPER).fit(
        digits.table, digits.labels
    )
    scores = model.solution_.score
    n_test, positive = len(digits.test_labels), digits.table[digits.table > 0.0]
    error = running_error(model, digits.test_table, digits.test_labels)
    return {
        "n": n,
        "n_test": n_test,
        "eps": eps,
        "percentile": 100.0 * float(np.mean(positive < eps)),
        "size": len(scores),
        "first": first,
        "cost": COST,
        # Greedy for a larger cost is the beginning of greedy for a smaller one.
        "stop": int(np.sum(scores > COST)),
        "by_digit": np.bincount(model.prototype_labels_, minlength=10),
        "covered": write_line(model.newly_covered_count_),
        "improvement": write_line(scores),
        "wrong": write_line(n_test * error),
        "shown": show_first(digits, model, first),
        "miscovered": show_miscovered(digits, model),
        "corrected": show_corrected(digits, model, first),
    }


def find_radius(digits: Digits, total: int) -> float:
    """Return the radius whose model has nearest to `total` prototypes."""
    low, high = digits.radii(BETWEEN)
    path = pvm_path(
        digits.table,
        digits.labels,
        eps=np.linspace(low, high, N_RADII),
        metric="precomputed",
        solver="greedy",
        solver_options={"bound": False},
        n_jobs=1,
        **PAPER,
    )
    return float(path.eps[np.abs(path.n_prototypes[:, 0] - total).argmin()])


def show_first(digits: Digits, model: PVMClassifier, first: int) -> dict[str, Any]:
    """Return pictures, counts and a map of the first prototypes."""
    rows = model.candidate_indices_[:first]
    placed = sammon_map(digits.table[np.ix_(rows, rows)])
    return {
        "images": pack_images(digits.images[rows]),
        "labels": model.prototype_labels_[:first],
        "covered": model.newly_covered_count_[:first],
        "miscovered": model.miscovered_count_[:first],
        "coordinates": placed.coordinates.round(4),
        "stress": placed.stress,
    }


def show_miscovered(digits: Digits, model: PVMClassifier) -> dict[str, Any]:
    """Return the images of other digits in the ball of the first prototype."""
    inside = model.coverage(digits.table, digits.labels).members(0)
    wrong = inside[digits.labels[inside] != model.prototype_labels_[0]]
    return {"images": pack_images(digits.images[wrong]), "labels": digits.labels[wrong]}


def show_corrected(digits: Digits, model: PVMClassifier, first: int) -> dict[str, Any]:
    """Return test digits that the first prototypes get wrong and all get right.

    Of some of them also the pictures: the digit, the nearest of the first prototypes, the
    nearest of these of the right class, and the nearest of all.
    """
    far = model.transform(digits.test_table)
    labels, y = model.prototype_labels_, digits.test_labels
    nearest, early = far.argmin(axis=1), far[:, :first].argmin(axis=1)
    corrected = np.flatnonzero((labels[early] != y) & (labels[nearest] == y))
    # A digit that none of the first prototypes stands for has no nearest of the right class.
    able = corrected[np.isin(y[corrected], labels[:first])]
    drawn = np.sort(np.random.default_rng(0).permutation(able)[:N_DRAWN])
    right = np.where(labels[:first] == y[drawn, None], far[drawn, :first], np.inf).argmin(axis=1)
    chosen = np.stack((early[drawn], right, nearest[drawn]))
    return {
        "count": len(corrected),
        "images": [
            pack_images(digits.test_images[drawn]),
            *(pack_images(digits.images[model.candidate_indices_[row]]) for row in chosen),
        ],
        "labels": [y[drawn], *labels[chosen]],
    }


def write_line(values: NDArray[Any]) -> str:
    """Write whole numbers as one line of text, because there are thousands of them."""
    return " ".join(map(str, np.round(values).astype(int)))
