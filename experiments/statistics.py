"""Tests of whether methods differ, one for each way in which results depend on one another.

Random splits of one data set share training points: their differences are judged by the
t-test that Nadeau and Bengio corrected for that. Answers of two classifiers on the same test
points are judged by McNemar's test. Data sets are independent: two methods over sets are
judged by Wilcoxon's signed ranks, several by Friedman's test and Nemenyi's critical
difference, as Demšar advises.

References
----------
C. Nadeau and Y. Bengio (2003), Inference for the generalization error, Machine Learning 52.
J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest, friedmanchisquare, rankdata, studentized_range, wilcoxon
from scipy.stats import t as student

# Equal shares may have been computed in two ways that differ in the last digit.
_SAME = 1e-9


def corrected_resampled_t(differences: ArrayLike, n_train: float, n_test: float) -> float:
    """Return the two-sided p of differences over random splits of one data set.

    The usual variance of a mean, 1/J of that of the J differences, takes the splits for
    independent; they share training points, which n_test / n_train is added for. For r times
    repeated k-fold cross-validation J is r k and n_test / n_train is 1 / (k - 1).
    """
    gap = np.asarray(differences, dtype=float)
    spread = gap.var(ddof=1) * (1.0 / len(gap) + n_test / n_train) if len(gap) > 1 else 0.0
    if np.sqrt(spread) <= _SAME * max(1.0, float(np.abs(gap).max())):
        # All splits say the same, or there is one: that is no sample of anything.
        return 1.0
    return float(2.0 * student.sf(abs(gap.mean()) / np.sqrt(spread), len(gap) - 1))


def mcnemar(wrong: ArrayLike, wrong_of_other: ArrayLike) -> float:
    """Return the exact two-sided p that two classifiers err equally often.

    Parameters
    ----------
    wrong, wrong_of_other : array-like of bool, shape (n_test,)
        Which test points each gets wrong, in the same order.
    """
    some, others = np.asarray(wrong, dtype=bool), np.asarray(wrong_of_other, dtype=bool)
    only_it, only_other = int(np.sum(some & ~others)), int(np.sum(others & ~some))
    return sign_test(only_it, only_other)


def sign_test(n_won: int, n_lost: int) -> float:
    """Return the exact two-sided p of so many won and lost; ties are left out."""
    n = n_won + n_lost
    return float(binomtest(n_won, n).pvalue) if n else 1.0


def signed_ranks(differences: ArrayLike) -> float:
    """Return the two-sided p of Wilcoxon's test over independent data sets or draws."""
    gap = np.round(np.asarray(differences, dtype=float), 9)
    return float(wilcoxon(gap).pvalue) if np.any(gap) else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """Correct the p of several tests for their number (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p, dtype=float)[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected.tolist()


@dataclass(frozen=True)
class Ranking:
    """Several methods over many data sets.

    Attributes
    ----------
    mean_ranks : dict of str to float
        Of each method, 1 is best; the best method first.
    p : float
        Of Friedman's test that all methods are alike.
    critical_difference : float
        Two methods whose mean ranks differ by less are not told apart (Nemenyi).
    """

    mean_ranks: dict[str, float]
    p: float
    critical_difference: float

    @property
    def cliques(self) -> list[list[str]]:
        """The largest groups of neighbouring methods that are not told apart."""
        names, ranks = list(self.mean_ranks), list(self.mean_ranks.values())
        ends = [sum(r <= first + self.critical_difference for r in ranks) for first in ranks]
        starts = [k for k, end in enumerate(ends) if k == 0 or end > ends[k - 1]]
        return [names[k : ends[k]] for k in starts if ends[k] - k > 1]


def rank(errors: ArrayLike, methods: Sequence[str], *, level: float = 0.05) -> Ranking:
    """Rank methods by their errors over data sets.

    Parameters
    ----------
    errors : array-like, shape (n_sets, n_methods)
        Lower is better; ties share their rank.
    methods : sequence of str
        Names of the columns, at least three.
    level : float
        At which the critical difference holds.
    """
    table = np.round(np.asarray(errors, dtype=float), 9)
    n_sets, n_methods = table.shape
    if n_methods != len(methods) or n_methods < 3 or n_sets < 2:
        raise ValueError(
            f"ranks need at least 2 sets and 3 methods, a column each, got errors of shape "
            f"{table.shape} and {len(methods)} names; compare two methods by signed_ranks"
        )
    means = rankdata(table, axis=1).mean(axis=0)
    best_first = np.argsort(means, kind="stable")
    return Ranking(
        mean_ranks={methods[k]: float(means[k]) for k in best_first},
        p=_friedman(table),
        critical_difference=_nemenyi(n_sets, n_methods, level),
    )


def _friedman(table: NDArray[np.float64]) -> float:
    """Return the p of Friedman's test; tables of nothing but ties differ in nothing."""
    if np.all(table == table[:, :1]):
        return 1.0
    return float(friedmanchisquare(*table.T).pvalue)


def _nemenyi(n_sets: int, n_methods: int, level: float) -> float:
    """Return the difference of mean ranks from which on two of the methods differ."""
    quantile = studentized_range.ppf(1.0 - level, n_methods, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))
