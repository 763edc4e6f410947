"""Tanimoto distance of bit vectors, such as fingerprints of molecules."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..._balls import GroupSearch, LevelTest, Tile
from ..._balls.nearest import nearest_in_groups
from ..._typing import Floats, Indices
from .rows import BitRows, as_bits
from .scan import BitScan, tanimoto


class Tanimoto(BaseEstimator):
    """Tanimoto distance between bit vectors: one minus the common bits over the bits of either.

    Also known as Jaccard distance. Points keep the form in which they come.

    Parameters
    ----------
    packed : bool, default=False
        Whether a row is bytes with eight bits each, as ``numpy.packbits(bits, axis=1)`` makes
        them, and not one bit a column.

    Notes
    -----
    Rows are a boolean array, numbers 0 and 1, a sparse table of these, or packed bytes. Two
    rows without a bit are at 0, one without and one with at 1.

    Common bits come from matrix products, which are exact in any order: they are whole numbers,
    and balls add to them only fractions of so few digits that nothing is rounded. A distance is
    one quotient of whole numbers, the same as SciPy's ``jaccard``, on every processor.

    Examples
    --------
    Two bits in common, of the four that either has:

    >>> import numpy as np
    >>> from protocover.dissimilarity import Tanimoto
    >>> bits = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]], dtype=bool)
    >>> Tanimoto().pairwise(bits[:1], bits)
    array([[0. , 0.5]])
    >>> Tanimoto(packed=True).pairwise(np.packbits(bits[:1], axis=1), np.packbits(bits, axis=1))
    array([[0. , 0.5]])
    """

    requires_array = False
    symmetric = True
    stateless = True
    saved_state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may be those of a sparse table."""
        return not self.packed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the points; there is nothing to learn."""
        self.check_examples(X)
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check nothing: nothing was learned."""

    def check_examples(self, X: Any) -> Any:
        """Return rows of bits as they are stored, after checking that they are bits."""
        if not isinstance(self.packed, bool | np.bool_):
            raise ValueError(f"packed must be True or False, got {self.packed!r}")
        return as_bits(X, packed=bool(self.packed))

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        return self.prepare(A, B)(slice(None), slice(None))

    def prepare(self, A: Any, B: Any) -> Tile:
        """Return a function of (rows, columns) that gives that tile of ``pairwise(A, B)``."""
        left, right = self._both(A, B)

        def tile(rows: slice, columns: slice) -> Floats:
            ones = np.add.outer(left.counts[rows], right.counts[columns])
            return tanimoto(left.common(right, rows, columns), ones)

        return tile

    def level_test(self, X: Any, Z: Any, *, radii: Floats, closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and levels."""
        return BitScan(*self._both(X, Z), radii, closed)

    def nearest_test(
        self, A: Any, B: Any, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        tile, every = self.prepare(A, B), slice(0, int(bounds[-1]))
        return lambda rows: nearest_in_groups(tile(rows, every), bounds, radii)

    def _both(self, A: Any, B: Any) -> tuple[BitRows, BitRows]:
        """Return points and candidates as rows of bits."""
        left = BitRows(self.check_examples(A))
        right = left if B is A else BitRows(self.check_examples(B))
        if left.n_bits != right.n_bits:
            raise ValueError(
                f"all rows must have the same number of bits, got {left.n_bits} and {right.n_bits}"
            )
        return left, right
