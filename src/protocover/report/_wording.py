"""Sentences of a report, and numbers formatted for readers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from .._estimators import BallCover, PVMClassifier, PVMClassifierCV
from .._inspection.evaluation import percent
from ._summary import Answers, ClassProbability, Quality, Side

_METRICS = {
    "euclidean": "Euclidean distance",
    "l2": "Euclidean distance",
    "sqeuclidean": "squared Euclidean distance",
    "cosine": "cosine distance (the angle between two rows; their length does not matter)",
    "manhattan": "Manhattan distance (the sum of the differences in all features)",
    "cityblock": "Manhattan distance (the sum of the differences in all features)",
    "l1": "Manhattan distance (the sum of the differences in all features)",
    "chebyshev": "Chebyshev distance (the largest difference in any feature)",
    "correlation": "correlation distance",
    "hamming": "Hamming distance (the fraction of features that differ)",
    "nan_euclidean": "Euclidean distance over the features that both rows have",
    "precomputed": "precomputed distances",
}
_OBJECTS = {
    "Gower": "Gower's distance (the average difference over all columns, each from 0 to 1)",
    "TangentDistance": "tangent distance between images, which tolerates small shifts, rotations "
    "and changes of stroke width",
    "KernelDistance": "the distance induced by a kernel",
    "MismatchDistance": "the distance of the mismatch kernel of sequences",
    "SpectrumDistance": "the distance of the spectrum kernel of sequences",
    "Tanimoto": "Tanimoto distance (the fraction of bits that only one of two cases has)",
    "RankDissimilarity": "rank among the neighbours",
    "DANN": "discriminant adaptive nearest neighbour distance",
}
_SOLVERS = {
    "greedy": "greedy: one at a time, always the one that helps most",
    "ratio-greedy": "cost-effectiveness greedy: the least cost per newly covered case",
    "lp-rounding": "linear relaxation, rounded",
    "local-search": "local search: greedy choices improved by removals and swaps",
    "exact": "exact: branch and bound for the best possible choice",
    "auto": "near-optimal: greedy choices improved with a linear program",
}
_CANDIDATES = {
    "train": "any training case",
    "kmeans": "k-means centres of each class (synthetic, not real cases)",
    "hull": "mixtures of neighbouring cases (synthetic, not real cases)",
}
_RULES = {
    "1se": "the fewest prototypes within one standard error of the best score",
    "best": "the best score",
    "few": "the fewest prototypes within one standard error of the best score, or within 0.01",
}
# Relative margins, and what they are called.
_MARGINS = ((0.05, "a very small margin"), (0.25, "a small margin"), (1.0, "a clear margin"))


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number of things: "1 case", "2 cases"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def short_number(value: float, digits: int = 5) -> str:
    """Return a number to a few digits; by default integers are kept in full."""
    if digits < 5:
        value = float(f"{value:.{digits}g}")
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:,.5g}"


def short_range(values: Iterable[float]) -> str:
    """Return the smallest and the largest of some numbers, or one if they look the same."""
    known = list(values)
    low, high = short_number(min(known)), short_number(max(known))
    return low if low == high else f"{low} to {high}"


def as_sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}."


def describe_selection(quality: Quality, model: PVMClassifier) -> str:
    """Return the first sentences of the report of a classifier."""
    real = (model.prototype_indices_ >= 0).all()
    chosen = count(quality.n_prototypes, "case" if real else "prototype")
    verb = "represents" if quality.n_prototypes == 1 else "represent"
    share = percent(quality.n_covered / quality.n_points)
    text = (
        f"{chosen} {verb} {count(quality.n_points, 'case')} of "
        f"{count(len(model.classes_), 'class', 'classes')}. {share} of them lie within "
    )
    if model.solution_.radii is None:
        return f"{text}{short_number(model.eps_)} of a prototype of their own class."
    radii = short_range(model.prototype_radii_)
    return (
        f"{text}the radius of a prototype of their own class. Each prototype has its own radius, "
        f"{radii}."
    )


def describe_cover(cover: BallCover) -> str:
    """Return the first sentences of the report of a cover."""
    n, n_points = len(cover.counts_), len(cover.labels_)
    real = (cover.representative_indices_ >= 0).all()
    chosen = count(n, "case" if real else "representative")
    share = float(cover.counts_.sum()) / n_points
    some = f"{percent(share)} of them lie" if share < 1.0 else "All of them lie"
    near = f"within {short_number(cover.eps_)} of {'it' if n == 1 else 'a representative'}"
    weighted = ""
    if not math.isclose(cover.coverage_, share, rel_tol=0.0, abs_tol=5e-4):
        weighted = f" ({percent(cover.coverage_)} of their weight)"
    verb = "represents" if n == 1 else "represent"
    return f"{chosen} {verb} {count(n_points, 'case')}. {some} {near}{weighted}."


def describe_answers(answers: Answers) -> str:
    """Return the first sentences of a page of predictions."""
    text = f"{count(answers.n_cases, 'case')}, each shown with the prototype that decided."
    if answers.n_labeled:
        known = count(answers.n_labeled, "case")
        verb = "is" if answers.n_wrong == 1 else "are"
        text += f" {answers.n_wrong:,} of {known} of known class {verb} misclassified."
    if answers.evaluation is not None:
        n_wrong = round((1.0 - answers.evaluation.baseline_accuracy) * answers.n_labeled)
        majority = answers.evaluation.majority_label
        text += f" Always predicting “{majority}” would misclassify {n_wrong:,}."
    if answers.n_outside:
        text += f" {as_outside(answers.n_outside)} Treat these predictions with caution."
    return text


def as_outside(number: int) -> str:
    """Return a sentence on the number of cases that no prototype covers."""
    return f"{count(number, 'case')} {'lies' if number == 1 else 'lie'} outside every radius."


def describe_settings(
    model: PVMClassifier,
    search: PVMClassifierCV | None,
    how: Mapping[str, str] | None,
    *,
    n_points: int | None,
    n_columns: int,
) -> list[tuple[str, str]]:
    """Return headings and settings of a classifier; `n_points` is None if not known."""
    cases = "cases" if n_points is None else count(n_points, "case")
    classes = count(len(model.classes_), "class", "classes")
    lines = [
        ("Training data", f"{cases} of {classes}{_and_features(n_columns)}"),
        ("Distance", _describe_metric(model.metric, model.metric_params)),
        ("Radius", _describe_radius(model, search)),
        ("Candidates", _describe_candidates(model.candidates)),
        ("Selection", _describe(model.solver, _SOLVERS)),
        ("Cost of a prototype", _describe_cost(model, search)),
    ]
    budget = model.max_prototypes
    if isinstance(budget, Mapping):
        some = ", ".join(f"{number} for {label}" for label, number in budget.items())
        lines.append(("At most", some))
    elif budget is not None:
        lines.append(("At most", f"{budget} prototypes"))
    if model.outlier_label is not None:
        text = f"“{model.outlier_label}” is predicted for a case outside every radius"
        lines.append(("Outliers", text))
    return _with_own(lines, how)


def describe_cover_settings(
    cover: BallCover, how: Mapping[str, str] | None, *, n_columns: int
) -> list[tuple[str, str]]:
    """Return headings and settings of a cover."""
    any_case = isinstance(cover.candidates, str) and cover.candidates == "train"
    lines = [
        ("Cases", f"{len(cover.labels_):,}{_and_features(n_columns)}"),
        ("Question", _describe_question(cover)),
        ("Distance", _describe_metric(cover.metric, cover.metric_params)),
        ("Radius", _describe_cover_radius(cover)),
        ("Candidates", "any case" if any_case else _describe_candidates(cover.candidates)),
        ("Selection", _describe(cover.solver, _SOLVERS)),
    ]
    if cover.must_include is not None and len(cover.must_include):
        lines.append(("Always included", f"{len(cover.must_include):,} given cases"))
    if cover.candidate_cost is not None:
        lines.append(("Costs", "each case has its own"))
    return _with_own(lines, how)


def explain_case(
    opening: str,
    near: Side,
    far: Side | None,
    roles: tuple[str, str],
    *,
    model: PVMClassifier,
    names: Sequence[str],
) -> str:
    """Return how near two prototypes are to a case, by which margin, and whether one covers it.

    `roles` are the two prototypes' relations to the case, and `names` those of all prototypes.
    """
    adaptive = model.solution_.radii is not None
    sentences = [opening, f"{roles[0]} is {_describe_side(near, model, names)}."]
    if far is None:
        sentences.append("No other class has a prototype.")
    else:
        sentences.append(f"{roles[1]} is {_describe_side(far, model, names)}.")
        sentences.append(_describe_margin(near, far, adaptive=adaptive))
    radius = short_number(float(model.prototype_radii_[near.prototype]), 3)
    where = "within" if near.inside else "outside"
    sentences.append(f"The case lies {where} the radius of {names[near.prototype]}, {radius}.")
    return " ".join(sentences)


def describe_probability(
    probable: ClassProbability, model: PVMClassifier, names: Sequence[str]
) -> str:
    """Return the probability of a class and the prototypes that contribute most to it."""
    main = [
        f"{names[k]} ({percent(part)})"
        for k, part in zip(probable.prototypes, probable.parts, strict=True)
        if part >= 0.01
    ]
    label = model.classes_[probable.class_]
    stated = f"The probability of “{label}” is {percent(probable.probability)}"
    return f"{stated}, mainly from {' and '.join(main)}." if main else f"{stated}."


def describe_shares(model: Any, *, has_sums: bool, shown: bool, as_pictures: bool) -> str:
    """Return what the contributions of the columns are, or why there are none."""
    if as_pictures:
        return "Per-pixel contributions are not shown."
    if not has_sums:
        return (
            "Contributions of columns are not available, because this distance is not a sum over "
            "the columns."
        )
    if not shown:
        return (
            "Contributions of columns are not available, because the distances are measured on "
            "other columns than those shown."
        )
    if model.dissimilarity_.contribution_unit == "square":
        return (
            "Percentages are the contributions of the columns to the squared distance. The "
            "distance is the square root of their sum."
        )
    return "Percentages are the contributions of the columns to the distance."


def _describe_side(side: Side, model: PVMClassifier, names: Sequence[str]) -> str:
    """Return the name of a prototype, its class and its distance."""
    label, distance = model.prototype_labels_[side.prototype], short_number(side.distance, 3)
    text = f"{names[side.prototype]} of “{label}” at distance {distance}"
    if model.solution_.radii is None:
        return text
    if side.relative is None:
        return f"{text}, and its radius is 0"
    radius = short_number(model.prototype_radii_[side.prototype], 3)
    return f"{text}, which is {short_number(side.relative, 3)} times its radius of {radius}"


def _describe_margin(near: Side, far: Side, *, adaptive: bool) -> str:
    """Return how much farther the second prototype is, as a sentence."""
    first = near.relative if adaptive else near.distance
    second = far.relative if adaptive else far.distance
    if first is None or second is None:
        return "Distances cannot be compared with a radius of 0."
    if second < first:
        return "It is even nearer."
    if second == first:
        return "Both are equally near, and the first class in order wins the tie."
    if first == 0.0:
        return "The case is identical to the first one, a clear margin."
    excess = second / first - 1.0
    margin = next((words for limit, words in _MARGINS if excess < limit), "a very clear margin")
    if excess < 0.001:
        much = "less than 0.1 % farther"
    elif excess < 0.1:
        much = f"{100 * excess:.1f} % farther"
    elif excess < 1.0:
        much = f"{100 * excess:.0f} % farther"
    else:
        much = f"{second / first:.1f} times as far"
    return f"{'Relative to the radii it' if adaptive else 'It'} is {much}, {margin}."


def _with_own(
    lines: list[tuple[str, str]], how: Mapping[str, str] | None
) -> list[tuple[str, str]]:
    """Put the caller's lines first; under one of our headings they replace our text."""
    own = {str(head): str(text) for head, text in (how or {}).items()}
    ours = [(head, own.pop(head, text)) for head, text in lines]
    return [*own.items(), *ours]


