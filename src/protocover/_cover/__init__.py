"""The prize-collecting set cover of a class: problem, limit, solution, proof and verification.

Every number about a selection is computed here, from the problem alone and in exact arithmetic.
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
from .problem import NO_LIMIT, CoverProblem, Limit, first_cover
from .proof import ProofTree
from .solution import (
    CoverSolution,
    ModelVerification,
    SharedBound,
    Verification,
    judge,
    relative_gap,
)
from .table import ball_sums
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
