import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocover._balls.build import Found, assemble


def cut(table, n_rows, n_columns, *, symmetric, rng):
    """The members of a table tile by tile, those of a tile in any order."""
    for a in range(0, len(table), n_rows):
        for b in range(a if symmetric else 0, table.shape[1], n_columns):
            block = slice(a, min(a + n_rows, len(table)))
            i, j = np.nonzero(table[block, b : b + n_columns])
            upper = j + b >= i + a if symmetric else np.ones(len(i), dtype=bool)
            order = rng.permutation(np.flatnonzero(upper))
            i, j = i[order], j[order] + b
            yield Found(block, i.astype(np.int32), j.astype(np.int32), table[i + a, j])


@given(
    st.integers(0, 999),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(1, 5),
    st.booleans(),
)
def test_tiles_make_the_table_they_were_cut_from(seed, n, m, n_rows, n_columns, symmetric):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, size=(n, n if symmetric else m)).astype(np.uint8)
    if symmetric:
        table = np.triu(table) + np.triu(table, 1).T
    tiles = cut(table, n_rows, n_columns, symmetric=symmetric, rng=rng)
    joined = assemble(tiles, table.shape, dtype=np.uint8, symmetric=symmetric)
    np.testing.assert_array_equal(joined.toarray(), table)
    assert joined.dtype == np.uint8
    assert joined.has_canonical_format
    for a, b in zip(joined.indptr[:-1], joined.indptr[1:], strict=True):
        assert (np.diff(joined.indices[a:b]) > 0).all()


@pytest.mark.parametrize("symmetric", [False, True])
def test_nothing_found_is_an_empty_table(symmetric):
    joined = assemble([], (0, 0), dtype=bool, symmetric=symmetric)
    assert joined.shape == (0, 0)
    assert joined.nnz == 0


@pytest.mark.parametrize("symmetric", [False, True])
def test_rows_that_come_in_another_order_get_their_places(symmetric):
    rng = np.random.default_rng(7)
    table = rng.integers(0, 3, size=(11, 11)).astype(np.uint8)
    if symmetric:
        table = np.triu(table) + np.triu(table, 1).T
    rows, columns = rng.permutation(11), rng.permutation(11)
    columns = rows if symmetric else columns
    tiles = cut(table[np.ix_(rows, columns)], 4, 3, symmetric=symmetric, rng=rng)
    found = (tile.with_columns(columns) for tile in tiles)
    joined = assemble(found, (11, 11), dtype=np.uint8, symmetric=symmetric, row_order=rows)
    np.testing.assert_array_equal(joined.toarray(), table)
    assert joined.has_canonical_format
