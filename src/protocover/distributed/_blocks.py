"""The reduced cover, built by independent tasks over blocks of candidates.

A block is a set of candidates scattered over the whole range by a hash of their numbers,
so that every block is a fair sample. Its balls are found chunk of points by chunk of
points; when all chunks are in, every candidate keeps only the points of the one class
that it can serve, and the weight of all others collapses to one number.

Which class that is, the weights tell. Choosing candidate j for class l lowers the
objective by at most own(j, l) - other(j, l) - prototype_cost, the weight of the points of
class l in its ball less that of all others and the cost. For that to be positive with a
cost not below 0, class l must hold more than half of the weight of the ball:

    own(j, l) > other(j, l) = total(j) - own(j, l).

Were that so for two classes l and k, then own(j, l) + own(j, k) > total(j), but the two
have no point in common. So at most one class can gain, whatever is chosen before, as
gains only fall. It is the majority by weight: with sample weights it need not be the class
with the most points in the ball. Weights that may be negative, or sums that are rounded,
would break the argument; ours are neither, since weights lie on a grid on which sums are
exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, hstack, vstack

from .._balls import build_balls
from .._selection.adaptive_radii import CandidateBalls
from ..candidates._pool import stack_rows
from ..data._files import whole_file
from ._chunks import Chunk
from ._cluster import Cluster

# Numbers in a block's table of classes x candidates.
_TABLE_SIZE = 1 << 22
# Blocks for each thread, so that the last to finish is not long alone, unless they get tiny.
_BLOCKS_PER_THREAD = 4
_PAIRS_PER_BLOCK = 10_000_000
# A block's memberships as found, joined and reduced take so many bytes at their peak.
_BYTES_PER_MEMBERSHIP = 24
# The same of members with their distances, where balls have radii of their own.
_BYTES_PER_OWN = 48

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CandidateBlock:
    """Some of the candidates."""

    numbers: Indices  # rising
    points: Any  # the candidates themselves, as rows
    served: Indices  # the class that each may serve, -1 for any


@dataclass(frozen=True, eq=False)
class ClassCover:
    """Candidates that may serve a class, and the points of the class in their balls."""

    numbers: Indices  # of the candidates, rising
    cover: csc_array  # points of the class, in the order of all points, x candidates
    wrong: Floats  # weight of the points of other classes in each ball
    miscovered: Indices  # how many these are
    own: Indices  # how many points of the class a ball holds, those left out of `cover` included

    @property
    def memberships(self) -> int:
        """How many points all balls hold together."""
        return int(self.cover.nnz)

    def taken(self, columns: Indices) -> ClassCover:
        """Return some of the candidates, in the order of `columns`."""
        return ClassCover(
            self.numbers[columns],
            self.cover[:, columns],
            self.wrong[columns],
            self.miscovered[columns],
            self.own[columns],
        )


@dataclass(frozen=True, eq=False)
class ChunkCover:
    """What one chunk of points contributes to a block."""

    covers: list[csc_array]  # for each class, its points x candidates
    reach: Floats  # weight of each class in each ball, shape (n_classes, n_candidates)


def count_blocks(
    n_points: int,
    n_candidates: int,
    n_classes: int,
    *,
    memberships: float,
    cluster: Cluster,
    adaptive_radii: bool = False,
) -> int:
    """Choose how many blocks to make: enough to keep all threads busy and for each to fit one.

    `memberships` is the expected number of (point, ball) pairs in all.
    """
    n_bytes = _BYTES_PER_OWN if adaptive_radii else _BYTES_PER_MEMBERSHIP
    for_speed = min(
        _BLOCKS_PER_THREAD * cluster.n_threads, n_points * n_candidates / _PAIRS_PER_BLOCK
    )
    for_memory = 4.0 * memberships * n_bytes / cluster.thread_bytes
    for_tables = n_candidates * n_classes / _TABLE_SIZE
    wanted = math.ceil(max(for_speed, for_memory, for_tables))
    return max(1, min(wanted, n_candidates))


def block_numbers(numbers: Indices, n_blocks: int) -> Indices:
    """Hash candidates' numbers to blocks, neighbours to different ones."""
    mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(32)) % np.uint64(n_blocks)).astype(np.intp)


