"""Labels that disagree with nearby prototypes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._prototypes.coverage import Coverage
from .._resources import row_count
from .._selection.parameters import is_count
from .._typing import Floats, Indices
from ..data._frames import make_frame
from ..data._points import check_estimator_points, same_points
from .fitted import distance_blocks, nearness, unwrap

# Columns of the data frame, the first fields.
_N_COLUMNS = 11
_COVERED = "covered only by other classes"
_NEARER = "nearest prototypes disagree"
# So many nearest prototypes of a class speak for it: one alone is easily misled. But with
# radii of their own one may stand for a whole class, and the next for a single point.
_N_WITNESSES, _N_WITNESSES_OWN = 2, 1
# Pairs of a sample and a candidate that the reference compares; with more than 10,000 samples
# it draws candidates. Fewer than that many would miss small classes.
_MOST_PAIRS, _FEWEST_CANDIDATES = 10**8, 2_000


@dataclass(frozen=True, eq=False)
class LabelIssues:
    """Samples whose labels disagree with nearby prototypes, the most suspect first.

    Parameters
    ----------
    row : ndarray of int, shape (n_suspects,)
        Row of each suspect in `X`.
    label : ndarray
        Its label in `y`.
    suggested : ndarray
        The other class that is nearest.
    score : ndarray of float
        From 0 to 1; above 0.5 the suggested class is nearer than that of the label.
    reason : ndarray of str
        "covered only by other classes" or else "nearest prototypes disagree".
    own_prototype, other_prototype : ndarray of int
        Place in ``judge.prototypes_`` of the nearest prototype of the label's class and of
        the suggested class; -1 where there is none.
    own_distance, other_distance : ndarray of float
        Their dissimilarities from the point; inf where there is none.
    own_count, other_count : ndarray of int
        Prototypes of its own and of other classes whose balls hold the point. One that
        holds nobody else of its class does not count for the point it is.
    index : index, array or None
        Names of the suspects, where `X` or `y` is a pandas frame or series.
    judge : PVMClassifier or None
        The fitted classifier whose prototypes the labels are compared with.
    n_disagree : int
        How many labels disagree in all, listed or not.
    plausible : Plausible or None
        The estimate of how many labels are wrong; None if no limit was estimated.
    n_candidates : int or None
        How many samples were drawn as candidates for prototypes; None for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover import PVMClassifier, find_label_issues
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(4, 5, 10)].reshape(-1, 1)
    >>> y = np.repeat([0, 1], 10)
    >>> y[3] = 1
    >>> found = find_label_issues(PVMClassifier(eps=0.6).fit(X, y), X, y)
    >>> found.row, found.label, found.suggested
    (array([3]), array([1]), array([0]))
    """

    row: Indices
    label: NDArray[Any]
    suggested: NDArray[Any]
    score: Floats
    reason: NDArray[np.str_]
    own_prototype: Indices
    own_distance: Floats
    other_prototype: Indices
    other_distance: Floats
    own_count: Indices
    other_count: Indices
    index: Any = None
    judge: PVMClassifier | None = None
    n_disagree: int = 0
    plausible: Plausible | None = None
    n_candidates: int | None = None

    def __len__(self) -> int:
        return len(self.row)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each suspect, the most suspect first."""
        names = [field.name for field in fields(self)[:_N_COLUMNS]]
        return make_frame({name: getattr(self, name) for name in names}, self.index)

    def describe(self) -> str:
        """Return how many labels disagree, or why none are listed, as a sentence."""
        n, drawn = len(self), ""
        if self.n_candidates is not None:
            drawn = (
                f" The prototypes were chosen among {self.n_candidates:,} samples drawn at random."
            )
        if self.plausible is not None and self.plausible.overlap:
            return (
                f"No labels are listed: nearby prototypes disagree with "
                f"{100 * self.plausible.share:.0f} % of the labels even where they are most "
                f"certain, so the classes overlap too much to find wrong labels.{drawn}"
            )
        if n == 0:
            return f"No label disagrees with nearby prototypes.{drawn}"
        found = f"{n:,} label{' disagrees' if n == 1 else 's disagree'} with nearby prototypes"
        return f"{found}.{drawn}"


