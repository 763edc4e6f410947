"""The scores of a search: what it scores by, its table, and the choice of a setting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from .._exceptions import warn_caller
from .._selection.parameters import check_adaptive_radii
from .._typing import Floats
from .search_folds import FoldScores, Grid

Folds = Sequence[FoldScores]

RULES = ("1se", "best", "few")

# What "few" gives up at most where a standard error is smaller: one case in a hundred.
_ONE_IN_A_HUNDRED = 0.01

# Mean scores that differ by less than this, relative to the largest, are ties: means of the
# same fractions in another order differ in the last bits.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SearchPath:
    """The settings of a search that differ from the chosen one in one `parameter` alone.

    That is ``"eps"`` or, with radii of their own, of which it is but the limit,
    ``"prototype_cost"``. By its rising `values`: the mean `score` over the folds and its
    standard `error`, NaN where a fold has no score, and the mean number of prototypes; the
    place of the `chosen` value, and the `lowest` mean score that the rule accepts over the
    whole search. A fold is fitted on `n_training` samples, about.
    """

    parameter: str
    values: Floats
    score: Floats
    error: Floats
    n_prototypes: Floats
    chosen: int
    lowest: float
    n_training: float

    @property
    def keeps_all(self) -> bool:
        """Whether the smallest radius keeps nearly all samples, which is 1-NN."""
        return self.parameter == "eps" and bool(self.n_prototypes[0] >= 0.99 * self.n_training)


def choose(
    scores: Floats, n_prototypes: Floats, *, rule: str, n_classes_lost: Floats | None = None
) -> int:
    """Return the number of the setting to take, by `scores` of shape (n_settings, n_splits).

    Only settings that lose the fewest classes are considered, usually none. Among them
    ``"best"`` takes the highest mean score. ``"1se"`` takes the fewest prototypes among those
    whose mean score is within one standard error of the best (paper, section 5.4). ``"few"``
    also accepts those within 0.01 of it, because the standard error of a model that is hardly
    ever wrong is no reason to keep every point. Ties go to fewer prototypes, then to the
    higher score. Simpler is what has fewer prototypes on average over the folds, whatever
    radius, limit or cost that comes from.

    Parameters
    ----------
    scores : ndarray of float, shape (n_settings, n_splits)
        The score of each setting on each fold.
    n_prototypes : ndarray of float, shape (n_settings,)
        Mean number of prototypes.
    rule : {"1se", "best", "few"}
        How to choose.
    n_classes_lost : ndarray of float, shape (n_settings,), or None
        Mean number of classes without a prototype; None if every class has one.
    """
    lowest = lowest_accepted(scores, n_prototypes, rule=rule, n_classes_lost=n_classes_lost)
    mean = scores.mean(axis=1)
    settings = _considered(mean, n_classes_lost)
    within = settings[mean[settings] >= lowest]
    fewest = within[n_prototypes[within] == n_prototypes[within].min()]
    return int(fewest[_is_highest(mean[fewest])][0])


def lowest_accepted(
    scores: Floats, n_prototypes: Floats, *, rule: str, n_classes_lost: Floats | None = None
) -> float:
    """Return the lowest mean score that a rule accepts; the arguments are those of `choose`.

    It is the highest of the settings that are considered, by ``"1se"`` less its standard
    error, by ``"few"`` less 0.01 if that is more. If several settings have that score, the one
    with the fewest prototypes counts. A small tolerance absorbs rounding errors of the means.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {rule!r}")
    mean = scores.mean(axis=1)
    settings = _considered(mean, n_classes_lost)
    highest = settings[_is_highest(mean[settings])]
    best = highest[n_prototypes[highest].argmin()]
    error = 0.0 if rule == "best" else float(standard_errors(scores)[best])
    if rule == "few":
        error = max(error, _ONE_IN_A_HUNDRED)
    return float(mean[best] - error - _tolerance(mean[settings]))


def choose_decision(choices: list[tuple[dict[str, Any], Floats]]) -> tuple[dict[str, Any], Floats]:
    """Return the first choice, or the best of those that are better by more than an error.

    That is the standard error of the mean difference of the scores, which are of the same folds.
    """
    best = choices[0]
    for other in choices[1:]:
        gain = other[1] - choices[0][1]
        is_better = gain.mean() > standard_errors(gain[None])[0]
        if np.isnan(best[1]).any() or (is_better and other[1].mean() > best[1].mean()):
            best = other
    return best


