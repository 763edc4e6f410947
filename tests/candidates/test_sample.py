import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper import PAPER
from protocover import PVMClassifier
from protocover.candidates._gather import draw_stratified

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.repeat(["a", "b", "c"], [40, 15, 5])


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
    st.floats(0.01, 0.99),
    st.booleans(),
    st.integers(0, 99),
)
def test_each_class_is_drawn_in_proportion(counts, share, as_number, seed):
    """Off by less than one row, but for classes so small that they must be raised to one."""
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    wanted = max(len(counts), round(share * len(y)))
    rows = draw_stratified(wanted if as_number else share, y, np.random.default_rng(seed))
    drawn = np.bincount(y[rows], minlength=len(counts))
    assert len(rows) == wanted
    assert (np.diff(rows) > 0).all()
    assert (drawn >= 1).all()
    raised = (wanted * np.array(counts) / len(y) < 1).sum()
    assert (abs(drawn - wanted * np.array(counts) / len(y)) < 1 + raised).all()


def test_prototypes_are_drawn_rows_and_numbered_as_such():
    model = PVMClassifier(eps=1.0, candidates=20, random_state=0, **PAPER).fit(X, Y)
    np.testing.assert_array_equal(model.prototypes_, X[model.candidate_indices_])
    np.testing.assert_array_equal(model.prototype_indices_, model.candidate_indices_)
    assert set(model.prototype_sources_) == {"train"}


def test_the_sample_follows_random_state():
    first, again, other = (
        PVMClassifier(eps=0.4, candidates=0.3, random_state=seed, **PAPER).fit(X, Y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.candidate_indices_, again.candidate_indices_)
    assert first.candidate_indices_.tolist() != other.candidate_indices_.tolist()


def test_more_than_there_are_is_all_of_them():
    many = PVMClassifier(eps=0.7, candidates=1000, **PAPER).fit(X, Y)
    every = PVMClassifier(eps=0.7, **PAPER).fit(X, Y)
    np.testing.assert_array_equal(many.candidate_indices_, every.candidate_indices_)


def test_rows_of_weight_zero_are_not_drawn():
    weights = np.ones(60)
    weights[::2] = 0.0
    model = PVMClassifier(eps=0.3, candidates=25, random_state=0, **PAPER).fit(X, Y, weights)
    assert (model.candidate_indices_ % 2 == 1).all()


def test_a_square_table_gives_the_model_of_its_metric():
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows = PVMClassifier(eps=0.8, candidates=0.4, random_state=3, **PAPER).fit(X, Y)
    table = PVMClassifier(
        eps=0.8, metric="precomputed", candidates=0.4, random_state=3, **PAPER
    ).fit(D, Y)
    np.testing.assert_array_equal(table.candidate_indices_, rows.candidate_indices_)


def test_a_sample_joins_with_other_candidates():
    model = PVMClassifier(eps=0.5, candidates=[0.2, X[:5] + 0.01], random_state=0, **PAPER).fit(
        X, Y
    )
    assert set(model.prototype_sources_) == {"train", "given"}
    rows, is_row = model.prototype_indices_, model.prototype_sources_ == "train"
    assert (rows[~is_row] == -1).all()
    np.testing.assert_array_equal(X[rows[is_row]], model.prototypes_[is_row])


@pytest.mark.parametrize("number", [0, -3, 2, 0.0, 1.0, 1.5, -0.1])
def test_what_is_no_sample_is_refused(number):
    message = r"candidates must be a whole number not below the number of classes \(3\) or a share"
    with pytest.raises(ValueError, match=message):
        PVMClassifier(eps=1.0, candidates=number, **PAPER).fit(X, Y)


def test_a_rectangular_table_has_no_points_to_draw_from():
    D = np.linalg.norm(X[:, None] - X[:7], axis=2)
    with pytest.raises(ValueError, match="of a square table"):
        PVMClassifier(eps=1.0, metric="precomputed", candidates=0.5, **PAPER).fit(D, Y)
