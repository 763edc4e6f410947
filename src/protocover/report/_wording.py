"""What a report says in words, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from inspect import signature
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from .._estimators import PVMClassifier, PVMClassifierCV
from .._inspection.proportions import percent
from ._summary import Answers, Quality

_METRICS = {
    "euclidean": "Euclidean distance",
    "l2": "Euclidean distance",
    "sqeuclidean": "squared Euclidean distance",
    "cosine": "cosine distance: the angle between two rows, not their length",
    "manhattan": "Manhattan distance: the differences in all features added up",
    "cityblock": "Manhattan distance: the differences in all features added up",
    "l1": "Manhattan distance: the differences in all features added up",
    "chebyshev": "Chebyshev distance: the largest difference in any feature",
    "correlation": "correlation distance",
    "hamming": "Hamming distance: the share of features that differ",
    "nan_euclidean": "Euclidean distance over the features that both rows have",
    "precomputed": "given as a table",
}
_OBJECTS = {
    "Gower": "Gower's dissimilarity: the average difference over all columns, each from 0 to 1",
    "TangentDistance": "tangent distance between images, which forgives small shifts, turns "
    "and strokes",
    "KernelDistance": "the distance that a kernel induces",
    "MismatchDistance": "the distance of the mismatch kernel of sequences",
    "SpectrumDistance": "the distance of the spectrum kernel of sequences",
    "Tanimoto": "Tanimoto distance: the share of bits that only one of two cases has",
    "RankDissimilarity": "rank among the neighbours",
    "DANN": "discriminant adaptive nearest neighbour distance",
}
_SOLVERS = {
    "greedy": "greedy: one prototype at a time, the one that helps most",
    "ratio-greedy": "greedy by ratio: the least cost per newly covered case",
    "lp-rounding": "linear relaxation, rounded",
    "local-search": "local search: greedy choices improved by removals and swaps",
    "exact": "exact: branch and bound for the best possible choice",
    "auto": "near the best possible: greedy choices improved with the help of a linear program",
}
_CANDIDATES = {
    "train": "any training case",
    "kmeans": "k-means centres of each class, which are no real cases",
    "hull": "mixtures of neighbouring cases, which are no real cases",
}


def describe_settings(
    model: PVMClassifier,
    search: PVMClassifierCV | None,
    how: Mapping[str, str] | None,
    *,
    n_points: int | None,
    n_columns: int,
) -> list[tuple[str, str]]:
    """Return pairs of a heading and what was asked under it.

    The caller's own come first; what he says under a heading of ours stands in its place.
    The number of training cases is None where it is not known.
    """
    features = f", {count(n_columns, 'feature')}" if n_columns else ""
    classes = count(len(model.classes_), "class", "classes")
    cases = "cases" if n_points is None else count(n_points, "case")
    own = {str(head): str(text) for head, text in (how or {}).items()}
    lines = [
        ("Training data", f"{cases} of {classes}{features}"),
        ("Dissimilarity", describe_metric(model.metric, model.metric_params)),
        ("Radius", _describe_radius(model, search)),
        ("May become a prototype", describe_candidates(model.candidates)),
        ("Selection", describe_solver(model.solver)),
        ("Cost of a prototype", _describe_cost(model, search)),
    ]
    if model.max_prototypes is not None:
        lines.append(("At most", _describe_budget(model.max_prototypes)))
    if model.outlier_label is not None:
        text = f"answered by “{model.outlier_label}” when a case lies in no ball"
        lines.append(("Far-off cases", text))
    ours = [(head, own.pop(head, text)) for head, text in lines]
    return [*own.items(), *ours]


def describe_selection(quality: Quality, model: PVMClassifier) -> str:
    """Return the first sentence of the report."""
    what = "case" if (model.prototype_indices_ >= 0).all() else "prototype"
    chosen = count(quality.n_prototypes, what)
    verb = "sums" if quality.n_prototypes == 1 else "sum"
    classes = count(len(model.classes_), "class", "classes")
    share = quality.n_covered / quality.n_points
    near = _describe_nearness(model)
    return (
        f"{chosen} {verb} up {count(quality.n_points, 'case')} of {classes}: {percent(share)} of "
        f"them lie {near}"
    )


def describe_answers(answers: Answers) -> str:
    """Return the first sentences of a page of answers."""
    text = f"{count(answers.n_cases, 'case')}, each beside the prototype that decided."
    if answers.n_labeled:
        known = count(answers.n_labeled, "case")
        verb = "is" if answers.n_wrong == 1 else "are"
        text += f" Of {known} of known class {answers.n_wrong:,} {verb} answered wrongly."
    if answers.evaluation is not None:
        n_wrong = round((1.0 - answers.evaluation.baseline_accuracy) * answers.n_labeled)
        majority = answers.evaluation.majority_label
        text += f" Always answering “{majority}” would be wrong for {n_wrong:,}."
    if answers.n_outside:
        lie = "lies" if answers.n_outside == 1 else "lie"
        text += f" {answers.n_outside:,} {lie} in no prototype's ball: take these with caution."
    return text


def as_sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}."


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number of things: "1 case", "2 cases"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def short_number(value: float) -> str:
    """Return a number to at most five digits, whole ones in full."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e12 else f"{value:,.5g}"


def short_range(values: Iterable[float]) -> str:
    """Return the smallest and the largest of some numbers, one alone if they look the same."""
    known = list(values)
    low, high = short_number(min(known)), short_number(max(known))
    return low if low == high else f"{low} to {high}"


