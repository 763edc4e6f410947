"""One class's prize-collecting set cover: the problem, a solution, and what it proves.

Everything the solvers, the estimators and the certificates say about a
selection is computed here, from the problem alone and in exact arithmetic.
"""

from __future__ import annotations

from .arithmetic import (
    common_step,
    decimal_fractions,
    exact_sum,
    is_above,
    may_stay_uncovered,
    rounded_up,
    simplest_fraction,
    snap_to,
    snap_weights,
    weight_grid,
)
from .limit import NO_LIMIT, Limit, SharedBound
from .problem import CoverProblem, first_cover
from .proof import ProofTree
from .runs import ball_sums
from .solution import CoverSolution, ModelVerification, Verification, judge, relative_gap
from .verify import verify

__all__ = [
    "NO_LIMIT",
    "CoverProblem",
    "CoverSolution",
    "Limit",
    "ModelVerification",
    "ProofTree",
    "SharedBound",
    "Verification",
    "ball_sums",
    "common_step",
    "decimal_fractions",
    "exact_sum",
    "first_cover",
    "is_above",
    "judge",
    "may_stay_uncovered",
    "relative_gap",
    "rounded_up",
    "simplest_fraction",
    "snap_to",
    "snap_weights",
    "verify",
    "weight_grid",
]
