"""Risk against coverage and calibration: the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from experiments.figures import save
from experiments.statistics import corrected_resampled_t, holm
from experiments.words import percent, table
from matplotlib import pyplot as plt

from ..over_sets import Gaps, gaps
from ..trust_measures import N_BINS, calibration_error
from ..verdicts import LEVEL, shown_p
from .measure import CALIBRATIONS, COVERAGES, MOST_ROWS, N_FOLDS, N_TREES

OURS = ("shared radius, margin", "own radii, margin")
RIVALS = ("1-NN, ratio", "forest, sigmoid")
CALIBRATED = (("shared radius", "own radii"), ("1-NN", "forest"))
STYLES = {
    "shared radius, margin": {"color": "#0072B2"},
    "own radii, margin": {"color": "#CC79A7", "linestyle": "--"},
    "1-NN, ratio": {"color": "#000000", "linestyle": ":"},
    "forest, sigmoid": {"color": "#009E73", "linestyle": "-."},
}
PICTURED = ("digits", "vowel", "diabetes", "moons", "iris", "wine")
N_PICTURED = 4

Sets = list[dict[str, Any]]


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the page."""
    sets = results["sets"]
    return "\n".join(
        (
            "# Abstention and calibration\n",
            _tell_in_short(sets),
            _tell_what(results),
            _draw(sets, folder),
            "## Ours beside the nearest neighbour and a forest\n",
            _tabulate_areas(sets),
            _compare(sets, "aurc"),
            _compare(sets, "excess"),
            "## Which confidence\n",
            _tabulate_confidences(sets),
            _tabulate_inside(sets),
            "## Calibrated probabilities\n",
            _tell_calibration(sets),
        )
    )


def _tell_in_short(sets: Sets) -> str:
    """Say what silence is worth."""
    told = []
    for method in (*OURS, *RIVALS):
        risk = _risk_at(sets, method, (0.5, 0.8, 1.0))
        told.append(f"{method}: {risk[0]}, {risk[1]}, {risk[2]}")
    return (
        "**In short.** Share of wrong answers in per cent, mean over sets, if half, four fifths, "
        f"all of the test points are answered: {'; '.join(told)}. Which differences are clear is "
        "said below.\n"
    )


def _risk_at(sets: Sets, method: str, coverages: tuple[float, ...]) -> list[str]:
    """Return the mean risk over sets at some coverages, in per cent."""
    risk = np.mean([one["ranked"][method]["risk"] for one in sets], axis=0)
    return [percent(risk[np.flatnonzero(np.isclose(COVERAGES, c))[0]]) for c in coverages]


def _tell_what(results: dict[str, Any]) -> str:
    """Say what was done."""
    return (
        "A classifier that may keep silent answers where it is most confident. *Risk* is the "
        "share of wrong answers among those given, *coverage* the share of test points that get "
        "one. The area under risk against coverage (AURC) is the mean risk over all coverages: "
        "the smaller, the better. Its excess over that of an order with all wrong answers last "
        "does not count errors, only how late they come.\n\n"
        f"{len(results['sets'])} sets, at most {MOST_ROWS} rows of each, {results['n_splits']} "
        "random stratified splits, two thirds for training; features standardised on these. "
        "*Shared radius* and *own radii* are a `PVMClassifier` with default parameters, and with "
        '`radii="adaptive"`. Its confidences come from `explain`: the *margin*; the *margin* of '
        "those *inside* a ball before the others; *nearness*, minus the distance as a multiple of "
        "the radius; and the *ratio* of this distance to that of the runner-up. Differences of "
        "`decision_function` between the best two classes are the margin. *1-NN* takes the ratio "
        "of the distances to the nearest training point and to the nearest of another class, or "
        "their difference. *Sigmoid* and *temperature* are the largest probability from "
        f"scikit-learn's `CalibratedClassifierCV` with that method and {N_FOLDS} folds; the "
        f"forest has {N_TREES} trees. "
        "Nothing was tuned here, and the two rows of ours that are held against the two others "
        "were named before the run.\n"
    )


def _draw(sets: Sets, folder: Path) -> str:
    """Draw the curves of some sets."""
    by_name = {one["name"]: one for one in sets}
    shown = [by_name[name] for name in PICTURED if name in by_name][:N_PICTURED]
    figure, axes = plt.subplots(1, len(shown), figsize=(9.0, 2.7), layout="constrained")
    for ax, one in zip(np.atleast_1d(axes), shown, strict=True):
        for method, style in STYLES.items():
            risk = 100.0 * np.array(one["ranked"][method]["risk"])
            ax.plot(100.0 * COVERAGES, risk, label=method, linewidth=1.3, **style)
        ax.set(title=one["name"], xlabel="coverage, %", ylim=(0, None))
    np.atleast_1d(axes)[0].set_ylabel("risk, %")
    handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    caption = "Risk against coverage, mean over splits; on the right end everything is answered."
    # The page lies in the folder of its pictures.
    return save(figure, folder, "abstention", caption).replace(f"({folder.name}/", "(")


