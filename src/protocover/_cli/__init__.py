"""The command line: ``protocover check | fit | cover | predict | report | demo``."""

from __future__ import annotations

from .commands import main

__all__ = ["main"]
