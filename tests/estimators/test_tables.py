"""Tables of dissimilarities: which columns queries may come with, and how they are read."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from paper import PAPER
from protocover import PVMClassifier
from protocover._cover import CoverSolution
from protocover.dissimilarity import KernelDistance, RankDissimilarity
from protocover.plotting import GreedyProgressDisplay

LINE = np.array([[0.0], [10.0], [20.0], [30.0]])
LABELS = np.array([1, 0, 1, 0])
D = cdist(LINE, LINE)
TABLES = {
    "precomputed": "precomputed",
    "rank": RankDissimilarity("precomputed"),
    "kernel": KernelDistance("precomputed"),
}
METHODS = ("predict", "decision_function", "transform")


def both_readings_agree(model, table):
    narrow = table[:, model.candidate_indices_]
    for method in METHODS:
        ask = getattr(model, method)
        np.testing.assert_array_equal(ask(table), ask(narrow))
    assert (model.explain(table).prototype == model.explain(narrow).prototype).all()


@pytest.mark.parametrize("name", TABLES)
def test_with_every_candidate_chosen_both_readings_of_a_table_are_one(name):
    table = np.exp(-D / 5.0) if name == "kernel" else D
    eps = {"precomputed": 1.0, "rank": 1.2, "kernel": 0.3}
    model = PVMClassifier(eps=eps[name], metric=TABLES[name], **PAPER).fit(table, LABELS)
    assert model.candidate_indices_.tolist() == [0, 1, 2, 3]
    assert model.predict(table).tolist() == [1, 0, 1, 0]
    both_readings_agree(model, table)


def test_attributes_stay_side_by_side_when_put_in_the_order_of_the_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    eps = cdist(X, X)[np.triu_indices(30, 1)].min()
    rows = PVMClassifier(eps=eps, **PAPER).fit(X, y)
    table = PVMClassifier(eps=eps, metric="precomputed", **PAPER).fit(cdist(X, X), y)
    back = np.argsort(rows.candidate_indices_)
    names = ("candidate_indices_", "prototype_indices_", "prototype_labels_", "prototype_sources_")
    for name in (*names, "covered_count_", "miscovered_count_"):
        np.testing.assert_array_equal(getattr(table, name), getattr(rows, name)[back])
    for name in ("candidates", "classes", "covered", "miscovered", "score"):
        np.testing.assert_array_equal(
            getattr(table.solution_, name), getattr(rows.solution_, name)[back]
        )
    assert table.objective_ == rows.objective_
    queries = rng.normal(size=(40, 2))
    np.testing.assert_array_equal(table.predict(cdist(queries, X)), rows.predict(queries))


def test_a_rectangular_table_of_which_all_columns_are_chosen():
    """The last column covers most and is chosen first."""
    table = np.array([[0.0, 9, 9], [9, 0, 9], [9, 9, 0], [9, 9, 0], [9, 9, 0]])
    model = PVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(table, [0, 0, 1, 1, 1])
    assert model.candidate_indices_.tolist() == [0, 1, 2]
    assert model.newly_covered_count_.tolist() == [1, 1, 3]
    assert model.solution_.score.tolist() == [1.0, 1.0, 3.0]
    both_readings_agree(model, table)
    display = GreedyProgressDisplay.from_estimator(model, table, [0, 0, 1, 1, 1])
    assert display.improvement.tolist() == [3.0, 1.0, 1.0]
    assert display.covered.tolist() == [3, 1, 1]
    assert display.error.tolist() == [0.4, 0.2, 0.0]


def take_the_first_column(problem, *, rng=None, max_prototypes=None, **options):
    """A solver of one's own may choose a candidate for several classes."""
    chosen = [0] if problem.cover.shape[0] == 2 else [0, 1]
    return CoverSolution.of(problem, chosen)


def test_where_a_candidate_serves_two_classes_a_table_that_may_be_either_is_refused():
    table = np.array([[0.0, 9.0, 9.0]] * 4 + [[9.0, 0.0, 9.0]])
    model = PVMClassifier(eps=1.0, metric="precomputed", solver=take_the_first_column, **PAPER)
    model.fit(table, ["a", "a", "b", "b", "b"])
    chosen = model.candidate_indices_
    assert sorted(chosen) == [0, 0, 1]
    whole = np.array([[0.5, 2.0, 3.0], [0.25, 0.125, 1.0]])
    assert model.predict(whole).tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.transform(whole), whole[:, chosen])
    for method in METHODS:
        with pytest.raises(
            ValueError, match=r"3 columns, .* candidates and .* prototypes.*either"
        ):
            getattr(model, method)(whole[:, chosen])
    same = np.full((2, 3), 0.5)
    np.testing.assert_array_equal(model.transform(same), same)


def test_names_tell_which_columns_a_table_has():
    pd = pytest.importorskip("pandas")
    names = np.array(["p", "q", "r", "s"])
    table = pd.DataFrame(D, columns=names)
    few = PVMClassifier(eps=15.0, metric="precomputed", max_prototypes=2, **PAPER).fit(
        table, LABELS
    )
    few_names = names[few.candidate_indices_]
    expected = few.predict(table)
    np.testing.assert_array_equal(few.predict(table[few_names]), expected)
    for wrong in (names[::-1], few_names[::-1], ["p", "q", "r", "t"]):
        with pytest.raises(ValueError, match="feature names should match"):
            few.predict(pd.DataFrame(D[:, : len(wrong)], columns=wrong))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(few.predict(D), expected)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(few.predict(D[:, few.candidate_indices_]), expected)
