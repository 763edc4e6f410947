"""Squared distances between tangent planes, for all pairs of two blocks of images at once.

With orthonormal tangent bases P of x and Q of z, ``s = 1 + spring``, and d = x - z, the
least value of ``|d + P a - Q b|^2 + spring * (|a|^2 + |b|^2)`` over a and b is

    |d|^2 - |u|^2 - w' (I - M'M)^-1 w,

where ``u = P'd / sqrt(s)``, ``M = P'Q / s`` and ``w = Q'd / sqrt(s) - M'u``. Bases are
kept divided by sqrt(s), so that s need not be seen here. All but the last few operations
on each pair are one matrix product of stacked bases and images. The rest is written out
over whole blocks of pairs, the pair being the last index.

A pair gets the same number wherever it stands and on every machine. The products are
exact, whatever computes them, and all else is elementwise; and of each pair the image
with the smaller key plays the part of x, whichever side it is on.

Images are kept as vectors of length one or less and a power of two. The arithmetic on a
pair is relative to the larger of its two powers, so that pixels may be of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, Indices, Mask
from ._arithmetic import add_up, exponents, multiply, split

# Images a side of a tile, images on the left of one product of matrices, and images on the
# left of one elementwise operation: the last so few that all stays in cache.
TILE = 512
_STRIP = 64
_FEW = 16

# A pivot below this is a direction common to both planes: it has been minimised over.
_SHARED = 1e-13


@dataclass(frozen=True, eq=False)
class Planes:
    """The images of one side and their tangent bases, ready for the product.

    `vectors` are parts of the q basis vectors of each image, of length 1 / sqrt(1 + spring),
    then of the centred image itself divided by ``2 ** exponents``. With one part the
    arithmetic is in single precision, with two in double precision.
    """

    images: Floats  # (n, height, width)
    vectors: NDArray[np.float32]  # (n_parts, q + 1, n, p)
    along: Floats  # (q, n), products of the basis vectors with their own scaled image
    norms: Floats  # (n,), squared lengths of the scaled images
    exponents: NDArray[np.int32]  # (n,), powers of two above the lengths of the centred images
    keys: NDArray[np.uint64]  # (n,), a number for each image, different for different images

    @classmethod
    def empty(cls, images: Floats, n_vectors: int, n_pixels: int, *, n_parts: int) -> Planes:
        """Make room for planes of `n_vectors` tangent vectors each."""
        n = len(images)
        return cls(
            images,
            np.empty((n_parts, n_vectors + 1, n, n_pixels), dtype=np.float32),
            np.empty((n_vectors, n)),
            np.empty(n),
            np.empty(n, dtype=np.int32),
            np.empty(n, dtype=np.uint64),
        )

    def __len__(self) -> int:
        return len(self.images)

    @property
    def dtype(self) -> Any:
        """Type of the numbers in the arithmetic on pairs."""
        return np.float32 if len(self.vectors) == 1 else np.float64

    @property
    def resolution(self) -> float:
        """Squares, in the units of `tile_squares`, that it cannot tell well from 0.

        Rounding to one part moves either image by 2^-27 * sqrt(p) at most, which is then
        2^-15 of the distance at most. With two parts it is double precision that limits
        a difference of numbers of about 1.
        """
        n_parts, _, _, n_pixels = self.vectors.shape
        return float(n_pixels * 2.0 ** (-21 if n_parts == 1 else -36))

    def put(self, block: slice, *, bases: Floats, centered: Floats) -> None:
        """Set what belongs to some images from their bases (n, q, p) and themselves (n, p)."""
        self.exponents[block] = exponents(centered)
        scaled = np.ldexp(centered, -self.exponents[block, None])
        parts = split(np.concatenate((bases, scaled[:, None]), axis=1), len(self.vectors))
        self.vectors[:, :, block] = parts.transpose(0, 2, 1, 3)
        own = multiply(parts.astype(np.float64), parts[:, :, -1:].astype(np.float64))[:, :, 0].T
        self.along[:, block], self.norms[block] = own[:-1], own[-1]
        self.keys[block] = [_key(image) for image in self.images[block]]

    def stacked(self, images: slice) -> Floats:
        """Return the vectors of some images as rows, (n_parts, (q + 1) * n, p)."""
        some = self.vectors[:, :, images].astype(np.float64)
        return some.reshape(len(some), -1, some.shape[-1])

    def bases(self, images: Indices) -> Floats:
        """Return the bases of k images, shape (n_parts, k, q, p)."""
        some = self.vectors[:, :-1, images].transpose(0, 2, 1, 3)
        return np.ascontiguousarray(some, dtype=np.float64)


def tile_squares(left: Planes, right: Planes, *, rows: slice, columns: slice) -> NDArray[Any]:
    """Squared distances of the images in `rows` of one side from those in `columns`.

    Each is in units of ``4 ** e``, with e the larger of the exponents of the two images.
    """
    out = np.empty((_length(rows), _length(columns)), dtype=left.dtype)
    space = np.empty(left.vectors.shape[1] * _STRIP * right.vectors.shape[1] * TILE)
    for part in _steps(columns, TILE):
        right_rows = right.stacked(part)
        for strip in _steps(rows, _STRIP):
            inner = _products(left.stacked(strip), right_rows, strip, part, space)
            for few in _steps(strip, _FEW):
                out[_within(few, rows), _within(part, columns)] = _block_squares(
                    inner[:, :, _within(few, strip)], left, right, rows=few, columns=part
                )
    return out


def pair_distances(
    difference: Floats, left_bases: Floats, right_bases: Floats, *, swap: Mask
) -> Floats:
    """Distances of k pairs, from their differences (k, p) themselves: left less right.

    The tangent bases (n_parts, k, q, p) are as in `Planes`; q may be 0 for one of them. Where
    `swap` (k,) is true, the right image plays the part of x.
    """
    exponent = exponents(difference)
    scaled = np.ldexp(difference, -exponent[:, None])[:, None]
    d = split(scaled, 2).astype(np.float64)
    squares = add_up(scaled * scaled)[:, 0]
    u = multiply(left_bases, d)[:, :, 0].T
    v = -multiply(right_bases, d)[:, :, 0].T
    M = multiply(left_bases, right_bases).transpose(1, 2, 0)
    least = _minimize(squares, *(np.array(part, order="C") for part in (u, v, M)), swap=swap)
    return np.asarray(np.ldexp(np.sqrt(np.maximum(least, 0.0)), exponent))


def _products(
    left_rows: Floats, right_rows: Floats, rows: slice, columns: slice, space: Floats
) -> Floats:
    """Multiply stacked vectors; the result is a view (q + 1, q + 1, n, m) of `space`."""
    shape = left_rows.shape[1], right_rows.shape[1]
    product = multiply(
        left_rows, right_rows, out=space[: shape[0] * shape[1]].reshape(shape)
    ).reshape(-1, _length(rows), shape[1] // _length(columns), _length(columns))
    return product.transpose(0, 2, 1, 3)


def _block_squares(
    inner: Floats, left: Planes, right: Planes, *, rows: slice, columns: slice
) -> NDArray[Any]:
    """Squared distances from the products (q + 1, q + 1, n, m) of the vectors of both sides."""
    larger = np.maximum(left.exponents[rows, None], right.exponents[columns])
    x = np.ldexp(1.0, left.exponents[rows, None] - larger)
    z = np.ldexp(1.0, right.exponents[columns] - larger)
    squares = left.norms[rows, None] * (x * x) + right.norms[columns] * (z * z)
    squares -= 2 * (x * z) * inner[-1, -1]
    u = left.along[:, rows, None] * x - inner[:-1, -1] * z
    v = right.along[:, None, columns] * z - inner[-1, :-1] * x
    return _minimize(
        *(np.array(part, left.dtype, order="C") for part in (squares, u, v, inner[:-1, :-1])),
        swap=left.keys[rows, None] > right.keys[columns],
    )


def _minimize(
    squares: NDArray[Any],
    u: NDArray[Any],
    v: NDArray[Any],
    M: NDArray[Any],
    *,
    swap: Mask,
) -> NDArray[Any]:
    """Take off the squared differences of pairs what moving within both planes can take off.

    `squares` is |x - z|^2 of each pair, shape (*pairs); `u` is P'(x - z), shape
    (q_x, *pairs); `v` is Q'(z - x), shape (q_z, *pairs); `M` is P'Q, shape
    (q_x, q_z, *pairs). Where `swap` is true, x and z change places. All but `squares`
    are used up.
    """
    if len(u) == 0 or len(v) == 0:
        return np.asarray(squares - _squared_lengths(v if len(u) == 0 else u))
    _exchange(u, v, M, swap)
    scratch = np.empty_like(u)
    least: NDArray[Any] = squares - _squared_lengths(u)
    for i in range(len(u)):
        v += np.multiply(M[i], u[i], out=scratch)
    least -= _quadratic_form(_gram(M, scratch), v, scratch)
    return least


def _squared_lengths(vectors: NDArray[Any]) -> NDArray[Any]:
    """Add up the squares of vectors (q, *pairs) one after the other."""
    total = vectors[0] * vectors[0]
    for entry in vectors[1:]:
        total += entry * entry
    return np.asarray(total)


def _exchange(u: NDArray[Any], v: NDArray[Any], M: NDArray[Any], swap: Mask) -> None:
    """Where `swap` is true, exchange u with v and M with its transpose, in place.

    Bits are exchanged under a mask, which is several times faster than choosing numbers.
    """
    bits = np.dtype(f"i{u.dtype.itemsize}")
    mask = -swap.astype(bits)
    pairs = [(u, v)] + [(M[k, k + 1 :], M[k + 1 :, k]) for k in range(len(M) - 1)]
    for one, other in pairs:
        first, second = one.view(bits), other.view(bits)
        change = first ^ second
        change &= mask
        first ^= change
        second ^= change


def _gram(M: NDArray[Any], scratch: NDArray[Any]) -> list[NDArray[Any]]:
    """Rows of the upper half of M'M, row j of shape (q - j, *pairs)."""
    rows = []
    for j in range(len(M)):
        row = M[0, j:] * M[0, j]
        for i in range(1, len(M)):
            row += np.multiply(M[i, j:], M[i, j], out=scratch[j:])
        rows.append(row)
    return rows


