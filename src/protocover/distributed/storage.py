"""Reduced blocks on storage that all workers share: arrays only, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from ..data.files import whole_file
from .blocks import ClassCover

__all__ = ["load_share", "save_block"]


def save_block(path: str, block: Sequence[ClassCover]) -> list[int]:
    """Write a block's shares of all classes to `path` and return their memberships.

    The file appears under its name only when it is complete, so that two workers that
    write it at once, or one that dies while writing, leave a whole file or none.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for label, share in enumerate(block):
        arrays[f"numbers-{label}"] = share.numbers
        arrays[f"indices-{label}"] = share.cover.indices
        arrays[f"indptr-{label}"] = share.cover.indptr
        arrays[f"n_points-{label}"] = np.array(share.cover.shape[0])
        arrays[f"wrong-{label}"] = share.wrong
        arrays[f"miscovered-{label}"] = share.miscovered
    with whole_file(target) as file:
        np.savez(file, **arrays)
    return [share.memberships for share in block]


def load_share(path: str, label: int) -> ClassCover:
    """Read one class's share of a block, and nothing else, from `path`."""
    with np.load(path, allow_pickle=False) as arrays:
        indices, indptr = arrays[f"indices-{label}"], arrays[f"indptr-{label}"]
        shape = (int(arrays[f"n_points-{label}"]), len(indptr) - 1)
        cover = csc_array((np.ones(len(indices), dtype=bool), indices, indptr), shape=shape)
        return ClassCover(
            arrays[f"numbers-{label}"],
            cover,
            arrays[f"wrong-{label}"],
            arrays[f"miscovered-{label}"],
            np.diff(indptr).astype(np.intp),
        )
