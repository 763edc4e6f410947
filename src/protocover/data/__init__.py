"""What comes from outside and goes back: checked points, columns, frames and files."""

from __future__ import annotations

from ._checks import TableCheck, check

__all__ = ["TableCheck", "check"]
