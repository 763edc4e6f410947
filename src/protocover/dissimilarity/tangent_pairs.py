"""Squared distances between tangent planes, for all pairs of two blocks of images at once.

With orthonormal tangent bases P of x and Q of z, ``s = 1 + spring``, and d = x - z, the
least value of ``|d + P a - Q b|^2 + spring * (|a|^2 + |b|^2)`` over a and b is

    |d|^2 - |u|^2 - w' (I - M'M)^-1 w,

where ``u = P'd / sqrt(s)``, ``M = P'Q / s`` and ``w = Q'd / sqrt(s) - M'u``. Bases are
kept divided by sqrt(s), so that s need not be seen here. All but the last few operations
on each pair are one matrix product of stacked bases and images. The rest is written out
over whole blocks of pairs, the pair being the last index.

A pair gets the same number wherever it stands. The products are always of large blocks,
in which each entry is the same chain of additions; and of each pair the image with the
smaller key plays the part of x, whichever side it is on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_PIXELS", "TILE", "Planes", "pair_squares", "tile_squares"]

# Images a side of a tile, images on the left of one product of matrices, and images on the
# left of one elementwise operation: the last so few that all stays in cache.
TILE = 512
_STRIP = 128
_FEW = 32
# Products are padded to multiples of these, and images to so many pixels at least:
# linear algebra libraries treat small products in ways of their own.
_ROW_UNIT = 16
_COLUMN_UNIT = 256
LEAST_PIXELS = 64

# A pivot below this is a direction that both planes share: it has been minimised over.
_SHARED = 1e-13


@dataclass(frozen=True, eq=False)
class Planes:
    """Images and tangent bases of one side, ready for the product.

    Parameters
    ----------
    vectors : ndarray, shape (q + 1, n, p)
        The q basis vectors of each image, of length 1 / sqrt(1 + spring), then the centred
        image itself.
    along : ndarray, shape (q, n)
        Products of the basis vectors with their own centred image.
    norms : ndarray, shape (n,)
        Squared lengths of the centred images.
    keys : ndarray, shape (n,)
        A number for each image, different for different images.
    """

    vectors: NDArray[Any]
    along: NDArray[Any]
    norms: NDArray[Any]
    keys: NDArray[np.float64]

    def bases(self, images: NDArray[np.intp], *, n_pixels: int) -> NDArray[np.float64]:
        """Return the bases of k images, shape (k, q, n_pixels), in double precision."""
        some = self.vectors[:-1, images, :n_pixels].transpose(1, 0, 2)
        return np.ascontiguousarray(some, dtype=np.float64)


def tile_squares(left: Planes, right: Planes, *, rows: slice, columns: slice) -> NDArray[Any]:
    """Squared distances of the images in `rows` of one side from those in `columns`."""
    out = np.empty((_length(rows), _length(columns)), dtype=left.vectors.dtype)
    space = np.empty(len(left.vectors) * _STRIP * len(right.vectors) * TILE, dtype=out.dtype)
    for part in _steps(columns, TILE):
        right_rows = _stacked(right.vectors[:, part], _COLUMN_UNIT)
        for strip in _steps(rows, _STRIP):
            left_rows = _stacked(left.vectors[:, strip], _ROW_UNIT)
            inner = _products(left_rows, right_rows, len(left.vectors), len(right.vectors), space)
            for few in _steps(strip, _FEW):
                out[_within(few, rows), _within(part, columns)] = _block_squares(
                    inner[:, :, _within(few, strip), : _length(part)],
                    left,
                    right,
                    rows=few,
                    columns=part,
                )
    return out


def pair_squares(
    difference: NDArray[np.float64],
    left_bases: NDArray[np.float64],
    right_bases: NDArray[np.float64],
    *,
    swap: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Squared distances of k pairs, from their differences themselves.

    Parameters
    ----------
    difference : ndarray, shape (k, p)
        Image of the left less that of the right.
    left_bases, right_bases : ndarray, shape (k, q, p)
        Tangent bases as in `Planes`; q may be 0 for one of them.
    swap : ndarray of bool, shape (k,)
        Whether the right image plays the part of x.
    """
    squares = np.add.reduce(difference * difference, axis=1)
    u = np.matmul(left_bases, difference[:, :, None])[:, :, 0].T
    v = -np.matmul(right_bases, difference[:, :, None])[:, :, 0].T
    M = np.matmul(left_bases, right_bases.transpose(0, 2, 1)).transpose(1, 2, 0)
    return _minimise(squares, *(np.array(part, order="C") for part in (u, v, M)), swap=swap)


