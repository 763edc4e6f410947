"""What a dissimilarity must be able to do, and the traits that it declares as attributes.

A dissimilarity of one's own needs no base class: it has the methods of `Dissimilarity` and plain
attributes for the traits that differ from the defaults. `traits_of` is the only reader of these
attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._exceptions import DissimilarityError
from .._typing import Floats, Indices, Mask


@dataclass(frozen=True)
class Traits:
    """The traits of a dissimilarity.

    Parameters
    ----------
    symmetric : bool, default=False
        d(a, b) is d(b, a), to the last bit, so that each pair need be computed only once.
    precomputed : bool, default=False
        `X` is a distance matrix, not a table of features.
    requires_array : bool, default=True
        Samples must be rows of numbers. If not, a method ``check_examples`` may check them and
        bring them into another form.
    accepts_sparse : bool, default=True
        `X` may be a sparse matrix of features.
    accepts_graph : bool, default=False
        A distance matrix may be sparse: a missing pair is far apart.
    positive_only : bool, default=False
        Rows must not hold negative numbers.
    allows_nan : bool, default=False
        Rows may hold missing values.
    supports_float16 : bool, default=False
        Rows of an array may be of half precision or of bytes from -128 to 127, and are taken
        as they are stored.
    stateless : bool, default=False
        `fit` has no influence on `pairwise`.
    thread_safe : bool, default=True
        Several blocks may be computed at once.
    input_tags : mapping, default={}
        Further of scikit-learn's tags for input, such as ``{"string": True}``.
    """

    symmetric: bool = False
    precomputed: bool = False
    requires_array: bool = True
    accepts_sparse: bool = True
    accepts_graph: bool = False
    positive_only: bool = False
    allows_nan: bool = False
    supports_float16: bool = False
    stateless: bool = False
    thread_safe: bool = True
    input_tags: Mapping[str, bool] = field(default_factory=dict)


def traits_of(dissimilarity: Any) -> Traits:
    """Read the attributes of a dissimilarity; where it has none the default holds."""
    found = {name: getattr(dissimilarity, name, usual) for name, usual in _DEFAULTS.items()}
    tags = found.pop("input_tags")
    return Traits(**{name: bool(value) for name, value in found.items()}, input_tags=tags)


_DEFAULTS = vars(Traits())


class Dissimilarity(Protocol):
    """A fitted dissimilarity.

    Optional methods are ``bind(A, B, ...)``, which returns :class:`~protocover._balls.Pairs` that
    find near pairs faster than a comparison of all, ``nearest_index(B)``, which prepares
    prototypes for many calls, ``contributions(A, B)`` and ``candidate_mask(X)``.
    """

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        ...


def check_dissimilarities(D: Any, shape: tuple[int, int], source: str) -> Floats:
    """Return `D` as floats after checking that it is a table of non-negative numbers."""
    try:
        table = np.asarray(D, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DissimilarityError(f"{source} must give numbers: {error}") from error
    if table.shape != shape:
        raise DissimilarityError(
            f"{source} must give a table of shape {shape}, got shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise DissimilarityError(
            f"{source} gave NaN or infinity; every dissimilarity must be a finite number (drop or "
            "impute missing values first)"
        )
    refuse_negative(table, source)
    return table


def refuse_negative(values: Floats, source: str) -> None:
    """Refuse dissimilarities that are below zero by more than rounding explains."""
    lowest = values.min(initial=0.0)
    if lowest < -1e-9 * values.max(initial=0.0):
        raise DissimilarityError(
            f"Negative values in data: {source} must not be negative, got {lowest:g}"
        )


# Comparison with radii: a pair at a radius exactly is within it only if neighbourhoods are closed.

_BELOW_ONE, _ABOVE_ONE = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)


def within(distances: Floats, eps: Any, *, closed: bool) -> Mask:
    """Return which distances are within the radius `eps`, or each within its own."""
    return np.asarray(distances <= eps if closed else distances < eps)


def levels_of(distances: Floats, radii: Floats, *, closed: bool) -> Indices:
    """Return the number of the first of the rising `radii` that each distance is within."""
    return np.searchsorted(radii, distances, side="left" if closed else "right")


def relative_to(radius: Any, distances: Any) -> Floats:
    """Return distances as multiples of a radius: below 1 inside, above 1 outside.

    That holds to the last bit, whatever is lost in the division. Multiples are finite for every
    radius; with a radius of 0 the centre's own distance is the multiple 0.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiple = np.asarray(distances / np.asarray(radius), dtype=np.float64)
    if not np.isfinite(multiple).all():
        np.nan_to_num(multiple, copy=False, nan=0.0)
    # Rounded up or down to 1 is the only way to end up on the wrong side of it.
    rounded = multiple == 1.0
    if rounded.any():
        multiple = np.where(rounded & (distances < radius), _BELOW_ONE, multiple)
        multiple = np.where(rounded & (distances > radius), _ABOVE_ONE, multiple)
    return multiple