def pick_block(
    chunk: Chunk, first: int, block: int, n_blocks: int, *, cross_class: bool = True
) -> CandidateBlock:
    """Pick a block's candidates out of a chunk whose points are numbered from `first` on."""
    numbers = np.arange(first, first + len(chunk.rows))
    mine = np.flatnonzero(block_numbers(numbers, n_blocks) == block)
    served = np.full(len(mine), -1) if cross_class else chunk.codes[mine]
    return CandidateBlock(numbers[mine], chunk.points[mine], served)


def gather_block(picks: Sequence[CandidateBlock]) -> CandidateBlock:
    """Put a block together of what was picked from all chunks, in order."""
    numbers = np.concatenate([pick.numbers for pick in picks])
    served = np.concatenate([pick.served for pick in picks])
    return CandidateBlock(numbers, stack_rows([pick.points for pick in picks]), served)


def chunk_cover(
    chunk: Chunk,
    block: CandidateBlock,
    dissimilarity: Any,
    *,
    eps: float,
    closed: bool,
    n_classes: int,
) -> ChunkCover:
    """Find which points of a chunk lie in which balls of a block, class by class."""
    m = len(block.numbers)
    if m == 0 or len(chunk.codes) == 0:
        counts = np.bincount(chunk.codes, minlength=n_classes)
        covers = [csc_array((int(count), m), dtype=bool) for count in counts]
        return ChunkCover(covers, np.zeros((n_classes, m)))
    # One thread: the workers already run as many tasks as they have cores.
    balls = build_balls(
        dissimilarity, chunk.points, block.points, eps=eps, closed=closed, n_jobs=1
    )
    members = [np.flatnonzero(chunk.codes == label) for label in range(n_classes)]
    covers = [balls[rows].tocsc() for rows in members]
    reach = [cover.T @ chunk.weights[rows] for cover, rows in zip(covers, members, strict=True)]
    return ChunkCover(covers, np.array(reach))


def reduce_block(
    block: CandidateBlock, parts: Sequence[ChunkCover], *, prototype_cost: float
) -> list[ClassCover]:
    """Give each candidate to the class that it can serve, with all points of that class.

    `parts` are the contributions of all chunks, in order. A candidate that can serve no
    class at this cost is dropped, unless it gains most for a class that none can serve.
    """
    reach = np.sum([part.reach for part in parts], axis=0)
    total = reach.sum(axis=0)
    # How many points of each class each ball holds, shape (n_classes, n_candidates).
    sizes = np.array([[np.diff(cover.indptr) for cover in part.covers] for part in parts])
    held = sizes.sum(axis=0, dtype=np.intp)
    reduced = []
    for label, own in enumerate(reach):
        wrong = total - own
        gain = own - wrong
        # The exact cost may be a hair below prototype_cost, so equality stays in.
        fits = (block.served < 0) | (block.served == label)
        kept = np.flatnonzero(fits & (gain > 0.0) & (gain >= prototype_cost))
        fits &= own > 0.0
        if len(kept) == 0 and fits.any():
            kept = np.array([np.where(fits, gain, -np.inf).argmax()])
        cover = vstack([part.covers[label][:, kept] for part in parts], format="csc")
        served = held[label, kept]
        miscovered = held.sum(axis=0)[kept] - served
        reduced.append(ClassCover(block.numbers[kept], cover, wrong[kept], miscovered, served))
    return reduced


def in_order(covers: Sequence[ClassCover]) -> ClassCover:
    """Put candidates of one class side by side, as they come."""
    return ClassCover(
        np.concatenate([cover.numbers for cover in covers]),
        hstack([cover.cover for cover in covers], format="csc"),
        np.concatenate([cover.wrong for cover in covers]),
        np.concatenate([cover.miscovered for cover in covers]),
        np.concatenate([cover.own for cover in covers]),
    )


def join_covers(covers: Sequence[ClassCover]) -> ClassCover:
    """Join candidates of one class from several blocks, in the order of their numbers."""
    joined = in_order(covers)
    return joined.taken(np.argsort(joined.numbers))


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


def keep_blocks(
    client: Any, reduced: list[Any], folder: str | None, *, adaptive_radii: bool = False
) -> BlockCover:
    """Keep reduced blocks in the workers' memory, or in `folder` on storage that all share."""
    if folder is None:
        counts = client.gather(client.map(_count, reduced))
        return BlockCover(reduced, np.array(counts), adaptive_radii)
    paths = [str(Path(folder) / f"block-{b}.npz") for b in range(len(reduced))]
    counts = client.gather(client.map(save_block, paths, reduced))
    return BlockCover(paths, np.array(counts), adaptive_radii)


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