def find_label_issues(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    refit: bool = True,
    max_suspects: int | str | None = "auto",
) -> LabelIssues:
    """Find labels that disagree with nearby prototypes.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector, or a pipeline or search that ends in one
        Fitted. By default only its dissimilarity and the steps before it are used, not its
        prototypes or its radius.
    X : array-like, table or data frame, shape (n_points, n_features)
        Labelled samples, as for `predict`.
    y : array-like, shape (n_points,)
        Their labels.
    sample_weight : array-like, shape (n_points,), or None, default=None
        Weights of the samples, for the reference model.
    refit : bool, default=True
        Whether to compare with the prototypes of a reference model fitted on `X` and `y`, which
        finds more wrong labels than a short summary does. False for the prototypes of `model`
        itself, for instance to judge new labels. They are also used if `X` is a precomputed
        matrix that is not square.
    max_suspects : "auto", int or None, default="auto"
        How many labels to list at most, the most suspect first. "auto" estimates the number of
        wrong labels, and lists all with ``refit=False``. None lists every label that disagrees.

    Returns
    -------
    LabelIssues
        The most suspect label first. ``.to_frame()`` returns a data frame and ``.describe()``
        a sentence.

    Notes
    -----
    The reference model has a shared radius, ``eps="auto"`` and the greedy solver. With more than
    10,000 samples its candidates are a random sample of them.

    A label is suspect if its sample lies in balls of other classes and in none of its own, or
    if it is nearer to another class, by the mean dissimilarity from the class's two nearest
    prototypes. With that of its own class, a, and the least of the others, b, the score
    is ``a / (a + b)``. Classes without a prototype worth its cost are neither
    listed nor suggested.

    No sample counts as evidence for its own label. A prototype counts as `eps` away from the
    sample that it is, not 0. If its ball holds no other sample of its class, it does not count
    for that sample at all. Otherwise a mislabelled sample, which often becomes a prototype of
    itself alone, would confirm its own label.

    The number of wrong labels is estimated from the quarter of the samples whose two nearest
    classes differ most in dissimilarity. If k of these m samples disagree with their labels, at
    most ``n (k + 1) / m`` of n samples are listed. If k is above 10 % of m by more than two
    standard errors, the classes overlap too much to find wrong labels, and none are listed.

    With ``refit=False`` and radii of their own, dissimilarities count as multiples of these, a
    prototype is 1 away from the sample that it is, and only the nearest prototype of a class
    counts. `own_distance` and `other_distance` remain dissimilarities.

    A suspect label need not be wrong. Rare and borderline samples look the same.

    See Also
    --------
    PVMClassifier.coverage : Which point lies in which ball.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protocover import PVMClassifier, find_label_issues
    >>> X, y = load_wine(return_X_y=True)
    >>> y[[10, 80, 150]] = [1, 2, 0]  # three wrong labels
    >>> model = make_pipeline(StandardScaler(), PVMClassifier()).fit(X, y)
    >>> find_label_issues(model, X, y).row[:3]
    array([ 80,  10, 150])
    """
    index = next((part.index for part in (X, y) if hasattr(part, "iloc")), None)
    _check_max(max_suspects)
    within = unwrap(model)
    classifier, X, drawn = within.classifier, within.prepare(X), None
    lost = classifier.classes_[classifier.solution_.forced]
    if isinstance(X, PathLike):  # a file of sequences
        X = check_estimator_points(classifier, X, classifier.dissimilarity_, reset=False)
    if refit and not _is_rectangular(classifier, X):
        X = replace(within, transformers=()).prepare_training(X)
        classifier, drawn = _fit_reference(classifier, X, y, sample_weight)
        if len(classifier.prototype_labels_) == 0:
            return _list_none(classifier)
    else:
        refit = False
        within.require_prototypes("no label can be compared with any")
    coverage = classifier.coverage(X, y)
    if (coverage.point_classes < 0).any():
        raise ValueError(
            f"y must hold classes that the model knows, {coverage.classes.tolist()}; leave points "
            "of other classes out"
        )
    own_rows = _own_rows(classifier, X)
    loners = _find_loners(coverage, own_rows)
    measures = _measure(classifier, X, coverage, own_rows, loners)
    alone = coo_array(
        (np.ones(len(loners), dtype=bool), (own_rows[loners], loners)), shape=coverage.balls.shape
    )
    # The one prototype of a class that is not worth its cost is no evidence.
    forced = classifier.solution_.forced
    measures.mean[:, forced] = np.inf
    counts = ~np.isin(coverage.prototype_classes, forced)
    heard = replace(coverage, balls=(coverage.balls > alone.tocsr()).multiply(counts).tocsr())
    limit = None if max_suspects == "auto" and not refit else max_suspects
    exempt = np.union1d(forced, np.flatnonzero(np.isin(classifier.classes_, lost)))
    found = _judge(heard, measures, index, limit, exempt=exempt)
    return replace(found, judge=classifier, n_candidates=drawn)


