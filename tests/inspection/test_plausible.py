"""The estimate of how many labels are wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from protocover._inspection.label_issues import count_plausible

DISTANCES = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, np.inf])


@given(st.data(), st.integers(1, 60), st.integers(2, 4))
def test_the_number_is_that_of_the_slow_obvious_rule(data, n, n_classes):
    row = st.lists(DISTANCES, min_size=n_classes, max_size=n_classes)
    mean = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    disagrees = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    found = count_plausible(mean, disagrees)
    assert found.number == naive.plausible(mean, disagrees)
    assert found.overlap == (found.number == 0)


@pytest.mark.parametrize(("n_wrong", "number"), [(0, 4), (5, 24), (17, 0)])
def test_the_most_certain_quarter_decides(n_wrong, number):
    mean = np.column_stack((np.ones(400), np.linspace(1.0, 9.0, 400)))
    disagrees = np.arange(400) < 200  # among the less certain
    disagrees[400 - n_wrong :] = True
    assert count_plausible(mean, disagrees).number == number


def test_without_samples_or_with_one_class_nothing_is_plausible():
    assert count_plausible(np.empty((0, 2)), np.empty(0, dtype=bool)).number == 0
    assert count_plausible(np.ones((3, 1)), np.zeros(3, dtype=bool)).number == 0