def split_scores(results: dict[str, Any], n_splits: int) -> Floats:
    """Return the scores of a table of results, shape (n_settings, n_splits)."""
    return np.column_stack([results[f"split{k}_test_score"] for k in range(n_splits)])


def standard_errors(scores: Floats) -> Floats:
    """Return the standard error of each setting's mean score; with one fold it is not known: 0."""
    n_splits = scores.shape[1]
    if n_splits == 1:
        return np.zeros(len(scores))
    return np.asarray(scores.std(axis=1, ddof=1) / np.sqrt(n_splits))


def trace_path(search: Any) -> SearchPath:
    """Return how score and prototypes go with radius, or cost, around the choice of a search."""
    results, best = search.cv_results_, search.best_index_
    scores, sizes = split_scores(results, search.n_splits_), results["mean_n_prototypes"]
    varied, fixed = "eps", "prototype_cost"
    if check_adaptive_radii(search.radii):
        varied, fixed = fixed, varied
    rows = np.flatnonzero(results[f"param_{fixed}"] == results[f"param_{fixed}"][best])
    values = results[f"param_{varied}"]
    sample = search.search_rows_
    n_samples = search.class_count_.sum() if sample is None else len(sample)
    rows = rows[np.argsort(values[rows], kind="stable")]
    return SearchPath(
        parameter=varied,
        values=values[rows],
        score=results["mean_test_score"][rows],
        error=standard_errors(scores[rows]),
        n_prototypes=sizes[rows],
        chosen=int(np.flatnonzero(rows == best)[0]),
        n_training=float(n_samples * (1.0 - 1.0 / max(2, search.n_splits_))),
        lowest=lowest_accepted(
            scores,
            sizes,
            rule=search.rule,
            n_classes_lost=results["mean_n_classes_lost"],
        ),
    )


def _considered(mean: Floats, n_classes_lost: Floats | None) -> NDArray[np.intp]:
    """Return the settings that have a score, and among them those that lose the fewest classes."""
    scored = np.flatnonzero(np.isfinite(mean))
    if len(scored) == 0:
        raise ValueError("no setting could be scored: every mean score is NaN or infinite")
    if n_classes_lost is None:
        return scored
    lost = n_classes_lost[scored]
    return np.asarray(scored[lost == lost.min()])


def _is_highest(mean: Floats) -> NDArray[np.bool_]:
    """Tell which mean scores are the highest, up to rounding errors."""
    return np.asarray(mean >= mean.max() - _tolerance(mean))


def _tolerance(mean: Floats) -> float:
    """Return by how much mean scores that are equal may differ through rounding."""
    return _ROUNDING * float(np.abs(mean).max())


def tabulate(grid: Grid, folds: Folds) -> dict[str, Any]:
    """Arrange the folds as scikit-learn's searches do, one row per setting."""
    names = ("eps", "prototype_cost")
    settings = [(float(eps), float(cost)) for eps in grid.radii for cost in grid.costs]
    # One pass serves all settings of a fold, so each has an equal share of its time.
    shares = _by_split(folds, lambda f: np.full(f.score.shape, f.fit_time / f.score.size))
    results = _mean_and_spread("fit_time", shares)
    results |= _mean_and_spread("score_time", _by_split(folds, lambda f: f.score_time))
    for name, values in zip(names, zip(*settings, strict=True), strict=True):
        results[f"param_{name}"] = np.array(values)
    results["params"] = [dict(zip(names, setting, strict=True)) for setting in settings]
    scores = _by_split(folds, lambda f: f.score)
    results |= {f"split{k}_test_score": scores[:, k].copy() for k in range(scores.shape[1])}
    results |= _mean_and_spread("test_score", scores)
    results["rank_test_score"] = _ranks(results["mean_test_score"])
    sizes = np.ma.masked_invalid(_by_split(folds, lambda f: f.n_prototypes))
    lost = np.ma.masked_invalid(_by_split(folds, lambda f: f.n_classes_lost))
    results |= _mean_and_spread("n_prototypes", sizes)
    return results | {"mean_n_classes_lost": np.ma.filled(lost.mean(axis=1), np.nan)}


