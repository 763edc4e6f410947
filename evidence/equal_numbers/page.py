"""What equal_numbers.py has measured, as a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from experiments.statistics import Ranking
from experiments.words import percent, table

from ..verdicts import LEVEL, N_FOLDS, Verdict, fold_p, shown_p
from .folds import (
    NAMES,
    OURS,
    RIVALS,
    Results,
    budgets_of,
    default_everywhere,
    folds_of,
    means_of,
    others_of,
)
from .ranks import rank_at, tell_greedy_ranks, tell_ranks
from .sizes import tell_at_most, tell_default, tell_free, tell_proset, tell_sizeless


def write(results: Results, folder: Path) -> str:
    """Return the page, with the diagrams in a folder."""
    return "\n".join(
        (
            "# At equal numbers of prototypes\n",
            tell_short(results),
            "## How it was measured\n",
            tell_how(results),
            "## What they err\n",
            tell_errors(results),
            "## Ranks\n",
            tell_ranks(results, folder),
            "## Sets won and lost\n",
            tell_won(results),
            "## Where ours loses\n",
            tell_lost(results),
            "## If the others may stay below, too\n",
            tell_at_most(results),
            "## The default solver beside the greedy\n",
            tell_default(results),
            tell_greedy_ranks(results),
            "## The same total, shared out freely\n",
            tell_free(results),
            "## Methods that have no number\n",
            tell_sizeless(results),
            tell_proset(results),
            "## Every set\n",
            tabulate_sets(results),
        )
    )


def tell_short(results: Results) -> str:
    """Say in few words who is ahead."""
    sets = list(results["sets"])
    lines = []
    for b, k in enumerate(results["per_class"]):
        ranking = rank_at(results, b, sets)
        means = ranking.mean_ranks
        places = {name: place for place, name in enumerate(means, 1)}
        own, shared = (f"{places[NAMES[one]]} ({means[NAMES[one]]:.2f})" for one in OURS)
        best = next(iter(means))
        near = ", ".join(tied_with_best(ranking)) or "none"
        lines.append([str(k), f"{best} ({means[best]:.2f})", near, own, shared])
    header = ["a class", "best mean rank", "not told apart from it"]
    told = table([*header, "place of own radii", "of a shared radius"], lines)
    said = (
        f"Who errs least, by the mean rank over {len(sets)} data sets, whom of the others "
        "Nemenyi's test does not tell apart from it, and where ours stands:\n"
    )
    return f"{said}\n{told}\n{tell_both_ways(results)}"


def tied_with_best(ranking: Ranking) -> list[str]:
    """Return the methods of others whose mean rank is within the critical difference."""
    best, *others = ranking.mean_ranks
    most = ranking.mean_ranks[best] + ranking.critical_difference
    ours = [NAMES[method] for method in OURS]
    return [name for name in others if ranking.mean_ranks[name] <= most and name not in ours]


def tell_both_ways(results: Results) -> str:
    """Count where the better one of ours clearly beats the best of the others, and the reverse."""
    won = lost = 0
    for name in results["sets"]:
        for b in budgets_of(results):
            mine, its = (
                min((folds_of(results, name, m, b) for m in methods), key=np.mean)
                for methods in (OURS, RIVALS)
            )
            clear = fold_p(mine - its) < LEVEL
            won += int(clear and mine.mean() < its.mean())
            lost += int(clear and mine.mean() > its.mean())
    pairs = len(results["sets"]) * len(results["per_class"])
    return (
        f"Of {pairs} pairs of set and number, the better one of our two clearly errs less than "
        f"the best of the {len(RIVALS)} others in {won}, and clearly more in {lost} (corrected "
        "t-test, p < 0.05); who is best is read off the same folds, which favours the larger "
        "group.\n"
    )


def tell_how(results: Results) -> str:
    """Say what was measured."""
    sets = results["sets"]
    tuned = [name for name, one in sets.items() if one["tuned"]]
    fresh = [name for name, one in sets.items() if one["fresh"]]
    budgets = ", ".join(map(str, results["per_class"][:-1])) + f" and {results['per_class'][-1]}"
    by = "is chosen by the default solver" if default_everywhere(results) else "is the greedy's"
    on_tuned = (
        f"On {len(tuned)} of them, {', '.join(tuned)}, the defaults of own radii were tuned; "
        "what holds without them is said, too."
        if tuned
        else "The defaults of own radii were tuned on none of them."
    )
    return (
        f"Prototypes are asked for by number: {budgets} a class, on {len(sets)} data sets"
        + (f", {len(fresh)} of which come from R's packages" if fresh else "")
        + f". {on_tuned} Sets have at most 300 rows, or 40 a class up to 800; they are cut into "
        f"{N_FOLDS} folds {results['n_repeats']} times. Features are standardised on "
        "the training part (pixels are left as they are), and a query gets the class of its "
        "nearest prototype; with own radii, of the one of whose radius its distance is the "
        "smallest multiple.\n\n"
        "Every method may choose k points a class, and the smaller classes have fewer. "
        f"**Ours** {by}, with the number a class as part of the problem; its radius (of 8) or "
        "limit (of 4) and the cost of a prototype (of 3) have the least error of the greedy in 5 "
        "folds of the training part, of equals the one with fewest prototypes, so that it may "
        "stay below k. "
        "**k-medoids** is FasterPAM on each class, **K-means** gives centres, which are no "
        "points of the data, and **LVQ** (OLVQ1) moves these on. **ProtoDash** and "
        "**MMD-critic** choose in each class, with a Gaussian kernel as wide as the median "
        "distance in it; both are written from their papers. **Easiest points** are those whose "
        "label a forest that has not seen them finds most probable (instance hardness). None of "
        "the others has anything to choose.\n"
    )


def tell_errors(results: Results) -> str:
    """Tabulate mean errors over the sets."""
    sets, methods = list(results["sets"]), list(NAMES)
    columns = [means_of(results, methods, b, sets).mean(axis=0) for b in budgets_of(results)]
    rows = [
        [NAMES[method], *(percent(column[k]) for column in columns)]
        for k, method in enumerate(methods)
    ]
    every = np.mean([others_of(results, name, "1-NN").mean() for name in sets])
    rows.append(["all points (1-NN)", *([percent(every)] * len(columns))])
    header = ["mean error, %", *(f"{k} a class" for k in results["per_class"])]
    return table(header, rows) + "\n" + tell_used(results)


def tell_used(results: Results) -> str:
    """Say how many of the prototypes allowed are used by ours."""
    shares = {
        method: [
            np.mean(
                [
                    folds_of(results, name, method, b, 1).mean()
                    / folds_of(results, name, "k-medoids", b, 1).mean()
                    for name in results["sets"]
                ]
            )
            for b in budgets_of(results)
        ]
        for method in OURS
    }
    told = [
        f"{NAMES[method]} {', '.join(f'{100 * share:.0f}' for share in found)} %"
        for method, found in shares.items()
    ]
    return f"Of the prototypes allowed are used: {'; '.join(told)}. The others use all.\n"


def tell_won(results: Results) -> str:
    """Tabulate sets won and lost against each of the others."""
    told = [
        "Sets on which ours errs less than the other : more; in brackets those of them where the "
        "t-test over all folds, corrected for what the folds share (Nadeau and Bengio), has p < "
        "0.05; then the p of Wilcoxon's signed ranks over the sets. So many tests are made that "
        "a few would come out at 0.05 by chance.\n"
    ]
    for ours in OURS:
        header = [f"{NAMES[ours]} against", *(f"{k} a class" for k in results["per_class"])]
        rows = [
            [NAMES[other], *(_won(results, ours, other, b) for b in budgets_of(results))]
            for other in (*(one for one in OURS if one != ours), *RIVALS, "random")
        ]
        told.append(table(header, rows))
    return "\n".join(told)


def _won(results: Results, ours: str, other: str, budget: int) -> str:
    """Count sets won and lost."""
    gaps = [
        folds_of(results, name, ours, budget) - folds_of(results, name, other, budget)
        for name in results["sets"]
    ]
    verdict = Verdict.of(gaps)
    return f"{verdict}, p {shown_p(verdict.p)}"


def tell_lost(results: Results) -> str:
    """List the sets where one of the others clearly errs less than both of ours."""
    rows = [
        row
        for name in results["sets"]
        for b in budgets_of(results)
        if (row := _lost(results, name, b)) is not None
    ]
    if not rows:
        return "On no set, at no number, does another method clearly err less than both of ours.\n"
    n_sets, n_all = len({row[0] for row in rows}), len(results["sets"])
    pairs = n_all * len(results["per_class"])
    told = (
        f"Another method errs clearly less (p < 0.05, corrected) than the better of ours in "
        f"{len(rows)} of {pairs} pairs of set and number, on {n_sets} of {n_all} sets. The one "
        "of least error is shown.\n"
    )
    header = ["set", "a class", "method", "its error, %", "ours, %", "with", "p"]
    return told + "\n" + table(header, rows)


def _lost(results: Results, name: str, budget: int) -> list[str] | None:
    """Return the best of the others that is clearly better than the better one of ours."""
    ours = min(OURS, key=lambda method: folds_of(results, name, method, budget).mean())
    mine = folds_of(results, name, ours, budget)
    for other in sorted(RIVALS, key=lambda m: folds_of(results, name, m, budget).mean()):
        its = folds_of(results, name, other, budget)
        p = fold_p(mine - its)
        if its.mean() < mine.mean() and p < LEVEL:
            errors = [percent(its.mean()), percent(mine.mean())]
            return [
                name,
                str(results["per_class"][budget]),
                NAMES[other],
                *errors,
                NAMES[ours].removeprefix("ours, "),
                shown_p(p),
            ]
    return None


def tabulate_sets(results: Results) -> str:
    """Tabulate the errors on every set, folded."""
    told = []
    for b in budgets_of(results):
        rows = [_row_of_set(results, name, b) for name in results["sets"]]
        header = ["set", "rows", "features", "classes", *NAMES.values(), "1-NN"]
        told.append(
            f"<details><summary>Errors in per cent with {results['per_class'][b]} a class"
            f"</summary>\n\n{table(header, rows)}\n</details>\n"
        )
    return "\n".join(told)


def _row_of_set(results: Results, name: str, budget: int) -> list[str]:
    """Return a set's row; the least errors are in bold."""
    about = results["sets"][name]
    errors = means_of(results, list(NAMES), budget, [name])[0]
    least = percent(errors.min())
    shown = [f"**{e}**" if e == least else e for e in map(percent, errors)]
    size = [str(about[key]) for key in ("n", "n_features", "n_classes")]
    mark = " (tuned on)" if about["tuned"] else ""
    return [f"{name}{mark}", *size, *shown, percent(others_of(results, name, "1-NN").mean())]
