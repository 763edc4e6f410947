"""Checks of points and queries, as far as the dissimilarity wants them, and their equality."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_feature_names, _get_feature_names, validate_data

from .._balls import Traits, traits_of
from .._balls.graph import check_graph, pick_entries, same_graphs
from ._columns import read_columns
from ._frames import frame_package, in_memory

# Types in which embeddings are stored, without a copy in double precision.
_NARROW = [np.float16, np.int8]


def check_points(X: Any, dissimilarity: Any) -> Any:
    """Check points outside of an estimator."""
    X = in_memory(X)
    traits = traits_of(dissimilarity)
    if not traits.requires_array:
        return _as_wanted(X, dissimilarity)
    if issparse(X) and traits.accepts_graph:
        return _check_training_graph(X)
    with _naming_the_remedy(X):
        return check_array(X, **_rules(traits, X))


def check_estimator_points(estimator: Any, X: Any, dissimilarity: Any, *, reset: bool) -> Any:
    """Check an estimator's points (`reset`) or queries, and their features' names."""
    X = in_memory(X)
    traits = traits_of(dissimilarity)
    if not traits.requires_array:
        if len(getattr(X, "shape", ())) == 2:  # lists may hold points of unequal length
            validate_data(estimator, X, skip_check_array=True, reset=reset)
        return _as_wanted(X, dissimilarity)
    if traits.precomputed:
        return _check_table(estimator, X, traits, reset=reset)
    with _naming_the_remedy(X):
        return validate_data(estimator, X, reset=reset, **_rules(traits, X))


@contextmanager
def _naming_the_remedy(X: Any) -> Iterator[None]:
    """Say of text, and of a data frame's columns that are no numbers, what compares such."""
    try:
        yield
    except (ValueError, TypeError) as error:
        text = _first_text(X)
        if text is not None:
            raise ValueError(
                f"X must hold rows of numbers, got text: {text[:40]!r}; encode texts first, as "
                "make_pipeline(TfidfVectorizer(), PVMClassifier()) does, or compare them as they "
                "are with a metric such as SpectrumDistance from protocover.dissimilarity"
            ) from error
        if frame_package(X) is None:
            raise
        for column in read_columns(X):
            if not (column.holds_only_numbers or column.stores == "booleans"):
                value = next(v for v in column.values if v is not None)
                raise ValueError(
                    f"column {column.name!r} of X must hold numbers, got {value!r}; compare mixed "
                    f'columns with metric="gower", or encode it ({error})'
                ) from error
        if any(column.missing.any() for column in read_columns(X)):
            raise ValueError(
                f'{error}\nFor columns with missing values there is metric="gower".'
            ) from error
        raise


def _first_text(X: Any) -> str | None:
    """Return the first of a list, array or series of texts, None where it is none."""
    if not isinstance(X, list | tuple) and len(getattr(X, "shape", ())) != 1:
        return None
    first = next(iter(X), None)
    return str(first) if isinstance(first, str) else None


def _as_wanted(X: Any, dissimilarity: Any) -> Any:
    """Let the dissimilarity check points of its own kind, if it does."""
    check = getattr(dissimilarity, "check_examples", None)
    return X if check is None else check(X)


def _rules(traits: Traits, X: Any) -> dict[str, Any]:
    """Return what scikit-learn is to check of rows of numbers."""
    narrow = _NARROW if traits.supports_float16 and isinstance(X, np.ndarray) else []
    return {
        "accept_sparse": "csr" if traits.accepts_sparse and not traits.precomputed else False,
        "dtype": [np.float64, np.float32, *narrow],
        "ensure_all_finite": "allow-nan" if traits.allows_nan else True,
    }


