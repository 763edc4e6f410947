"""Who lies in whose ball, and who is nearest: the two questions asked of a dissimilarity.

`traits` says what a dissimilarity is; `levels` compares with radii; `build` answers the first
question tile by tile, and `assembly` joins what the tiles found; `nearest` answers the second;
`forecast` tells beforehand what the answer will take.
"""

from __future__ import annotations

from .build import (
    build_balls,
    build_levels,
    check_dissimilarities,
    cut_tiles,
    level_test,
    table_tile,
)
from .levels import levels_of, members_of, within
from .traits import (
    Dissimilarity,
    GroupSearch,
    LevelTest,
    NearestSearch,
    PreparedDissimilarity,
    RadiusSearch,
    Tile,
    Traits,
    traits_of,
)

__all__ = [
    "Dissimilarity",
    "GroupSearch",
    "LevelTest",
    "NearestSearch",
    "PreparedDissimilarity",
    "RadiusSearch",
    "Tile",
    "Traits",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "cut_tiles",
    "level_test",
    "levels_of",
    "members_of",
    "table_tile",
    "traits_of",
    "within",
]