def _and_features(n_columns: int) -> str:
    """Return the number of features, if there are any."""
    return f", {count(n_columns, 'feature')}" if n_columns else ""


def _describe(choice: Any, words: Mapping[str, str]) -> str:
    """Return the words for a name, or the name of an object or function."""
    if isinstance(choice, str):
        return words.get(choice, choice)
    return getattr(choice, "__name__", None) or type(choice).__name__


def _describe_metric(metric: Any, params: Mapping[str, Any] | None) -> str:
    """Return the name of the distance, with its parameters."""
    given = dict(params or {})
    if isinstance(metric, str):
        text = _METRICS.get(metric, f"{metric} distance")
    elif isinstance(metric, BaseEstimator):
        text = _OBJECTS.get(type(metric).__name__, type(metric).__name__)
        accepted = signature(type(metric)).parameters
        given = {
            name: value
            for name, value in metric.get_params(deep=False).items()
            if name not in accepted or repr(value) != repr(accepted[name].default)
        }
    else:
        text = f"the function {_describe(metric, {})}"
    values = {name: repr(value) for name, value in given.items()}
    settings = ", ".join(
        f"{name} = {text if len(text) <= 80 else text[:77] + '...'}"
        for name, text in values.items()
    )
    return f"{text} ({settings})" if settings else text