def _quadratic_form(N: list[NDArray[Any]], w: NDArray[Any], scratch: NDArray[Any]) -> NDArray[Any]:
    """Return ``w' (I - N)^-1 w`` of each pair by elimination, using `N` and `w` up."""
    total: NDArray[Any] = np.zeros_like(w[0])
    for j, row in enumerate(N):
        inverse = 1 / np.maximum(1 - row[0], row.dtype.type(_SHARED))
        part = w[j] * inverse
        total += part * w[j]
        w[j + 1 :] += np.multiply(row[1:], part, out=scratch[j + 1 :])
        for k in range(1, len(row)):
            factor = row[k] * inverse
            N[j + k] += np.multiply(row[k:], factor, out=scratch[: len(row) - k])
    return total


def _key(image: Floats) -> int:
    """Return a number that no other image is likely to have."""
    # Adding 0 makes -0 the 0 that it equals.
    content = (image + 0.0).astype("<f8").tobytes()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def _steps(whole: slice, size: int) -> Iterator[slice]:
    """Cut a slice into slices of at most `size`."""
    for start in range(whole.start, whole.stop, size):
        yield slice(start, min(start + size, whole.stop))


def _within(part: slice, whole: slice) -> slice:
    """Return the place of a slice within a slice that holds it."""
    return slice(part.start - whole.start, part.stop - whole.start)


def _length(whole: slice) -> int:
    """Count what a slice with known ends holds."""
    return int(whole.stop - whole.start)
