"""Gower's dissimilarity for tables of numbers, ranks, categories and missing values."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._balls import Groups, Pairs, TablePairs
from .._typing import Floats, Mask
from ..data._columns import Column, read_columns
from ..data._fields import (
    check_array,
    check_boolean,
    check_list,
    check_number,
    check_text,
    refuse,
)
from ._gower_blocks import BlockPairs, NearestBlocks, PointBlocks
from ._gower_columns import KINDS, STORES, Coding, learn_coding
from ._gower_rows import CodedTable, Weighing, average_differences, column_terms

logger = logging.getLogger(__name__)

_MIN_OBSERVED = 0.5
# Pairs below which looking at all of them is as fast.
_WORTH_A_SEARCH = 1 << 22


class Gower(BaseEstimator):
    """Gower's dissimilarity between the rows of a mixed table: from 0 to 1.

    It is the weighted average, over the columns in which both rows have a value, of

    - numeric columns (and dates): ``|a - b|`` over the range in the training data;
    - ordered columns: ``|a - b|`` of the ranks over the highest rank;
    - categorical and binary columns: 0 if equal, 1 if not;
    - asymmetric binary columns: the same, but joint absences are ignored: the column is left
      out for that pair.

    Parameters
    ----------
    feature_types : dict or None, default=None
        Feature types that column types do not determine, by name or, in an array, by
        position: ``"numeric"``, ``"ordered"``, ``"categorical"``, ``"binary"``,
        ``"asymmetric"``, or a list of values in order, which is ordered.
    weights : dict, array-like of shape (n_columns,) or None, default=None
        How much each column counts; columns that a dict leaves out count 1, columns of
        weight 0 not at all.
    missing_penalty : float from 0 to 1, or None, default=0.5
        By how much two rows differ in a column that only one of them has a value of. None
        leaves the column out for that pair, as Gower does, so that rows with few values are
        near many others.
    min_observed : float from 0 to 1, or None, default=None
        Rows in which a smaller fraction of the columns, by weight, has a value cannot become
        prototypes; None for one half, 0 to let all rows.

    Attributes
    ----------
    feature_types_ : list of str
        Kind of each column.
    weights_ : ndarray of float, shape (n_columns,)
        Weight of each column; 0 for one without any value in the training data.
    ranges_ : ndarray of float, shape (n_columns, 2)
        Lowest and highest value of numeric columns, NaN for others.
    categories_ : list of tuple
        Values of ordered columns in order, values found in categorical and binary ones.
    names_ : list
        Names of the columns, or their positions in an array.

    Notes
    -----
    The table is a pandas or polars frame, a 2-D array or a list of rows. Column types determine
    the feature types: an ordered pandas categorical or a polars enum is ordered, other
    categoricals and strings are categorical, booleans binary, numbers and dates numeric. In
    arrays of objects the values decide: all booleans, all numbers, or else categorical.

    At prediction, for what the training data do not determine:

    - a number outside the training range differs by 1 at most;
    - a numeric column that was constant differs by 1 from any other value;
    - a category not seen before differs from all others; a rank not seen before is an
      error, since it has no place in the order;
    - a column without any value in the training data is left out, with a warning in the
      log;
    - a pair of rows without a common column is at 1, and a pair of rows that have only
      absences of asymmetric columns at 0;
    - a column whose type has changed is an error, unless it holds missing values only.

    References
    ----------
    J. C. Gower (1971). A general coefficient of similarity and some of its properties.
    Biometrics 27(4), 857-871.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.dissimilarity import Gower
    >>> X = np.array([[20, "red"], [30, "red"], [60, None]], dtype=object)
    >>> Gower().fit(X).pairwise(X, X[:2])
    array([[0.   , 0.125],
           [0.125, 0.   ],
           [0.75 , 0.625]])
    """

    requires_array = False
    accepts_sparse = False
    allows_nan = True
    input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "string": True}
    symmetric = True
    contribution_unit = "distance"
    saved_state: ClassVar[tuple[str, ...]] = (
        "names_",
        "named_",
        "stores_",
        "feature_types_",
        "ranges_",
        "categories_",
        "weights_",
    )

    def __init__(
        self,
        feature_types: Mapping[Any, str | Sequence[Any]] | None = None,
        weights: Mapping[Any, float] | ArrayLike | None = None,
        missing_penalty: float | None = 0.5,
        min_observed: float | None = None,
    ) -> None:
        self.feature_types = feature_types
        self.weights = weights
        self.missing_penalty = missing_penalty
        self.min_observed = min_observed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the feature_types, ranges and categories of the columns."""
        columns = read_columns(X)
        names = [column.name for column in columns]
        _check_names("feature_types", self.feature_types, names)
        weights = _check_weights(self.weights, names)
        _check_fraction("missing_penalty", self.missing_penalty)
        _check_fraction("min_observed", self.min_observed)
        for i, column in enumerate(columns):
            if weights[i] > 0.0 and column.missing.all():
                logger.warning("column %r has no value in the training data", column.name)
                weights[i] = 0.0
        if not weights.any():
            raise ValueError("X must have a column with values and a weight above 0, got none")
        feature_types = self.feature_types or {}
        codings = [learn_coding(column, feature_types.get(column.name)) for column in columns]
        self.names_ = names
        self.named_ = all(column.named for column in columns)
        self.stores_ = [coding.stores for coding in codings]
        self.feature_types_ = [coding.kind for coding in codings]
        self.ranges_ = np.array([(coding.low, coding.high) for coding in codings])
        self.categories_ = [coding.categories for coding in codings]
        self.weights_ = weights
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check that all that a model file has has an entry for each column."""
        n = len(check_list(self.names_, "names_"))
        check_boolean(self.named_, "named_")
        stores = check_list(self.stores_, "stores_", n)
        # What files of the first version call booleans.
        stores = ["booleans" if store == "truths" else store for store in stores]
        for store in stores:
            check_text(store, "what a column stores", STORES)
        self.stores_ = stores
        for kind in check_list(self.feature_types_, "feature_types_", n):
            check_text(kind, "the kind of a column", KINDS)
        if not all(isinstance(values, tuple) for values in check_list(self.categories_, "", n)):
            refuse("categories_ must be a tuple for each column")
        check_array(self.ranges_, "ranges_", kinds="f", shape=(n, 2))
        weights = check_array(self.weights_, "weights_", kinds="f", shape=(n,))
        for fraction in (self.missing_penalty, self.min_observed):
            if fraction is not None and not 0.0 <= check_number(fraction, "a share") <= 1.0:
                refuse("missing_penalty and min_observed must be from 0 to 1")
        if not np.isfinite(weights).all() or (weights < 0.0).any() or not weights.any():
            refuse("weights_ must be finite, not negative and not all zero")

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from those of B."""
        return self.bind(A, B).table(slice(None), slice(None))

    def bind(
        self,
        A: Any,
        B: Any,
        *,
        radii: Floats | None = None,
        outward: bool = False,
        groups: Groups | None = None,
    ) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        weighing, left, right = self._encode_both(A, B)
        found: Pairs | None = None
        if left.n_rows * right.n_rows >= _WORTH_A_SEARCH:
            if groups is not None:
                found = NearestBlocks(left, right, weighing, groups)
            elif radii is not None and outward:
                found = PointBlocks.of(left, right, weighing, float(radii[-1]))
            elif radii is not None:
                found = BlockPairs.of(left, right, weighing, float(radii[-1]))
        if found is not None:
            return found
        return TablePairs(
            lambda rows, columns: average_differences(
                left.take(rows), right.take(columns), weighing
            )
        )

    def candidate_mask(self, X: Any) -> Mask:
        """Return a mask of the rows with enough observed values to be prototypes."""
        check_is_fitted(self)
        columns = read_columns(X)
        self._check_columns(columns)
        known = np.array([~column.missing for column in columns], dtype=np.float64)
        least = _MIN_OBSERVED if self.min_observed is None else self.min_observed
        # A sum in the order of the columns, the same on every processor.
        observed = np.cumsum(self.weights_[:, np.newaxis] * known, axis=0)[-1]
        return np.asarray(observed >= least * np.cumsum(self.weights_)[-1])

    def contributions(self, A: Any, B: Any) -> Floats:
        """Return what each column contributes to the dissimilarity of A[i] from B[i].

        A column of weight 0 contributes nothing. Of two rows without a common column, which
        are at 1, each column has its fraction of the weight.
        """
        check_is_fitted(self)
        codings = self._codings()
        unseen: list[dict[Any, int]] = [{} for _ in codings]
        left, right = self._encode(A, codings, unseen), self._encode(B, codings, unseen)
        scale = np.array([coding.is_scale for coding in codings])
        counts = self.weights_ > 0.0
        places = np.concatenate((np.flatnonzero(counts & scale), np.flatnonzero(counts & ~scale)))
        terms = np.zeros((left.n_rows, len(codings)))
        terms[:, places] = column_terms(left, right, self._weighing(codings))
        return terms

    def _encode_both(self, A: Any, B: Any) -> tuple[Weighing, CodedTable, CodedTable]:
        """Code the rows of both tables, in which values that are not known are the same."""
        check_is_fitted(self)
        codings = self._codings()
        unseen: list[dict[Any, int]] = [{} for _ in codings]
        left = self._encode(A, codings, unseen)
        right = left if B is A else self._encode(B, codings, unseen)
        return self._weighing(codings), left, right

    def _codings(self) -> list[Coding]:
        """Return the coding of each column."""
        low, high = self.ranges_.T.tolist()
        learned = self.names_, self.stores_, self.feature_types_, low, high, self.categories_
        return [Coding(*of_column) for of_column in zip(*learned, strict=True)]

    def _weighing(self, codings: list[Coding]) -> Weighing:
        """Return the weights of the columns that count, by how they are coded."""
        counts = self.weights_ > 0.0
        scale = np.array([coding.is_scale for coding in codings])
        asymmetric = np.array([coding.kind == "asymmetric" for coding in codings])
        equal = counts & ~scale
        return Weighing(
            self.weights_[counts & scale],
            self.weights_[equal],
            asymmetric[equal],
            self.missing_penalty,
        )

    def _encode(self, X: Any, codings: list[Coding], unseen: list[dict[Any, int]]) -> CodedTable:
        """Code the columns that count, after checking that they are those of `fit`."""
        columns = read_columns(X)
        self._check_columns(columns)
        n_rows = len(columns[0].values)
        numbers, codes = [np.empty((0, n_rows))], [np.empty((0, n_rows), dtype=np.int32)]
        for column, coding, weight, unseen_values in zip(
            columns, codings, self.weights_, unseen, strict=True
        ):
            if weight > 0.0:
                coding.check_type(column)
                if coding.is_scale:
                    numbers.append(weight * coding.place(column)[None, :])
                else:
                    codes.append(coding.number(column, unseen_values)[None, :])
        return CodedTable(np.concatenate(numbers), np.concatenate(codes))

    def _check_columns(self, columns: list[Column]) -> None:
        """Refuse a table with other columns than that of `fit`."""
        if len(columns) != len(self.names_):
            raise ValueError(
                f"X must have the {len(self.names_)} columns of the training data, got "
                f"{len(columns)}"
            )
        names = [column.name for column in columns]
        if self.named_ and all(column.named for column in columns) and names != self.names_:
            raise ValueError(
                f"X must have the columns of the training data, {self.names_}, in that order, "
                f"got {names}"
            )


def _check_names(parameter: str, given: Any, names: list[Any]) -> None:
    """Refuse names that no column has."""
    for name in given or {}:
        if name not in names:
            raise ValueError(f"{parameter} names {name!r}, which is not a column of X: {names}")


def _check_weights(weights: Mapping[Any, float] | ArrayLike | None, names: list[Any]) -> Floats:
    """Return a weight for each column."""
    if isinstance(weights, Mapping):
        _check_names("weights", weights, names)
        weights = [weights.get(name, 1.0) for name in names]
    checked = np.ones(len(names)) if weights is None else np.array(weights, dtype=np.float64)
    if checked.shape != (len(names),):
        raise ValueError(
            f"weights must have one entry for each of the {len(names)} columns, got shape "
            f"{checked.shape}"
        )
    if not np.isfinite(checked).all() or (checked < 0.0).any():
        raise ValueError(f"weights must be finite and not negative, got {checked.tolist()}")
    return checked


def _check_fraction(name: str, value: Any) -> None:
    """Refuse values that are not fractions."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1, or None, got {value!r}")
