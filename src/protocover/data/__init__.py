"""What comes from outside and goes back: checked points, columns, frames and files."""

from __future__ import annotations

from .checks import TableCheck, check
from .parquet import parquet_to_memmap

__all__ = ["TableCheck", "check", "parquet_to_memmap"]
