"""What is saved and loaded is the same model."""

import warnings
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from polars.testing import assert_frame_equal as assert_polars_equal
from saved_models import Example, examples, other_models
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

from paper import PAPER
from protocover import (
    ModelFileError,
    PVMClassifier,
    load_model,
    save_model,
)
from protocover._persistence import model_info

EXAMPLES = examples()
OTHERS = other_models()


def round_trip(model, folder):
    save_model(model, folder / "model.pvm")
    return load_model(folder / "model.pvm")


def assert_same(left, right, where="model"):
    """Both are the same in type and value, to the last bit and however deep."""
    assert type(left) is type(right), where
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype, where
        assert left.flags.f_contiguous == right.flags.f_contiguous, where
        if left.dtype.kind == "O":
            assert_same(left.ravel().tolist(), right.ravel().tolist(), where)
        else:
            assert np.array_equal(left, right, equal_nan=left.dtype.kind == "f"), where
    elif issparse(left):
        assert left.shape == right.shape, where
        for part in ("data", "indices", "indptr"):
            assert_same(getattr(left, part), getattr(right, part), f"{where}.{part}")
    elif isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right)
    elif isinstance(left, pd.Series):
        pd.testing.assert_series_equal(left, right)
    elif isinstance(left, pl.DataFrame):
        assert_polars_equal(left, right, categorical_as_str=True)
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for i, (one, other) in enumerate(zip(left, right, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(left, dict):
        assert list(left) == list(right), where
        for key in left:
            assert_same(left[key], right[key], f"{where}[{key!r}]")
    elif is_dataclass(left):
        for field in fields(left):
            assert_same(
                getattr(left, field.name), getattr(right, field.name), f"{where}.{field.name}"
            )
    elif isinstance(left, BaseEstimator):
        assert_same(dict(sorted(vars(left).items())), dict(sorted(vars(right).items())), where)
    else:
        assert left is right or left == right or (left != left and right != right), where


def answers(model, queries):
    """All that a model can be asked of queries."""
    if not hasattr(model, "predict"):
        model = model.classifier_
    given = [model.predict(queries), model.decision_function(queries)]
    if hasattr(model, "explain"):
        why = model.explain(queries)
        given += [getattr(why, field.name) for field in fields(why)]
    if hasattr(model, "transform"):
        given.append(model.transform(queries))
    return given


@cache
def saved_and_loaded(name):
    """A fitted model and what came back of it."""
    model = (EXAMPLES | OTHERS)[name].fitted()
    with TemporaryDirectory() as folder:
        return model, round_trip(model, Path(folder))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_dissimilarity_answers_the_same_after_loading(name):
    model, again = saved_and_loaded(name)
    queries = EXAMPLES[name].queries
    assert_same(answers(model, queries), answers(again, queries))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OTHERS)
def test_other_estimators_and_parameters_answer_the_same_after_loading(name):
    model, again = saved_and_loaded(name)
    queries = OTHERS[name].queries
    if "no prototypes" in name:
        assert_same(model.predict(queries), again.predict(queries))
    else:
        assert_same(answers(model, queries), answers(again, queries))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EXAMPLES | OTHERS)
def test_every_attribute_comes_back_with_its_type(name):
    assert_same(*saved_and_loaded(name))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays_of.arrays(
        st.sampled_from([np.float64, np.float32]),
        (8, 3),
        elements=st.floats(-1e6, 1e6, width=32),
        fill=st.nothing(),
    ),
    y=arrays_of.arrays(np.int8, 8, elements=st.integers(-2, 2)),
    metric=st.sampled_from(["euclidean", "cosine", "cityblock", "canberra"]),
)
def test_any_numbers_give_the_same_answers_after_loading(X, y, metric, tmp_path):
    model = PVMClassifier(eps=1.0, metric=metric, outlier_label=99, **PAPER).fit(X, y)
    again = round_trip(model, tmp_path)
    assert_same(model, again)
    assert_same(model.predict(X), again.predict(X))


@pytest.mark.parametrize(
    "name", ["rank", "Gower of a frame", "DANN", "several settings", "own radii without a limit"]
)
def test_a_loaded_model_can_be_cloned_and_fitted_anew(name, tmp_path):
    example = (EXAMPLES | OTHERS)[name]
    model = example.fitted()
    again = clone(round_trip(model, tmp_path)).fit(example.X, example.y)
    assert_same(model.predict(example.queries), again.predict(example.queries))


def test_a_file_tells_when_and_with_what_it_was_saved(tmp_path):
    save_model(OTHERS["selector"].fitted(), tmp_path / "m")
    info = model_info(tmp_path / "m")
    assert info.model == "PVMSelector"
    assert info.format_version == 1
    assert info.saved.endswith("+00:00")
    assert info.versions["numpy"] == np.__version__


def test_a_prototype_that_is_there_by_the_floor_alone_is_kept_as_such(tmp_path):
    """Also where the parameter that asked for it was changed since."""
    model = deepcopy(saved_and_loaded("forced")[0]).set_params(min_per_class=0)
    again = round_trip(model.set_params(cross_class=True), tmp_path)
    assert again.solution_.forced.tolist() == [0, 1, 2]


def test_another_choice_of_radii_since_the_fit_is_refused_with_the_way_out(tmp_path):
    model = OTHERS["budget"].fitted().set_params(radii="adaptive")
    with pytest.raises(ModelFileError, match=r"'adaptive', but the prototypes share.*fit the"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["rank", "DANN", "tangent", "Gower of a frame", "sparse array", "own radii"]
)
def test_joblib_keeps_working(name, tmp_path):
    example = (EXAMPLES | OTHERS)[name]
    model = example.fitted()
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    assert_same(answers(model, example.queries), answers(again, example.queries))


@pytest.mark.parametrize(
    "name", ["euclidean", "rank", "DANN", "tangent", "mahalanobis", "own radii"]
)
def test_skops_keeps_working_with_its_list_of_trusted_types(name):
    example = (EXAMPLES | OTHERS)[name]
    model = example.fitted()
    kept = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=kept)
    assert all(kind.startswith("protocover.") for kind in trusted)
    again = skops.io.loads(kept, trusted=trusted)
    assert_same(answers(model, example.queries), answers(again, example.queries))


def test_the_examples_cover_every_built_in_dissimilarity():
    from protocover._persistence.encoding import DISSIMILARITIES

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = {
            type(example.fitted().dissimilarity_).__name__
            for example in EXAMPLES.values()
            if isinstance(example, Example)
        }
    assert seen == set(DISSIMILARITIES)
