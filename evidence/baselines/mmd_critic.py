"""MMD-critic's prototypes: points whose distribution is most like that of all points.

Greedily, each next prototype leaves the least maximum mean discrepancy between prototypes and
points. Criticisms, which MMD-critic adds for people to look at, are left out: they do not take
part in classification in the paper either.

B. Kim, R. Khanna and O. Koyejo, Examples are not enough, learn to criticize! Criticism for
interpretability, *Advances in Neural Information Processing Systems* 29 (2016).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def order_by_discrepancy(kernel: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the first `most` prototypes of one class, in the order of choosing.

    Parameters
    ----------
    kernel : ndarray, shape (n, n)
        Between the points of the class.
    most : int
        Fewer if there are no more points.
    """
    n = len(kernel)
    affinity, own = kernel.mean(axis=1), np.diag(kernel).copy()
    chosen: list[int] = []
    to_all = among = 0.0
    # Sums of the kernel from every point to the chosen ones.
    to_chosen = np.zeros(n)
    for size in range(1, min(most, n) + 1):
        # The squared discrepancy, but for what is the same whatever is chosen.
        discrepancy = (among + 2.0 * to_chosen + own) / size**2 - 2.0 * (to_all + affinity) / size
        discrepancy[chosen] = np.inf
        best = int(discrepancy.argmin())
        among += 2.0 * to_chosen[best] + own[best]
        to_all += affinity[best]
        to_chosen += kernel[best]
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)
