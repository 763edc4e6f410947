"""The rest of the page: other solvers, other budgets, and methods at a size of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.words import percent, table

from ..verdicts import N_FOLDS, Verdict, fold_p, shown_p
from .folds import Results, default_everywhere, folds_of, greedy_of

SHOWN = {"adaptive": "own radii", "shared": "shared radius"}


def tell_default(results: Results) -> str:
    """Hold the default solver against the greedy with the same settings."""
    rows = []
    for radii in SHOWN:
        for b, k in enumerate(results["per_class"]):
            gaps, errors = [], []
            for name, repeats in results["default"].items():
                new = _table([one[radii] for one in repeats])[:, b, 0]
                old = greedy_of(results, name, radii, b)
                gaps.append(new - old[: len(new)])
                errors.append((new.mean(), old[: len(new)].mean()))
            mean = np.mean(errors, axis=0)
            rows.append([SHOWN[radii], str(k), *map(percent, mean), *_judged(gaps)])
    n_folds = _n_folds(results["default"], "adaptive")
    shown = "the default solver's" if default_everywhere(results) else "the greedy's"
    told = (
        "The default solver comes nearer to the optimum of the cover than the greedy, which is "
        f"not the error. Both with the same radius and cost, in {n_folds} folds of each set; what "
        f"the rest of this page shows as ours is {shown}.\n"
    )
    header = ["radii", "a class", "default, %", "greedy, %"]
    header += ["default won : lost (clearly)", "Wilcoxon p"]
    return f"{told}\n{table(header, rows)}"


def tell_at_most(results: Results) -> str:
    """Let the strongest of the others stay below k, too, and hold ours against them."""
    chosen = results["at_most"]
    methods = list(next(iter(chosen.values()))[0])
    rows = []
    for method in methods:
        for radii, shown in SHOWN.items():
            row = [method, shown]
            for b in range(len(results["per_class"])):
                theirs = [_at_chosen(results, name, method, b) for name in chosen]
                ours = [folds_of(results, name, radii, b) for name in chosen]
                gaps = [a[: len(t)] - t for a, t in zip(ours, theirs, strict=True)]
                mean = percent(np.mean([one.mean() for one in theirs]))
                row.append(f"{mean}: {', p '.join(_judged(gaps))}")
            rows.append(row)
    told = (
        "Ours may stay below k where it errs less so in inner folds; the others above take k "
        "whatever comes of it, which costs them where classes overlap. Here the number is chosen "
        "for them in the same way, of those up to k, in "
        f"{_n_folds(chosen, methods[0])} folds of each set. Shown are their mean error in per "
        "cent, the sets that ours wins : loses (clearly) against them, and Wilcoxon's p.\n"
    )
    header = ["method", "against ours with", *(f"at most {k}" for k in results["per_class"])]
    return f"{told}\n{table(header, rows)}"


def _at_chosen(results: Results, name: str, method: str, budget: int) -> np.ndarray:
    """Return a method's errors on a set with the number that was chosen in each fold."""
    found = []
    for one, numbers in zip(results["trials"][name], results["at_most"][name], strict=False):
        folds = zip(one["errors"][method], numbers[method], strict=True)
        found += [fold[number[budget]][0] for fold, number in folds]
    return np.array(found)


def _n_folds(found: dict[str, list[Any]], key: str) -> str:
    """Say how many folds of each set were measured."""
    some = [sum(len(one[key]) for one in repeats) for repeats in found.values()]
    least, most = min(some), max(some)
    return str(most) if least == most else f"{least} to {most}"


def tell_free(results: Results) -> str:
    """Hold k a class against the same total for all classes."""
    rows = []
    for radii in SHOWN:
        for b, k in enumerate(results["per_class"]):
            gaps, errors = [], []
            for name, repeats in results["trials"].items():
                new = _table([one["free"][radii] for one in repeats])[:, b, 0]
                old = greedy_of(results, name, radii, b)
                gaps.append(new - old)
                errors.append((new.mean(), old.mean()))
            mean = np.mean(errors, axis=0)
            rows.append([SHOWN[radii], str(k), *map(percent, mean), *_judged(gaps)])
    told = (
        "k times the number of classes in total, which the greedy shares out as it likes, beside "
        "its k a class. The comparisons above do not use this freedom, which the others do not "
        "have.\n"
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
        "as many points as come out. Ours, by the greedy, may choose as many in total, and uses "
        "fewer.\n"
    )
    header = ["method", "its error, %", "keeps, % of points"]
    for shown in SHOWN.values():
        header += [f"{shown}, error, %", "keep, %", "won : lost (clearly)", "Wilcoxon p"]
    return f"{told}\n{table(header, rows)}"


def tell_proset(results: Results) -> str:
    """Tabulate proset where it was run, beside ours with any number up to 20 a class."""
    asked = {name: some for name, some in results["proset"].items() if any(map(_done, some))}
    if not asked:
        return (
            "proset, which takes much longer, was not run here; [A radius of its "
            "own](../adaptive-radii.md) has it on many of these sets.\n"
        )
    last = len(results["per_class"]) - 1
    pairs = {name: _beside_proset(results, name, last) for name in asked}
    rows = [_proset_row(name, its, ours) for name, (its, ours) in pairs.items()]
    judged = []
    for radii, shown in SHOWN.items():
        gaps = [ours[radii][:, 0] - its[:, 0] for its, ours in pairs.values()]
        judged.append(f"{shown} {', p '.join(_judged(gaps))}")
    folds = [fold for some in asked.values() for one in some for fold in one["folds"]]
    seconds = np.mean([fold["seconds"] for fold in folds])
    told = (
        "The package proset weighs features and prototypes, and has as many of these as come out. "
        f"It takes {seconds:.2g} seconds of processor time a fit here, "
        f"and six fits to choose its number of batches. It was run on {len(asked)} sets, "
        f"{len(folds)} folds in all. Beside it ours with at most {results['per_class'][last]} a "
        "class in the same folds; sets that ours wins : loses against it (clearly), and "
        f"Wilcoxon's p: {'; '.join(judged)}.\n"
    )
    header = ["set", "folds", "proset, %", "prototypes"]
    for shown in SHOWN.values():
        header += [f"{shown}, %", "prototypes", "p"]
    return f"{told}\n{table(header, rows)}"


def _done(one: dict[str, Any]) -> int:
    """Count the folds of a repetition that proset came to the end of."""
    return len(one["folds"])


def _beside_proset(
    results: Results, name: str, budget: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return error and size of proset in the folds of a set that it was run in, and ours."""
    repeats = results["proset"][name]
    its = np.array([(fold["error"], fold["size"]) for one in repeats for fold in one["folds"]])
    n_folds = len(results["trials"][name][0]["errors"]["adaptive"])
    there = np.concatenate([n_folds * k + np.arange(_done(one)) for k, one in enumerate(repeats)])
    ours = {
        radii: np.stack([folds_of(results, name, radii, budget, k)[there] for k in (0, 1)], axis=1)
        for radii in SHOWN
    }
    return its, ours


def _proset_row(name: str, its: np.ndarray, ours: dict[str, np.ndarray]) -> list[str]:
    """Return proset's error and size on a set, and ours in the same folds."""
    row = [name, str(len(its)), percent(its[:, 0].mean()), f"{its[:, 1].mean():.0f}"]
    for mine in ours.values():
        row += [percent(mine[:, 0].mean()), f"{mine[:, 1].mean():.0f}"]
        row += [shown_p(fold_p(mine[:, 0] - its[:, 0]))]
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
