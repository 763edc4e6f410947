"""How many wrong labels there may be, judged by the samples whose class is most certain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The samples with the highest certainty, as a fraction of all.
_CERTAIN = 0.25
# If more of these disagree with their labels, the classes overlap.
_MOST_WRONG = 0.1


@dataclass(frozen=True)
class Plausible:
    """Number of wrong labels that the most certain samples suggest.

    Parameters
    ----------
    number : int
        How many labels may be wrong, 0 where `overlap` is true.
    share : float
        Fraction of the most certain samples whose label disagrees.
    overlap : bool
        Whether that fraction is so high that overlapping classes explain it better.
    """

    number: int
    share: float
    overlap: bool


def count_plausible(mean: Floats, disagrees: NDArray[np.bool_]) -> Plausible:
    """Estimate how many labels are wrong.

    Parameters
    ----------
    mean : ndarray, shape (n_samples, n_classes)
        How far each sample is from each class.
    disagrees : ndarray of bool, shape (n_samples,)
        Whether another class is nearer than that of the label.

    Returns
    -------
    Plausible
        The fraction of disagreeing labels among the quarter of the samples with the highest
        certainty, taken for all samples, and one more that this quarter may have missed. The
        certainty compares the two nearest classes, whatever the label. Overlapping classes
        hardly reach this quarter, wrong labels do.
    """
    n = len(mean)
    if n == 0 or mean.shape[1] < 2:
        return Plausible(0, 0.0, False)
    nearest = np.partition(mean, 1, axis=1)
    certainty = relative_share(nearest[:, 1], nearest[:, 0])
    certain = certainty >= np.sort(certainty)[-math.ceil(_CERTAIN * n)]
    n_certain, n_wrong = int(certain.sum()), int(disagrees[certain].sum())
    # Two standard errors above what is plausible.
    chance = 2.0 * math.sqrt(n_certain * _MOST_WRONG * (1.0 - _MOST_WRONG))
    overlap = n_wrong > _MOST_WRONG * n_certain + chance
    number = 0 if overlap else round((n_wrong + 1) * n / n_certain)
    return Plausible(number, n_wrong / n_certain, overlap)


def relative_share(a: Floats, b: Floats) -> Floats:
    """Return a / (a + b), one half where both are zero or beyond measure, or there is neither."""
    share = np.full(len(a), 0.5)
    share[np.isinf(a) & np.isfinite(b)] = 1.0
    share[np.isfinite(a) & np.isinf(b)] = 0.0
    with np.errstate(over="ignore"):  # beyond measure in radii of 0
        total = a + b
    both = np.isfinite(total) & (total > 0.0)
    share[both] = a[both] / total[both]
    return share
