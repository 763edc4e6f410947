"""The tasks that build the cover, and where its blocks are kept.

Every task is a pure function of its inputs. Nothing is scattered and no worker has a
state: what a lost worker held is computed anew from the collections, or read again from
storage where the blocks were written there.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._selection.adaptive_radii import CandidateBalls
from ..data._files import whole_file
from ._adaptive_radii import chunk_members, gather_rules, reduce_own
from ._blocks import ClassCover, chunk_cover, gather_block, pick_block, reduce_block
from ._chunks import ChunkedPoints
from ._sources import Candidates

# What a block has for a class: balls of one radius, or of radii of their own.
Share = ClassCover | CandidateBalls


@dataclass(frozen=True, eq=False)
class BlockCover:
    """The reduced cover in blocks."""

    blocks: list[Any]  # futures of reduced blocks that the workers hold, or paths of their files
    memberships: NDArray[np.intp]  # of each class's share of each, shape (n_blocks, n_classes)
    adaptive_radii: bool = False  # whether balls have radii of their own

    def shares(self, client: Any, label: int) -> list[Any]:
        """Return futures of all blocks' shares of one class."""
        pick = load_share if isinstance(self.blocks[0], str) else _share
        return list(client.map(pick, self.blocks, label=label))


def build_cover(
    client: Any,
    points: ChunkedPoints,
    candidates: Candidates,
    dissimilarity: Any,
    *,
    adaptive_radii: bool,
    eps: float,
    closed: bool,
    prototype_cost: float,
    cross_class: bool,
    n_blocks: int,
    folder: str | None,
) -> BlockCover:
    """Build the balls of all candidates, block by block, each reduced when it is complete.

    The blocks are written to `folder`, on storage that all workers share; None keeps them in
    the workers' memory.
    """
    terms: dict[str, Any] = {"eps": eps, "closed": closed, "prototype_cost": prototype_cost}
    reduce = (_reduced_own if adaptive_radii else _reduced)(client, points, dissimilarity, **terms)
    reduced = []
    for b in range(n_blocks):
        # Earlier blocks go first, so that they are reduced before others are begun.
        urgent = {"priority": -b}
        starts = candidates.bounds[:-1].tolist()
        picks = client.map(
            pick_block,
            candidates.chunks,
            starts,
            block=b,
            n_blocks=n_blocks,
            cross_class=cross_class,
            **urgent,
        )
        reduced.append(reduce(client.submit(gather_block, picks, **urgent), **urgent))
    if folder is None:
        counts = np.array(client.gather(client.map(_count, reduced)))
        return BlockCover(reduced, counts, adaptive_radii)
    paths = [str(Path(folder) / f"block-{b}.npz") for b in range(n_blocks)]
    saved = client.map(save_block, paths, reduced)
    return BlockCover(paths, np.array(client.gather(saved)), adaptive_radii)


def _reduced(
    client: Any,
    points: ChunkedPoints,
    dissimilarity: Any,
    *,
    eps: float,
    closed: bool,
    prototype_cost: float,
) -> Callable[..., Any]:
    """Return a function from a block to its balls of one radius, reduced, all of them futures."""
    options = {"eps": eps, "closed": closed, "n_classes": len(points.classes)}

    def reduce(block: Any, **urgent: int) -> Any:
        parts = [
            client.submit(chunk_cover, chunk, block, dissimilarity, **options, **urgent)
            for chunk in points.chunks
        ]
        return client.submit(reduce_block, block, parts, prototype_cost=prototype_cost, **urgent)

    return reduce


def _reduced_own(
    client: Any,
    points: ChunkedPoints,
    dissimilarity: Any,
    *,
    eps: float,
    closed: bool,
    prototype_cost: float,
) -> Callable[..., Any]:
    """Return a function from a block to its balls of their own radii, all of them futures."""
    options: dict[str, Any] = {"eps": eps, "closed": closed}
    rules = gather_rules(client, points, **options, prototype_cost=prototype_cost)
    numbered = list(zip(points.chunks, points.bounds[:-1].tolist(), strict=True))

    def reduce(block: Any, **urgent: int) -> Any:
        parts = [
            client.submit(
                chunk_members, chunk, block, dissimilarity, first=first, **options, **urgent
            )
            for chunk, first in numbered
        ]
        return client.submit(reduce_own, block, parts, rules, **urgent)

    return reduce


@contextmanager
def folder_for_blocks(client: Any, cache_dir: Any) -> Iterator[str | None]:
    """Name a new folder within `cache_dir` and have a worker remove it in the end."""
    if cache_dir is None:
        yield None
        return
    folder = str(Path(cache_dir) / f"protocover-{uuid.uuid4().hex}")
    try:
        yield folder
    finally:
        if client.status == "running":
            client.submit(shutil.rmtree, folder, ignore_errors=True, pure=False).result()


def save_block(path: str, block: Sequence[Share]) -> list[int]:
    """Write a block's shares of all classes to `path`, arrays only, and count their memberships.

    The file appears under its name only when it is complete, so that two workers that
    write it at once, or one that dies while writing, leave a whole file or none.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for label, share in enumerate(block):
        arrays |= {f"{name}-{label}": array for name, array in _arrays(share).items()}
    with whole_file(target) as file:
        np.savez(file, **arrays)
    return _count(block)


def _arrays(share: Share) -> dict[str, NDArray[Any]]:
    """Return what a class's share of a block consists of."""
    if isinstance(share, CandidateBalls):
        return {field.name: getattr(share, field.name) for field in fields(CandidateBalls)}
    return {
        "numbers": share.numbers,
        "indices": share.cover.indices,
        "indptr": share.cover.indptr,
        "n_points": np.array(share.cover.shape[0]),
        "wrong": share.wrong,
        "miscovered": share.miscovered,
    }


def load_share(path: str, label: int) -> Share:
    """Read one class's share of a block, and nothing else, from `path`."""
    with np.load(path, allow_pickle=False) as arrays:
        if f"radius-{label}" in arrays:
            return CandidateBalls(
                **{field.name: arrays[f"{field.name}-{label}"] for field in fields(CandidateBalls)}
            )
        indices, indptr = arrays[f"indices-{label}"], arrays[f"indptr-{label}"]
        shape = (int(arrays[f"n_points-{label}"]), len(indptr) - 1)
        return ClassCover(
            arrays[f"numbers-{label}"],
            csc_array((np.ones(len(indices), dtype=bool), indices, indptr), shape=shape),
            arrays[f"wrong-{label}"],
            arrays[f"miscovered-{label}"],
            np.diff(indptr).astype(np.intp),
        )


def _share(block: Sequence[Share], label: int) -> Share:
    """Return one class's share of a block."""
    return block[label]


def _count(block: Sequence[Share]) -> list[int]:
    """Count the memberships of each class's share of a block."""
    return [
        len(share.point) if isinstance(share, CandidateBalls) else share.memberships
        for share in block
    ]
