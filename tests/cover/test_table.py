"""Members of columns and rows without slicing a table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array

from protocover._cover.table import line_members


@pytest.mark.parametrize("lines", [[], [3], [5, 0, 5], list(range(8))])
@pytest.mark.parametrize("n_rows", [6, 200])
@pytest.mark.parametrize("density", [0.0, 0.3])
def test_members_are_those_of_a_slice(lines, density, n_rows):
    inside = np.random.default_rng(0).random((n_rows, 8)) < density
    by_column, lines = csc_array(inside), np.array(lines, dtype=np.intp)
    expected = by_column[:, lines].indices.tolist()
    assert line_members(by_column, lines).tolist() == expected
    assert line_members(csc_array(inside).T, lines).tolist() == expected