def _describe(choice: Any, words: Mapping[str, str]) -> str:
    """Return the words for a name, or the name of an object or function."""
    if isinstance(choice, str):
        return words.get(choice, choice)
    return getattr(choice, "__name__", None) or type(choice).__name__


def describe_metric(metric: Any, params: Mapping[str, Any] | None) -> str:
    """Return what the dissimilarity is called, with its parameters."""
    if isinstance(metric, str):
        text = _METRICS.get(metric, f"{metric} distance")
        given = dict(params or {})
    elif isinstance(metric, BaseEstimator):
        text = _OBJECTS.get(type(metric).__name__, type(metric).__name__)
        accepted = signature(type(metric)).parameters
        given = {
            name: value
            for name, value in metric.get_params(deep=False).items()
            if name not in accepted or repr(value) != repr(accepted[name].default)
        }
    else:
        text, given = f"the function {_describe(metric, {})}", dict(params or {})
    settings = ", ".join(f"{name} = {_brief(value)}" for name, value in given.items())
    return f"{text} ({settings})" if settings else text


def _brief(value: Any) -> str:
    """Return a parameter's value, cut to a length that can be read."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _describe_nearness(model: PVMClassifier) -> str:
    """Say how near to a prototype the cases lie that it covers."""
    if model.solution_.radii is None:
        return f"within {short_number(model.eps_)} of a prototype of their own class."
    radii = short_range(model.prototype_radii_)
    return (
        f"within the radius of a prototype of their own class. Each has its own radius, {radii}."
    )


def describe_solver(solver: Any) -> str:
    """Return how was chosen."""
    return _describe(solver, _SOLVERS)


def _describe_radius(model: PVMClassifier, search: PVMClassifierCV | None) -> str:
    """Return the radius, or the radii and how large they might be, and where that comes from."""
    if model.solution_.radii is not None:
        return _describe_adaptive_radii(model, search)
    eps = short_number(model.eps_)
    if search is not None:
        return f"{eps}, {_describe_search(search, str(_count_tried(search, 'eps')))}"
    if isinstance(model.eps, str):
        return f"{eps}: half of the cases have no case of another class that near"
    return f"{eps}, as given"


def _describe_adaptive_radii(model: PVMClassifier, search: PVMClassifierCV | None) -> str:
    """Return the radii of prototypes that have their own, and their limit."""
    limited = math.isfinite(model.eps_)
    limit = f"at most {short_number(model.eps_)}" if limited else "no limit"
    if search is not None:
        limits, costs = (_count_tried(search, name) for name in ("eps", "prototype_cost"))
        tried = f"{limits} limit{'s'[: limits != 1]} and {costs} cost{'s'[: costs != 1]}"
        limit += f", {_describe_search(search, tried)}"
    elif isinstance(model.eps, str):
        limit += ": 10 % of the cases have no case of another class that near"
    elif limited:
        limit += ", as given"
    return f"its own for each prototype, {short_range(model.prototype_radii_)}; {limit}"


def _count_tried(search: PVMClassifierCV, name: str) -> int:
    """Return how many values of a parameter were tried."""
    return len(set(search.cv_results_[f"param_{name}"].tolist()))


def _describe_search(search: PVMClassifierCV, tried: str) -> str:
    """Say from what a setting was chosen, and how."""
    rule = {
        "1se": "the fewest prototypes within one standard error of the best score",
        "best": "the best score",
        "few": "the fewest prototypes within one standard error of the best score, or 0.01",
    }[search.rule]
    greedy = isinstance(search.solver, str) and search.solver == "auto"
    other = " with greedy selections" if greedy else ""
    return f"chosen from {tried} by {search.n_splits_}-fold cross-validation{other}: {rule}"


def describe_candidates(candidates: Any) -> str:
    """Return what was allowed to become a prototype."""
    if isinstance(candidates, list | tuple) and all(isinstance(c, str) for c in candidates):
        return "; ".join(_describe(c, _CANDIDATES) for c in candidates)
    if hasattr(candidates, "shape") or isinstance(candidates, list | tuple):
        return "cases that were given"
    if isinstance(candidates, Integral):
        return f"{candidates} training cases, drawn by chance from each class in proportion"
    if isinstance(candidates, Real):
        return f"{candidates:.3g} of the training cases, drawn by chance from each class"
    return _describe(candidates, _CANDIDATES)


def _describe_cost(model: PVMClassifier, search: PVMClassifierCV | None) -> str:
    """Return what a prototype costs, against one uncovered case."""
    cost = short_number(model.prototype_cost_)
    is_default = (
        model.prototype_cost == "auto" if search is None else search.prototype_costs is None
    )
    shared = model.solution_.radii is None
    if search is not None and not shared:
        tried = len(set(search.cv_results_["param_prototype_cost"].tolist()))
        return f"as much as {cost} uncovered cases, chosen from {tried} with the limit"
    if not is_default:
        return f"as much as {cost} uncovered cases"
    why = (
        "next to nothing, it only breaks ties"
        if shared
        else "it has to stand for more than itself"
    )
    return f"as much as {cost} uncovered cases: {why}"


def _describe_budget(budget: Any) -> str:
    """Return how many prototypes were allowed."""
    if isinstance(budget, Mapping):
        return ", ".join(f"{count} for {label}" for label, count in budget.items())
    return f"{budget} prototypes"
