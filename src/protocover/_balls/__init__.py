"""Radius-neighbour and nearest-neighbour queries of a dissimilarity.

`traits` describes a dissimilarity; `pairs` binds it to samples and candidates and finds the pairs
within radii; `build` collects these in a sparse matrix; `ordered` puts them in the order of their
distances; `nearest` finds the nearest candidates; `graph` has the pairs of a neighbour graph;
`forecast` estimates the memory that the neighbourhoods take.
"""

from __future__ import annotations

from .build import build_balls, build_levels
from .ordered import OrderedMembers, balls_of_radii, inside_radii, ordered_members, spans
from .pairs import (
    ColumnPairs,
    Groups,
    Pairs,
    TablePairs,
    bind,
    finds_near_pairs,
    nearest_in_groups,
    pairwise_pairs,
)
from .traits import (
    Traits,
    check_dissimilarities,
    levels_of,
    relative_to,
    traits_of,
    within,
)

__all__ = [
    "ColumnPairs",
    "Groups",
    "OrderedMembers",
    "Pairs",
    "TablePairs",
    "Traits",
    "balls_of_radii",
    "bind",
    "build_balls",
    "build_levels",
    "check_dissimilarities",
    "finds_near_pairs",
    "inside_radii",
    "levels_of",
    "nearest_in_groups",
    "ordered_members",
    "pairwise_pairs",
    "relative_to",
    "spans",
    "traits_of",
    "within",
]
