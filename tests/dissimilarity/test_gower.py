"""Gower's dissimilarity against a pair-by-pair oracle and against the gower package."""

from __future__ import annotations

import datetime
import logging
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import Gower

SIZES = ["S", "M", "L", "XL"]
NAMES = ["age", "size", "town", "member", "spots"]
KINDS = ["numeric", "ordered", "categorical", "binary", "asymmetric"]
ROWS = [
    [20.0, "S", "Rome", True, False],
    [30.0, "XL", "Rome", False, False],
    [60.0, None, "Oslo", True, True],
    [None, "M", "Bern", None, True],
    [25.0, "L", None, False, False],
]
SCALES = [40.0, SIZES, None, None, None]


def pandas_frame(rows):
    frame = pd.DataFrame({n: [row[i] for row in rows] for i, n in enumerate(NAMES)})
    frame["age"] = frame["age"].astype(float)
    frame["size"] = pd.Categorical(frame["size"], categories=SIZES, ordered=True)
    return frame.astype({"member": "boolean", "spots": bool})


def polars_frame(rows):
    schema = {
        "age": pl.Float64,
        "size": pl.Enum(SIZES),
        "town": pl.String,
        "member": pl.Boolean,
        "spots": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def object_array(rows):
    return np.array(rows, dtype=object)


def expected(rows, others, weights=(1, 1, 1, 1, 1)):
    return naive.gower(rows, others, list(zip(KINDS, weights, SCALES, strict=True)))


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5, 0.0, 3.0]])
def test_frames_of_all_kinds_agree_with_the_oracle(make, weights):
    X = make(ROWS)
    metric = Gower(
        feature_types={"spots": "asymmetric"}, weights=weights, missing_penalty=None
    ).fit(X)
    assert metric.feature_types_ == KINDS
    table = expected(ROWS, ROWS, weights or [1] * 5)
    np.testing.assert_allclose(metric.pairwise(X, X), table, rtol=1e-14)
    np.testing.assert_allclose(metric.pairwise(X[:2], X[2:]), table[:2, 2:], rtol=1e-14)


@pytest.mark.parametrize("rows", [ROWS, object_array(ROWS)], ids=["list", "array"])
def test_objects_of_all_kinds_agree_with_the_oracle(rows):
    metric = Gower(feature_types={1: SIZES, 4: "asymmetric"}, missing_penalty=None).fit(rows)
    assert metric.feature_types_ == KINDS
    np.testing.assert_allclose(metric.pairwise(rows, rows), expected(ROWS, ROWS), rtol=1e-14)


