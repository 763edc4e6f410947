"""Class probabilities from the distances to the prototypes.

The probability of class c at a new sample x is proportional to::

    sum over the prototypes j of c of exp(-(scale_j * d(x, z_j)**2 + offset_j))

Scales and offsets maximize the penalized likelihood of the training samples, in which a prototype
is left out of the prediction of its own sample. The selection of the prototypes does not change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from .._typing import Floats, Indices, Mask

# Standard deviations of the normal priors on the logarithms of the common scale, of the scale of
# each prototype relative to it and of the feature weights, and on the offsets. They were chosen
# on twelve data sets with 2, 5 and 10 prototypes per class.
_COMMON_SD, _SCALE_SD, _FEATURE_SD, _OFFSET_SD = 0.5, 1.0, 0.25, 1.0
# The squared distance of a prototype that does not take part: it cannot overflow when scaled.
_FAR = 1e200
# Largest squared distance in units. Without it one far sample with a wrong label would decide
# the scales.
_CAP = 1e3
# Entries of the matrix of training samples x prototypes beyond which samples are left out, and
# with feature weights, which take more steps.
_MAX_ENTRIES, _MAX_WEIGHTED = 1_200_000, 400_000
# Largest derivative of the loss at the end, per unit of weight, and number of iterations.
_TOLERANCE, _MAX_ITERATIONS = 1e-8, 1000


@dataclass(frozen=True, eq=False)
class FittedRule:
    """The parameters of the rule, with prototypes in order of selection.

    Parameters
    ----------
    scale : ndarray of float, shape (n_prototypes,)
        Factor of the squared distance, positive.
    offset : ndarray of float, shape (n_prototypes,)
        A prototype with a larger offset counts less.
    unit : float
        Squared distance that the priors measure scales by.
    feature_weights : ndarray of float, shape (n_features,), or None
        Weights of the squared differences per feature, None for the distance as it is.
    """

    scale: Floats
    offset: Floats
    unit: float
    feature_weights: Floats | None = None

    def squared(self, X: Floats, Z: Floats) -> Floats:
        """Return the squared distances of samples from prototypes with weighted features."""
        assert self.feature_weights is not None, "this rule has no feature weights"
        return weighted_squares(X, Z, self.feature_weights)

    def contributions(self, squared: Floats) -> Floats:
        """Return the logarithm of each prototype's term, from squared distances.

        A sample whose distances are all infinite counts as equally far from all prototypes.
        """
        near = _capped(squared, self.unit)
        near[(near >= _FAR).all(axis=1)] = 0.0
        with np.errstate(over="ignore"):
            return np.maximum(-(near * self.scale) - self.offset, -_FAR)

    def log_proba(self, squared: Floats, classes: Indices, n_classes: int) -> Floats:
        """Return the logarithms of the class probabilities, -inf for classes without prototypes.

        Parameters
        ----------
        squared : ndarray, shape (n_samples, n_prototypes)
            Squared distances, inf where unknown.
        classes : ndarray of int, shape (n_prototypes,)
            Class of each prototype.
        n_classes : int
            Number of classes.
        """
        terms = self.contributions(squared)
        found = np.full((len(terms), n_classes), -np.inf)
        for label in np.unique(classes):
            found[:, label] = log_sum(terms[:, classes == label])
        return found - log_sum(found)[:, None]


def fit_rule(
    squared: Floats,
    classes: Indices,
    y: Indices,
    weight: Floats,
    own: Indices,
    *,
    rows: tuple[Floats, Floats] | None = None,
) -> FittedRule:
    """Fit the rule to training samples.

    Parameters
    ----------
    squared : ndarray, shape (n_samples, n_prototypes)
        Squared distances, inf where unknown.
    classes : ndarray of int, shape (n_prototypes,)
        Class of each prototype.
    y : ndarray of int, shape (n_samples,)
        Class of each sample.
    weight : ndarray of float, shape (n_samples,)
        Weight of each sample in the likelihood.
    own : ndarray of int, shape (n_samples,)
        The prototype that a sample is; -1 for other samples.
    rows : (ndarray, ndarray) or None, default=None
        Samples and prototypes as rows of numbers, to fit feature weights too.
    """
    loss = PenalizedLoss(squared, classes, y, weight, own, rows=rows)
    if rows is None:
        method = {"method": "trust-exact", "hess": loss.hessian}
        options = {"initial_trust_radius": 5.0, "gtol": 0.01 * loss.tolerance}
    else:  # the matrix of second derivatives would take long
        method = {"method": "L-BFGS-B"}
        options = {"maxcor": 20, "ftol": 0.0, "gtol": loss.tolerance}
    options["maxiter"] = _MAX_ITERATIONS
    return loss.rule(minimize(loss, loss.start, jac=True, options=options, **method).x)


class PenalizedLoss:
    """Minus the penalized log likelihood of the rule and its gradient, as a function.

    Prototypes and samples are sorted by class, so that each class is a block. Samples that
    no other prototype of their class is known to be near to are left out.

    Parameters
    ----------
    squared, classes, y, weight, own, rows
        As for :func:`fit_rule`.
    """

    def __init__(
        self,
        squared: Floats,
        classes: Indices,
        y: Indices,
        weight: Floats,
        own: Indices,
        *,
        rows: tuple[Floats, Floats] | None = None,
    ) -> None:
        is_own = own[:, None] == np.arange(len(classes))
        squared = np.where(is_own, _FAR, np.minimum(squared, _FAR))
        known = ((squared < _FAR) & (classes == y[:, None])).any(axis=1) & (weight > 0.0)
        self.order = np.argsort(classes, kind="stable")
        kept = np.flatnonzero(known)
        kept = kept[np.argsort(y[kept], kind="stable")]
        self.squared = squared[np.ix_(kept, self.order)]
        nearest = self.squared.min(axis=1, initial=_FAR)
        nearest = nearest[nearest > 0.0]
        self.unit = float(np.median(nearest)) if len(nearest) else 1.0
        self.excluded: Mask = self.squared >= _FAR
        self.squared = _capped(self.squared, self.unit) / np.where(self.excluded, 1.0, self.unit)
        self.weight = weight[kept]
        self.blocks = _blocks(y[kept], classes[self.order])
        self.rows = None if rows is None else self._scaled(rows, kept)

    @property
    def tolerance(self) -> float:
        """The largest derivative that counts as zero."""
        return _TOLERANCE * max(1.0, float(self.weight.sum()))

    @property
    def start(self) -> Floats:
        """Parameters with equal scales, no offsets and equal feature weights."""
        n_features = 0 if self.rows is None else self.rows[0].shape[1]
        return np.zeros(1 + 2 * len(self.order) + n_features)

    def rule(self, parameters: Floats) -> FittedRule:
        """Return the rule with these parameters."""
        common, scale, offset, features = self._split(parameters)
        back = np.argsort(self.order)
        return FittedRule(
            scale=(np.exp(common + scale) / self.unit)[back],
            offset=offset[back].copy(),
            unit=self.unit,
            feature_weights=None if self.rows is None else np.exp(features),
        )

    def parameters(self, rule: FittedRule) -> Floats:
        """Return the parameters of a rule, the most likely common scale among them."""
        total = np.log(rule.scale * self.unit)[self.order]
        # The common scale that is most likely given the scales, by both normal priors.
        common = total.sum() / (len(total) + _SCALE_SD**2 / _COMMON_SD**2)
        features = () if rule.feature_weights is None else np.log(rule.feature_weights)
        return np.concatenate([[common], total - common, rule.offset[self.order], features])

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        common, scale, offset, features = self._split(parameters)
        factor = np.exp(common + scale)
        squared = self.squared if self.rows is None else self._weighted(np.exp(features))
        with np.errstate(over="ignore"):
            terms = np.maximum(squared * -factor - offset, -_FAR)
        loss, by_term = self._likelihood(terms)
        by_distance = by_term * -factor
        by_scale = np.einsum("ij,ij->j", by_distance, squared, optimize=True)
        gradient = [
            [by_scale.sum() + common / _COMMON_SD**2],
            by_scale + scale / _SCALE_SD**2,
            offset / _OFFSET_SD**2 - by_term.sum(axis=0),
        ]
        loss += 0.5 * (common / _COMMON_SD) ** 2 + _penalty(scale / _SCALE_SD)
        loss += _penalty(offset / _OFFSET_SD)
        if self.rows is not None:
            by_feature = self._by_feature(by_distance) * np.exp(features)
            gradient.append(by_feature + features / _FEATURE_SD**2)
            loss += _penalty(features / _FEATURE_SD)
        return loss, np.concatenate(gradient)

    def hessian(self, parameters: Floats) -> Floats:
        """Return the matrix of second derivatives by the common scale, scales and offsets."""
        common, scale, offset, _ = self._split(parameters)
        scaled = np.where(self.excluded, 0.0, self.squared * np.exp(common + scale))
        terms = np.where(self.excluded, -_FAR, -scaled - offset)
        by_term = self._likelihood(terms)[1]
        k = len(offset)
        inner = -_outer_of_shares(terms, scaled, self.weight)
        for rows, columns in self.blocks:
            places = np.arange(columns.start, columns.stop)
            places = np.concatenate([places, k + places])
            inner[np.ix_(places, places)] += _outer_of_shares(
                terms[rows, columns], scaled[rows, columns], self.weight[rows]
            )
        once, j = (by_term * scaled).sum(axis=0), np.arange(k)
        inner[j, j] += np.einsum("ij,ij,ij->j", by_term, scaled, scaled) - once
        inner[j, k + j] += once
        inner[k + j, j] += once
        inner[k + j, k + j] += by_term.sum(axis=0)
        found = np.empty((2 * k + 1, 2 * k + 1))
        found[1:, 1:] = inner
        found[0, 1:] = found[1:, 0] = inner[:k].sum(axis=0)  # all scales change together
        found[0, 0] = inner[:k, :k].sum()
        deviations = [_COMMON_SD, *[_SCALE_SD] * k, *[_OFFSET_SD] * k]
        found[np.diag_indices_from(found)] += 1.0 / np.square(deviations)
        return found

    def _likelihood(self, terms: Floats) -> tuple[float, Floats]:
        """Return minus the log likelihood and its derivatives by the terms."""
        loss, by_term = _weighted_log_sum(terms, self.weight)
        for rows, columns in self.blocks:
            of_class, by_own = _weighted_log_sum(terms[rows, columns], self.weight[rows])
            loss -= of_class
            by_term[rows, columns] -= by_own
        by_term[self.excluded] = 0.0
        return loss, by_term

    def _split(self, parameters: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Return common scale, scales, offsets and feature weights, all but offsets as logs."""
        k = len(self.order)
        common, scale, offset, features = np.split(parameters, [1, 1 + k, 1 + 2 * k])
        return float(common[0]), scale, offset, features

    def _scaled(self, rows: tuple[Floats, Floats], kept: Indices) -> tuple[Floats, Floats]:
        """Return samples and prototypes around the origin, in the unit of the scales."""
        X, Z = rows[0][kept], rows[1][self.order]
        center, root = Z.mean(axis=0), np.sqrt(self.unit)
        return (X - center) / root, (Z - center) / root

    def _weighted(self, feature_weights: Floats) -> Floats:
        """Return squared distances with weighted features."""
        assert self.rows is not None, "there are no features to weight"
        squared = weighted_squares(*self.rows, feature_weights)
        squared[self.excluded] = _FAR
        return squared

    def _by_feature(self, by_distance: Floats) -> Floats:
        """Return the derivatives by the feature weights from those by the squared distances."""
        assert self.rows is not None, "there are no features to weight"
        X, Z = self.rows
        crossed = (by_distance.T @ X * Z).sum(axis=0)
        of_samples = by_distance.sum(axis=1) @ X**2
        return np.asarray(of_samples - 2.0 * crossed + by_distance.sum(axis=0) @ Z**2)


