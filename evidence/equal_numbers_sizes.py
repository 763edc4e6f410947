"""The rest of the page: other solvers, other budgets, and methods at a size of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.words import percent, table

from .equal_numbers_folds import Results
from .verdicts import N_FOLDS, Verdict, fold_p, shown_p

SHOWN = {"own": "own radii", "shared": "shared radius"}


def tell_default(results: Results) -> str:
    """Hold the default solver against the greedy with the same settings."""
    rows = []
    for radii in SHOWN:
        for b, k in enumerate(results["per_class"]):
            gaps, errors = [], []
            for name, repeats in results["default"].items():
                new = _table([one[radii] for one in repeats])[:, b, 0]
                old = _table([one["errors"][radii] for one in results["trials"][name]])[:, b, 0]
                gaps.append(new - old[: len(new)])
                errors.append((new.mean(), old[: len(new)].mean()))
            mean = np.mean(errors, axis=0)
            rows.append([SHOWN[radii], str(k), *map(percent, mean), *_judged(gaps)])
    some = [sum(len(one["own"]) for one in repeats) for repeats in results["default"].values()]
    least, most = min(some), max(some)
    n_folds = str(most) if least == most else f"{least} to {most}"
    told = (
        "The default solver, with radius and cost as chosen for the greedy and the number a "
        f"class as part of the problem, in {n_folds} folds of each set. It comes nearer to the "
        "optimum of the cover; that is not the error.\n"
    )
    header = ["radii", "a class", "default, %", "greedy, %"]
    header += ["default won : lost (clearly)", "Wilcoxon p"]
    return f"{told}\n{table(header, rows)}"


def tell_free(results: Results) -> str:
    """Hold k a class against the same total for all classes."""
    rows = []
    for radii in SHOWN:
        for b, k in enumerate(results["per_class"]):
            gaps, errors = [], []
            for repeats in results["trials"].values():
                new = _table([one["free"][radii] for one in repeats])[:, b, 0]
                old = _table([one["errors"][radii] for one in repeats])[:, b, 0]
                gaps.append(new - old)
                errors.append((new.mean(), old.mean()))
            mean = np.mean(errors, axis=0)
            rows.append([SHOWN[radii], str(k), *map(percent, mean), *_judged(gaps)])
    told = (
        "k times the number of classes in total, which the greedy shares out as it likes, beside "
        "k a class. The comparisons above do not use this freedom, which the others do not have."
        "\n"
    )
    header = ["radii", "k", "free, %", "k a class, %", "free won : lost (clearly)", "Wilcoxon p"]
    return f"{told}\n{table(header, rows)}"


def tell_sizeless(results: Results) -> str:
    """Tabulate the methods that have no number beside ours with at most as many."""
    methods = next(iter(results["trials"].values()))[0]["others"]
    rows = []
    for method in (name for name in methods if name != "1-NN"):
        theirs, ours = [], {radii: [] for radii in SHOWN}
        for repeats in results["trials"].values():
            theirs.append(_table([one["others"][method] for one in repeats]))
            for radii, found in ours.items():
                found.append(
                    _table([[fold[method] for fold in one["as_many"][radii]] for one in repeats])
                )
        shares = _shares(results, theirs)
        row = [method, percent(np.mean([one[:, 0].mean() for one in theirs])), percent(shares, 0)]
        for found in ours.values():
            gaps = [new[:, 0] - old[:, 0] for new, old in zip(found, theirs, strict=True)]
            row += [percent(np.mean([one[:, 0].mean() for one in found]))]
            row += [percent(_shares(results, found), 0), *_judged(gaps)]
        rows.append(row)
    told = (
        "Hart's condensing, edited neighbours (Wilson) and multiedit (Devijver and Kittler) keep "
        "as many points as come out. Ours may choose as many in total, and uses fewer.\n"
    )
    header = ["method", "its error, %", "keeps, % of points"]
    for shown in SHOWN.values():
        header += [f"{shown}, error, %", "keep, %", "won : lost (clearly)", "Wilcoxon p"]
    return f"{told}\n{table(header, rows)}"


def tell_proset(results: Results) -> str:
    """Tabulate proset where it was run, beside ours with any number up to 20 a class."""
    asked = {name: one["folds"] for name, one in results["proset"].items() if one["folds"]}
    if not asked:
        return "proset was not run: it is looked for in `.venv-proset`.\n"
    last = len(results["per_class"]) - 1
    rows = [_proset_row(results, name, folds, last) for name, folds in asked.items()]
    k = results["per_class"][last]
    seconds = np.mean([fold["seconds"] for folds in asked.values() for fold in folds])
    told = (
        f"[proset](https://pypi.org/project/proset/) takes {seconds:.2g} seconds of processor "
        "time a fit here, and six fits to choose its number of batches, so that it was run on "
        f"the {len(asked)} fresh sets and the folds of the first repetition only, at most a "
        f"minute a set. It weighs features and prototypes. Beside it ours with at most {k} a "
        "class in the same folds.\n"
    )
    header = ["set", "folds", "proset, %", "prototypes"]
    for shown in SHOWN.values():
        header += [f"{shown}, %", "prototypes", "p"]
    return f"{told}\n{table(header, rows)}"


def _proset_row(results: Results, name: str, folds: list[Any], budget: int) -> list[str]:
    """Return proset's error and size on a set, and ours in the same folds."""
    its = np.array([(fold["error"], fold["size"]) for fold in folds])
    row = [name, str(len(its)), percent(its[:, 0].mean()), f"{its[:, 1].mean():.0f}"]
    for radii in SHOWN:
        mine = np.array(results["trials"][name][0]["errors"][radii])[: len(its), budget]
        p = fold_p(mine[:, 0] - its[:, 0])
        row += [percent(mine[:, 0].mean()), f"{mine[:, 1].mean():.0f}", shown_p(p)]
    return row


def _table(repeats: list[Any]) -> np.ndarray:
    """Put the folds of all repetitions one below the other."""
    return np.concatenate([np.asarray(one, dtype=float) for one in repeats])


def _judged(gaps: list[np.ndarray]) -> list[str]:
    """Return sets won and lost, clearly won and lost, and the p over the sets."""
    verdict = Verdict.of(gaps)
    return [str(verdict), shown_p(verdict.p)]


def _shares(results: Results, found: list[np.ndarray]) -> float:
    """Return the mean share of the training points that is kept."""
    in_training = 1.0 - 1.0 / N_FOLDS
    sizes = [one["n"] * in_training for one in results["sets"].values()]
    return float(np.mean([one[:, 1].mean() / n for one, n in zip(found, sizes, strict=True)]))
