"""Tangent distance between images: how far apart they stay when both may be moved a little."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._balls import Pairs, TablePairs
from .._balls.build import cut_tiles
from .._resources import Map, batches, worker_map
from .._typing import Floats, Indices
from ..data._fields import check_array, check_number, check_text, refuse
from ._tangent_planes import TILE, Planes, pair_distances, tile_squares
from ._tangent_vectors import TRANSFORMATIONS, ImageMaps, border_median, mean_image

_SIDES = ("both", "point", "candidate")
# From this spring constant on no pivot is so small that single precision would not do.
_SINGLE = 0.01
# Images prepared at once, and pairs computed directly at once.
_BLOCK = 64
_PAIRS = 256


class TangentDistance(BaseEstimator):
    """Distance between images that small transformations of them do not change much.

    Each image is moved within the plane of its tangent vectors, one for each
    transformation, so as to come closest to the other. The distance is

    ``sqrt(min |x + P a - z - Q b|^2 + spring * (|P a|^2 + |Q b|^2))`` over a and b,

    where P and Q hold the tangent vectors of x and z.

    Parameters
    ----------
    image_shape : tuple of two ints
        Height and width; a row of `X` is an image of that shape, row after row.
    transformations : sequence of str or "all", default="all"
        Some of ``"shift_x"``, ``"shift_y"``, ``"rotation"``, ``"scaling"``,
        ``"stretch"`` (wider and lower: the hyperbolic transformation along the axes),
        ``"shear"`` (the hyperbolic transformation along the diagonals) and
        ``"thickness"``.
    sides : {"both", "point", "candidate"}, default="both"
        Which image may be moved. With ``"both"`` the distance is symmetric.
    pad : int, default=1
        Pixels of background put around the image, so that nothing is moved off it.
    smoothing : float, default=0.7
        Standard deviation, in pixels, of the Gaussian that smooths the image; 0 for none.
    derivative : float, default=0.7
        Standard deviation of the Gaussian whose derivative differentiates the smoothed
        image; 0 for central differences.
    spring : float, default=0.02
        Price of moving away from the images. At 0 the planes have no end, and images far
        apart may meet somewhere on them.
    background : float or None, default=None
        Value of the pixels around an image; None for the median of the border pixels of
        the training images.

    Attributes
    ----------
    background_ : float
        Value of the pixels around an image.
    transformations_ : tuple of str
        Names of the transformations.
    maps_ : ImageMaps
        How images become points and tangent vectors.
    center_ : ndarray, shape (n_padded_pixels,)
        Mean of the padded and smoothed training images, which the arithmetic is done
        relative to. It does not enter the distance.

    Notes
    -----
    A pair has one distance, bit for bit: in every block, on either side, on any number of
    threads, with any linear algebra library and on any processor. Bases and images are
    rounded to grids on which products are exact in double precision, in whatever order
    their terms are added up; all else is elementwise and in single precision. Pairs so
    close that this would be inexact are computed again from their difference, in double
    precision. Below a spring constant of 0.01 everything is in double precision, with
    finer grids, and takes about three times as long.

    The distance is within 1e-4 of that of a least squares solver, relatively. (With no
    spring at all this needs planes that differ by 3e-6 radians or more in each direction;
    directions in which they differ by less than 3e-7 are taken as common to both.)

    The tangent bases of all images are held: 32 bytes a padded pixel with all seven
    transformations. The defaults were chosen by cross-validation on the training images
    of the USPS digits.

    References
    ----------
    P. Simard, Y. LeCun and J. Denker, Efficient pattern recognition using a new
    transformation distance, NIPS 1992.

    Examples
    --------
    A bar, the same bar one pixel to the right, and a bar across.

    >>> import numpy as np
    >>> from protocover.dissimilarity import TangentDistance
    >>> images = np.zeros((3, 8, 8))
    >>> images[0, 1:7, 3] = images[1, 1:7, 4] = images[2, 3, 1:7] = 1.0
    >>> X = images.reshape(3, 64)
    >>> TangentDistance((8, 8)).fit(X).pairwise(X[:1], X).round(2)
    array([[0.  , 0.23, 0.77]])
    """

    accepts_sparse = False
    saved_state: ClassVar[tuple[str, ...]] = (
        "background_",
        "transformations_",
        "maps_",
        "center_",
    )

    def __init__(
        self,
        image_shape: tuple[int, int],
        *,
        transformations: Sequence[str] | str = "all",
        sides: str = "both",
        pad: int = 1,
        smoothing: float = 0.7,
        derivative: float = 0.7,
        spring: float = 0.02,
        background: float | None = None,
    ) -> None:
        self.image_shape = image_shape
        self.transformations = transformations
        self.sides = sides
        self.pad = pad
        self.smoothing = smoothing
        self.derivative = derivative
        self.spring = spring
        self.background = background

    @property
    def symmetric(self) -> bool:
        """Whether each pair need be computed only once."""
        return self.sides == "both"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and learn the background and the mean image."""
        self._check_parameters()
        images = self._images(X)
        background = border_median(images) if self.background is None else self.background
        self.maps_ = ImageMaps.make(
            (self.image_shape[0], self.image_shape[1]),
            pad=self.pad,
            smoothing=self.smoothing,
            derivative=self.derivative,
            background=float(background),
        )
        self.background_ = float(background)
        self.transformations_ = (
            TRANSFORMATIONS if self.transformations == "all" else tuple(self.transformations)
        )
        self.center_ = self.maps_.points(mean_image(images)[None])[0]
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check that the matrices in a model file fit the images, and the mean image them."""
        self._check_parameters()
        height, width = self.image_shape
        if height * width != n_features:
            refuse(f"images of {height} x {width} pixels do not have {n_features}")
        if not isinstance(self.maps_, ImageMaps):
            refuse("maps_ must be the maps of images")
        self.maps_.check((height, width), pad=self.pad)
        check_number(self.background_, "background_")
        check_array(self.center_, "center_", kinds="f", shape=(self.maps_.n_pixels,))
        if not isinstance(self.transformations_, tuple):
            refuse("transformations_ must be a tuple of names")
        for name in self.transformations_:
            check_text(name, "a transformation", TRANSFORMATIONS)

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the tangent distances of the images in the rows of A from those of B."""
        left, right = self._sides(A, B)
        with worker_map(None) as run:
            return self._table(left, right, slice(0, len(left)), slice(0, len(right)), run=run)

    def bind(self, A: Any, B: Any, **search: Any) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        return TablePairs(partial(self._table, *self._sides(A, B)))

    def _table(
        self, left: Planes, right: Planes, rows: slice, columns: slice, *, run: Map = map
    ) -> Floats:
        """Return the distances of `rows` from `columns`, each pair of a square table once."""
        shape = rows.stop - rows.start, columns.stop - columns.start
        table = np.empty(shape)
        mirrored = left is right and rows == columns

        def fill(tile: tuple[slice, slice]) -> None:
            i, j = tile
            table[tile] = self._distances(
                left,
                right,
                slice(rows.start + i.start, rows.start + i.stop),
                slice(columns.start + j.start, columns.start + j.stop),
            )
            if mirrored and i != j:
                table[j, i] = table[tile].T

        for _ in run(fill, cut_tiles(*shape, (TILE, TILE), symmetric=mirrored)):
            pass
        return table

    def _distances(self, left: Planes, right: Planes, rows: slice, columns: slice) -> Floats:
        """Distances of a tile; those too small for its arithmetic directly."""
        squares = tile_squares(left, right, rows=rows, columns=columns)
        exponents = np.maximum(left.exponents[rows, None], right.exponents[columns])
        i, j = np.nonzero(squares <= left.resolution)
        distances: Floats = np.sqrt(np.maximum(squares, 0.0), dtype=np.float64)
        np.ldexp(distances, exponents, out=distances)
        if len(i):
            distances[i, j] = self._direct(left, right, rows.start + i, columns.start + j)
        return distances

    def _direct(self, left: Planes, right: Planes, i: Indices, j: Indices) -> Floats:
        """Distances of the pairs (i, j), from their differences in double precision."""
        distances = np.empty(len(i))
        for block in batches(len(i), _PAIRS):
            a, b = i[block], j[block]
            distances[block] = pair_distances(
                self.maps_.points(left.images[a]) - self.maps_.points(right.images[b]),
                left.bases(a),
                right.bases(b),
                swap=left.keys[a] > right.keys[b],
            )
        return distances

    def _sides(self, A: Any, B: Any) -> tuple[Planes, Planes]:
        """Prepare both sides, once if they are the same."""
        left = self._side(A, "point")
        return left, left if B is A and self.symmetric else self._side(B, "candidate")

    def _side(self, X: Any, side: str) -> Planes:
        """Prepare the images in the rows of X for one side, block by block."""
        images = self._images(X)
        moves = self.transformations_ if self.sides in ("both", side) else ()
        n_parts = 1 if self.spring >= _SINGLE else 2
        planes = Planes.empty(images, len(moves), len(self.center_), n_parts=n_parts)
        for block in batches(len(images), _BLOCK):
            bases = self.maps_.bases(images[block], moves) / np.sqrt(1.0 + self.spring)
            planes.put(
                block, bases=bases, centered=self.maps_.points(images[block]) - self.center_
            )
        return planes

    def _images(self, X: Any) -> Floats:
        """Return the rows of X as images of shape (n, height, width)."""
        rows = np.asarray(X, dtype=np.float64)
        height, width = self.image_shape
        if rows.ndim != 2 or rows.shape[1] != height * width:
            raise ValueError(
                f"image_shape must multiply out to the number of features: {height} x {width} = "
                f"{height * width}, but X has shape {rows.shape}; pass the height and width of "
                "the images and one flattened image a row"
            )
        return rows.reshape(len(rows), height, width)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        _check_shape(self.image_shape)
        _check_transformations(self.transformations)
        if self.sides not in _SIDES:
            raise ValueError(f"sides must be one of {', '.join(_SIDES)}, got {self.sides!r}")
        if not isinstance(self.pad, Integral) or int(self.pad) < 0:
            raise ValueError(f"pad must be a whole number of pixels, 0 or more, got {self.pad!r}")
        for name in ("smoothing", "derivative", "spring"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
                raise ValueError(f"{name} must be a finite number, 0 or more, got {value!r}")


def _check_shape(image_shape: Any) -> None:
    """Refuse what is not a height and a width."""
    if (
        not isinstance(image_shape, Sequence)
        or len(image_shape) != 2
        or not all(isinstance(size, Integral) and int(size) > 0 for size in image_shape)
    ):
        raise ValueError(
            f"image_shape must be a height and a width in pixels, such as (16, 16), got "
            f"{image_shape!r}"
        )


def _check_transformations(transformations: Any) -> None:
    """Refuse unknown, repeated or no transformations."""
    names = TRANSFORMATIONS if transformations == "all" else transformations
    known = ", ".join(TRANSFORMATIONS)
    if isinstance(names, str) or not set(names) <= set(TRANSFORMATIONS):
        raise ValueError(
            f"transformations must be 'all' or a list of some of {known}, got {transformations!r}"
        )
    if len(names) == 0 or len(set(names)) < len(names):
        raise ValueError(
            f"transformations must name at least one of {known}, none of them twice, got "
            f"{transformations!r}"
        )
