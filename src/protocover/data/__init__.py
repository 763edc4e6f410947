"""What comes from outside and goes back: checked points, columns, frames and files."""

from __future__ import annotations

from .parquet import parquet_to_memmap

__all__ = ["parquet_to_memmap"]
