"""What the user hands over to learn from, checked and ready for building balls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from .._balls import build_balls, build_levels, traits_of
from .._balls.forecast import warn_if_too_large
from .._balls.graph import same_graphs
from .._cover import snap_weights
from .._exceptions import warn_caller
from .._resources import row_count, say
from .._typing import Floats, Indices
from ..candidates._gather import gather_candidates
from ..candidates._pool import Pool
from ..dissimilarity import resolve_metric
from ..dissimilarity._precomputed import read_table
from .parameters import apply_class_weight, check_column, check_parameter, check_weights


@dataclass(frozen=True, eq=False)
class Training:
    """Samples of positive weight, their classes, and the candidates."""

    points: Any  # What must be covered
    codes: NDArray[np.intp]  # Class numbers, shape (n_points,)
    weights: NDArray[np.float64]  # Positive, on a grid on which sums are exact, shape (n_points,)
    classes: NDArray[Any]  # Labels, sorted, shape (n_classes,)
    dissimilarity: Any  # Fitted on the samples
    pools: list[Pool]  # What may become a prototype
    # Row of each sample as it was given; None where none was left out, shape (n_points,)
    rows: NDArray[np.intp] | None = None
    # Whether a training sample may become a prototype of another class than its own
    cross_class: bool = True
    # The weights before those of the classes were applied; None where they are the same, shape
    # (n_points,)
    sample_weights: NDArray[np.float64] | None = None

    @property
    def cost_weights(self) -> NDArray[np.float64]:
        """The weights that the automatic cost of a prototype follows: not those of classes."""
        return self.weights if self.sample_weights is None else self.sample_weights

    @cached_property
    def candidate_classes(self) -> NDArray[np.intp]:
        """The class that each candidate may serve, -1 for any, shape (n_candidates,)."""
        rows = np.arange(len(self.codes)) if self.rows is None else self.rows
        served = [
            np.full(len(pool), -1)
            if self.cross_class or pool.source != "train"
            else self.codes[np.searchsorted(rows, pool.rows)]
            for pool in self.pools
        ]
        return np.concatenate(served)

    @property
    def class_count(self) -> NDArray[np.intp]:
        """Number of samples of each class, shape (n_classes,)."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def chooses_points(self) -> bool:
        """Whether the candidates are the samples, all of them and no others."""
        return len(self.pools) == 1 and self.pools[0].points is self.points

    @property
    def is_table(self) -> bool:
        """Whether the samples are rows of a table of values between points."""
        return traits_of(self.dissimilarity).precomputed

    @property
    def is_graph(self) -> bool:
        """Whether they are rows of a neighbour graph, in which far pairs are missing."""
        return self.is_table and issparse(self.points)


@dataclass(frozen=True, eq=False)
class TrainingSubset:
    """Some of the samples and candidates of a training set, such as those of a fold."""

    codes: Indices  # Class numbers, -1 for samples that are not in the subset, shape (n_samples,)
    # On a grid on which the sums of the subset are exact, zero for samples not in it, shape
    # (n_samples,)
    weights: Floats
    n_classes: int  # Number of classes in it
    # The number of each candidate in the subset, rising; -1 for those not in it, shape
    # (n_candidates,)
    candidate: Indices
    # The class, as numbered in the subset, that each candidate may serve, -1 for any, shape
    # (n_candidates,)
    served: Indices

    @classmethod
    def whole(cls, training: Training) -> Self:
        """Return the subset that has everything."""
        every = np.arange(sum(map(len, training.pools)))
        n_classes, served = len(training.classes), training.candidate_classes
        return cls(training.codes, training.weights, n_classes, every, served)

    @classmethod
    def of_rows(cls, training: Training, rows: Indices, weights: Floats) -> Self:
        """Return the subset with the samples of some rising rows and their weights.

        Its candidates are these samples and all candidates that are not training samples.
        """
        classes, codes = np.unique(training.codes[rows], return_inverse=True)
        subset = cls(
            np.full_like(training.codes, -1),
            np.zeros_like(training.weights),
            len(classes),
            np.full(sum(map(len, training.pools)), -1, dtype=np.intp),
            np.full(sum(map(len, training.pools)), -1, dtype=np.intp),
        )
        if not training.cross_class:
            subset.served[rows] = codes
        subset.codes[rows], subset.weights[rows] = codes, snap_weights(weights)
        others = np.arange(len(training.codes), len(subset.candidate))
        subset.candidate[np.concatenate((rows, others))] = np.arange(len(rows) + len(others))
        return subset

    def may_serve(self, label: int) -> Indices:
        """Return the candidates that may become prototypes of a class."""
        return np.flatnonzero((self.served == label) | (self.served < 0))

    @property
    def prizes(self) -> Floats:
        """Weight of each class, shape (n_classes,)."""
        prizes = np.zeros(self.n_classes)
        np.add.at(prizes, self.codes[self.codes >= 0], self.weights[self.codes >= 0])
        return prizes


