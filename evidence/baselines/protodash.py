"""ProtoDash: weighted prototypes whose distribution is most like that of all points.

Each next prototype is the point along which the objective w'm - w'K w / 2 rises most steeply, m
the mean of the kernel to all points; then the weights of all that are chosen, none negative, are
made the best there are. Prototypes answer alike afterwards, whatever their weights.

K. Gurumoorthy, A. Dhurandhar, G. Cecchi and C. Aggarwal, Efficient data representation by
selecting prototypes with importance weights, *IEEE International Conference on Data Mining*
(2019), 260-269.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

# Points that all but coincide would make the kernel among the chosen ones singular.
_RIDGE = 1e-10


def order_by_gradient(kernel: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Return the first `most` prototypes of one class, in the order of choosing.

    Parameters
    ----------
    kernel : ndarray, shape (n, n)
        Between the points of the class.
    most : int
        Fewer if there are no more points.
    """
    mean = kernel.mean(axis=1)
    chosen: list[int] = []
    gradient = mean.copy()
    for _ in range(min(most, len(kernel))):
        gradient[chosen] = -np.inf
        chosen.append(int(gradient.argmax()))
        weights = best_weights(kernel[np.ix_(chosen, chosen)], mean[chosen])
        gradient = mean - kernel[:, chosen] @ weights
    return np.array(chosen, dtype=np.intp)


def best_weights(kernel: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights, none negative, that maximise w'm - w'K w / 2.

    With K = L L' that is the least square of L'w - L^-1 m.
    """
    root = cholesky(kernel + _RIDGE * np.eye(len(kernel)), lower=True)
    return np.asarray(nnls(root.T, solve_triangular(root, mean, lower=True))[0])
