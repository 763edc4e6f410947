"""Who lies in whose ball, and who is nearest: the two questions asked of a dissimilarity.

`build` answers the first tile by tile, and `assembly` joins what the tiles found; `nearest`
answers the second; `forecast` tells beforehand what the answer will take.
"""

from __future__ import annotations

from .build import (
    Dissimilarity,
    LevelTest,
    PreparedDissimilarity,
    RadiusSearch,
    Tile,
    build_balls,
    build_levels,
    check_dissimilarities,
    cut_tiles,
    is_thread_safe,
    level_test,
    table_tile,
)

__all__ = [
    "Dissimilarity",
    "LevelTest",
    "PreparedDissimilarity",
    "RadiusSearch",
    "Tile",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "cut_tiles",
    "is_thread_safe",
    "level_test",
    "table_tile",
]