def prepare_training(
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    metric: Any,
    metric_params: dict[str, Any] | None,
    candidates: Any,
    rng: np.random.Generator,
    unlabeled: Any = None,
    cross_class: bool = True,
    class_weight: Any = None,
    verbose: int = 0,
) -> Training:
    """Check labels and weights, fit the dissimilarity and gather the candidates.

    Samples of weight zero are dropped. `X` is checked already, `rng` draws candidates, and the
    other parameters are those of :class:`protocover.PVMClassifier`.
    """
    dissimilarity = resolve_metric(metric, metric_params)
    X = completed(X, dissimilarity)
    classes, codes = check_labels(y, X)
    given = check_weights(sample_weight, codes, classes)
    weights = snap_weights(apply_class_weight(class_weight, given, codes, classes))
    kept = np.flatnonzero(weights > 0.0)
    n_given = row_count(X)
    points = X if len(kept) == n_given else _safe_indexing(X, kept)
    dissimilarity = _fit(dissimilarity, X, codes, points, kept)
    codes = codes[kept]
    pools = gather_candidates(
        candidates,
        points,
        codes,
        dissimilarity=dissimilarity,
        rows=kept,
        extent=n_given,
        rng=rng,
        unlabeled=unlabeled,
        verbose=verbose,
    )
    rows = None if len(kept) == n_given else kept
    plain = None if class_weight is None else snap_weights(given)[kept]
    return Training(
        points,
        codes,
        weights[kept],
        classes,
        dissimilarity,
        pools,
        rows,
        cross_class=check_parameter("cross_class", cross_class),
        sample_weights=plain,
    )


def after_candidates(random_state: Any, rng: np.random.Generator) -> np.random.Generator:
    """Return the generator for all that follows the candidates, fixed if there is no seed."""
    return np.random.default_rng(0) if random_state is None else rng


