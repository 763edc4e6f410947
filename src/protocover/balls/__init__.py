"""Who lies in whose ball, and who is nearest: the two questions asked of a dissimilarity.

`traits` says what a dissimilarity is; `levels` compares with radii; `build` answers the first
question tile by tile, and `assembly` joins what the tiles found; `nearest` answers the second;
`forecast` tells beforehand what the answer will take.
"""

from __future__ import annotations

from .build import build_balls, build_levels, check_dissimilarities
from .levels import levels_of, members_of, within
from .traits import Floats, GroupSearch, Indices, LevelTest, RadiusSearch, Tile, Traits, traits_of

__all__ = [
    "Floats",
    "GroupSearch",
    "Indices",
    "LevelTest",
    "RadiusSearch",
    "Tile",
    "Traits",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "levels_of",
    "members_of",
    "traits_of",
    "within",
]
