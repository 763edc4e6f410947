"""Labels that the prototypes speak against."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from sklearn.utils import _safe_indexing

from ..balls import traits_of
from ..data.frames import make_frame
from ..data.points import check_estimator_points, same_points
from ..estimators import PVMClassifier
from ..prototypes.coverage import Coverage
from ..resources import row_count
from .distances import distance_blocks, nearness
from .fitted import unwrap

__all__ = ["SuspectLabels", "suspect_labels"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_COVERED = "covered only by other classes"
_NEARER = "nearest prototypes disagree"
# So many nearest prototypes of a class speak for it: one alone is easily misled. But with
# radii of their own one may stand for a whole class, and the next for a single point.
_N_WITNESSES, _N_WITNESSES_OWN = 2, 1


@dataclass(frozen=True, eq=False)
class SuspectLabels:
    """Points whose labels are suspect, the most suspect first.

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
        Place in ``prototypes_`` of the nearest prototype of the label's class and of the
        suggested class; -1 where there is none.
    own_distance, other_distance : ndarray of float
        Their dissimilarities from the point; inf where there is none.
    own_count, other_count : ndarray of int
        Prototypes of its own and of other classes whose balls hold the point. One that
        holds nobody else of its class does not count for the point it is.
    index : index, array or None
        Names of the suspects, where `X` or `y` is a pandas frame or series.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover import PVMClassifier, suspect_labels
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(4, 5, 10)].reshape(-1, 1)
    >>> y = np.repeat([0, 1], 10)
    >>> y[3] = 1
    >>> found = suspect_labels(PVMClassifier(eps=0.6).fit(X, y), X, y)
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

    def __len__(self) -> int:
        return len(self.row)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each suspect, the most suspect first."""
        names = [field.name for field in fields(self) if field.name != "index"]
        return make_frame({name: getattr(self, name) for name in names}, self.index)


def suspect_labels(model: Any, X: Any, y: Any) -> SuspectLabels:
    """Find the points whose labels the prototypes speak against.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector, or a pipeline or search that ends in one
        Fitted, usually on the same points.
    X : array-like, table or data frame, shape (n_points, n_features)
        Labelled points, as for `predict`.
    y : array-like, shape (n_points,)
        Their labels, among the classes of the model.

    Returns
    -------
    SuspectLabels
        The most suspect label first; ``.to_frame()`` makes a data frame.

    Notes
    -----
    Suspect is a point that lies in balls of other classes and in none of its own, or that
    is nearer to another class, by the mean dissimilarity from the class's two nearest
    prototypes. With that of its own class, a, and the least of the others, b, the score
    is ``a / (a + b)``.

    No point vouches for itself. From the point it is a prototype counts as `eps` away, not
    0: as far as the others in its ball may be. Where there are no others of its class it
    does not count for that point at all. Otherwise a mislabelled point, which often
    becomes a prototype of nobody but itself, would confirm its own label.

    Where prototypes have radii of their own, dissimilarities count as multiples of these,
    so that a prototype is 1 away from the point it is, and the nearest prototype of a class
    speaks alone: one may stand for a whole class, and the next for a single point. Reported
    are the dissimilarities themselves.

    A suspect label need not be wrong: rare and borderline cases look the same.

    See Also
    --------
    PVMClassifier.coverage : Which point lies in which ball.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protocover import PVMClassifier, suspect_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> y[[10, 80, 150]] = [1, 2, 0]  # three wrong labels
    >>> model = make_pipeline(StandardScaler(), PVMClassifier()).fit(X, y)
    >>> suspect_labels(model, X, y).row[:3]
    array([ 80, 150,  10])
    """
    index = next((part.index for part in (X, y) if hasattr(part, "iloc")), None)
    within = unwrap(model).require_prototypes("nothing speaks for or against a label")
    classifier, X = within.classifier, within.prepare(X)
    if isinstance(X, PathLike):  # a file of sequences
        X = check_estimator_points(classifier, X, classifier.dissimilarity_, reset=False)
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
    heard = replace(coverage, balls=coverage.balls > alone.tocsr())
    return _judge(heard, measures, index)


def _own_rows(classifier: PVMClassifier, X: Any) -> Indices:
    """Return the row of `X` that each prototype is, -1 where it is none of them.

    Where `X` are not the points of the training, no prototype is one of them.
    """
    rows = np.where(classifier.prototype_sources_ == "train", classifier.prototype_rows_, -1)
    real = np.flatnonzero(rows >= 0)
    elsewhere = np.full(len(rows), -1)
    if rows.max(initial=-1) >= row_count(X):
        return elsewhere
    if traits_of(classifier.dissimilarity_).pairwise:
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


def _judge(coverage: Coverage, measures: _Measures, index: Any) -> SuspectLabels:
    """Rank the points that are suspect."""
    own_class = coverage.point_classes
    points = np.arange(len(own_class))
    others = measures.mean.copy()
    others[points, own_class] = np.inf
    other_class = others.argmin(axis=1)
    score = _share(measures.mean[points, own_class], others[points, other_class])
    own_count, other_count = coverage.own_count, coverage.other_count
    only_others = (own_count == 0) & (other_count > 0)
    suspect = np.flatnonzero(only_others | (score > 0.5))
    row = suspect[np.lexsort((suspect, -score[suspect]))]
    own, other = own_class[row], other_class[row]
    return SuspectLabels(
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
    )


def _share(a: Floats, b: Floats) -> Floats:
    """Return a / (a + b), one half where both are zero or beyond measure, or there is neither."""
    score = np.full(len(a), 0.5)
    score[np.isinf(a) & np.isfinite(b)] = 1.0
    score[np.isfinite(a) & np.isinf(b)] = 0.0
    with np.errstate(over="ignore"):  # beyond measure in radii of 0
        total = a + b
    both = np.isfinite(total) & (total > 0.0)
    score[both] = a[both] / total[both]
    return score