def _check_table(estimator: Any, X: Any, traits: Traits, *, reset: bool) -> Any:
    """Check a table of values between points, whole or with prototypes' columns only."""
    graph = issparse(X) and traits.accepts_graph
    if issparse(X) and not graph:
        raise TypeError(
            "this metric needs all values between points and takes no sparse table; pass an array "
            "that holds every pair"
        )
    if reset:
        if graph:
            X = _check_training_graph(X)
        return validate_data(estimator, X, dtype=np.float64, skip_check_array=graph)
    table = _check_rows(check_graph(X)) if graph else check_array(X, dtype=np.float64)
    chosen = estimator.candidate_indices_
    if table.shape[1] == estimator.n_features_in_:
        _check_feature_names(estimator, X, reset=False)
        if _get_feature_names(X) is None:
            _refuse_two_readings(table, chosen)
    elif table.shape[1] == len(chosen):
        _check_prototype_names(estimator, X)
    else:
        raise ValueError(
            f"X has {table.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input, one for each candidate, or "
            f"{len(chosen)}, one for each prototype in order of selection"
        )
    return table


def _check_training_graph(X: Any) -> csr_array:
    """Check a neighbour graph to learn from, which must not be empty."""
    graph = _check_rows(check_graph(X))
    if graph.nnz == 0:
        raise ValueError(
            f"X must store dissimilarities to learn from, got a graph of shape {graph.shape} "
            "without an entry; make it with a larger radius or more neighbours"
        )
    return graph


def _check_rows(graph: csr_array) -> csr_array:
    """Refuse a graph without points, in the words of scikit-learn."""
    if graph.shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={graph.shape}) while a minimum of 1 is required."
        )
    return graph


def _check_prototype_names(estimator: Any, X: Any) -> None:
    """Check the names of columns that are those of the prototypes alone."""
    narrow = copy(estimator)
    if hasattr(estimator, "feature_names_in_"):
        narrow.feature_names_in_ = estimator.feature_names_in_[estimator.candidate_indices_]
    _check_feature_names(narrow, X, reset=False)


def _refuse_two_readings(table: Any, chosen: NDArray[np.intp]) -> None:
    """Refuse a table that may be that of the candidates and, differently, of the prototypes.

    As many prototypes as candidates that are not all of them repeat some. A table of the
    prototypes' columns then repeats the same columns; one that does not is of the candidates.
    """
    if len(chosen) != table.shape[1] or _same_columns(table, chosen):
        return
    _, first, place = np.unique(chosen, return_index=True, return_inverse=True)
    if _same_columns(table, first[place]):
        raise ValueError(
            f"X has {len(chosen)} columns, as many as there are candidates and as many as there "
            "are prototypes, and repeats columns as prototypes are repeated, so that it may be "
            "either and the answers differ; pass the columns of the candidates in a data frame "
            "with the names of fit, or with a further query for which no two columns are alike"
        )


def _same_columns(table: Any, columns: NDArray[np.intp]) -> bool:
    """Whether a table is what some of its own columns are."""
    if issparse(table):
        return same_graphs(pick_entries(table, columns), table)
    return bool(np.array_equal(table[:, columns], table))


def same_points(ones: Any, others: Any) -> bool:
    """Whether two sets of points, in whatever form they have, are equal."""
    if issparse(ones) or issparse(others):
        ones, others = csr_array(ones), csr_array(others)
        return bool(ones.shape == others.shape and (ones != others).nnz == 0)
    if hasattr(ones, "columns") != hasattr(others, "columns"):
        return False
    if hasattr(ones, "columns"):
        ones, others = _by_column(ones), _by_column(others)
    return len(ones) == len(others) and all(map(_equal, ones, others))


def _by_column(frame: Any) -> list[NDArray[Any]]:
    """Return the columns of a data frame, with their names."""
    return [np.array([name, *frame[name]], dtype=object) for name in frame.columns]


def _equal(one: Any, other: Any) -> bool:
    """Whether two points or values are equal; what is missing in both is."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype.kind == "O":
            return len(one) == len(other) and all(map(_equal, one, other))
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    same = one == other
    # The missing value of pandas is neither equal to anything nor different from it.
    return isinstance(same, bool | np.bool_) and bool(same or (one != one and other != other))
