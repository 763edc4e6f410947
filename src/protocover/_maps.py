"""Maps of points in the plane from their distances: Sammon's mapping and classical scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ._exceptions import DissimilarityError
from ._typing import Floats, Indices

# Relative asymmetry that counts as rounding.
_ASYMMETRY = 1e-8
# The first of these is Sammon's "magic factor", the initial fraction of the Newton step.
_FIRST_SHARE, _LARGEST_SHARE, _SMALLEST_SHARE = 0.4, 1.0, 1e-10
_GROWTH, _SHRINKAGE = 1.25, 0.5
# Steps without a decrease of the stress; a single one may follow a halved step size.
_PATIENCE = 10
_NO_STRESS = 1e-15


@dataclass(frozen=True, eq=False)
class SammonMap:
    """Coordinates of points, and the stress of the map.

    Parameters
    ----------
    coordinates : ndarray of float, shape (n_points, n_components)
        Centred coordinates.
    stress : float
        Sammon's stress: 0 is perfect, below 0.1 is usually considered fair.
    stress_path : ndarray of float, shape (n_iterations + 1,)
        The stress at the start and after each step, never increasing.
    converged : bool
        Whether the stress had stopped decreasing when the iteration ended.
    """

    coordinates: Floats
    stress: float
    stress_path: Floats
    converged: bool

    @property
    def n_iterations(self) -> int:
        """Number of steps taken."""
        return len(self.stress_path) - 1


def sammon_map(
    D: Any,
    n_components: int = 2,
    *,
    start: Any = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-4,
) -> SammonMap:
    r"""Map points so that Euclidean distances approximate given distances (Sammon's mapping).

    Minimises Sammon's stress

    .. math:: \frac{1}{\sum_{i<j} D_{ij}} \sum_{i<j} \frac{(D_{ij} - d_{ij})^2}{D_{ij}}

    over the coordinates, where :math:`d` are the Euclidean distances on the map.

    Parameters
    ----------
    D : array-like, shape (n_points, n_points)
        Distances: symmetric, non-negative, zero on the diagonal.
    n_components : int, default=2
        Dimension of the map.
    start : array-like, shape (n_points, n_components), or None, default=None
        Initial coordinates; None for :func:`classical_scaling`.
    max_iterations : int, default=1000
        Maximum number of steps.
    tolerance : float, default=1e-4
        Stop if ten steps together reduce the stress by less than this fraction.

    Returns
    -------
    SammonMap
        Coordinates and stress.

    Notes
    -----
    Each step is a fraction of the Newton step with the absolute diagonal of the second
    derivatives, as Sammon proposes. The fraction is halved until the stress does not increase,
    and grows slowly otherwise. The map is deterministic and the same on every processor, unless
    classical scaling has axes of equal width.

    Pairs at distance zero are not part of the stress. Duplicates (points at distance zero with
    the same distances from all others) get the same coordinates. Other points that start in one
    place are moved apart a little.

    References
    ----------
    J. W. Sammon (1969). A nonlinear mapping for data structure analysis. IEEE Transactions
    on Computers C-18, 401-409.

    Examples
    --------
    >>> from protocover._maps import sammon_map
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import pairwise_distances
    >>> X = load_iris().data[::5]
    >>> result = sammon_map(pairwise_distances(X))
    >>> result.coordinates.shape, result.converged
    ((30, 2), True)
    >>> round(result.stress, 3)
    0.001
    """
    D = _check_distances(D)
    n_components = _check_n_components(n_components)
    leader = _leaders(D)
    places = _check_start(start, D, n_components)[leader]
    places = _move_apart(places, D, leader)
    share, path = _FIRST_SHARE, [sammon_stress(D, places)]
    while not _has_settled(path, tolerance) and len(path) <= max_iterations:
        direction = newton_direction(D, places)[leader]
        places, stress, share = _descend(D, places, direction, path[-1], share)
        path.append(stress)
    return SammonMap(
        places - places.mean(axis=0), path[-1], np.array(path), _has_settled(path, tolerance)
    )


def classical_scaling(D: Any, n_components: int = 2) -> Floats:
    """Map points by classical (Torgerson's) scaling, also called classical MDS.

    Parameters
    ----------
    D : array-like, shape (n_points, n_points)
        Distances: symmetric, non-negative, zero on the diagonal.
    n_components : int, default=2
        Dimension of the map.

    Returns
    -------
    ndarray, shape (n_points, n_components)
        Centred coordinates along the principal axes, the widest first. Axes without a positive
        eigenvalue are zero. The outermost point of each axis has a positive coordinate.

    References
    ----------
    W. S. Torgerson (1952). Multidimensional scaling: I. Theory and method. Psychometrika 17.

    Examples
    --------
    >>> from protocover._maps import classical_scaling
    >>> classical_scaling([[0, 3, 5], [3, 0, 4], [5, 4, 0]]).shape
    (3, 2)
    """
    D = _check_distances(D)
    n_components = _check_n_components(n_components)
    n_points = len(D)
    n_axes = min(n_points, n_components)
    squares = D**2
    means = squares.mean(axis=0)
    products = -0.5 * (squares - means - means[:, None] + means.mean())
    # sklearn.manifold.ClassicalMDS gives NaN for negative eigenvalues, and at most n_points axes.
    values, axes = np.linalg.eigh(products)
    values, axes = values[: -n_axes - 1 : -1], axes[:, : -n_axes - 1 : -1]
    # Rounding errors of zero eigenvalues must not become axes.
    kept = values > n_points * np.finfo(float).eps * max(values[0], 0.0)
    # The first of equally distant points, despite rounding errors.
    furthest = np.abs(axes).round(9).argmax(axis=0)
    signs = np.where(axes[furthest, np.arange(n_axes)] < 0.0, -1.0, 1.0)
    coordinates = np.zeros((n_points, n_components))
    coordinates[:, :n_axes] = axes * (signs * np.sqrt(np.where(kept, values, 0.0)))
    return coordinates


def sammon_stress(D: Any, coordinates: Any) -> float:
    """Return Sammon's stress of a map of points (n, n_components), 0 where D (n, n) is zero."""
    D, coordinates = np.asarray(D, dtype=float), np.asarray(coordinates, dtype=float)
    total = D.sum()
    if total == 0.0:
        return 0.0
    misfit = D - cdist(coordinates, coordinates)
    misfit *= misfit
    misfit *= _weights(D)
    return float(misfit.sum() / total)


def newton_direction(D: Floats, places: Floats) -> Floats:
    """Return minus the gradient over the absolute second derivatives, per coordinate."""
    gradient, curvature = derivatives(D, places)
    steep = np.abs(curvature)
    least = np.finfo(float).eps * steep.max(initial=0.0)
    return -np.divide(gradient, steep, out=np.zeros_like(gradient), where=steep > least)


def derivatives(D: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Return first and unmixed second derivatives of the stress, both points x components.

    Pairs at distance zero, given or on the map, do not contribute.
    """
    inverse = cdist(places, places)
    inverse[inverse == 0.0] = np.inf
    inverse[D == 0.0] = np.inf
    np.reciprocal(inverse, out=inverse)
    pull = inverse - _weights(D)  # (D - d) / (D d)
    total_pull = pull.sum(axis=1)[:, None]
    gradient = _weighted_sums(pull, places) - total_pull * places
    cube = np.multiply(inverse, inverse, out=pull)
    cube *= inverse
    # The sum over j of (y_i - y_j)^2 / d_ij^3, multiplied out.
    spread = cube.sum(axis=1)[:, None] * places**2 - 2.0 * places * _weighted_sums(cube, places)
    spread += _weighted_sums(cube, places**2)
    curvature = np.maximum(spread, 0.0) - total_pull
    # The sum over i < j is half of that over all pairs, and so is the normaliser.
    scale = 4.0 / max(D.sum(), np.finfo(float).tiny)
    return scale * gradient, scale * curvature


def _weighted_sums(table: Floats, places: Floats) -> Floats:
    """Return ``table @ places``, summed in the same order on every processor.

    Matrix products differ in their last bits between libraries, and maps that differ in these
    can end in different minima.
    """
    return np.stack([(table * column).sum(axis=1) for column in places.T], axis=1)


def _weights(D: Floats) -> Floats:
    """Return the weight of each pair: 1 / D, or 0 if D is 0."""
    return np.divide(1.0, D, out=np.zeros_like(D), where=D > 0.0)


def _descend(
    D: Floats, places: Floats, direction: Floats, stress: float, share: float
) -> tuple[Floats, float, float]:
    """Take the largest fraction of a step that reduces the stress, or none."""
    while share > _SMALLEST_SHARE:
        moved = places + share * direction
        lower = sammon_stress(D, moved)
        if lower < stress:
            return moved, lower, min(_GROWTH * share, _LARGEST_SHARE)
        share *= _SHRINKAGE
    return places, stress, share


def _has_settled(path: list[float], tolerance: float) -> bool:
    """Whether the stress is zero, was not reduced, or has nearly stopped decreasing."""
    if path[-1] <= _NO_STRESS or (len(path) > 1 and path[-1] == path[-2]):
        return True
    if len(path) <= _PATIENCE:
        return False
    return path[-1 - _PATIENCE] - path[-1] <= tolerance * path[-1 - _PATIENCE]


def _leaders(D: Floats) -> Indices:
    """Return the first duplicate of each point, which may be itself."""
    leader = np.arange(len(D))
    for i, j in np.argwhere(np.triu(D == 0.0, k=1)):
        if leader[j] == j and leader[i] == i and np.array_equal(D[i], D[j]):
            leader[j] = i
    return leader


def _check_start(start: Any, D: Floats, n_components: int) -> Floats:
    """Return the initial coordinates."""
    if start is None:
        scaled = classical_scaling(D, n_components)
        return scaled if sammon_stress(D, scaled) <= _NO_STRESS else _rounded(scaled)
    places = np.array(start, dtype=np.float64)
    if places.shape != (len(D), n_components) or not np.isfinite(places).all():
        raise ValueError(
            f"start must be finite coordinates of shape {(len(D), n_components)}, got shape "
            f"{places.shape}; None starts from classical scaling"
        )
    return places


def _rounded(places: Floats) -> Floats:
    """Round to a billionth of the map's width, so all processors start from the same map."""
    grid = 2.0 ** (np.ceil(np.log2(max(np.abs(places).max(), np.finfo(float).tiny))) - 30)
    return np.asarray(np.round(places / grid) * grid)


def _move_apart(places: Floats, D: Floats, leader: Indices) -> Floats:
    """Move points apart that share a place but are not duplicates, deterministically."""
    near = cdist(places, places) <= 1e-9 * D.max(initial=0.0)
    stuck = (np.tril(near, k=-1) & (leader[:, None] != leader)).any(axis=1)
    # Each point has its own push, and duplicates share their leader's.
    pushes = np.random.default_rng(0).normal(size=places.shape)[leader]
    return places + np.where(stuck[leader][:, None], 1e-3 * D.mean() * pushes, 0.0)


def _check_distances(D: Any) -> Floats:
    """Return a checked distance matrix as float64."""
    D = np.asarray(D, dtype=np.float64)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or len(D) == 0:
        raise ValueError(f"D must be a square matrix of at least one point, got shape {D.shape}")
    if not np.isfinite(D).all():
        raise DissimilarityError(
            "D must be finite, got infinite or missing values; drop these points"
        )
    if (D < 0.0).any():
        raise DissimilarityError(f"D must be non-negative, got {D.min():g}")
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


def _check_n_components(n_components: Any) -> int:
    """Return a checked dimension of a map."""
    if not isinstance(n_components, int | np.integer) or n_components < 1:
        raise ValueError(f"n_components must be a positive integer, got {n_components!r}")
    return int(n_components)
