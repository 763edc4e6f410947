"""Points in the plane whose distances resemble given dissimilarities."""

from __future__ import annotations

from .sammon import SammonMap, sammon_map
from .scaling import classical_scaling

__all__ = ["SammonMap", "classical_scaling", "sammon_map"]