def _by_set(sets: Sets, method: str, key: str) -> dict[str, float]:
    """Return a measure of each set, averaged over splits."""
    return {one["name"]: float(np.mean(one["ranked"][method][key])) for one in sets}


def _tabulate_areas(sets: Sets) -> str:
    """Tabulate areas and errors by set."""
    methods = (*OURS, *RIVALS)
    columns = [(_by_set(sets, m, "aurc"), _by_set(sets, m, "error")) for m in methods]
    rows = [
        (name, *(f"{percent(area[name], 2)} ({percent(error[name])})" for area, error in columns))
        for name in columns[0][0]
    ]
    return "AURC in per cent, and in brackets the error when everything is answered.\n\n" + table(
        ("data", *methods), rows
    )


def _compare(sets: Sets, key: str) -> str:
    """Hold ours against the rivals over sets, and on each set."""
    rows, pairs = [], [(ours, rival) for ours in OURS for rival in RIVALS]
    found = [gaps(_by_set(sets, a, key), _by_set(sets, b, key)) for a, b in pairs]
    corrected = holm([gap.p for gap in found])
    for (ours, rival), gap, p in zip(pairs, found, corrected, strict=True):
        row = (ours, rival, f"{100.0 * gap.mean:+.2f}", len(gap.below()), len(gap.above()))
        clear = _clear_on(sets, ours, rival) if key == "aurc" else ()
        rows.append((*row, *map(len, clear), shown_p(gap.p), shown_p(p)))
    words = {"aurc": "AURC", "excess": "Excess AURC"}[key]
    by_set = ("clearly lower", "clearly higher") if key == "aurc" else ()
    header = ("ours", "against", "points", "lower on", "higher on", *by_set, "p", "p, Holm")
    told = f"clear on one set is p < {LEVEL} of the corrected t-test over its splits; "
    return (
        f"{words} of ours minus the other's, in points: mean over sets, sets on which it is lower "
        f"and higher; {told if by_set else ''}p of Wilcoxon's signed ranks over sets, and "
        f"corrected for {len(pairs)} tests (Holm).\n\n{table(header, rows)}\n"
        + _conclude(words, pairs, found, corrected)
    )


def _clear_on(sets: Sets, ours: str, rival: str) -> tuple[list[str], list[str]]:
    """Return the sets on which the area of ours is clearly lower, and clearly higher."""
    lower, higher = [], []
    for one in sets:
        gap = np.subtract(one["ranked"][ours]["aurc"], one["ranked"][rival]["aurc"])
        if corrected_resampled_t(gap, one["n_train"], one["n_test"]) < LEVEL:
            (lower if gap.mean() < 0 else higher).append(one["name"])
    return lower, higher


def _conclude(
    words: str, pairs: list[tuple[str, str]], found: list[Gaps], corrected: list[float]
) -> str:
    """Say what is clear over sets, and where ours loses."""
    lines = []
    for (ours, rival), gap, p in zip(pairs, found, corrected, strict=True):
        word = "not clearly different" if p >= LEVEL else "lower" if gap.mean < 0 else "higher"
        worst = ", ".join(f"{name} ({100.0 * gap.by_set[name]:+.1f})" for name in gap.above()[:4])
        lines.append(
            f"- {ours} against {rival}: {word} over sets; "
            + (f"it loses most on {worst}." if worst else "it loses nowhere.")
        )
    return f"{words}:\n\n" + "\n".join(lines) + "\n"


def _tabulate_confidences(sets: Sets) -> str:
    """Tabulate the means over sets of all confidences."""
    rows = []
    for method in sets[0]["ranked"]:
        means = {k: np.mean(list(_by_set(sets, method, k).values())) for k in ("aurc", "excess")}
        at = _risk_at(sets, method, (0.5, 0.8, 1.0))
        rows.append((method, percent(means["aurc"], 2), percent(means["excess"], 2), *at))
    rows.sort(key=lambda row: float(row[1]))
    header = (
        "answers and their order",
        "AURC, %",
        "excess, %",
        "risk at 50 %",
        "at 80 %",
        "at 100 %",
    )
    return f"Means over all sets, the lowest AURC first.\n\n{table(header, rows)}"