def _products(
    left_rows: NDArray[Any],
    right_rows: NDArray[Any],
    n_left: int,
    n_right: int,
    space: NDArray[Any],
) -> NDArray[Any]:
    """Multiply stacked vectors; the result is a view (n_left, n_right, n, m) of `space`."""
    product = space[: len(left_rows) * len(right_rows)].reshape(len(left_rows), len(right_rows))
    np.matmul(left_rows, right_rows.T, out=product)
    return product.reshape(
        n_left, len(left_rows) // n_left, n_right, len(right_rows) // n_right
    ).transpose(0, 2, 1, 3)


def _block_squares(
    inner: NDArray[Any], left: Planes, right: Planes, *, rows: slice, columns: slice
) -> NDArray[Any]:
    """Squared distances from the products (q + 1, q + 1, n, m) of the vectors of both sides."""
    u, v = (np.empty((len(s.along), *inner.shape[2:]), inner.dtype) for s in (left, right))
    np.subtract(left.along[:, rows, None], inner[:-1, -1], out=u)
    np.subtract(right.along[:, None, columns], inner[-1, :-1], out=v)
    return _minimise(
        left.norms[rows, None] + right.norms[columns] - 2 * inner[-1, -1],
        u,
        v,
        np.array(inner[:-1, :-1], order="C"),
        swap=left.keys[rows, None] > right.keys[columns],
    )


def _minimise(
    squares: NDArray[Any],
    u: NDArray[Any],
    v: NDArray[Any],
    M: NDArray[Any],
    *,
    swap: NDArray[np.bool_],
) -> NDArray[Any]:
    """Take off the squared differences of pairs what moving within both planes can take off.

    `squares` is |x - z|^2 of each pair, shape (*pairs); `u` is P'(x - z), shape
    (q_x, *pairs); `v` is Q'(z - x), shape (q_z, *pairs); `M` is P'Q, shape
    (q_x, q_z, *pairs). Where `swap` is true, x and z change places. All but `squares`
    are used up.
    """
    if len(u) == 0 or len(v) == 0:
        one = v if len(u) == 0 else u
        return np.asarray(squares - np.add.reduce(one * one, axis=0))
    _exchange(u, v, M, swap)
    scratch = np.empty_like(u)
    least: NDArray[Any] = squares - np.add.reduce(np.multiply(u, u, out=scratch), axis=0)
    for i in range(len(u)):
        v += np.multiply(M[i], u[i], out=scratch)
    least -= _quadratic_form(_gram(M, scratch), v, scratch)
    return least


def _exchange(u: NDArray[Any], v: NDArray[Any], M: NDArray[Any], swap: NDArray[np.bool_]) -> None:
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
        share = w[j] * inverse
        total += share * w[j]
        w[j + 1 :] += np.multiply(row[1:], share, out=scratch[j + 1 :])
        for k in range(1, len(row)):
            factor = row[k] * inverse
            N[j + k] += np.multiply(row[k:], factor, out=scratch[: len(row) - k])
    return total


def _stacked(vectors: NDArray[Any], unit: int) -> NDArray[Any]:
    """Stack (q, n, p) to rows (q * n', p), with n' the next multiple of `unit` after n."""
    q, n, p = vectors.shape
    missing = -n % unit
    if missing:
        vectors = np.concatenate((vectors, np.zeros((q, missing, p), vectors.dtype)), axis=1)
    return vectors.reshape(q * (n + missing), p)


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
