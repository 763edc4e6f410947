"""Nearest neighbours condensed and edited (section 4 of the paper names them as related work).

On the splits of the UCI experiment; none of them has a parameter to choose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .baselines.codebook import Codebook
from .baselines.condensed import condense
from .baselines.edited import edit, multiedit, undersample
from .datasets import UCI_NAMES
from .parts import Parts
from .uci import split

METHODS: dict[str, Callable[..., Codebook]] = {
    "condensed": condense,
    "undersampled": undersample,
    "edited": lambda X, y, seed: edit(X, y),
    "multiedit": multiedit,
    "multiedit, condensed": lambda X, y, seed: condense_book(multiedit(X, y, seed=seed), seed),
    "1-NN": lambda X, y, seed: Codebook(X, y),
}


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors, sizes and errors on the training examples, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits = 2 if quick else 50
    sets = {}
    for name in names:
        tasks = [{"name": name, "seed": seed} for seed in range(n_splits)]
        rows = parts.keep_all(f"neighbors {name}", run_split, tasks)
        sets[name] = {
            method: {key: [row[method][key] for row in rows] for key in rows[0][method]}
            for method in METHODS
        }
    return {"n_splits": n_splits, "sets": sets}


def run_split(name: str, seed: int) -> dict[str, Any]:
    """Test every method on one split."""
    X, y, X_test, y_test = split(name, seed)
    books = {method: fit(X, y, seed=seed) for method, fit in METHODS.items()}
    return {
        method: {
            "error": book.error(X_test, y_test),
            "size": len(book),
            "training_error": book.error(X, y),
        }
        for method, book in books.items()
    }


def condense_book(book: Codebook, seed: int) -> Codebook:
    """Condense what has been edited, as its authors advise."""
    return condense(book.points, book.labels, seed=seed)