def _list_none(classifier: PVMClassifier) -> LabelIssues:
    """Return an empty list, of a classifier without prototypes."""
    label, places, numbers = classifier.classes_[:0], np.empty(0, np.intp), np.empty(0)
    return LabelIssues(
        row=places,
        label=label,
        suggested=label,
        score=numbers,
        reason=np.empty(0, np.str_),
        own_prototype=places,
        own_distance=numbers,
        other_prototype=places,
        other_distance=numbers,
        own_count=places,
        other_count=places,
        judge=classifier,
    )


def _check_max(max_suspects: Any) -> None:
    """Refuse what is no limit to the length of the list."""
    if max_suspects in ("auto", None) or (is_count(max_suspects) and max_suspects >= 0):
        return
    raise ValueError(
        f'max_suspects must be "auto", a non-negative integer or None for all, got '
        f"{max_suspects!r}"
    )


def _is_rectangular(classifier: PVMClassifier, X: Any) -> bool:
    """Whether `X` are dissimilarities from other samples than its own rows."""
    return traits_of(classifier.dissimilarity_).precomputed and X.shape[0] != X.shape[1]


def _fit_reference(
    classifier: PVMClassifier, X: Any, y: Any, sample_weight: Any
) -> tuple[PVMClassifier, int | None]:
    """Fit the model that finds wrong labels best, and return how many candidates it drew."""
    n = row_count(X)
    most = max(_FEWEST_CANDIDATES, _MOST_PAIRS // max(1, n))
    drawn = None if n <= most else most
    reference = PVMClassifier(
        radii="shared",
        cross_class=True,
        min_per_class=0,
        candidates="train" if drawn is None else drawn,
        metric=classifier.metric,
        metric_params=classifier.metric_params,
        solver="greedy",
        solver_options={"bound": False},
        closed_ball=classifier.closed_ball,
        n_jobs=classifier.n_jobs,
        random_state=0,
    )
    with warnings.catch_warnings():
        # Its number of prototypes does not matter, nor does a class without any.
        warnings.simplefilter("ignore", UserWarning)
        return reference.fit(X, y, sample_weight=sample_weight), drawn


def _own_rows(classifier: PVMClassifier, X: Any) -> Indices:
    """Return the row of `X` that each prototype is, -1 where it is none of them.

    Where `X` are not the points of the training, no prototype is one of them.
    """
    rows = classifier.prototype_indices_
    real = np.flatnonzero(rows >= 0)
    elsewhere = np.full(len(rows), -1)
    if rows.max(initial=-1) >= row_count(X):
        return elsewhere
    if traits_of(classifier.dissimilarity_).precomputed:
        square = row_count(X) == classifier.n_features_in_
        return rows if square and _nearest_to_themselves(classifier, X, rows) else elsewhere
    checked = check_estimator_points(classifier, X, classifier.dissimilarity_, reset=False)
    found = _safe_indexing(checked, rows[real])
    return rows if same_points(found, _safe_indexing(classifier.prototypes_, real)) else elsewhere


def _nearest_to_themselves(classifier: PVMClassifier, X: Any, rows: Indices) -> bool:
    """Whether no row of a table is nearer to a prototype than the row it would be."""
    real = np.flatnonzero(rows >= 0)
    nearest, own = np.full((2, len(rows)), np.inf)
    for some, table in distance_blocks(classifier, X):
        np.minimum(nearest, table.min(axis=0), out=nearest)
        here = real[(rows[real] >= some[0]) & (rows[real] <= some[-1])]
        own[here] = table[rows[here] - some[0], here]
    return bool((own <= nearest)[real].all())


def _find_loners(coverage: Coverage, own_rows: Indices) -> Indices:
    """Return the prototypes that are points and hold no further point of their class."""
    held = coverage.balls.tocoo()
    own = coverage.point_classes[held.row] == coverage.prototype_classes[held.col]
    others = own & (own_rows[held.col] != held.row)
    count = np.bincount(held.col[others], minlength=held.shape[1])
    return np.flatnonzero((count == 0) & (own_rows >= 0))


@dataclass(frozen=True, eq=False)
class _Measures:
    """For each point and class the nearest prototype, its distance, and the mean of the nearest.

    That mean is of distances, or of multiples of radii.
    """

    nearest: Indices
    distance: Floats
    mean: Floats


def _measure(
    classifier: PVMClassifier, X: Any, coverage: Coverage, own_rows: Indices, loners: Indices
) -> _Measures:
    """Measure how far each point is from the prototypes of each class, block by block."""
    shape = (row_count(X), len(coverage.classes))
    nearest, distance = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
    mean = np.full(shape, np.inf)
    groups = [np.flatnonzero(coverage.prototype_classes == c) for c in range(shape[1])]
    few = _N_WITNESSES if classifier.solution_.radii is None else _N_WITNESSES_OWN
    for rows, table in distance_blocks(classifier, X):
        near = _quieten(classifier, rows, table, own_rows, loners)
        for c, group in enumerate(groups):
            if len(group):
                heard = _hear(table[:, group], near[:, group], min(few, len(group)))
                place, distance[rows, c], mean[rows, c] = heard
                nearest[rows, c] = np.where(place < 0, -1, group[place])
    return _Measures(nearest, distance, mean)


def _quieten(
    classifier: PVMClassifier, rows: Indices, table: Floats, own_rows: Indices, loners: Indices
) -> Floats:
    """Put every prototype a radius away from the point it is, or out of hearing; return nearness.

    Not its own nearness speaks for a prototype, but that of the others in its ball.
    """
    itself = np.flatnonzero((own_rows >= rows[0]) & (own_rows <= rows[-1]))
    at = own_rows[itself] - rows[0], itself
    alone = np.isin(itself, loners)
    table[at] = np.where(alone, np.inf, classifier.prototype_radii_[itself])
    near = nearness(classifier, table)
    if classifier.solution_.radii is not None:
        near[at] = np.where(alone, np.inf, 1.0)  # of a radius of 0, too
    return near


def _hear(distance: Floats, near: Floats, few: int) -> tuple[Indices, Floats, Floats]:
    """Return the nearest of some columns, its distance, and the mean nearness of the few nearest.

    The place is -1 where none is within hearing.
    """
    first = near.argmin(axis=1)
    least = distance[np.arange(len(distance)), first]
    nearest = np.partition(near, few - 1, axis=1)[:, :few]
    # One that does not count leaves the mean of the rest.
    counts = np.isfinite(nearest)
    total = np.where(counts, nearest, 0.0).sum(axis=1)
    mean = np.where(counts.any(axis=1), total / np.maximum(counts.sum(axis=1), 1), np.inf)
    return np.where(np.isfinite(least), first, -1), least, mean


def _judge(
    coverage: Coverage,
    measures: _Measures,
    index: Any,
    limit: int | str | None,
    *,
    exempt: Indices,
) -> LabelIssues:
    """Rank the labels that disagree, and list no more than the limit.

    Classes that have no prototype worth its cost, those `exempt` included, are not judged.
    """
    own_class = coverage.point_classes
    points = np.arange(len(own_class))
    others = measures.mean.copy()
    others[points, own_class] = np.inf
    other_class = others.argmin(axis=1)
    score = relative_share(measures.mean[points, own_class], others[points, other_class])
    own_count, other_count = coverage.own_count, coverage.other_count
    only_others = (own_count == 0) & (other_count > 0)
    judged = np.isin(own_class, coverage.prototype_classes)
    judged &= ~np.isin(own_class, exempt)
    suspect = np.flatnonzero(judged & (only_others | (score > 0.5)))
    row = suspect[np.lexsort((suspect, -score[suspect]))]
    plausible = None
    if limit == "auto":
        plausible = count_plausible(measures.mean[judged], score[judged] > 0.5)
        limit = plausible.number
    row = row[:limit]
    own, other = own_class[row], other_class[row]
    return LabelIssues(
        row=row,
        label=coverage.classes[own],
        suggested=coverage.classes[other],
        score=score[row],
        reason=np.where(only_others[row], _COVERED, _NEARER),
        own_prototype=measures.nearest[row, own],
        own_distance=measures.distance[row, own],
        other_prototype=measures.nearest[row, other],
        other_distance=measures.distance[row, other],
        own_count=own_count[row],
        other_count=other_count[row],
        index=None if index is None else index[row],
        n_disagree=len(suspect),
        plausible=plausible,
    )


# The samples with the highest certainty, as a fraction of all.
_CERTAIN = 0.25
# If more of these disagree with their labels, the classes overlap.
_MOST_WRONG = 0.1


@dataclass(frozen=True)
class Plausible:
    """Number of wrong labels that the most certain samples suggest.

    Parameters
    ----------
    number : int
        How many labels may be wrong, 0 where `overlap` is true.
    share : float
        Fraction of the most certain samples whose label disagrees.
    overlap : bool
        Whether that fraction is so high that overlapping classes explain it better.
    """

    number: int
    share: float
    overlap: bool


def count_plausible(mean: Floats, disagrees: NDArray[np.bool_]) -> Plausible:
    """Estimate how many labels are wrong.

    Parameters
    ----------
    mean : ndarray, shape (n_samples, n_classes)
        How far each sample is from each class.
    disagrees : ndarray of bool, shape (n_samples,)
        Whether another class is nearer than that of the label.

    Returns
    -------
    Plausible
        The fraction of disagreeing labels among the quarter of the samples with the highest
        certainty, taken for all samples, and one more that this quarter may have missed. The
        certainty compares the two nearest classes, whatever the label. Overlapping classes
        hardly reach this quarter, wrong labels do.
    """
    n = len(mean)
    if n == 0 or mean.shape[1] < 2:
        return Plausible(0, 0.0, False)
    nearest = np.partition(mean, 1, axis=1)
    certainty = relative_share(nearest[:, 1], nearest[:, 0])
    certain = certainty >= np.sort(certainty)[-math.ceil(_CERTAIN * n)]
    n_certain, n_wrong = int(certain.sum()), int(disagrees[certain].sum())
    # Two standard errors above what is plausible.
    chance = 2.0 * math.sqrt(n_certain * _MOST_WRONG * (1.0 - _MOST_WRONG))
    overlap = n_wrong > _MOST_WRONG * n_certain + chance
    number = 0 if overlap else round((n_wrong + 1) * n / n_certain)
    return Plausible(number, n_wrong / n_certain, overlap)


def relative_share(a: Floats, b: Floats) -> Floats:
    """Return a / (a + b), one half where both are zero or beyond measure, or there is neither."""
    share = np.full(len(a), 0.5)
    share[np.isinf(a) & np.isfinite(b)] = 1.0
    share[np.isfinite(a) & np.isinf(b)] = 0.0
    with np.errstate(over="ignore"):  # beyond measure in radii of 0
        total = a + b
    both = np.isfinite(total) & (total > 0.0)
    share[both] = a[both] / total[both]
    return share
