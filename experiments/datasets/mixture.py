"""The paper's simulation: classes that are mixtures of Gaussians, and their Bayes rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import Bunch, check_random_state

__all__ = ["GaussianMixtures", "make_gaussian_mixture"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianMixtures:
    """Classes of equal size, each an even mixture of round Gaussians.

    Parameters
    ----------
    centers : ndarray of float, shape (n_classes, n_components, n_features)
        Where the Gaussians are.
    variance : float
        Their variance in every direction.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.datasets import GaussianMixtures
    >>> law = GaussianMixtures(np.array([[[0.0]], [[4.0]]]), variance=1.0)
    >>> law.predict([[1.9], [2.1]])
    array([0, 1])
    """

    centers: Floats
    variance: float

    def sample(
        self, n_per_class: int, random_state: Any = None
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Draw points of each class.

        Parameters
        ----------
        n_per_class : int
            How many.
        random_state : int, RandomState or None, default=None
            For the draws.

        Returns
        -------
        X : ndarray of float, shape (n_classes * n_per_class, n_features)
            Points.
        y : ndarray of int
            Their classes, in order.
        """
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        n_classes, n_components, n_features = self.centers.shape
        y = np.repeat(np.arange(n_classes), n_per_class)
        chosen = self.centers[y, rng.integers(n_components, size=len(y))]
        return chosen + rng.normal(scale=self.variance**0.5, size=(len(y), n_features)), y

    def log_density(self, X: ArrayLike) -> Floats:
        """Return the logarithm of each class's density.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Where.

        Returns
        -------
        ndarray of float, shape (n_queries, n_classes)
            Logarithms of densities.
        """
        X = np.asarray(X, dtype=np.float64)
        n_classes, n_components, n_features = self.centers.shape
        flat = self.centers.reshape(-1, n_features)
        squares = ((X[:, None, :] - flat[None]) ** 2).sum(axis=2)
        scale = 0.5 * n_features * np.log(2.0 * np.pi * self.variance) + np.log(n_components)
        parts = (-0.5 / self.variance * squares).reshape(len(X), n_classes, n_components)
        return np.asarray(logsumexp(parts, axis=2) - scale)

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the most probable class: the Bayes rule, which no classifier can beat.

        Parameters
        ----------
        X : array-like, shape (n_queries, n_features)
            Queries.

        Returns
        -------
        ndarray of int, shape (n_queries,)
            Classes.
        """
        return np.asarray(self.log_density(X).argmax(axis=1))


def make_gaussian_mixture(
    n_per_class: int = 100,
    *,
    n_classes: int = 3,
    n_components: int = 10,
    n_features: int = 2,
    random_state: Any = None,
) -> Bunch:
    """Make the paper's simulated data (its appendix C).

    The centre of a class is drawn from N(0, 16 I), the centres of its components from a
    normal distribution around that with covariance I, and each point around the centre of
    a component picked at random, with covariance I / 5.

    Parameters
    ----------
    n_per_class : int, default=100
        Points of each class.
    n_classes, n_components, n_features : int, default=3, 10, 2
        Classes, Gaussians a class, dimensions.
    random_state : int, RandomState or None, default=None
        For the draws.

    Returns
    -------
    Bunch
        With ``data``, ``target``, and ``law``, the :class:`GaussianMixtures` they were drawn
        from: its ``predict`` is the Bayes rule, and its ``sample`` draws more.

    Examples
    --------
    >>> from experiments.datasets import make_gaussian_mixture
    >>> drawn = make_gaussian_mixture(random_state=0)
    >>> drawn.data.shape
    (300, 2)
    >>> X, y = drawn.law.sample(1000, random_state=1)
    >>> bool((drawn.law.predict(X) == y).mean() > 0.8)
    True
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    classes = rng.normal(scale=4.0, size=(n_classes, 1, n_features))
    centers = classes + rng.normal(size=(n_classes, n_components, n_features))
    law = GaussianMixtures(centers, variance=0.2)
    X, y = law.sample(n_per_class, random_state=int(rng.integers(2**31)))
    return Bunch(data=X, target=y, law=law)
