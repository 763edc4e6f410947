"""The same from sequences: SCOP 1.53, FASTA file to prototypes, with our mismatch kernel.

One superfamily against the rest, for the three that the data names. All its domains and
random others are used. The final model is fitted on the sequences themselves, with the
mismatch distance as its metric, and held against the one on the kernel matrix.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocover import PVMClassifier
from protocover.dissimilarity import MismatchDistance, mismatch_kernel

from .datasets import load_scop
from .machine import PAPER
from .parts import Parts
from .proteins_compared import average, best_radius, compare_methods, count_prototypes, thin_out
from .tuning import make_folds

SUPERFAMILIES = ("1.27.1", "2.1.1", "3.2.1")
# Words of so many letters, of which so many may differ, as in Leslie et al. (2004).
WORD, MISMATCHES = 5, 1


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return each superfamily's curves, and its final model of PVM."""
    n, n_folds = (150, 2) if quick else (1000, 10)
    names = SUPERFAMILIES[:1] if quick else SUPERFAMILIES
    sets = {}
    for name in names:
        tasks = [{"name": name, "n": n, "n_folds": n_folds, "fold": k} for k in range(n_folds)]
        curves = average(parts.keep_all(f"SCOP {name}", run_fold, tasks), n)
        final = parts.keep(run_final, name=name, n=n, eps=best_radius(curves))
        sets[name] = {"curves": curves, "final": final}
    return {"n": n, "n_folds": n_folds, "k": WORD, "m": MISMATCHES, "sets": sets}


def run_fold(name: str, n: int, n_folds: int, fold: int) -> dict[str, Any]:
    """Train every method without one fold and test it there."""
    _, kernel, y = load(name, n)
    train, held = make_folds(y, y, seed=0, n_folds=n_folds)[fold]
    return dict(compare_methods(kernel, y, train, held))


def run_final(name: str, n: int, eps: float) -> dict[str, Any]:
    """Fit PVM to the kernel matrix, and to the sequences without one."""
    sequences, kernel, y = load(name, n)
    told = count_prototypes(kernel, y, eps)
    metric = MismatchDistance(WORD, MISMATCHES)
    model = PVMClassifier(eps=eps, metric=metric, solver="greedy", n_jobs=1, **PAPER).fit(
        sequences, y
    )
    same = np.array_equal(model.candidate_indices_, told.pop("prototypes"))
    return told | {"points": int(np.sum(y == "Positive")), "same_from_sequences": same}


@cache
def load(name: str, n: int) -> tuple[list[str], NDArray[np.float64], NDArray[Any]]:
    """Return sequences, their kernel and labels: a superfamily and random others."""
    scop = load_scop()
    y = scop.binary[name]
    rows = thin_out(y, n)
    sequences = [scop.data[row] for row in rows]
    return sequences, mismatch_kernel(sequences, k=WORD, m=MISMATCHES), y[rows]
