"""Images into points and the orthonormal tangent vectors of what may be done to them.

An image is padded with its background and smoothed. Moving, turning, stretching or
thickening it a little moves it along tangent vectors, which are products of its two
partial derivatives with the coordinates of the pixels (Simard, LeCun and Denker, 1993).
Padding, smoothing and differentiating are linear and separable: each is one small
matrix for the rows of the image and one for its columns.

All of it is elementwise arithmetic, and the weights of the Gaussians are exact to the
last digit, so that the same image gives the same vectors on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from decimal import Context, Decimal, localcontext

import numpy as np

from .._typing import Floats
from ..data._fields import check_array, check_number
from ._arithmetic import add_up

# A tangent vector that keeps less than this fraction of its length when the earlier ones are
# taken out of it is not a direction of its own.
_DEPENDENT = 1e-6
# A derivative below this fraction of the largest pixel is what rounding left of 0.
_NOISE = 1e-13
# Weights of a Gaussian reach to this many standard deviations, as in SciPy.
_REACH = 4.0
_CENTRAL = (-0.5, 0.0, 0.5)
_MEAN_BITS = 26

# Each is a function of the derivatives along x (to the right) and y (downwards) and of the
# coordinates from the middle of the image.
_TANGENTS: dict[str, Callable[[Floats, Floats, Floats, Floats], Floats]] = {
    "shift_x": lambda dx, dy, x, y: dx,
    "shift_y": lambda dx, dy, x, y: dy,
    "rotation": lambda dx, dy, x, y: y * dx - x * dy,
    "scaling": lambda dx, dy, x, y: x * dx + y * dy,
    "stretch": lambda dx, dy, x, y: x * dx - y * dy,
    "shear": lambda dx, dy, x, y: y * dx + x * dy,
    "thickness": lambda dx, dy, x, y: dx * dx + dy * dy,
}

TRANSFORMATIONS = tuple(_TANGENTS)


@dataclass(frozen=True, eq=False)
class ImageMaps:
    """How images become points and tangent vectors.

    The matrices act on one axis of an image from which the background was subtracted;
    h and w are its height and width, H and W the same with padding.
    """

    background: float  # value of the pixels around the image
    # Pad and smooth, (H, h) and (W, w) as all of them.
    level_y: Floats
    level_x: Floats
    # Pad and smooth, and once more as the derivative along the other axis does.
    across_y: Floats
    across_x: Floats
    # Pad, smooth and differentiate.
    slope_y: Floats
    slope_x: Floats

    @classmethod
    def make(
        cls,
        image_shape: tuple[int, int],
        *,
        pad: int,
        smoothing: float,
        derivative: float,
        background: float,
    ) -> ImageMaps:
        """Write down the matrices; the parameters are those of `TangentDistance`."""
        maps = [_axis_maps(size, pad, smoothing, derivative) for size in image_shape]
        (level_y, across_y, slope_y), (level_x, across_x, slope_x) = maps
        return cls(background, level_y, level_x, across_y, across_x, slope_y, slope_x)

    def check(self, image_shape: tuple[int, int], *, pad: int) -> None:
        """Check that what a model file has are matrices for images of that shape."""
        check_number(self.background, "background")
        for field in fields(self)[1:]:
            size = image_shape[0] if field.name.endswith("_y") else image_shape[1]
            shape = (size + 2 * pad, size)
            check_array(getattr(self, field.name), field.name, kinds="f", shape=shape)

    @property
    def n_pixels(self) -> int:
        """Number of pixels of a padded image."""
        return len(self.level_y) * len(self.level_x)

    def points(self, images: Floats) -> Floats:
        """Pad and smooth images and take the background off: (n, h, w) to (n, H * W)."""
        return _apply(self.level_y, images - self.background, self.level_x)

    def bases(self, images: Floats, transformations: Sequence[str]) -> Floats:
        """Find orthonormal tangent vectors: (n, h, w) to (n, n_transformations, H * W).

        If tangent vectors depend on one another, as those of an empty image do, the
        basis has rows of zeros.
        """
        if len(transformations) == 0:
            return np.empty((len(images), 0, self.n_pixels))
        ink = _about_one(images - self.background)
        least = _NOISE * abs(ink).max(axis=(1, 2))[:, None]
        dx, dy = (
            np.where(abs(slope) > least, slope, 0.0)
            for slope in (
                _apply(self.across_y, ink, self.slope_x),
                _apply(self.slope_y, ink, self.across_x),
            )
        )
        # Coordinates from the middle of the image.
        sizes = len(self.level_y), len(self.level_x)
        y, x = np.meshgrid(*(np.arange(n) - (n - 1) / 2.0 for n in sizes), indexing="ij")
        tangents = [_TANGENTS[name](dx, dy, x.ravel(), y.ravel()) for name in transformations]
        return _orthonormal(np.stack(tangents, axis=1))


def border_median(images: Floats) -> float:
    """Median of the outermost pixels of all images (n, h, w): most often the background."""
    border = np.ones(images.shape[1:], dtype=bool)
    border[1:-1, 1:-1] = False
    return float(np.median(images[:, border]))


def mean_image(images: Floats) -> Floats:
    """Mean of images (n, h, w), rounded so that their order does not matter.

    Pixels are rounded to 26 bits of the largest: on that grid their sums are exact.
    """
    unit = int(np.frexp(abs(images).max())[1]) - _MEAN_BITS
    whole = np.rint(np.ldexp(images, -unit))
    return np.asarray(np.ldexp(whole.sum(axis=0) / len(images), unit))


def _axis_maps(
    size: int, pad: int, smoothing: float, derivative: float
) -> tuple[Floats, Floats, Floats]:
    """Matrices (size + 2 * pad, size) that smooth, smooth for the derivative, differentiate."""
    level = np.pad(np.eye(size), ((pad, pad), (0, 0)))
    if smoothing > 0.0:
        level = _filtered(level, _gaussian(smoothing)[0])
    if derivative > 0.0:
        bell, slope = _gaussian(derivative)
        return level, _filtered(level, bell), _filtered(level, slope)
    return level, level, _filtered(level, _CENTRAL)


def _gaussian(deviation: float) -> tuple[list[float], list[float]]:
    """Weights of a Gaussian, which add up to 1, and of its derivative, at integers.

    Exponential functions differ between processors and libraries; a decimal one does not.
    """
    reach = int(_REACH * deviation + 0.5)
    with localcontext(Context(prec=40)):
        variance = Decimal(float(deviation)) ** 2
        bell = {
            k: (-(k**2) / (2 * variance)).exp() for k in map(Decimal, range(-reach, reach + 1))
        }
        total = sum(bell.values())
        slope = [float(k * weight / total / variance) for k, weight in bell.items()]
        return [float(weight / total) for weight in bell.values()], slope


def _filtered(matrix: Floats, weights: Sequence[float]) -> Floats:
    """Add up weighted neighbours of each row, the outermost row standing for those beyond."""
    rows, reach = np.arange(len(matrix)), len(weights) // 2
    out = np.zeros_like(matrix)
    for k, weight in enumerate(weights):
        out += weight * matrix[np.clip(rows + k - reach, 0, len(matrix) - 1)]
    return out


def _apply(left: Floats, images: Floats, right: Floats) -> Floats:
    """Apply a matrix to each axis of each image and flatten: (n, h, w) to (n, H * W)."""
    tall = np.zeros((len(images), len(left), images.shape[2]))
    for i in range(images.shape[1]):
        tall += left[:, i, None] * images[:, i, None]
    padded = np.zeros((len(images), len(left), len(right)))
    for j in range(images.shape[2]):
        padded += right[:, j] * tall[:, :, j, None]
    return padded.reshape(len(images), -1)


def _about_one(images: Floats) -> Floats:
    """Multiply each image (h, w) by a power of two, so that its largest pixel is about one."""
    largest = abs(images).max(axis=(1, 2), keepdims=True)
    return np.asarray(np.ldexp(images, -np.frexp(largest)[1]))


def _orthonormal(tangents: Floats) -> Floats:
    """Orthonormalise the rows of each (q, p) slice, with zeros for dependent ones."""
    basis = np.zeros_like(tangents)
    for k in range(tangents.shape[1]):
        vector = tangents[:, k]
        length = np.sqrt(add_up(vector * vector))
        # Gram and Schmidt's step, twice: the second pass removes what rounding left in.
        for _ in range(2 if k else 0):
            overlap = add_up(basis[:, :k] * vector[:, None])
            for j in range(k):
                vector = vector - overlap[:, j, None] * basis[:, j]
        rest = np.sqrt(add_up(vector * vector))
        own = rest > _DEPENDENT * length
        basis[own, k] = vector[own] / rest[own, None]
    return basis
