"""One class's prize-collecting set cover: the problem, a solution, and what it proves.

Everything the solvers, the estimators and the certificates say about a
selection is computed here, from the problem alone and in exact arithmetic.
"""

from __future__ import annotations

from .arithmetic import decimal_fractions, exact_sum, is_above, simplest_fraction
from .certificate import verify
from .leaves import Leaves
from .nested import NestedCoverProblem
from .problem import CoverProblem, first_cover
from .solution import CoverageTarget, CoverSolution, SharedBudget, judge, relative_gap
from .sums import ball_sums
from .verdict import ModelVerification, Verification

__all__ = [
    "CoverProblem",
    "CoverSolution",
    "CoverageTarget",
    "Leaves",
    "ModelVerification",
    "NestedCoverProblem",
    "SharedBudget",
    "Verification",
    "ball_sums",
    "decimal_fractions",
    "exact_sum",
    "first_cover",
    "is_above",
    "judge",
    "relative_gap",
    "simplest_fraction",
    "verify",
]
