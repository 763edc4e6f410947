"""The tasks that build the cover, and where its blocks are kept.

Every task is a pure function of its inputs. Nothing is scattered and no worker has a
state: what a lost worker held is computed anew from the collections, or read again from
storage where the blocks were written there.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import ClassCover, chunk_cover, gather_block, pick_block, reduce_block
from .chunks import ChunkedPoints
from .storage import load_share, save_block

__all__ = ["BlockCover", "Candidates", "build_cover", "folder_for_blocks"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """What may become a prototype, in parts that the workers hold.

    Parameters
    ----------
    parts : list of Future of Chunk or of rows
        In the order of the candidates' numbers.
    bounds : ndarray of int, shape (n_parts + 1,)
        Part p holds the numbers from ``bounds[p]`` to before ``bounds[p + 1]``.
    """

    parts: list[Any]
    bounds: NDArray[np.intp]

    def __len__(self) -> int:
        return int(self.bounds[-1])


@dataclass(frozen=True, eq=False)
class BlockCover:
    """The reduced cover in blocks.

    Parameters
    ----------
    blocks : list of Future or of str
        Reduced blocks that the workers hold, or the paths of their files.
    memberships : ndarray of int, shape (n_blocks, n_classes)
        How many each class's share of each block has.
    """

    blocks: list[Any]
    memberships: NDArray[np.intp]

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
    eps: float,
    closed: bool,
    prototype_cost: float,
    n_blocks: int,
    folder: str | None,
) -> BlockCover:
    """Build the balls of all candidates, block by block, each reduced when it is complete.

    Parameters
    ----------
    client : distributed.Client
        Whose workers are used.
    points : ChunkedPoints
        What must be covered.
    candidates : Candidates
        What may cover it.
    dissimilarity : dissimilarity
        Fitted.
    eps, closed, prototype_cost
        As in :class:`protocover.PVMClassifier`.
    n_blocks : int
        How many blocks to cut the candidates into.
    folder : str or None
        Where to write the blocks, on storage that all workers share; None to keep them in
        the workers' memory.
    """
    options = {"eps": eps, "closed": closed, "n_classes": len(points.classes)}
    reduced = []
    for b in range(n_blocks):
        # Earlier blocks go first, so that they are reduced before others are begun.
        urgent = {"priority": -b}
        starts = candidates.bounds[:-1].tolist()
        picks = client.map(
            pick_block, candidates.parts, starts, block=b, n_blocks=n_blocks, **urgent
        )
        block = client.submit(gather_block, picks, **urgent)
        parts = [
            client.submit(chunk_cover, chunk, block, dissimilarity, **options, **urgent)
            for chunk in points.chunks
        ]
        reduced.append(
            client.submit(reduce_block, block, parts, prototype_cost=prototype_cost, **urgent)
        )
    if folder is None:
        return BlockCover(reduced, np.array(client.gather(client.map(_count, reduced))))
    paths = [str(Path(folder) / f"block-{b}.npz") for b in range(n_blocks)]
    saved = client.map(save_block, paths, reduced)
    return BlockCover(paths, np.array(client.gather(saved)))


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


def _share(block: list[ClassCover], label: int) -> ClassCover:
    """Return one class's share of a block."""
    return block[label]


def _count(block: list[ClassCover]) -> list[int]:
    """Count the memberships of each class's share of a block."""
    return [share.memberships for share in block]
