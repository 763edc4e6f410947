"""Candidates: what may become a prototype (paper, section 4.2).

Whatever is passed as ``candidates=`` becomes a list of pools, one for each source. A
generator is an object with ``generate(X, y, rng)`` that returns a :class:`Pool`; one with a
true ``shows_progress`` also takes the keyword ``verbose``.
"""

from ._gather import CandidateGenerator
from ._hull import HullCandidates
from ._kmeans import KMeansCandidates
from ._pool import Pool

__all__ = ["CandidateGenerator", "HullCandidates", "KMeansCandidates", "Pool"]
