"""Compare the greedy in the folds of a search with the solver that fits its final model.

Run: PYTHONPATH=. python benchmarks/choose_inner_solver.py [--sets ...] [--radii ...] [--write]

Each data set of adaptive_radii_sets.py, at most 450 rows of it, is split several times, two thirds
for training. There five-fold cross-validation over the grid that PVMClassifierCV proposes
chooses one of ten radii (with --radii adaptive, limit and cost), once with the greedy in the folds
and once with the solver that fits the final model, by both rules. Both choices are then fitted
by the final solver and judged on the test part: only the folds differ. Where both choose the
same setting, so are the models. Seconds are processor time of the search.

Results are kept in docs/choosing-eps/inner_solver.json set by set; a set that is there is not
measured again (remove it to do so), and --write writes docs/solver-results.md from what is there.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from experiments.statistics import corrected_resampled_t, signed_ranks
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from adaptive_radii_page import ratio_of, shown_p, won_and_lost
from adaptive_radii_sets import DataSet, halves
from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV
from protocover._estimators.search_results import RULES, choose, split_scores

RESULTS = Path(__file__).parents[1] / "docs" / "choosing-eps" / "inner_solver.json"
MOST_ROWS, N_SPLITS, N_FOLDS = 450, 5, 5
N_EPS = {"shared": 10, "adaptive": 4}
FINAL = "auto"
INNER = {"greedy": "greedy", "final": [FINAL]}  # a list of one: in the folds, too
SIGNIFICANT = 0.05


def measure(data: DataSet, radii: str) -> dict[str, Any]:
    """Choose and judge on all splits of a data set."""
    splits = [measure_split(data, radii, seed) for seed in range(N_SPLITS)]
    n_test = len(data.y) - 2 * len(data.y) // 3
    return {"n_train": len(data.y) - n_test, "n_test": n_test, "splits": splits}


def measure_split(data: DataSet, radii: str, seed: int) -> dict[str, Any]:
    """Return what each inner solver chose by each rule, and what came of it."""
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, test_size=1 / 3, stratify=data.y, random_state=seed)
    within, across = data.distances(train, test)
    found: dict[str, Any] = {}
    for name, solver in INNER.items():
        search = PVMClassifierCV(
            metric="precomputed",
            **{**PAPER, "radii": radii},
            n_eps=N_EPS[radii],
            cv=N_FOLDS,
            solver=solver,
            random_state=0,
            n_jobs=1,
        )
        start = time.process_time()
        search.fit(within, data.y[train])
        seconds = time.process_time() - start
        for rule in RULES:
            found[f"{name}, {rule}"] = {
                **judge(search, rule, (within, data.y[train]), (across, data.y[test]), radii),
                "seconds": seconds,
            }
    return found


def judge(search: Any, rule: str, train: Any, test: Any, radii: str) -> dict[str, Any]:
    """Fit the setting that a rule takes from a search by the final solver."""
    results = search.cv_results_
    scores = split_scores(results, search.n_splits_)
    setting = results["params"][choose(scores, results["mean_n_prototypes"], rule=rule)]
    terms = {key: setting[key] for key in ("eps", "prototype_cost")}
    machine = {**PAPER, "radii": radii, "metric": "precomputed"}
    model = PVMClassifier(solver=FINAL, random_state=0, n_jobs=1, **machine, **terms).fit(*train)
    return {
        **terms,
        "error": 1.0 - model.score(*test),
        "size": len(model.prototype_labels_),
    }


def column(result: dict[str, Any], method: str, key: str) -> np.ndarray:
    values = [split[method][key] for split in result["splits"]]
    return np.array(values, dtype=float) * (100.0 if key == "error" else 1.0)


def alike(result: dict[str, Any], rule: str) -> float:
    """Share of the splits on which both chose the same setting."""
    pairs = [(s[f"greedy, {rule}"], s[f"final, {rule}"]) for s in result["splits"]]
    keys = ("eps", "prototype_cost")
    return float(np.mean([all(a[key] == b[key] for key in keys) for a, b in pairs]))


def row(name: str, result: dict[str, Any], rule: str) -> list[str]:
    greedy, final = (
        {key: column(result, f"{inner}, {rule}", key) for key in ("error", "size", "seconds")}
        for inner in INNER
    )
    difference = greedy["error"] - final["error"]
    p = corrected_resampled_t(difference, result["n_train"], result["n_test"])
    return [
        name,
        f"{result['n_train']}",
        f"{alike(result, rule):.0%}",
        f"{greedy['error'].mean():.1f}",
        f"{final['error'].mean():.1f}",
        f"{difference.mean():+.2f}",
        shown_p(p),
        f"{greedy['size'].mean():.0f}",
        f"{final['size'].mean():.0f}",
        f"{final['seconds'].mean() / greedy['seconds'].mean():.0f}",
    ]


def summary(results: dict[str, Any], rule: str) -> str:
    """Sentences on all sets together, which follow from the numbers."""
    greedy, final = (
        np.array([column(r, f"{inner}, {rule}", "error").mean() for r in results.values()])
        for inner in INNER
    )
    sizes = [
        [column(r, f"{inner}, {rule}", "size").mean() for r in results.values()] for inner in INNER
    ]
    difference = greedy - final
    some = difference[np.abs(difference) > 1e-9]
    p = shown_p(signed_ranks(some)) if len(some) > 4 else "-"
    significant = [
        name for name, r in results.items() if float(row(name, r, rule)[6]) < SIGNIFICANT
    ]
    told = ", ".join(significant) or "none"
    return (
        f'Over {len(results)} sets with `rule="{rule}"`: error {greedy.mean():.2f} % with the '
        f"greedy in the folds, {final.mean():.2f} % with `{FINAL}`, sets won : lost "
        f"{won_and_lost(difference)} (Wilcoxon p {p}); prototypes of the final model "
        f"{ratio_of(*sizes):.3f} times as many (geometric mean). Corrected p below "
        f"{SIGNIFICANT}: {told}."
    )


def text(kept: dict[str, Any]) -> str:
    head = ["data", "training", "same choice", "error, greedy in the folds", f"{FINAL} in them"]
    head += ["difference", "corrected p", "prototypes, greedy", FINAL, f"time, {FINAL} / greedy"]
    parts = []
    for radii, results in kept.items():
        if not results:
            continue
        rows = [row(name, result, "1se") for name, result in sorted(results.items())]
        title = "One shared radius:" if radii == "shared" else "Radii of their own:"
        parts += [title, table(head, rows), *(summary(results, rule) for rule in RULES)]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--radii", choices=("shared", "adaptive"), default="shared")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"shared": {}, "adaptive": {}}
    if options.write:
        write_section("solver-results.md", "inner solver", text(kept))
        return
    sets = {name: one for half in halves(MOST_ROWS).values() for name, one in half.items()}
    for name in options.sets or sets:
        if name in kept[options.radii]:
            continue
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # settings without prototypes have no score
            kept[options.radii][name] = measure(sets[name], options.radii)
        told = row(name, kept[options.radii][name], "1se")
        print(*told, sep=" | ", flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