def _describe_radius(model: PVMClassifier, search: PVMClassifierCV | None) -> str:
    """Return the radius, or the radii and their maximum, and how it was chosen."""
    limited = math.isfinite(model.eps_)
    if model.solution_.radii is None:
        start, eps, tenth = "", short_number(model.eps_), "50 %"
    else:
        start = f"one per prototype, {short_range(model.prototype_radii_)}; "
        eps, tenth = (f"at most {short_number(model.eps_)}" if limited else "no limit"), "10 %"
    if search is not None:
        n = _n_tried(search, "eps")
        tried = f"{n}"
        if start:
            n_costs = _n_tried(search, "prototype_cost")
            tried = f"{count(n, 'maximum radius', 'maximum radii')} and {count(n_costs, 'cost')}"
        return f"{start}{eps}, {_describe_search(search, tried)}"
    if isinstance(model.eps, str):
        return f"{start}{eps} ({tenth} of the cases have no case of another class within it)"
    return f"{start}{eps}, as given" if limited else f"{start}{eps}"


def _describe_cover_radius(cover: BallCover) -> str:
    """Return the radius of a cover, and how it was chosen."""
    eps: Any = short_number(cover.eps_)
    if not isinstance(cover.eps, str):
        return f"{eps}, as given"
    share, n = (
        percent(0.95 if cover.coverage is None else cover.coverage),
        cover.max_representatives,
    )
    some = "sqrt(n) of n cases" if n is None else count(n, "representative")
    return f"{eps}, the smallest at which {some} cover {share}"


