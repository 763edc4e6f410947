import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper import PAPER
from protocover import PVMClassifier, PVMSelector
from protocover._exceptions import NoPrototypesError
from protocover.dissimilarity import RankDissimilarity

X, Y = load_iris(return_X_y=True)


def test_it_returns_the_prototypes_of_the_classifier():
    selector = PVMSelector(eps=0.8, max_prototypes=6, **PAPER)
    X_few, y_few = selector.fit_resample(X, Y)
    model = PVMClassifier(eps=0.8, max_prototypes=6, **PAPER).fit(X, Y)
    np.testing.assert_array_equal(selector.sample_indices_, model.candidate_indices_)
    np.testing.assert_array_equal(X_few, model.prototypes_)
    np.testing.assert_array_equal(y_few, model.prototype_labels_)


def test_frames_stay_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(X)) + 1000)
    labels = pd.Series(Y, index=frame.index, name="kind")
    selector = PVMSelector(eps=0.8, **PAPER)
    X_few, y_few = selector.fit_resample(frame, labels)
    assert X_few.columns.tolist() == list("abcd")
    assert X_few.index.tolist() == (selector.sample_indices_ + 1000).tolist()
    assert y_few.name == "kind"
    assert y_few.index.equals(X_few.index)


def test_it_stands_in_imbalanced_learn_s_pipelines():
    pipeline_module = pytest.importorskip("imblearn.pipeline")
    pipeline = pipeline_module.make_pipeline(
        PVMSelector(eps=0.8, **PAPER), KNeighborsClassifier(1)
    )
    pipeline.fit(X, Y)
    expected = PVMClassifier(eps=0.8, **PAPER).fit(X, Y).predict(X)
    np.testing.assert_array_equal(pipeline.predict(X), expected)
    assert clone(pipeline).fit(X, Y).score(X, Y) > 0.9


def in_kind(kind, labels):
    """Labels as users keep them."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    words = np.array(["setosa", "versicolor", "virginica"])[labels]
    index = np.arange(len(labels)) + 1000
    return {
        "array": lambda: words,
        "column": lambda: words[:, None],
        "list": lambda: words.tolist(),
        "categorical": lambda: pd.Series(
            pd.Categorical(words, categories=[*np.unique(words), "other"]), index=index, name="k"
        ),
        "ordered": lambda: pd.Series(
            pd.Categorical(words, categories=np.unique(words)[::-1], ordered=True), index=index
        ),
        "truth": lambda: pd.Series(labels > 0, index=index, dtype="boolean"),
        "frame": lambda: pd.DataFrame({"kind": words}, index=index),
        "categorical frame": lambda: pd.DataFrame({"kind": pd.Categorical(words)}, index=index),
        "polars": lambda: pl.Series("kind", words.tolist()),
        "polars enum": lambda: pl.Series(
            "kind", words.tolist(), dtype=pl.Enum(np.unique(words).tolist())
        ),
        "polars frame": lambda: pl.DataFrame({"kind": words.tolist()}),
    }[kind]()


KINDS_OF_LABELS = (
    "array",
    "column",
    "list",
    "categorical",
    "ordered",
    "truth",
    "frame",
    "categorical frame",
    "polars",
    "polars enum",
    "polars frame",
)


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("kind", KINDS_OF_LABELS)
def test_labels_keep_their_kind(kind):
    """Also where a prototype stands for another class than its own: here the first row."""
    flipped = Y.copy()
    flipped[0] = 1
    y = in_kind(kind, flipped)
    selector = PVMSelector(eps=1.0, max_prototypes=4, **PAPER)
    _, few = selector.fit_resample(X, y)
    assert type(few) is type(y)
    bare = np.asarray(few).ravel()
    np.testing.assert_array_equal(bare, selector.classifier_.prototype_labels_)
    for name in ("dtype", "dtypes", "name", "columns", "schema"):
        if hasattr(y, name):
            same = getattr(few, name) == getattr(y, name)
            assert np.all(same)
    if hasattr(y, "iloc"):
        assert few.index.tolist() == (selector.sample_indices_ + 1000).tolist()


ROWS = {
    "csr": lambda: csr_array(X),
    "coo": lambda: coo_array(X),
    "list": X.tolist,
    "polars": lambda: pytest.importorskip("polars").DataFrame(X, schema=list("abcd")),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_keep_their_kind(kind):
    rows = ROWS[kind]()
    selector = PVMSelector(eps=1.0, **PAPER)
    few, _ = selector.fit_resample(rows, Y)
    assert type(few) is (csr_array if kind == "coo" else type(rows))
    dense = few.toarray() if issparse(few) else np.asarray(few)
    np.testing.assert_array_equal(dense, X[selector.sample_indices_])
    assert selector.n_features_in_ == 4
    assert hasattr(selector, "feature_names_in_") == (kind == "polars")


def test_a_rectangular_table_is_refused():
    D = cdist(X, X)
    selector = PVMSelector(eps=1.0, metric="precomputed", **PAPER)
    few, _ = selector.fit_resample(D, Y)
    np.testing.assert_array_equal(few, D[selector.sample_indices_])
    for metric in ("precomputed", RankDissimilarity("precomputed")):
        with pytest.raises(ValueError, match=r"square table.*got shape \(150, 90\)"):
            PVMSelector(eps=1.0, metric=metric, **PAPER).fit_resample(D[:, :90], Y)


def test_a_failed_fit_leaves_the_former_selection():
    pd = pytest.importorskip("pandas")
    selector = PVMSelector(eps=1.0, **PAPER).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="NaN"):
        selector.fit(np.full((150, 3), np.nan), Y)
    assert vars(selector) == before
    selector.fit(X[:, :3], Y)
    assert selector.n_features_in_ == 3
    assert not hasattr(selector, "feature_names_in_")


def test_a_selection_of_nothing_is_refused():
    with pytest.raises(NoPrototypesError, match="left of X; lower prototype_cost or change eps"):
        PVMSelector(eps=1.0, prototype_cost=1e6, **PAPER).fit_resample(X, Y)
    assert len(PVMSelector(eps=1.0, prototype_cost=1e6, **PAPER).fit(X, Y).sample_indices_) == 0


@parametrize_with_checks([PVMSelector(), PVMSelector(**PAPER)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# The others are of samplers that balance classes, or want imbalanced-learn's own tags.
CHECKS_OF_SAMPLERS = (
    "check_target_type",
    "check_samplers_2d_target",
    "check_samplers_list",
    "check_samplers_pandas",
    "check_samplers_pandas_sparse",
    "check_samplers_preserve_dtype",
    "check_samplers_sparse",
)


@pytest.mark.parametrize("check", CHECKS_OF_SAMPLERS)
def test_imbalanced_learn_s_conventions(check):
    checks = pytest.importorskip("imblearn.utils.estimator_checks")
    for selector in (PVMSelector(), PVMSelector(**PAPER)):
        getattr(checks, check)("PVMSelector", selector)