def _tabulate_inside(sets: Sets) -> str:
    """Tabulate what the balls say by themselves."""
    keys = ("coverage", "wrong", "wrong_inside", "wrong_by_margin")
    rows = [(one["name"], *(percent(one["inside"][key]) for key in keys)) for one in sets]
    inside, margin, everything = (
        {one["name"]: one["inside"][key] for one in sets}
        for key in ("wrong_inside", "wrong_by_margin", "wrong")
    )
    helps, against = gaps(inside, everything), gaps(inside, margin)
    header = ("data", "inside, %", "wrong, all", "wrong inside", "wrong, same number by margin")
    return (
        "To answer only inside a ball (`inside`, `outlier_label`) asks whether anything like the "
        "query was seen, not whether the call was close. Shared radius, in per cent:\n\n"
        f"{table(header, rows)}\n"
        f"Fewer are wrong inside than overall on {len(helps.below())} of {len(rows)} sets (p = "
        f"{shown_p(helps.p)}); as many answers of the largest margin have fewer wrong ones than "
        f"those inside on {len(against.above())}, more on {len(against.below())} (p = "
        f"{shown_p(against.p)}).\n"
    )


def _tell_calibration(sets: Sets) -> str:
    """Tell how far probabilities can be trusted, by each method of calibration."""
    methods = [m for m in CALIBRATIONS if f"forest, {m}" in sets[0]["calibrated"]]
    return "\n".join(
        (
            "`CalibratedClassifierCV` turns scores into probabilities: by a sigmoid for each "
            "class, which is its default, or by one temperature that all scores are divided by "
            '(`method="temperature"`, which was tried, for all, after sigmoids had been seen). '
            "Calibration error is the mean gap between the largest "
            f"probability and the share of right answers, in {N_BINS} bins of equal width, the "
            "test points of all splits together; the Brier score is the squared distance of "
            "probabilities from the truth, summed over classes, from 0 to 2.\n",
            *(_tabulate_calibration(sets, method) for method in methods),
            _compare_methods(sets, methods),
        )
    )


def _tabulate_calibration(sets: Sets, method: str) -> str:
    """Tabulate calibration errors and Brier scores of one method, and compare."""
    names = [f"{model}, {method}" for group in CALIBRATED for model in group]
    ece, brier = ({name: of(sets, name) for name in names} for of in (_calibration, _brier))
    rows = [
        (
            one["name"],
            *(f"{percent(ece[m][one['name']])} / {brier[m][one['name']]:.3f}" for m in names),
        )
        for one in sets
    ]
    pairs = [(f"{a}, {method}", f"{b}, {method}") for a in CALIBRATED[0] for b in CALIBRATED[1]]
    shown = table(("data", *names), rows)
    return (
        f"Calibration error in per cent / Brier score, {method}:\n\n{shown}"
        f"\n{_compare_pairs('Calibration error', ece, pairs)}\n"
        f"{_compare_pairs('Brier score', brier, pairs)}\n"
    )


def _compare_methods(sets: Sets, methods: list[str]) -> str:
    """Hold the methods of calibration against each other, for ours."""
    pairs = [
        (f"{ours}, {new}", f"{ours}, {methods[0]}")
        for ours in CALIBRATED[0]
        for new in methods[1:]
    ]
    names = {name for pair in pairs for name in pair}
    ece, brier = ({name: of(sets, name) for name in names} for of in (_calibration, _brier))
    told = (
        _compare_pairs("Calibration error", ece, pairs),
        _compare_pairs("Brier score", brier, pairs),
    )
    return "Which of the two, for ours:\n\n" + "\n".join(told) + "\n" if pairs else ""


def _calibration(sets: Sets, name: str) -> dict[str, float]:
    """Return the calibration error on each set."""
    return {
        one["name"]: calibration_error(np.array(one["calibrated"][name]["bins"])) for one in sets
    }


def _brier(sets: Sets, name: str) -> dict[str, float]:
    """Return the mean Brier score on each set."""
    return {one["name"]: float(np.mean(one["calibrated"][name]["brier"])) for one in sets}


def _compare_pairs(
    words: str, values: dict[str, dict[str, float]], pairs: list[tuple[str, str]]
) -> str:
    """Say of each pair on how many sets the first is lower."""
    told = []
    for one, other in pairs:
        gap = gaps(values[one], values[other])
        told.append(
            f"- {words} of {one}: lower than that of {other} on {len(gap.below())} of "
            f"{len(gap.by_set)} sets, higher on {len(gap.above())} (signed ranks, p = "
            f"{shown_p(gap.p)})."
        )
    return "\n".join(told)
