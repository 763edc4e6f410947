"""Every bad input gets an error that names it, and leaves no half-fitted estimator."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, pvm_path
from protocover.candidates import HullCandidates, KMeansCandidates
from protocover.dissimilarity import KernelDistance, RankDissimilarity

X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
Y = np.array(["a", "a", "b", "b"])
TABLE = np.abs(X[:, None] - X).sum(axis=2)
NAN = "Input y contains NaN or None: "


def with_entry(value, where=(1, 0), base=X):
    changed = base.astype(type(value) if isinstance(value, str) else float).copy()
    changed[where] = value
    return changed


FIT_CASES = {
    "NaN": ({}, (with_entry(np.nan), Y), "NaN"),
    "infinity": ({}, (with_entry(np.inf), Y), "infinity"),
    "words": (
        {},
        ([["p", "q"]] * 4, Y),
        "could not convert|numeric",
    ),
    "one dimension": ({}, (X[:, 0], Y), "Expected 2D array"),
    "three dimensions": ({}, (X[None], Y), "Found array with dim 3|expected <= 2"),
    "no points": ({}, (X[:0], Y[:0]), "0 sample"),
    "lengths differ": ({}, (X, Y[:3]), "inconsistent numbers of samples"),
    "y missing": ({}, (X, None), "requires y to be passed"),
    "y continuous": ({}, (X, [0.1, 0.2, 0.3, 0.5]), "Unknown label type|continuous"),
    "y NaN": ({}, (X, [0.0, 1.0, np.nan, 1.0]), "Input y contains NaN"),
    "y text and NaN": ({}, (X, np.array(["a", "b", np.nan, "b"], object)), NAN + "nan in row 2"),
    "y text and None": ({}, (X, ["a", None, "b", "b"]), NAN + "None in row 1"),
    "y numbers and None": ({}, (X, [0, 0, 1, None]), NAN + "None in row 3"),
    "y dates and NaT": ({}, (X, np.array([0, 0, 1, "NaT"], "M8[D]")), NAN + ".*NaT.* in row 3"),
    "y numbers and text": ({}, (X, [0, 0, "a", "a"]), "y must hold labels of one type, got 0 and"),
    "y objects": ({}, (X, np.array(["a", "a", 1, 1], object)), "one type, got 'a' and 1; convert"),
    "table NaN": ({"metric": "precomputed"}, (with_entry(np.nan, base=TABLE), Y), "NaN"),
    "table infinite": ({"metric": "precomputed"}, (with_entry(np.inf, base=TABLE), Y), "infinity"),
    "table negative": (
        {"metric": "precomputed"},
        (with_entry(-1.0, base=TABLE), Y),
        "must not be negative, got -1",
    ),
    "table of words": (
        {"metric": "precomputed"},
        ([["p", "q"]] * 4, Y),
        "could not convert|numeric",
    ),
    "kernel sparse": (
        {"metric": KernelDistance("precomputed")},
        (csr_array(TABLE), Y),
        "takes no sparse table; pass an array that holds every pair",
    ),
    "ranks sparse": (
        {"metric": RankDissimilarity("precomputed")},
        (csr_array(TABLE), Y),
        "takes no sparse table; pass an array that holds every pair",
    ),
    "table and own candidates": (
        {"metric": "precomputed", "candidates": "kmeans"},
        (TABLE, Y),
        "leave candidates='train'",
    ),
    "eps zero": (
        {"eps": 0},
        (X, Y),
        r"eps must be a positive number or 'auto', got 0; suggest_eps",
    ),
    "eps negative": ({"eps": -1.0}, (X, Y), r"eps must be a positive number or 'auto', got -1\.0"),
    "eps NaN": ({"eps": np.nan}, (X, Y), "eps must be a positive number"),
    "eps infinite": (
        {"eps": np.inf, "radii": "shared"},
        (X, Y),
        "eps must be a positive number or 'auto', got inf",
    ),
    "eps a word": (
        {"eps": "small"},
        (X, Y),
        "eps must be a positive number or 'auto', got 'small'",
    ),
    "eps true": ({"eps": True}, (X, Y), "eps must be a positive number"),
    "eps None": (
        {"eps": None, "radii": "shared"},
        (X, Y),
        "eps must be a positive number or 'auto', got None; .* needs radii='adaptive'",
    ),
    "cost negative": (
        {"prototype_cost": -0.1},
        (X, Y),
        "prototype_cost must be a number from 0 to",
    ),
    "cost NaN": ({"prototype_cost": np.nan}, (X, Y), "prototype_cost must be a number"),
    "cost a word": ({"prototype_cost": "1/n"}, (X, Y), "prototype_cost must be a number"),
    "budget negative": ({"max_prototypes": -1}, (X, Y), "max_prototypes must be a whole number"),
    "budget fractional": (
        {"max_prototypes": 2.5},
        (X, Y),
        "max_prototypes must be a whole number",
    ),
    "budget of unknown classes": (
        {"max_prototypes": {"a": 1, "z": 2}},
        (X, Y),
        r"classes that are not in y: \['z'\]; the classes are \['a', 'b'\]",
    ),
    "budget by class negative": (
        {"max_prototypes": {"a": -1}},
        (X, Y),
        "whole number not below 0",
    ),
    "weights negative": (
        {},
        (X, Y, [1, -1, 1, 1]),
        "sample_weight must not be negative|Negative values",
    ),
    "weights all zero": ({}, (X, Y, [0, 0, 0, 0]), "positive for some point|non-zero"),
    "weights NaN": ({}, (X, Y, [1, np.nan, 1, 1]), "NaN"),
    "weights too small": (
        {},
        (X, Y, [1e-300] * 4),
        "largest number between 1e-250 and 1e.280, got 1e-300; multiply all weights",
    ),
    "weights too large": ({}, (X, Y, [1.0, 1.0, 1.0, 1e300]), "between 1e-250 and 1e.280"),
    "weights too few": ({}, (X, Y, [1, 1]), "sample_weight"),
    "a class without weight": (
        {},
        (X, Y, [1, 1, 0, 0]),
        r"positive sample_weight, got none for \['b'\]; drop those points",
    ),
    "solver unknown": (
        {"solver": "magic"},
        (X, Y),
        "solver must be one of 'greedy', .*got 'magic'",
    ),
    "metric unknown": ({"metric": "magic"}, (X, Y), "metric must be one of .*got 'magic'"),
    "candidates unknown": (
        {"candidates": "magic"},
        (X, Y),
        "candidates must be 'train'.*got 'magic'",
    ),
    "candidates empty": ({"candidates": []}, (X, Y), "at least one source"),
    "candidates too narrow": (
        {"candidates": np.ones((3, 1))},
        (X, Y),
        "given candidates must have 2 features as X has, got 1",
    ),
    "candidates NaN": ({"candidates": with_entry(np.nan)}, (X, Y), "NaN"),
    "candidates a number": ({"candidates": 3.5}, (X, Y), "candidates must be"),
    "no clusters": ({"candidates": KMeansCandidates(0)}, (X, Y), "n_clusters must be a positive"),
    "no hull points": (
        {"candidates": HullCandidates(0)},
        (X, Y),
        "n_per_class must be a positive",
    ),
    "hull of sparse rows": (
        {"candidates": "hull"},
        (csr_array(X), Y),
        r"dense rows of numbers; pass X",
    ),
    "no jobs": ({"n_jobs": 0}, (X, Y), "n_jobs must be a whole number other than 0.*got 0"),
    "jobs a word": ({"n_jobs": "two"}, (X, Y), "n_jobs must be a whole number.*got 'two'"),
    "verbose a word": ({"verbose": "yes"}, (X, Y), "verbose must be a whole number.*got 'yes'"),
    "random state a word": ({"random_state": "x"}, (X, Y), "'x' cannot be used to seed"),
    "outlier label a list": ({"outlier_label": [1]}, (X, Y), "outlier_label must be one label"),
    "outlier label of another kind": (
        {"outlier_label": 7},
        (X, Y),
        "of the kind of the labels in y",
    ),
}


@pytest.mark.parametrize("case", FIT_CASES)
def test_fit_refuses(case):
    parameters, arguments, message = FIT_CASES[case]
    model = PVMClassifier(**{"eps": 1.5, **parameters})
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(*arguments)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "prototypes_")


@pytest.mark.parametrize(
    "case", ["no jobs", "jobs a word", "verbose a word", "random state a word"]
)
def test_searches_and_paths_refuse_the_same(case):
    parameters, arguments, message = FIT_CASES[case]
    search = PVMClassifierCV(eps=[1.5], cv=2, **parameters)
    with pytest.raises(ValueError, match=message):
        search.fit(*arguments)
    with pytest.raises(ValueError, match=message):
        pvm_path(*arguments, eps=[1.5], **parameters)


PREDICT_CASES = {
    "NaN": (with_entry(np.nan), "NaN"),
    "infinity": (with_entry(np.inf), "infinity"),
    "too few features": (X[:, :1], "X has 1 features, but PVMClassifier is expecting 2"),
    "one dimension": (X[0], "Expected 2D array"),
}


@pytest.mark.parametrize("case", PREDICT_CASES)
@pytest.mark.parametrize("method", ["predict", "decision_function", "explain"])
def test_queries_are_refused(case, method):
    queries, message = PREDICT_CASES[case]
    model = PVMClassifier(eps=1.5, **PAPER).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(queries)


def test_a_table_of_the_wrong_width_says_which_widths_would_do():
    model = PVMClassifier(eps=1.5, metric="precomputed", **PAPER).fit(TABLE, Y)
    with pytest.raises(ValueError, match=r"expecting 4 features.*or 2, one for each prototype"):
        model.predict(TABLE[:, :3])


def test_unlabeled_points_of_the_wrong_width_are_refused():
    with pytest.raises(
        ValueError, match="unlabeled candidates must have 2 features as X has, got 3"
    ):
        PVMClassifier(eps=1.5, **PAPER).fit(X, Y, unlabeled=np.ones((2, 3)))


def test_a_failed_refit_leaves_the_former_model():
    model = PVMClassifier(eps=1.5, **PAPER).fit(X, Y)
    before = model.predict(X)
    wider = np.hstack((X, X))
    for arguments in ((with_entry(np.nan), Y), (wider, Y[:3]), (wider, Y, [-1, 1, 1, 1])):
        with pytest.raises(ValueError):  # noqa: PT011 - each case's message is tested above
            model.fit(*arguments)
        assert model.n_features_in_ == 2
        np.testing.assert_array_equal(model.predict(X), before)