@st.composite
def tables(draw):
    n_rows = draw(st.integers(2, 6))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    value = {
        "numeric": st.integers(-3, 5).map(float),
        "ordered": st.sampled_from(SIZES),
        "categorical": st.sampled_from("abc"),
        "binary": st.booleans(),
        "asymmetric": st.booleans(),
    }
    cells = [st.none() | value[kind] for kind in kinds]
    rows = draw(st.lists(st.tuples(*cells), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(st.sampled_from([1.0, 0.3, 2.5]), min_size=5, max_size=5))
    return [list(row) for row in rows], kinds, weights[: len(kinds)]


@settings(max_examples=60, deadline=None)
@given(table=tables(), n_training=st.integers(1, 4), gap=st.sampled_from([None, 0.0, 0.5, 1.0]))
def test_any_table_agrees_with_the_oracle(table, n_training, gap):
    """Queries may lie outside the training range and have categories not seen in it."""
    rows, kinds, weights = table
    training = [list(row) for row in zip(*rows[:n_training], strict=True)]
    columns = []
    for kind, weight, values in zip(kinds, weights, training, strict=True):
        known = [value for value in values if value is not None]
        scale = SIZES if kind == "ordered" else None
        if kind == "numeric" and known:
            scale = max(known) - min(known)
        columns.append((kind, weight if known else 0.0, scale))
    choice = {i: SIZES if kind == "ordered" else kind for i, kind in enumerate(kinds)}
    metric = Gower(feature_types=choice, weights=weights, missing_penalty=gap)
    if not any(weight for _, weight, _ in columns):
        with pytest.raises(ValueError, match="a column with values"):
            metric.fit(object_array(rows[:n_training]))
        return
    metric.fit(object_array(rows[:n_training]))
    X = object_array(rows)
    table = metric.pairwise(X, X)
    oracle = naive.gower(rows, rows, columns, gap)
    np.testing.assert_allclose(table, oracle, rtol=1e-13, atol=1e-15)
    # Whatever the rest of the table, one pair gets the same bits.
    single = [
        [metric.pairwise(X[[i]], X[[j]])[0, 0] for j in range(len(X))] for i in range(len(X))
    ]
    np.testing.assert_array_equal(table, single)
    np.testing.assert_array_equal(table, table.T)


def test_types_tell_the_kinds():
    frame = pd.DataFrame(
        {
            "int": [1, 2],
            "nullable": pd.array([1, None], dtype="Int64"),
            "arrow": pd.array([1.5, 2.5], dtype="float64[pyarrow]"),
            "bool": [True, False],
            "string": ["a", "b"],
            "object": pd.Series(["a", 1], dtype=object),
            "category": pd.Categorical(["a", "b"]),
            "ranks": pd.Categorical(["a", "b"], ordered=True),
            "date": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "zoned": pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Asia/Tokyo"),
            "duration": pd.to_timedelta([1, 2], unit="D"),
        }
    )
    assert dict(zip(frame.columns, Gower().fit(frame).feature_types_, strict=True)) == {
        "int": "numeric",
        "nullable": "numeric",
        "arrow": "numeric",
        "bool": "binary",
        "string": "categorical",
        "object": "categorical",
        "category": "categorical",
        "ranks": "ordered",
        "date": "numeric",
        "zoned": "numeric",
        "duration": "numeric",
    }
    day = datetime.date(2020, 1, 1)
    frame = pl.DataFrame(
        {
            "int": [1, None],
            "decimal": pl.Series([1, 2]).cast(pl.Decimal(10, 2)),
            "bool": [True, None],
            "string": ["a", None],
            "category": pl.Series(["a", "b"], dtype=pl.Categorical),
            "ranks": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
            "date": [day, None],
            "time": [datetime.time(1), datetime.time(2)],
        }
    )
    assert dict(zip(frame.columns, Gower().fit(frame).feature_types_, strict=True)) == {
        "int": "numeric",
        "decimal": "numeric",
        "bool": "binary",
        "string": "categorical",
        "category": "categorical",
        "ranks": "ordered",
        "date": "numeric",
        "time": "categorical",
    }
    assert Gower().fit(np.eye(2)).feature_types_ == ["numeric", "numeric"]
    assert Gower().fit(np.eye(2, dtype=bool)).feature_types_ == ["binary", "binary"]


def test_dates_differ_by_their_share_of_the_range():
    dates = ["2020-01-01", "2020-01-11", "2020-02-10", None]
    for X in (
        pd.DataFrame({"day": pd.to_datetime(dates)}),
        pl.DataFrame({"day": pl.Series(dates).str.to_date()}),
        np.array(dates, dtype="M8[D]").reshape(-1, 1),
    ):
        np.testing.assert_allclose(Gower().fit(X).pairwise(X[:1], X), [[0.0, 0.25, 1.0, 1.0]])


def test_a_number_beyond_all_floats_of_the_range_is_still_a_number():
    metric = Gower().fit([[0.0], [1e-300]])
    np.testing.assert_array_equal(
        metric.pairwise([[1e300], [-1e300]], [[1e300], [0.0]]), [[0, 1], [1, 1]]
    )


def test_a_constant_column_differs_by_one_from_any_other_value():
    metric = Gower().fit([[5, 1], [5, 3]])
    np.testing.assert_array_equal(metric.pairwise([[5, 1], [6, 1]], [[5, 1]]), [[0.0], [0.5]])
    np.testing.assert_array_equal(metric.pairwise([[6, 1]], [[6, 1], [7, 1]]), [[0.0, 0.5]])


def test_a_category_not_seen_before_differs_from_all_others_but_itself():
    metric = Gower().fit([["a"], ["b"]])
    table = metric.pairwise([["new"], ["a"]], [["a"], ["new"], ["other"]])
    np.testing.assert_array_equal(table, [[1, 0, 1], [0, 1, 1]])


def test_a_column_without_values_is_left_out_and_the_log_says_so(caplog):
    training = [[1.0, None], [3.0, None]]
    with caplog.at_level(logging.WARNING, logger="protocover"):
        metric = Gower().fit(training)
    assert "column 1 has no value" in caplog.text
    np.testing.assert_array_equal(metric.weights_, [1.0, 0.0])
    np.testing.assert_array_equal(metric.pairwise([[1.0, "new"]], training), [[0.0, 1.0]])


def test_a_row_of_gaps_is_near_everything_by_gower_and_pays_for_it_with_a_gap():
    rows = object_array([[1.0, 2.0, "a"], [5.0, 6.0, "a"], [None, None, "a"]])
    assert Gower(missing_penalty=None).fit(rows).pairwise(rows[2:], rows[:2]).tolist() == [
        [0.0, 0.0]
    ]
    paid = Gower(missing_penalty=0.5).fit(rows).pairwise(rows, rows)
    np.testing.assert_allclose(paid[2], [1 / 3, 1 / 3, 0.0])
    assert paid[0, 1] == Gower(missing_penalty=None).fit(rows).pairwise(rows, rows)[0, 1]


def test_rows_without_half_of_their_values_stand_for_nobody():
    rows = object_array([[1.0, "a"], [None, "a"], [None, None], [9.0, "b"]])
    assert Gower().fit(rows).candidate_mask(rows).tolist() == [True, True, False, True]
    strict = Gower(min_observed=1.0).fit(rows)
    assert strict.candidate_mask(rows).tolist() == [True, False, False, True]
    heavy = Gower(weights=[3.0, 1.0]).fit(rows)
    assert heavy.candidate_mask(rows).tolist() == [True, False, False, True]
    y = ["x", "x", "x", "y"]
    for candidates in ("train", 4, ["train", 4]):
        model = PVMClassifier(eps=0.9, metric=strict, candidates=candidates, **PAPER).fit(rows, y)
        assert set(model.prototype_indices_) <= {0, 3}
    assert len(
        PVMClassifier(eps=0.9, metric=Gower(min_observed=0.0), **PAPER).fit(rows, y).prototypes_
    )


def test_the_name_is_the_same_as_the_default_object():
    X = pandas_frame(ROWS)
    y = [0, 0, 1, 1, 0]
    by_name = PVMClassifier(eps=0.5, metric="gower", **PAPER).fit(X, y)
    by_object = PVMClassifier(eps=0.5, metric=Gower(), **PAPER).fit(X, y)
    assert isinstance(by_name.dissimilarity_, Gower)
    assert by_name.dissimilarity_.get_params() == by_object.dissimilarity_.get_params()
    np.testing.assert_array_equal(by_name.transform(X), by_object.transform(X))
    given = PVMClassifier(
        eps=0.5, metric="gower", metric_params={"missing_penalty": None}, **PAPER
    ).fit(X, y)
    assert given.dissimilarity_.missing_penalty is None


@pytest.mark.parametrize("name", ["missing_penalty", "min_observed"])
@pytest.mark.parametrize("value", [-0.1, 1.5, True, "half", float("nan")])
def test_shares_are_from_zero_to_one(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a number from 0 to 1, or None"):
        Gower(**{name: value}).fit([[1.0], [2.0]])


def test_two_absences_tell_nothing():
    X = np.array([[True, False, False], [False, False, True], [False, False, False]])
    metric = Gower(feature_types={0: "asymmetric", 1: "asymmetric", 2: "asymmetric"}).fit(X)
    np.testing.assert_array_equal(metric.pairwise(X, X), [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    numbers = X.astype(int)
    np.testing.assert_array_equal(
        Gower(feature_types=metric.feature_types).fit(numbers).pairwise(numbers, numbers),
        metric.pairwise(X, X),
    )


def _size_ranks(X):
    return None if hasattr(X, "columns") else {1: SIZES}


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, object_array, list])
def test_classifier_is_that_of_the_precomputed_matrix(make):
    X, y = make(ROWS), [0, 0, 1, 1, 0]
    metric = Gower(feature_types=_size_ranks(X))
    table = clone(metric).fit(X).pairwise(X, X)
    model = PVMClassifier(eps=0.6, metric=metric, **PAPER).fit(X, y)
    judge = PVMClassifier(eps=0.6, metric="precomputed", **PAPER).fit(table, y)
    np.testing.assert_array_equal(model.candidate_indices_, judge.candidate_indices_)
    np.testing.assert_array_equal(model.predict(X), judge.predict(table))


def fitted():
    return Gower().fit(pandas_frame(ROWS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, "column 'age' held numbers in the training data and now holds labels"),
        ({"age": True}, "column 'age' held numbers .* now holds booleans"),
        ({"town": 7}, "column 'town' held labels .* now holds numbers"),
        pytest.param(
            {"size": "M"},
            "column 'size' held ranks .* now holds labels; convert it",
            marks=pytest.mark.skipif(pd.__version__ < "3", reason="texts of pandas 2 are objects"),
        ),
        (
            {"size": pd.array(["M"] * 5, dtype="string")},
            "column 'size' held ranks .* now holds labels",
        ),
        ({"spots": 1}, "column 'spots' held booleans .* now holds numbers"),
        ({"age": pd.Timestamp("2020-01-01")}, "column 'age' held numbers .* now holds dates"),
        (
            {"size": pd.Categorical(["S"] * 5, categories=SIZES[::-1], ordered=True)},
            r"had the ordered categories \('S', 'M', 'L', 'XL'\) .* now has \('XL'",
        ),
        ({"age": np.inf}, "column 'age' holds infinity"),
    ],
)
def test_a_column_that_changes_its_type_is_refused(change, message):
    X = pandas_frame(ROWS)
    with pytest.raises(ValueError, match=message):
        fitted().pairwise(X.assign(**change), X)


def test_part_of_a_column_of_objects_may_look_like_another_type():
    X = object_array([["a", 1], [1, True], [2, 0]])
    metric = Gower().fit(X)
    table = metric.pairwise(X, X)
    for i in range(3):
        np.testing.assert_array_equal(metric.pairwise(X[[i]], X), table[[i]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Gower().fit([1.0, 2.0]), r"X must be a table .* shape \(2,\)"),
        (lambda: Gower().fit(csr_array(np.eye(2))), "X must not be sparse"),
        (lambda: Gower().fit([[1.0], [np.inf]]), "column 0 holds infinity"),
        (lambda: Gower().fit([[1e308], [-1e308]]), "range of column 0, -1e.308 to 1e.308"),
        (lambda: Gower().fit([[None], [None]]), "X must have a column with values"),
        (lambda: Gower().fit([[[1]], [[2, 3]]]), "shape|neither a number nor a category"),
        (
            lambda: Gower(feature_types={0: "nominal"}).fit([["a"]]),
            r"feature_types\[0\] must be one of numeric",
        ),
        (
            lambda: Gower(feature_types={"b": "binary"}).fit([["a"]]),
            "feature_types names 'b', which is not a col",
        ),
        (
            lambda: Gower(feature_types={0: "numeric"}).fit([["a"]]),
            "column 0 must hold numbers, got 'a'",
        ),
        (
            lambda: Gower(feature_types={0: "ordered"}).fit([["a"]]),
            "order of column 0 is unknown; pass",
        ),
        (
            lambda: Gower(feature_types={0: ["a", "a"]}).fit([["a"]]),
            r"feature_types\[0\] must list different",
        ),
        (
            lambda: Gower(feature_types={0: ["a", "b"]}).fit([["c"]]),
            r"'c' in the ordered column 0 has no rank among \['a', 'b'\]; pass feature_types=",
        ),
        (
            lambda: Gower(feature_types={0: "binary"}).fit([["a"], ["b"], ["c"]]),
            "binary column 0 must have at most two values, got 'a', 'b', 'c'; its kind may",
        ),
        (
            lambda: Gower(feature_types={0: "asymmetric"}).fit([["a"]]),
            "must hold booleans, or 0 and 1",
        ),
        (
            lambda: Gower(weights=[1.0, 2.0]).fit([["a"]]),
            r"one entry for each of the 1 col.*\(2,\)",
        ),
        (lambda: Gower(weights={0: -1.0}).fit([["a"]]), "finite and not negative, got .-1.0"),
        (lambda: Gower(weights={3: 1.0}).fit([["a"]]), "weights names 3, which is not a column"),
        (lambda: Gower(weights=[0.0]).fit([["a"]]), "a weight above 0, got none"),
        (lambda: fitted().pairwise([[1.0]], [[1.0]]), "X must have the 5 columns .* got 1"),
        (
            lambda: fitted().pairwise(pandas_frame(ROWS)[NAMES[::-1]], pandas_frame(ROWS)),
            r"X must have the columns of the training data, \['age', .* in that order, got",
        ),
    ],
)
def test_bad_input_is_refused_with_the_way_out(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def mixed_frame(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    numbers = {f"n{i}": rng.normal(3.0, 1.0, n_rows) for i in range(4)}
    labels = {f"c{i}": rng.choice(list("abcd"), n_rows).astype(object) for i in range(3)}
    return pd.DataFrame(numbers | labels | {"b": rng.random(n_rows) < 0.3})


class TestGowerPackage:
    """Where the package is right our values are its, to its single precision."""

    categorical: list[bool] = [False] * 4 + [True] * 4

    @pytest.fixture
    def matrix(self):
        reason = "the gower package, to compare with, is not installed"
        gower = pytest.importorskip("gower", reason=reason)
        return partial(gower.gower_matrix, cat_features=self.categorical)

    def test_agrees_on_a_table_with_itself(self, matrix):
        X = mixed_frame(60)
        np.testing.assert_allclose(Gower().fit(X).pairwise(X, X), matrix(X), atol=2e-7)

    def test_agrees_on_two_tables_of_different_length_with_a_common_range(self, matrix):
        X = mixed_frame(60)
        ours = Gower().fit(X).pairwise(X[:20], X[20:])
        np.testing.assert_allclose(ours, matrix(X[:20], X[20:]), atol=2e-7)
