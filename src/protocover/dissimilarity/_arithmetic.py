"""Arithmetic that gives the same digits on every machine.

Matrix products, decompositions and functions such as exp differ in their last bits from
processor to processor, and a product even with the shape of the tile it is computed in. There
are two ways out.

Rounding. On a grid far coarser than the last bits, but finer than anything that matters, numbers
that are equal in theory are equal: a sample is at distance 0 from itself, d(x, z) is d(z, x),
and a neighbourhood whose radius is one of the distances holds the same samples everywhere.
A number within its last bits of the middle between two neighbours on the grid may still
go to either of them. On a grid of 40 bits about one number in ten thousand is so close.

Exact products. A vector is rounded to a part, integer multiples of 2^-26 of a power of two above
its length. The absolute terms of the product of two parts add up to no more than the product of
their lengths, 2^52 units at most (Cauchy and Schwarz), so that double precision holds every sum
of some of them exactly, in any order. The remainder of a vector is itself a vector, from which
the next part is made (Ozaki, Ogita, Oishi and Rump, 2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._typing import Floats

# Adding and taking away this many steps leaves whole steps: the sum has no bits for less.
_SHIFT = 1.5 * 2.0**52
# The bits of a number that remain are the power of two at or below it.
_EXPONENT = np.int64(0x7FF0000000000000)
# Sums of powers of values must be far above the smallest normal number.
_SMALLEST = 1e-300
_BITS = 26
# The exponent of a vector of zeros, below that of any other.
_NOTHING = -4096
_ROWS_AT_ONCE = 4096


def grain(scale: Any, *, bits: int = 40) -> Floats:
    """Return the step of the grid for numbers of size `scale`: a power of two, 2^-bits of it.

    A scale that is a power of two but for its last bits is taken as that power. The step is
    0, which rounds nothing, where the scale is.
    """
    size = np.asarray(np.abs(scale) * (1.0 + 2.0**-bits), dtype=np.float64)
    power = (size.view(np.int64) & _EXPONENT).view(np.float64)
    return power * 2.0 ** (1 - bits)


def round_in_place(values: Floats, step: Any) -> Floats:
    """Round `values` in place to the nearest multiples of `step`, powers of two or 0."""
    shift = np.asarray(step) * _SHIFT
    values += shift
    values -= shift
    return values


def refuse_underflow(X: Any, power: float, source: str) -> None:
    """Refuse points if even the largest value to a power is nearly nothing, but not zero."""
    values = np.asarray(X.data if issparse(X) else X)
    if values.dtype.kind != "f":
        return
    highest = np.fmax.reduce(values, axis=None, initial=0.0)
    largest = max(float(highest), -float(np.fmin.reduce(values, axis=None, initial=0.0)))
    if 0.0 < largest < _SMALLEST ** (1.0 / power):
        raise ValueError(
            f"X holds no value above {largest:g}, so small that {source} distances underflow; "
            "rescale the features"
        )


def add_up(terms: Floats) -> Floats:
    """Sum over the last axis, of one term at least, always in the same order.

    One half is added to the other until one term is left. That is elementwise, so that
    neither the shape nor the layout nor the company of a sum has a part in it.
    """
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        folded = terms[..., :half] + terms[..., half : 2 * half]
        if terms.shape[-1] % 2:
            folded[..., 0] += terms[..., -1]
        terms = folded
    return terms[..., 0]


def exponents(vectors: Floats) -> NDArray[np.int32]:
    """Return e with 2^(e - 1) <= length < 2^e of each vector (..., p), to within rounding."""
    largest = np.maximum(vectors.max(axis=-1), -vectors.min(axis=-1))
    first = np.frexp(largest)[1]
    # Of this size its square can be neither too large nor too small a number.
    scaled = np.ldexp(vectors, -first[..., None])
    second = np.frexp(np.sqrt(add_up(scaled * scaled)))[1]
    return np.where(largest == 0.0, _NOTHING, first + second).astype(np.int32)


def split(vectors: Floats, n_parts: int) -> NDArray[np.float32]:
    """Write vectors (..., p) as sums of parts, (n_parts, ..., p), to about 26 bits a part.

    The vectors must be within the range of single precision, in which parts fit exactly.
    """
    parts = np.empty((n_parts, *vectors.shape), dtype=np.float32)
    rest = vectors
    for part in parts:
        unit = exponents(rest)[..., None] - _BITS
        # Rounded to single precision first: large entries then have no more bits than it.
        whole = np.ldexp(rest.astype(np.float32), -unit)
        part[...] = np.ldexp(np.rint(whole, out=whole), unit)
        rest = rest - part
    return parts


def multiply(left: Floats, right: Floats, *, out: Floats | None = None) -> Floats:
    """Return ``left @ right'`` of vectors in one or two parts each, (n_parts, ..., p).

    The parts are to be given as doubles. Products of two parts are exact, and added up
    in one order, in which both sides count alike.
    """
    product = np.matmul(left[0], right[0].swapaxes(-1, -2), out=out)
    lower = [np.matmul(part, right[0].swapaxes(-1, -2)) for part in left[1:]]
    lower += [np.matmul(left[0], part.swapaxes(-1, -2)) for part in right[1:]]
    if len(lower) == 2:
        lower[0] += lower[1]
        lower[0] += np.matmul(left[1], right[1].swapaxes(-1, -2))
    if lower:
        product += lower[0]
    return np.asarray(product)


def column_products(rows: Floats) -> Floats:
    """Return ``rows.T @ rows`` to nearly double precision, from sums that are exact."""
    parts = split(rows.T, 2)
    sums = np.zeros((3, rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        high, low = parts[..., start : start + _ROWS_AT_ONCE].astype(np.float64)
        sums += high @ high.T, high @ low.T, low @ low.T
    return np.asarray(sums[0] + (sums[1] + sums[1].T + sums[2]))


def pseudo_inverse(matrix: Floats, *, rtol: float) -> Floats:
    """Return the pseudoinverse of a symmetric positive semidefinite matrix.

    Directions of variance up to `rtol` of the largest entry count as none.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.dissimilarity._arithmetic import pseudo_inverse
    >>> pseudo_inverse(np.array([[2.0, 0.0], [0.0, 4.0]]), rtol=1e-12)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    >>> pseudo_inverse(np.ones((2, 2)), rtol=1e-12)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    factor = _pivoted_factor(matrix, rtol)
    if factor.shape[1] == len(matrix):
        return _inverse(matrix)
    # With A = L L' the pseudoinverse is M M' for M = L (L'L)^-1.
    across = _product(factor, _inverse(_product(factor.T, factor)))
    return _product(across, across.T)


