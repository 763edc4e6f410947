"""Sammon's mapping: a map that keeps small dissimilarities as faithfully as large ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .scaling import check_n_components, check_symmetric_table, classical_scaling

Floats = NDArray[np.float64]

# Sammon's "magic factor": the share of the diagonal Newton step that is tried first.
_FIRST_SHARE, _LARGEST_SHARE, _SMALLEST_SHARE = 0.4, 1.0, 1e-10
_GROWTH, _SHRINKAGE = 1.25, 0.5
# The stress must have stopped falling for so many steps, because one small step, taken
# after a halving, proves nothing.
_PATIENCE = 10
_NO_STRESS = 1e-15


@dataclass(frozen=True, eq=False)
class SammonMap:
    """Where points lie on a map, and how far it is to be trusted.

    Parameters
    ----------
    coordinates : ndarray of float, shape (n_points, n_components)
        Their places, centred.
    stress : float
        Sammon's stress of the map: 0 for a perfect one; below 0.1 a map is usually held
        to be a fair picture.
    stress_path : ndarray of float, shape (n_iterations + 1,)
        The stress at the start and after each step. It never rises.
    converged : bool
        Whether the stress had stopped falling when the iteration ended.
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
    r"""Place points so that distances on the map are close to their dissimilarities.

    Minimises Sammon's stress

    .. math:: \frac{1}{\sum_{i<j} D_{ij}} \sum_{i<j} \frac{(D_{ij} - d_{ij})^2}{D_{ij}}

    over the places of the points, where :math:`d` are the Euclidean distances on the map.

    Parameters
    ----------
    D : array-like, shape (n_points, n_points)
        Dissimilarities: symmetric, not negative, zero on the diagonal.
    n_components : int, default=2
        Dimension of the map.
    start : array-like, shape (n_points, n_components), or None, default=None
        Places to start from; None for those of :func:`classical_scaling`.
    max_iterations : int, default=1000
        Most steps to take.
    tolerance : float, default=1e-4
        Stop when ten steps together lower the stress by no more than this share of it.

    Returns
    -------
    SammonMap
        Places and stress.

    See Also
    --------
    classical_scaling : The map it starts from.

    Notes
    -----
    Each step is a share of the Newton step for the gradient and the absolute diagonal of
    the second derivatives, as Sammon proposes. The share is halved until the stress does
    not rise, and grows slowly otherwise. Nothing is drawn at random from outside, and no sum
    depends on the processor: the same table gives the same map on every machine, unless
    classical scaling has axes of equal width to choose from.

    A pair of dissimilarity zero has no term in the stress, which divides by it. Duplicates,
    points at dissimilarity zero with the same dissimilarities from all others, get the same
    place. Points that start in one place without being duplicates are moved apart a little.

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
    D = check_symmetric_table(D)
    n_components = check_n_components(n_components)
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
    """Return minus the gradient over the absolute second derivatives, coordinate by coordinate."""
    gradient, curvature = derivatives(D, places)
    steep = np.abs(curvature)
    least = np.finfo(float).eps * steep.max(initial=0.0)
    return -np.divide(gradient, steep, out=np.zeros_like(gradient), where=steep > least)


def derivatives(D: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Return first and unmixed second derivatives of the stress, both points x components.

    Pairs of dissimilarity zero, and those that lie in one place, exert no force.
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
    """Return ``table @ places``, each sum in an order that no processor changes.

    The last bits of a product of matrices are the linear algebra library's, and two maps that
    differ in these end in different valleys.
    """
    return np.stack([(table * column).sum(axis=1) for column in places.T], axis=1)


def _weights(D: Floats) -> Floats:
    """Return what the misfit of each pair counts: 1 / D, and 0 where D is 0."""
    return np.divide(1.0, D, out=np.zeros_like(D), where=D > 0.0)


def _descend(
    D: Floats, places: Floats, direction: Floats, stress: float, share: float
) -> tuple[Floats, float, float]:
    """Go the largest tried share of a step that lowers the stress; stay if none does."""
    while share > _SMALLEST_SHARE:
        moved = places + share * direction
        lower = sammon_stress(D, moved)
        if lower < stress:
            return moved, lower, min(_GROWTH * share, _LARGEST_SHARE)
        share *= _SHRINKAGE
    return places, stress, share


def _has_settled(path: list[float], tolerance: float) -> bool:
    """Whether the stress is nil, could not be lowered, or has all but stopped falling."""
    if path[-1] <= _NO_STRESS or (len(path) > 1 and path[-1] == path[-2]):
        return True
    if len(path) <= _PATIENCE:
        return False
    return path[-1 - _PATIENCE] - path[-1] <= tolerance * path[-1 - _PATIENCE]


def _leaders(D: Floats) -> NDArray[np.intp]:
    """Return for each point the first of its duplicates, which may be itself."""
    leader = np.arange(len(D))
    for i, j in np.argwhere(np.triu(D == 0.0, k=1)):
        if leader[j] == j and leader[i] == i and np.array_equal(D[i], D[j]):
            leader[j] = i
    return leader


def _check_start(start: Any, D: Floats, n_components: int) -> Floats:
    """Return the places to start from."""
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
    """Round places to a billionth of the map's width, where all processors agree on them."""
    grid = 2.0 ** (np.ceil(np.log2(max(np.abs(places).max(), np.finfo(float).tiny))) - 30)
    return np.asarray(np.round(places / grid) * grid)


def _move_apart(places: Floats, D: Floats, leader: NDArray[np.intp]) -> Floats:
    """Give points in one place that are no duplicates a small push each, always the same."""
    near = cdist(places, places) <= 1e-9 * D.max(initial=0.0)
    stuck = (np.tril(near, k=-1) & (leader[:, None] != leader)).any(axis=1)
    # Each point has its own push, and duplicates share their leader's.
    pushes = np.random.default_rng(0).normal(size=places.shape)[leader]
    return places + np.where(stuck[leader][:, None], 1e-3 * D.mean() * pushes, 0.0)
