"""Input and output of data: checked points, columns, frames and files."""

from __future__ import annotations

from ._check import TableCheck, check

__all__ = ["TableCheck", "check"]