def report_failures(folds: Folds, scores: Floats, error_score: Any) -> None:
    """Warn of scores that could not be had, or raise if no setting has them all."""
    reasons = Counter(reason for fold in folds for reason in fold.failures)
    n_failed = reasons.total()
    if n_failed == scores.size or not np.isfinite(scores.mean(axis=1)).any():
        reasons["no prototypes, none being worth its cost"] = sum(
            int((fold.n_prototypes == 0).sum()) for fold in folds
        )
        raise ValueError(
            f"no setting could be scored on every fold: of {scores.size} scores "
            f"{_tell(reasons)}; change eps or prototype_costs, or see the first error with "
            "error_score='raise'"
        )
    if n_failed:
        warn_caller(
            f"{n_failed} of {scores.size} scores could not be computed and are set to "
            f"{error_score}: {_tell(reasons)}; error_score='raise' raises the error instead",
            FitFailedWarning,
        )


def _tell(reasons: Counter[str]) -> str:
    """Say how often each of the most frequent reasons came up."""
    told = [f"{count} failed with {why}" for why, count in reasons.most_common(3) if count]
    others = reasons.total() - sum(count for _, count in reasons.most_common(3))
    told += [f"{others} failed otherwise"] if others else []
    return "; ".join(told) or "none is finite"


def _by_split(folds: Folds, tell: Callable[[FoldScores], Floats]) -> Floats:
    """Return the values that `tell` gives for each fold, shape (n_settings, n_splits)."""
    return np.stack([tell(fold).ravel() for fold in folds], axis=1)


def _mean_and_spread(name: str, values: Any) -> dict[str, Any]:
    """Return the mean and the standard deviation over the folds, NaN where there is none."""
    return {
        f"mean_{name}": np.ma.filled(values.mean(axis=1), np.nan),
        f"std_{name}": np.ma.filled(values.std(axis=1), np.nan),
    }


def _ranks(mean: Floats) -> NDArray[np.int32]:
    """Rank scores from 1, those that are NaN all last."""
    if np.isnan(mean).all():
        return np.ones(len(mean), dtype=np.int32)
    filled = np.where(np.isnan(mean), np.nanmin(mean) - 1.0, mean)
    return np.asarray(rankdata(-filled, method="min"), dtype=np.int32)


def route(
    search: Any,
    sample_weight: NDArray[np.float64] | None,
    groups: Any,
    params: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the splitter and what the scorer of a search is told."""
    given = {"sample_weight": sample_weight, "groups": groups}
    given = {name: value for name, value in given.items() if value is not None}
    if _routing_enabled():
        routed = process_routing(search, "fit", **given, **params)
        return routed.splitter.split, routed.scorer.score
    _raise_for_params(params, search, "fit")
    weights = given.pop("sample_weight", None)
    if weights is None:
        return given, {}
    scorer = find_scorer(search)
    if "sample_weight" not in signature(getattr(scorer, "_score_func", scorer)).parameters:
        warn_caller(
            f"scoring={name_scoring(search)!r} takes no sample_weight, so weights count in "
            "fitting and not in scoring"
        )
        return given, {}
    return given, {"sample_weight": weights}


def make_router(search: Any) -> MetadataRouter:
    """Return the router of a search: groups to the splitter, weights to the scorer, too."""
    to_splitter = MethodMapping().add(caller="fit", callee="split")
    to_scorer = MethodMapping().add(caller="fit", callee="score")
    router = MetadataRouter(owner=search).add_self_request(search)
    router.add(splitter=search.cv, method_mapping=to_splitter)
    return router.add(scorer=find_scorer(search), method_mapping=to_scorer)


def name_scoring(search: Any) -> Any:
    """Return what a search scores by: `scoring`, or accuracy, balanced if the classes are."""
    if search.scoring is not None:
        return search.scoring
    balanced = isinstance(search.class_weight, str) and search.class_weight == "balanced"
    return "balanced_accuracy" if balanced else "accuracy"


def find_scorer(search: Any) -> Any:
    """Return the scorer of a search; the default one wants weights wherever there are any."""
    scorer = get_scorer(name_scoring(search))
    if search.scoring is not None:
        return scorer
    return scorer.set_score_request(sample_weight=True) if _routing_enabled() else scorer
