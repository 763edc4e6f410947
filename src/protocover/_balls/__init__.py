"""Who lies in whose ball, and who is nearest: the two questions asked of a dissimilarity.

`traits` says what a dissimilarity is; `levels` compares with radii; `build` answers the first
question tile by tile, and `assembly` joins what the tiles found; `ordered` answers it nearest
first, for balls that have radii of their own, and `halves` spares it half of the pairs;
`of_radii` cuts balls whose radii are given; `nearest` answers the second; `graph` answers both
off the entries of a neighbour graph; `forecast` and `adaptive_forecast` estimate the memory that
the answer will take.
"""

from __future__ import annotations

from .build import build_balls, build_levels, check_dissimilarities
from .levels import levels_of, members_of, relative_to, within
from .of_radii import balls_of_radii, inside_radii
from .ordered import OrderedMembers, ordered_members, spans
from .traits import DistanceTest, GroupSearch, LevelTest, RadiusSearch, Tile, Traits, traits_of

__all__ = [
    "DistanceTest",
    "Floats",
    "GroupSearch",
    "Indices",
    "LevelTest",
    "OrderedMembers",
    "RadiusSearch",
    "Tile",
    "Traits",
    "balls_of_radii",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "inside_radii",
    "levels_of",
    "members_of",
    "ordered_members",
    "relative_to",
    "spans",
    "traits_of",
    "within",
]
