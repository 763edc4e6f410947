"""Limit: what a selection must satisfy besides having a small objective."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Limit:
    """A constraint on the selection of a problem, or on those of several problems together.

    Parameters
    ----------
    at_most : int or None, default=None
        Largest number of candidates; None for any number.
    at_least : int, default=0
        Smallest number of candidates of each problem, 0 or 1.
    uncovered : Fraction or None, default=None
        Largest weight that may stay uncovered. The objective is then the cost of the selection
        alone. None if uncovered points only cost their prizes.

    Notes
    -----
    A bound under a limit is a Lagrangian bound. Its multiplier is given as a `price`, what one
    prototype, or one unit of cost, is worth in weight in the relaxed problem. See
    :meth:`protocover._cover.CoverProblem.bound`.

    Examples
    --------
    >>> Limit(at_most=20)
    Limit(at_most=20, at_least=0, uncovered=None)
    """

    at_most: int | None = None
    at_least: int = 0
    uncovered: Fraction | None = None


# Any selection is allowed.
NO_LIMIT = Limit()


@dataclass(frozen=True)
class SharedBound:
    """What is stated about the solutions of several problems under one limit.

    The bounds of the problems, each among selections of as many candidates as it has, do not
    add up to a bound, because another problem might have made better use of a candidate.

    Parameters
    ----------
    limit : Limit
        The limit on all selections together.
    objective : float
        Sum of the objectives, rounded once.
    lower_bound : float
        No selections within the limit have a smaller sum.
    certificate : str
        What the bound rests on, as in :class:`CoverSolution`.
    """

    limit: Limit
    objective: float
    lower_bound: float
    certificate: str