def is_stationary(loss: PenalizedLoss, rule: FittedRule) -> bool:
    """Whether no parameter of a rule can be changed to a lower loss nearby."""
    _, gradient = loss(loss.parameters(rule))
    return bool(np.abs(gradient).max(initial=0.0) <= 1e3 * loss.tolerance)


def rows_to_fit(y: Indices, n_prototypes: int, *, weighted: bool) -> Indices:
    """Return rows evenly spaced within each class, few enough for the rule to be fitted fast."""
    most = max((_MAX_WEIGHTED if weighted else _MAX_ENTRIES) // max(n_prototypes, 1), 1)
    if len(y) <= most:
        return np.arange(len(y))
    by_class = np.argsort(y, kind="stable")
    return np.sort(by_class[np.linspace(0, len(y) - 1, most).round().astype(np.intp)])


def weighted_squares(X: Floats, Z: Floats, feature_weights: Floats) -> Floats:
    """Return the squared Euclidean distances of rows with weighted features."""
    center = Z.mean(axis=0)
    root = np.sqrt(feature_weights)
    A, B = (X - center) * root, (Z - center) * root
    squared = A @ B.T
    squared *= -2.0
    squared += np.einsum("ij,ij->i", A, A)[:, None]
    squared += np.einsum("ij,ij->i", B, B)
    return np.asarray(np.maximum(squared, 0.0, out=squared))


def log_sum(terms: Floats) -> Floats:
    """Return the logarithms of the sums of exponentials by row, -inf for rows of -inf."""
    largest = terms.max(axis=1, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - shift[:, None]).sum(axis=1)) + shift)