def _describe_question(cover: BallCover) -> str:
    """Return the problem that a cover solves."""
    if cover.max_representatives is not None:
        return f"the best {cover.max_representatives:,}, which leave least uncovered"
    least = "the fewest" if cover.candidate_cost is None else "the cheapest"
    if cover.coverage is not None:
        return f"{least} that cover {percent(cover.coverage)}"
    if cover.cost is not None:
        return f"only those that are worth {short_number(cover.cost)} uncovered cases each"
    return f"{least} that cover every case that can be covered"


def _n_tried(search: PVMClassifierCV, name: str) -> int:
    """Return how many values of a parameter were tried."""
    return len(set(search.cv_results_[f"param_{name}"].tolist()))


def _describe_search(search: PVMClassifierCV, tried: str) -> str:
    """Return how a setting was chosen."""
    greedy = isinstance(search.solver, str) and search.solver == "auto"
    other = " with greedy selections" if greedy else ""
    return (
        f"chosen from {tried} by {search.n_splits_}-fold cross-validation{other} "
        f"({_RULES[search.rule]})"
    )


def _describe_candidates(candidates: Any) -> str:
    """Return which cases could be selected."""
    if isinstance(candidates, list | tuple) and all(isinstance(c, str) for c in candidates):
        return "; ".join(_describe(c, _CANDIDATES) for c in candidates)
    if hasattr(candidates, "shape") or isinstance(candidates, list | tuple):
        return "given cases"
    if isinstance(candidates, Integral):
        return f"a random sample of {candidates} training cases, stratified by class"
    if isinstance(candidates, Real):
        return f"a random sample of {percent(float(candidates))} of the training cases per class"
    return _describe(candidates, _CANDIDATES)


def _describe_cost(model: PVMClassifier, search: PVMClassifierCV | None) -> str:
    """Return the cost of a prototype relative to one uncovered case."""
    cost = model.prototype_cost_
    text = f"as much as {short_number(cost)} uncovered case{'s'[: cost != 1.0]}"
    shared = model.solution_.radii is None
    if search is not None and not shared:
        return f"{text}, chosen from {_n_tried(search, 'prototype_cost')} with the maximum radius"
    given = (
        model.prototype_cost != "auto" if search is None else search.prototype_costs is not None
    )
    if given:
        return text
    return f"{text} ({'it only breaks ties' if shared else 'a prototype must cover other cases'})"
