"""What a dissimilarity must be able to do, what it may do better, and what it says of itself.

A dissimilarity of one's own needs no base class: it has the methods of `Dissimilarity`, any of
those of the protocols below it, and plain attributes for the traits that differ from the
defaults. This is the one place that reads these attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, Indices

Tile = Callable[[slice, slice], Floats]
LevelTest = Callable[[slice, slice], tuple[Indices, Indices, Indices]]
Near = tuple[Indices, Indices, NDArray[Any], NDArray[np.float32]]
GroupSearch = Callable[[slice], tuple[Indices, Floats]]


@dataclass(frozen=True)
class Traits:
    """What a dissimilarity says of itself.

    Parameters
    ----------
    symmetric : bool, default=False
        d(a, b) is d(b, a), to the last bit, so that each pair need be computed only once.
    precomputed : bool, default=False
        `X` is a table of values between points, not of their features.
    requires_array : bool, default=True
        Points must be rows of numbers. If not, a method ``check_examples`` may check them and
        bring them into another form.
    accepts_sparse : bool, default=True
        Rows may be those of a sparse table.
    accepts_graph : bool, default=False
        A table of values between points may be sparse: a missing pair is far apart.
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
    said = {name: getattr(dissimilarity, name, usual) for name, usual in _DEFAULTS.items()}
    tags = said.pop("input_tags")
    return Traits(**{name: bool(value) for name, value in said.items()}, input_tags=tags)


_DEFAULTS = vars(Traits())


class Dissimilarity(Protocol):
    """What the balls need to know of a fitted dissimilarity.

    One whose points may lack values can have a method ``candidate_mask(X)`` that tells which of
    them have enough to be candidates.
    """

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        ...


@runtime_checkable
class PreparedDissimilarity(Dissimilarity, Protocol):
    """A dissimilarity that reads its points once and then answers tile by tile."""

    def prepare(self, A: Any, B: Any) -> Tile:
        """Return a function of (rows, columns) that gives that tile of ``pairwise(A, B)``."""
        ...


@runtime_checkable
class RadiusSearch(Dissimilarity, Protocol):
    """A dissimilarity with a faster way to tell members than computing all of `pairwise`."""

    def level_test(self, X: Any, Z: Any, *, radii: Floats, closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and their levels.

        A pair is a member if it is within the last of the rising `radii`; its level is
        the number of the first of them that it is within. The function may have an
        attribute ``tile``, the (rows, columns) of the tiles it likes best, and another
        ``order``, the numbers of points and of candidates in the order in which it counts them.
        """
        ...


class DistanceTest(Protocol):
    """Tells the members of balls and about how near they are; exactly where it is asked."""

    @property
    def measure(self) -> Callable[[Indices, Indices], Floats] | None:
        """Gives the dissimilarities of pairs, points and candidates, as `pairwise` does.

        None where they are known already.
        """
        ...

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return the members among pairs of points and candidates, in any order.

        Of each its point and its candidate, counted from the starts of the slices, and two
        numbers, ``low`` and ``slack``. Of two members of a candidate whose ``low`` differ by
        more than both slacks, that with the lower one is nearer. Where `measure` is None,
        ``low`` is the dissimilarity and ``slack`` is zero.
        """
        ...


class Trim(Protocol):
    """Leaves out members of a strip of candidates that are not needed."""

    def __call__(self, near: Near, first: int) -> Near:
        """Return the members that are needed, given the number of the first candidate."""
        ...

    def of_table(self, table: Floats, first: int) -> Near:
        """Return the members that are needed, given the dissimilarities of all points."""
        ...


@runtime_checkable
class DistanceSearch(Dissimilarity, Protocol):
    """A dissimilarity with a faster way to tell who is nearer than computing all of `pairwise`."""

    def distance_test(self, X: Any, Z: Any, *, eps: float, closed: bool) -> DistanceTest:
        """Return a test of the pairs within `eps`, which may be infinite."""
        ...


class NearestIndex(Protocol):
    """Prototypes made ready once, to be asked which is nearest."""

    @property
    def block_rows(self) -> int:
        """How many queries are best looked at together."""
        ...

    @property
    def n_products(self) -> int:
        """How many multiplications a query takes, about."""
        ...

    def search(self, A: Any, bounds: Indices, *, distances: bool = True) -> GroupSearch:
        """Return a function of rows of A that gives the nearest in each group of prototypes.

        Without `distances` these may be anything.
        """
        ...

    def search_two(self, A: Any, bounds: Indices) -> GroupSearch:
        """Return a function of rows of A that gives the nearest, and that of any other group.

        Places and distances, both of shape (2, n_rows); -1 and inf where all are of one group.
        """
        ...


@runtime_checkable
class IndexedSearch(Dissimilarity, Protocol):
    """A dissimilarity that can make prototypes ready for many calls."""

    def nearest_index(self, B: Any) -> NearestIndex | None:
        """Return prototypes made ready once; None where that does not help with these."""
        ...


@runtime_checkable
class NearestSearch(Dissimilarity, Protocol):
    """A dissimilarity with a faster way to the nearest than computing all of `pairwise`."""

    def nearest_test(
        self, A: Any, B: Any, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest in each group of columns.

        Given radii of B, the nearest is that whose distance is the smallest multiple of its
        radius.
        """
        ...


@runtime_checkable
class MappedDissimilarity(Dissimilarity, Protocol):
    """A dissimilarity that is another one, which is faster, of points in another form."""

    def mapped(self, A: Any, B: Any) -> tuple[Any, Any, Any] | None:
        """Return the other dissimilarity and both sets of points in its form.

        None where there is none for these points. Who is within which radius, who is nearest
        and at which distance must be the same, to the last bit; where `B` is `A`, so it must
        be of what is returned.
        """
        ...


@runtime_checkable
class AdditiveDissimilarity(Dissimilarity, Protocol):
    """A dissimilarity that is a sum over the columns, or whose square is.

    An attribute ``contribution_unit`` says which: "distance" or "square".
    """

    @property
    def contribution_unit(self) -> str:
        """What the contributions of a pair add up to: its "distance", or the "square" of it."""
        ...

    def contributions(self, A: Any, B: Any) -> Any:
        """Return what each column contributes to the distance of A[i] from B[i].

        An array or sparse table with a row for each pair and a column for each column; None
        where the columns have no share of their own.
        """
        ...


def map_if_faster(dissimilarity: Any, A: Any, B: Any) -> tuple[Any, Any, Any]:
    """Return what answers for `dissimilarity`, itself or another one, with its points."""
    if isinstance(dissimilarity, MappedDissimilarity):
        return dissimilarity.mapped(A, B) or (dissimilarity, A, B)
    return dissimilarity, A, B
