"""What PVMClassifier keeps and how often it is wrong with its defaults, against 1-NN.

Run: PYTHONPATH=. python benchmarks/first_answer.py [--quick]

The tables are those of first_answer_sets.py, which states the inclusion rule. Three stratified
splits, 70 % to train; numeric tables after StandardScaler with Euclidean distances, mixed ones
with Gower's. 1-NN uses the same distances. Figures are means over the splits of a table, then
over tables; "error" is the error less that of 1-NN, in percentage points.

The cost of a prototype where classes are many and small was chosen on the tuning half, the
1st, 3rd, 5th, ... table in alphabetical order. The criterion is the least mean error among
rules that keep at most half of what the shared radius keeps. It was set after some 60 rules
had been measured on the tuning half; errors and shares of settings a and c and of cost 1/n had
then been seen for all tables. Besides `RULES` these were costs by the size of each class,
thresholds on the median size, the number of samples and other numbers of classes, a least gain
of 2 to 4 for each ball, and thresholds on the leave-one-out error of 1-NN.

The fits are deterministic: the effort of the solver is limited by counts, not by time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import StratifiedShuffleSplit

from first_answer_sets import MOST_ROWS, MixedSet, load
from page import table
from protocover import PVMClassifier

PAPER = {"cross_class": True, "min_per_class": 0}
COST_OF = {"1": lambda n: 1.0, "0.5": lambda n: 0.5, "1/n": lambda n: 1.0 / n}
IMBALANCED = 3.0


@dataclass(frozen=True)
class Setting:
    """Parameters of PVMClassifier; `quantile` is that of the distances to another class."""

    quantile: float | None
    cost: str
    radii: str = "adaptive"
    cross_class: bool = False
    min_per_class: int = 1
    class_weight: str | None = None

    def fit(self, within: np.ndarray, y: np.ndarray) -> PVMClassifier:
        model = PVMClassifier(
            eps=None if self.quantile is None else quantile_of_rivals(within, y, self.quantile),
            radii=self.radii,
            metric="precomputed",
            cross_class=self.cross_class,
            prototype_cost=COST_OF[self.cost](len(y)),
            min_per_class=self.min_per_class,
            class_weight=self.class_weight,
            n_jobs=1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(within, y)


SETTINGS = {
    "a shared radius, 1/n": Setting(0.5, "1/n", radii="shared", **PAPER),
    "b own radii, 0.75, cost 1": Setting(0.75, "1"),
    "c own radii, 0.9, cost 1": Setting(0.9, "1"),
    "d own radii, no limit, cost 1": Setting(None, "1"),
    "c, cost 0.5": Setting(0.9, "0.5"),
    "c, cost 1/n": Setting(0.9, "1/n"),
    "c, no floor": Setting(0.9, "1", min_per_class=0),
    "c, no floor, cross_class": Setting(0.9, "1", **PAPER),
}
BALANCED = "c, balanced"
TODAY, PROPOSED = "a shared radius, 1/n", "c own radii, 0.9, cost 1"

# When to take a lower cost than 1, by number of classes and their mean number of samples.
RULES: dict[str, tuple[str, Callable[[int, float], bool]]] = {
    "1/n below 80 a class": ("c, cost 1/n", lambda k, mean: mean < 80),
    "0.5 below 80 a class": ("c, cost 0.5", lambda k, mean: mean < 80),
    "0.5 below 40 a class": ("c, cost 0.5", lambda k, mean: mean < 40),
    "0.5 from 5 classes, below 80": ("c, cost 0.5", lambda k, mean: k >= 5 and mean < 80),
    "0.5 from 10 classes": ("c, cost 0.5", lambda k, mean: k >= 10),
    "0.5 from 10 classes, below 40": ("c, cost 0.5", lambda k, mean: k >= 10 and mean < 40),
    "0.5 from 10 classes, below 80": ("c, cost 0.5", lambda k, mean: k >= 10 and mean < 80),
}
# What the criterion chooses. It tied with "from 10 classes", which applies to the same two tables
# of the tuning half.
CHOSEN = "0.5 from 10 classes, below 80"


def quantile_of_rivals(within: np.ndarray, y: np.ndarray, quantile: float) -> float:
    """Return a quantile of the distances to the nearest sample of another class."""
    nearest = np.where(y[:, None] != y, within, np.inf).min(axis=0)
    return float(np.quantile(nearest[nearest > 0.0], quantile, method="inverted_cdf"))


def measure(name: str, data: MixedSet, splits: int) -> Iterable[dict[str, object]]:
    """Yield the figures of each setting on each split of a table."""
    dealt = StratifiedShuffleSplit(splits, test_size=0.3, random_state=0)
    for train, test in dealt.split(data.X, data.y):
        within, across = data.distances(train, test)
        y, y_test = data.y[train], data.y[test]
        counts = np.bincount(y)
        settings = dict(SETTINGS)
        if counts.max() > IMBALANCED * counts.min():
            settings[BALANCED] = Setting(0.9, "1", class_weight="balanced")
        about = {
            "table": name,
            "n": len(y),
            "classes": len(counts),
            "imbalanced": BALANCED in settings,
        }
        smallest = int(counts.argmin())
        nearest = figures(y[across.argmin(axis=1)], y_test, smallest)
        yield about | nearest | {"setting": "1-NN", "share": 100.0, "lost": False, "seconds": 0.0}
        for setting, one in settings.items():
            start = time.process_time()
            model = one.fit(within, y)
            found = figures(model.predict(across), y_test, smallest)
            labels = model.prototype_labels_
            yield (
                about
                | found
                | {
                    "setting": setting,
                    "share": 100.0 * len(labels) / len(y),
                    "lost": len(np.unique(labels)) < len(counts),
                    "seconds": time.process_time() - start,
                }
            )


def figures(predicted: np.ndarray, y: np.ndarray, smallest: int) -> dict[str, float]:
    """Return error, balanced accuracy and the recall of the smallest class, in %."""
    recall = recall_score(y, predicted, labels=[smallest], average="macro", zero_division=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class without test samples
        balanced = balanced_accuracy_score(y, predicted)
    return {
        "error": 100.0 * float(np.mean(predicted != y)),
        "balanced": 100.0 * balanced,
        "smallest": 100.0 * recall,
    }


def with_rules(fits: pd.DataFrame) -> pd.DataFrame:
    """Add what each rule would have chosen."""
    parts = [fits]
    mean = fits["n"] / fits["classes"]
    for name, (low, applies) in RULES.items():
        lower = np.array([applies(k, size) for k, size in zip(fits["classes"], mean, strict=True)])
        chosen = fits[fits["setting"] == np.where(lower, low, PROPOSED)]
        parts.append(chosen.assign(setting=name))
    return pd.concat(parts, ignore_index=True)


def by_table(fits: pd.DataFrame) -> pd.DataFrame:
    """Average over splits, with errors less those of 1-NN."""
    means = fits.groupby(["setting", "table"]).mean(numeric_only=True)
    return means.assign(behind=means["error"] - means["error"].loc["1-NN"])


def tables_table(fits: pd.DataFrame) -> str:
    """One row per table: error less that of 1-NN / share kept, for the main settings."""
    means = by_table(fits)
    shown = [*list(SETTINGS)[:6], CHOSEN]
    rows = []
    for name in fits["table"].unique():
        about = means.loc["1-NN", name]
        cells = [means.loc[setting, name] for setting in shown]
        rows.append(
            (
                name,
                f"{about['n']:.0f}",
                f"{about['classes']:.0f}",
                f"{about['error']:.1f}",
                *(f"{one['behind']:+.1f} / {one['share']:.0f} %" for one in cells),
            )
        )
    return table(["table", "training samples", "classes", "1-NN error %", *shown], rows)


def summary(fits: pd.DataFrame) -> str:
    """One row per setting: mean and worst error less that of 1-NN, and the share kept."""
    means = by_table(fits)
    rows = []
    for setting in [*SETTINGS, *RULES]:
        one, lost = means.loc[setting], fits.loc[fits["setting"] == setting, "lost"]
        rows.append(
            (
                setting,
                f"{one['behind'].mean():+.2f} ({one['behind'].sem():.2f})",
                f"{one['behind'].max():+.1f}",
                f"{one['share'].mean():.1f} %",
                f"{one['share'].max():.0f} %",
                f"{lost.sum()} of {len(lost)}",
                f"{one['seconds'].mean():.2f}",
            )
        )
    head = ["setting", "error (s.e.)", "worst", "share", "most", "fits without a class"]
    return table([*head, "seconds"], rows)


def imbalance(fits: pd.DataFrame) -> str:
    """Compare the floor and class weights where classes differ in size."""
    means = by_table(fits)
    shown = ["1-NN", TODAY, "c, no floor, cross_class", "c, no floor", PROPOSED, BALANCED]
    rows = []
    for setting in shown:
        one, lost = means.loc[setting], fits.loc[fits["setting"] == setting, "lost"]
        rows.append(
            (
                setting,
                f"{100.0 - one['error'].mean():.1f}",
                f"{one['balanced'].mean():.1f}",
                f"{one['smallest'].mean():.1f}",
                f"{one['share'].mean():.1f}",
                f"{lost.sum()} of {len(lost)}",
            )
        )
    head = ["setting", "accuracy %", "balanced accuracy %", "recall of the smallest class %"]
    return table([*head, "share %", "fits without a class"], rows)


def report(fits: pd.DataFrame) -> None:
    """Print every table, the halves, and what imbalance does."""
    fits = with_rules(fits)
    names = list(fits["table"].unique())
    print(f"## Error less that of 1-NN, and share kept\n\n{tables_table(fits)}")
    for half, some in {"tuning": names[::2], "validation": names[1::2], "all": names}.items():
        part = fits[fits["table"].isin(some)]
        print(f"\n## {half}: {len(some)} tables\n\n{summary(part)}")
    uneven = fits[fits["imbalanced"]]
    head = f"largest class more than {IMBALANCED:g} times the smallest"
    print(f"\n## {uneven['table'].nunique()} tables with the {head}\n\n{imbalance(uneven)}")
    pairs = [(PROPOSED, TODAY), (CHOSEN, PROPOSED), (CHOSEN, TODAY)]
    pairs += [("c, no floor", "c, no floor, cross_class"), (BALANCED, PROPOSED)]
    print(f"\n## Differences on the same tables\n\n{differences(fits, pairs)}")


def differences(fits: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> str:
    """Compare two settings on the tables that have both."""
    means, rows = by_table(fits), []
    for first, second in pairs:
        less = (means.loc[first, "error"] - means.loc[second, "error"]).dropna()
        won = f"{(less < -1e-9).sum()} : {(less > 1e-9).sum()}"
        rows.append((f"{first} - {second}", f"{less.mean():+.2f} ({less.sem():.2f})", won))
    return table(["settings", "error (s.e.)", "tables lower : higher"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="every fifth table, 300 rows, one split"
    )
    quick = parser.parse_args().quick
    start = time.process_time()
    data = load(300 if quick else MOST_ROWS)
    names = list(data)[:: 5 if quick else 1]
    fits = [fit for name in names for fit in measure(name, data[name], 1 if quick else 3)]
    report(pd.DataFrame(fits))
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