def pool_balls(
    training: Training,
    *,
    eps: float,
    closed: bool,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> list[csr_array]:
    """Build the balls of each pool; see :func:`protocover._balls.build_balls`."""
    found = []
    for dissimilarity, X, Z in over_pools(training):
        warn_if_too_large(dissimilarity, X, Z, eps=eps, rng=rng)
        balls = build_balls(
            dissimilarity, X, Z, eps=eps, closed=closed, n_jobs=n_jobs, verbose=verbose
        )
        say(
            f"balls of radius {eps:.4g}: {row_count(X)} points x {row_count(Z)} candidates, "
            f"{balls.nnz} memberships ({balls.nnz / row_count(Z):.3g} per ball)",
            verbose,
        )
        found.append(balls)
    return found


def training_levels(
    training: Training,
    *,
    radii: Floats,
    closed: bool,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> csr_array:
    """Build the levels of all pools side by side; see :func:`protocover._balls.build_levels`."""
    tables = []
    for dissimilarity, X, Z in over_pools(training):
        warn_if_too_large(dissimilarity, X, Z, eps=float(radii[-1]), rng=rng)
        tables.append(
            build_levels(
                dissimilarity, X, Z, radii=radii, closed=closed, n_jobs=n_jobs, verbose=verbose
            )
        )
    return side_by_side(tables)


def _fit(
    dissimilarity: Any,
    X: Any,
    codes: NDArray[np.intp],
    points: Any,
    kept: NDArray[np.intp],
) -> Any:
    """Fit on the samples that are kept, of a table in full view of the rest.

    What stands on the diagonal of a kernel matrix can only be read off all of it.
    """
    pairwise = traits_of(dissimilarity).precomputed
    if pairwise and points is not X and hasattr(dissimilarity, "of_rows"):
        return dissimilarity.fit(X, codes).of_rows(kept)
    return dissimilarity.fit(points, codes[kept])


def completed(X: Any, dissimilarity: Any) -> Any:
    """Return samples as they are, but a square graph with all samples as their own neighbours."""
    is_graph = traits_of(dissimilarity).precomputed and issparse(X)
    return dissimilarity.complete(X) if is_graph else X


def check_cutoff(training: Training, radii: Any) -> None:
    """Raise an error if a radius, or a maximum radius, is larger than the graph's cutoff.

    An infinite maximum is allowed: neighbourhoods then end at the farthest neighbour.
    """
    if not training.is_graph:
        return
    given = np.atleast_1d(np.asarray(radii, dtype=np.float64))
    largest = float(given[np.isfinite(given)].max(initial=0.0))
    cutoff = training.dissimilarity.cutoff_of(training.points)
    given_cutoff = training.dissimilarity.cutoff is not None
    if largest > cutoff:
        raise ValueError(_beyond(largest, cutoff, given=given_cutoff))
    if not given_cutoff:
        _warn_of_ones(training.points)
        _warn_of_lost_neighbors(training.points, float(given.max()))


def _beyond(eps: float, cutoff: float, *, given: bool) -> str:
    """Return the error about a radius that is too large, with its remedies."""
    limit = "cutoff" if given else "the largest entry of X"
    larger = f"radius_neighbors_graph(points, {1.1 * eps:.4g}, mode='distance')"
    text = (
        f"eps must not be above {limit}, {cutoff:g}, got {eps:g}: X has no entries for pairs "
        f"farther apart; use a larger graph, such as {larger}, or lower eps"
    )
    if given:
        return text
    return (
        text + f", or pass metric=Precomputed(cutoff={eps:g}) if X holds all pairs up to {eps:g}"
    )


def _warn_of_ones(graph: csr_array) -> None:
    """Warn if the graph holds connectivity instead of distances."""
    positive = graph.data[graph.data > 0.0]
    if len(positive) and (positive == 1.0).all():
        warn_caller(
            "all entries of X are 1, as in scikit-learn's graphs without mode='distance'; if they "
            "are distances, pass metric=Precomputed(cutoff=1.0)"
        )


def _warn_of_lost_neighbors(graph: csr_array, eps: float) -> None:
    """Warn if neighbourhoods may be incomplete because X is a k-nearest-neighbour graph."""
    sizes = np.diff(graph.indptr)
    if sizes.min() != sizes.max() or sizes[0] in (0, graph.shape[1]):
        return
    farthest: NDArray[np.float64] = np.maximum.reduceat(graph.data, graph.indptr[:-1])
    n_cut, complete = int((farthest < eps).sum()), float(farthest.min())
    # Radius neighbourhoods are symmetric; k-nearest-neighbour relations are not.
    if n_cut and not same_graphs(graph, graph.T.tocsr()):
        radius = "the radii are not limited" if np.isinf(eps) else f"eps is {eps:g}"
        warn_caller(
            f"X looks like a k-nearest-neighbour graph (k={sizes[0]}) and {radius}: the "
            f"neighbourhoods of {n_cut} of {len(sizes)} samples may be incomplete; use "
            f"eps <= {complete:.4g}, or a graph with more neighbours"
        )


def side_by_side(tables: list[csr_array]) -> csr_array:
    """Put the tables of all pools side by side."""
    return tables[0] if len(tables) == 1 else hstack(tables, format="csr")


def over_pools(training: Training) -> Iterator[tuple[Any, Any, Any]]:
    """Yield for each pool the dissimilarity, the samples and the candidates as it takes them."""
    points, dissimilarity = training.points, training.dissimilarity
    if training.is_table:
        points = dissimilarity.table(points)
        dissimilarity = read_table(points)
    for pool in training.pools:
        yield dissimilarity, points, pool.points


def check_labels(y: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes and each sample's class number."""
    if y is None:
        raise ValueError(
            "this estimator requires y to be passed, but the target y is None; pass the labels"
        )
    if isinstance(y, list | tuple):
        check_label_values(y)
    y = check_column(y)
    check_label_values(y)
    check_classification_targets(y)
    check_consistent_length(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def check_label_values(y: Any, *, name: str = "y") -> None:
    """Refuse missing labels, and text among labels that are not text.

    A list is to be checked before NumPy makes text of its numbers.
    """
    if getattr(y, "dtype", np.dtype(object)).kind not in "OMm":
        return
    types: dict[type, int] = {}
    for row, label in enumerate(y):
        types.setdefault(type(label), row)
        if label is None or not _is_itself(label):
            raise ValueError(
                f"Input {name} contains NaN or None: {label!r} in row {row}; leave such rows out "
                "of X and y, or give them a label of their own"
            )
    _check_kinds(name, (y[row] for row in types.values()))


def join_labels(parts: Iterable[NDArray[Any]], *, name: str = "y") -> NDArray[Any]:
    """Put labels of several batches together, unless some are text and others are not."""
    arrays = list(parts)
    _check_kinds(name, (part[0] for part in arrays if len(part)))
    return np.concatenate(arrays)


def _check_kinds(name: str, labels: Iterable[Any]) -> None:
    """Refuse labels of types that cannot be sorted together."""
    kinds: dict[Any, Any] = {}
    for label in labels:
        kind = next(
            (one for one in (str, Number, np.bool_) if isinstance(label, one)), type(label)
        )
        kinds.setdefault(Number if kind is np.bool_ else kind, label)
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise ValueError(
            f"{name} must hold labels of one type, got {_plain(one)!r} and {_plain(other)!r}; "
            "convert them all to text or all to numbers"
        )


def _is_itself(label: Any) -> bool:
    """Whether a label equals itself, which NaN, NaT and the missing value of pandas do not."""
    same = label == label
    # Arrays are refused elsewhere, as labels of more than one dimension.
    return bool(same) if isinstance(same, bool | np.bool_) else isinstance(same, np.ndarray)


def _plain(label: Any) -> Any:
    """Return a label as Python writes it."""
    return label.item() if isinstance(label, np.generic) else label