def _pivoted_factor(matrix: Floats, rtol: float) -> Floats:
    """Return L of as many columns as the matrix has rank, so that L L' is the matrix."""
    left = matrix.copy()
    least = rtol * float(left.diagonal().max(initial=0.0))
    columns: list[Floats] = []
    while len(columns) < len(matrix):
        pivot = int(left.diagonal().argmax())
        if not left[pivot, pivot] > least:
            break
        column = left[:, pivot] / np.sqrt(left[pivot, pivot])
        columns.append(column)
        left -= np.multiply.outer(column, column)
        left[pivot], left[:, pivot] = 0.0, 0.0
    return np.array(columns).reshape(-1, len(matrix)).T


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a symmetric positive definite matrix, by elimination."""
    swept, waiting = matrix.copy(), np.ones(len(matrix), dtype=bool)
    for _ in range(len(matrix)):
        pivot = int(np.where(waiting, swept.diagonal(), -np.inf).argmax())
        waiting[pivot] = False
        column, size = swept[:, pivot].copy(), float(swept[pivot, pivot])
        swept -= np.multiply.outer(column, column) / size
        swept[pivot] = swept[:, pivot] = column / size
        swept[pivot, pivot] = -1.0 / size
    return 0.0 - swept


def _product(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right``, added up in the order of the inner dimension."""
    product = np.zeros((left.shape[0], right.shape[1]))
    for column, row in zip(left.T, right, strict=True):
        product += np.multiply.outer(column, row)
    return product
