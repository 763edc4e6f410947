import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array

from protocover.data._points import same_points

NUMBERS = np.array([[1.0, np.nan], [2.0, 3.0]])
MIXED = pd.DataFrame({"n": pd.array([1, pd.NA], dtype="Int64"), "s": ["a", None]})


@pytest.mark.parametrize(
    ("ones", "others"),
    [
        (NUMBERS, NUMBERS.copy()),
        (csr_array(np.eye(2)), csc_array(np.eye(2))),
        (MIXED, MIXED.set_index(pd.Index(["x", "y"]))),
        (["ab", "c"], np.array(["ab", "c"])),
        ([np.arange(3), np.arange(2)], [np.arange(3), np.arange(2)]),
        (pd.Series(["ab", "c"]), ["ab", "c"]),
        ([[np.arange(2), "a"]], [(np.arange(2), "a")]),
    ],
)
def test_points_with_equal_values_are_the_same_in_any_form(ones, others):
    assert same_points(ones, others)
    assert same_points(others, ones)


@pytest.mark.parametrize(
    ("ones", "others"),
    [
        (NUMBERS, np.nan_to_num(NUMBERS)),
        (NUMBERS, NUMBERS[:1]),
        (csr_array(np.eye(2)), csr_array(np.ones((2, 2)))),
        (csr_array(np.eye(2)), csr_array(np.eye(3))),
        (MIXED, MIXED.assign(n=[1, 2])),
        (MIXED, MIXED.rename(columns={"s": "t"})),
        (MIXED, MIXED.to_numpy()),
        (
            [np.arange(2000), np.arange(2)],
            [np.where(np.arange(2000) == 999, -1, np.arange(2000)), np.arange(2)],
        ),
    ],
)
def test_points_with_other_values_names_or_numbers_are_not_the_same(ones, others):
    assert not same_points(ones, others)
    assert not same_points(others, ones)
