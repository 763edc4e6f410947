"""What each column of two mixed rows contributes to their dissimilarity."""

from __future__ import annotations

import numpy as np

from ..._typing import Floats
from .mixed import CodedTable, Weighing


def share_differences(left: CodedTable, right: CodedTable, weighing: Weighing) -> Floats:
    """Return the terms whose sum is the weighted average of the differences of paired rows.

    The shape is (n_pairs, n_numbers + n_codes). A column that only one of two rows has counts
    with the missing penalty, if there is one. Of rows without a common column, which are at 1,
    each column has the share of its weight.
    """
    both = left.known & right.known
    absent = weighing.asymmetric[:, None] & (left.codes == 0) & (right.codes == 0)
    telling = both.copy()
    telling[len(weighing.numbers) :] &= ~absent
    weights = np.concatenate((weighing.numbers, weighing.codes))[:, None]
    # Numbers are coded from 0 to their weight already.
    numbers = np.minimum(abs(left.numbers - right.numbers), weighing.numbers[:, None])
    differences = np.concatenate((numbers, weighing.codes[:, None] * (left.codes != right.codes)))
    terms = np.where(telling, differences, 0.0)
    counts = telling
    if weighing.missing_penalty is not None:
        one_sided = (left.known ^ right.known) & telling.any(axis=0)
        terms = np.where(one_sided, weighing.missing_penalty * weights, terms)
        counts = telling | one_sided
    terms /= np.maximum((weights * counts).sum(axis=0), np.finfo(np.float64).tiny)
    strangers = ~both.any(axis=0)
    terms[:, strangers] = weights / weights.sum()
    return np.ascontiguousarray(terms.T)
