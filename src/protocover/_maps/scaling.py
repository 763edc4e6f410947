"""Classical scaling: coordinates whose scalar products are those of a table of dissimilarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exceptions import DissimilarityError

_ASYMMETRY = 1e-8


def classical_scaling(D: Any, n_components: int = 2) -> NDArray[np.float64]:
    """Place points by classical (Torgerson's) scaling, also called classical MDS.

    Parameters
    ----------
    D : array-like, shape (n_points, n_points)
        Dissimilarities: symmetric, not negative, zero on the diagonal.
    n_components : int, default=2
        Dimension of the map.

    Returns
    -------
    ndarray, shape (n_points, n_components)
        Centred coordinates along the principal axes, the widest first. An axis is zero
        where the dissimilarities have no further positive eigenvalue. Of the two
        directions of an axis the one is taken in which its point furthest out is positive.

    See Also
    --------
    sammon_map : A map that treats small dissimilarities with as much care as large ones.

    References
    ----------
    W. S. Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17.

    Examples
    --------
    >>> from protocover._maps import classical_scaling
    >>> classical_scaling([[0, 3, 5], [3, 0, 4], [5, 4, 0]]).shape
    (3, 2)
    """
    D = check_symmetric_table(D)
    n_components = check_n_components(n_components)
    n_points = len(D)
    n_axes = min(n_points, n_components)
    squares = D**2
    means = squares.mean(axis=0)
    products = -0.5 * (squares - means - means[:, None] + means.mean())
    # Not by sklearn.manifold.ClassicalMDS, whose axes of negative eigenvalues are NaN and
    # which has no more axes than points.
    values, axes = np.linalg.eigh(products)
    values, axes = values[: -n_axes - 1 : -1], axes[:, : -n_axes - 1 : -1]
    # What rounding leaves of a zero eigenvalue must not become an axis.
    kept = values > n_points * np.finfo(float).eps * max(values[0], 0.0)
    # Of points equally far out the first, whatever the last bits say.
    furthest = np.abs(axes).round(9).argmax(axis=0)
    signs = np.where(axes[furthest, np.arange(n_axes)] < 0.0, -1.0, 1.0)
    coordinates = np.zeros((n_points, n_components))
    coordinates[:, :n_axes] = axes * (signs * np.sqrt(np.where(kept, values, 0.0)))
    return coordinates


def check_symmetric_table(D: Any) -> NDArray[np.float64]:
    """Return a checked table of dissimilarities between points as float64."""
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or len(D) == 0:
        raise ValueError(f"D must be a square table of at least one point, got shape {D.shape}")
    if not np.isfinite(D).all():
        raise DissimilarityError("D must be finite, got infinite or missing values")
    if (D < 0.0).any():
        raise DissimilarityError(f"D must not be negative, got {D.min():g}")
    if np.diagonal(D).any():
        raise DissimilarityError(
            f"D must be zero on the diagonal, got up to {np.diagonal(D).max():g}; "
            "np.fill_diagonal(D, 0) makes it so"
        )
    difference = np.abs(D - D.T).max()
    if difference > _ASYMMETRY * D.max():
        raise DissimilarityError(
            f"D must be symmetric, got entries that differ by {difference:g} from their "
            "mirror images; pass (D + D.T) / 2 to map the means"
        )
    return np.asarray((D + D.T) / 2)


def check_n_components(n_components: Any) -> int:
    """Return a checked dimension of a map."""
    if not isinstance(n_components, int | np.integer) or n_components < 1:
        raise ValueError(f"n_components must be a whole number from 1, got {n_components!r}")
    return int(n_components)