def _weighted_log_sum(terms: Floats, weight: Floats) -> tuple[float, Floats]:
    """Return the weighted sum of :func:`log_sum` and its derivatives by the terms."""
    shift = terms.max(axis=1, initial=-_FAR)
    found = terms - shift[:, None]
    np.exp(found, out=found)
    sums = found.sum(axis=1)
    found *= (weight / sums)[:, None]
    return float(weight @ (np.log(sums) + shift)), found


def _capped(squared: Floats, unit: float) -> Floats:
    """Return squared distances up to the largest that counts, and those of no prototype."""
    return np.where(squared >= _FAR, _FAR, np.minimum(squared, _CAP * unit))


def _penalty(standardized: Floats) -> float:
    """Return minus the logarithm of the standard normal density, up to a constant."""
    return 0.5 * float(standardized @ standardized)


def _outer_of_shares(terms: Floats, scaled: Floats, weight: Floats) -> Floats:
    """Return the weighted sum over samples of outer products of derivatives of the log sum."""
    shares = np.exp(terms - terms.max(axis=1, keepdims=True, initial=-_FAR))
    shares *= (np.sqrt(weight) / shares.sum(axis=1))[:, None]
    both = np.hstack([shares * scaled, shares])
    return np.asarray(both.T @ both)


def _blocks(y: Indices, classes: Indices) -> list[tuple[slice, slice]]:
    """Return the samples and the prototypes of each class as slices."""
    found = []
    for label in np.unique(y):
        rows, columns = (np.searchsorted(a, [label, label + 1]).tolist() for a in (y, classes))
        found.append((slice(*rows), slice(*columns)))
    return found
