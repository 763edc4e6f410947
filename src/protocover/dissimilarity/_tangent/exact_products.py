"""Sums and products of vectors that come out the same on every machine, bit for bit.

A linear algebra library adds up the terms of a product in an order of its own, which
depends on the processor and on the shape of the matrices. Here no order matters, since
nothing is rounded: a vector is first rounded to a part, whole multiples of 2^-26 of a
power of two above its length. The absolute terms of the product of two parts add up to
no more than the product of their lengths, 2^52 units at most (Cauchy and Schwarz), so
that double precision holds every sum of some of them exactly. What rounding left of a
vector is itself a vector, from which the next part is made (Ozaki, Ogita, Oishi and Rump,
2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats

_BITS = 26
# The exponent of a vector of zeros, below that of any other.
_NOTHING = -4096


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
