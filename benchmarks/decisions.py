"""Decision rules at equal numbers of prototypes: errors, log loss and calibration.

Run: python benchmarks/decisions.py [--sets NAMES] [--splits 2] [--write]

The sets are all of evidence/sets.py and evidence/tables.py that hold rows of numbers, except the
twelve that the priors of the rule were chosen on. At most 500 samples are drawn to train on; the
same number to test on. For 2, 5 and 10 prototypes per class PVMClassifierCV chooses radius and
cost by three folds, and with decision="auto" the rule. GLVQ is trained to convergence from
k-means centres, OLVQ1 with 20 epochs. Random forests and 1-NN use all samples.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from evidence.sets import FRESH, SETS, load_sets
from experiments.baselines.codebook import Codebook
from experiments.baselines.glvq import fit_glvq
from experiments.baselines.olvq1 import _well_inside, start_codebook, train
from scipy.stats import wilcoxon
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from page import table, write_section
from protocover import PVMClassifier, PVMClassifierCV

# The priors of the rule were chosen on these, and on make_classification and make_moons.
TUNED = {"iris", "wine", "breast cancer", "digits", "diabetes", "glass", "heart", "liver", "vowel"}
TUNED |= {"moons"}
NAMES = [name for name in (*SETS, *FRESH) if name not in TUNED and name != "proteins"]
SIZES, MOST, EPOCHS, BINS = (2, 5, 10), 500, 20, 10
RESULTS = Path(__file__).parent / "decisions.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=NAMES)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="into decisions.csv and the page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, data in load_sets(options.sets).items():
        few = np.bincount(data.y) < 20
        kept = np.flatnonzero(~few[data.y])
        X, y = data.X[kept], np.unique(data.y[kept], return_inverse=True)[1]
        half = min(MOST, len(y) // 2)
        splits = StratifiedShuffleSplit(
            options.splits, train_size=half, test_size=half, random_state=0
        )
        start = time.process_time()
        for split, (train_rows, test_rows) in enumerate(splits.split(X, y)):
            A, B = X[train_rows], X[test_rows]
            if data.kind == "features":
                scaler = StandardScaler().fit(A)
                A, B = scaler.transform(A), scaler.transform(B)
            for size in SIZES:
                found = compare(A, y[train_rows], B, y[test_rows], size)
                rows += [(name, split, size, *row) for row in found]
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    if options.write:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])
    text = summarize(rows)
    print(text)
    if options.write:
        write_section("probabilities.md", "decisions", text)


HEADER = ("set", "split", "per_class", "method", "error", "log_loss", "calibration_error")


def compare(A, y, B, y_test, size):
    """Return (method, error, log loss, calibration error) of each method on one split."""
    n_classes = int(y.max()) + 1
    budget = dict.fromkeys(range(n_classes), size)
    search = PVMClassifierCV(max_prototypes=budget, cv=3, decision="auto", random_state=0)
    search.fit(A, y)
    setting = {name: search.best_params_[name] for name in ("eps", "prototype_cost")}
    nearest = PVMClassifier(max_prototypes=budget, **setting).fit(A, y)
    fitted = PVMClassifier(max_prototypes=budget, decision="fitted", **setting).fit(A, y)
    calibrated = CalibratedClassifierCV(nearest, cv=3).fit(A, y)
    logistic = LogisticRegression(max_iter=2000).fit(nearest.transform(A), y)
    rng = np.random.default_rng(0)
    begun = start_codebook(y, size * n_classes, _well_inside(A, y), rng)
    olvq = train(A, y, Codebook(A[begun], y[begun]), rng, n_steps=EPOCHS * len(y))
    forest = RandomForestClassifier(200, random_state=0).fit(A, y)
    auto = search.predict_proba(B) if search.best_params_["decision"] == "fitted" else None
    return [
        ("nearest", *judge(nearest.predict(B), None, y_test)),
        ("fitted", *judge(fitted.predict(B), fitted.predict_proba(B), y_test)),
        ("auto", *judge(search.predict(B), auto, y_test)),
        ("calibrated nearest", *judge(calibrated.predict(B), calibrated.predict_proba(B), y_test)),
        (
            "logistic on distances",
            *judge(
                logistic.predict(nearest.transform(B)),
                logistic.predict_proba(nearest.transform(B)),
                y_test,
            ),
        ),
        ("GLVQ", *judge(fit_glvq(A, y, size, seed=0).predict(B), None, y_test)),
        ("OLVQ1", *judge(olvq.predict(B), None, y_test)),
        ("1-NN", *judge(KNeighborsClassifier(1).fit(A, y).predict(B), None, y_test)),
        ("random forest", *judge(forest.predict(B), forest.predict_proba(B), y_test)),
    ]


def judge(labels, proba, y):
    """Return error, log loss and expected calibration error, NaN without probabilities."""
    error = float(np.mean(labels != y))
    if proba is None:
        return error, np.nan, np.nan
    loss = log_loss(y, np.clip(proba, 1e-15, 1.0), labels=np.arange(proba.shape[1]))
    top = proba.max(axis=1)
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    right = labels == y
    gaps = [
        abs(top[bins == b].mean() - right[bins == b].mean()) * np.mean(bins == b)
        for b in np.unique(bins)
    ]
    return error, float(loss), float(sum(gaps))


def summarize(rows) -> str:
    """Return the means over sets, and how often the error is below that of "nearest"."""
    methods = list(dict.fromkeys(row[3] for row in rows))
    names = list(dict.fromkeys(row[0] for row in rows))
    lines = []
    for size in SIZES:
        means = {
            method: np.array(
                [
                    np.mean(
                        [r[4:7] for r in rows if r[:1] + r[2:4] == (name, size, method)], axis=0
                    )
                    for name in names
                ]
            )
            for method in methods
        }
        for method in methods:
            error, loss, calibration = means[method].T
            change = error - means["nearest"][:, 0]
            won, lost = int((change < 0).sum()), int((change > 0).sum())
            p = wilcoxon(change).pvalue if (change != 0).any() else 1.0
            shown = [
                f"{x:.3f}" if np.isfinite(x) else "" for x in (loss.mean(), calibration.mean())
            ]
            lines.append(
                [
                    size,
                    method,
                    f"{100 * error.mean():.1f}",
                    f"{100 * change.mean():+.1f}",
                    f"{won} : {lost}",
                    f"{p:.2g}",
                    *shown,
                ]
            )
    header = ["per class", "method", "error, %", "change", "won : lost", "p", "log loss"]
    return f"{len(names)} sets.\n\n{table([*header, 'calibration error'], lines)}"


if __name__ == "__main__":
    main()
