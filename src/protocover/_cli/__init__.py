"""The command line: ``protocover demo | fit | predict | report``."""

from __future__ import annotations

from .commands import main

__all__ = ["main"]
