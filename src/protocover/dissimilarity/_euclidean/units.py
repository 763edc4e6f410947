"""Rows that are brought to length one as they are read, so that no copy of all is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats

_ROWS_AT_ONCE = 4096


class UnitRows:
    """Rows of a table in narrow types, embedded in double precision when they are asked for.

    Parameters
    ----------
    stored : ndarray
        The rows.
    embed : callable
        Embeds some of them, each on its own.
    """

    def __init__(self, stored: NDArray[Any], embed: Callable[[Any], Floats]) -> None:
        self._stored, self._embed = stored, embed
        self.shape = len(stored), embed(stored[:1]).shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        # In one layout, whatever that of the table: sums do not depend on it.
        return self._embed(np.ascontiguousarray(self._stored[rows]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    def mean(self, axis: int, dtype: Any = None, out: None = None) -> Floats:
        """Return the mean of the rows, as NumPy asks for it."""
        total = np.zeros(self.shape[1])
        for start in range(0, len(self), _ROWS_AT_ONCE):
            total += self[start : start + _ROWS_AT_ONCE].sum(axis=axis)
        return total / len(self)
