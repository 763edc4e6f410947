"""What a table holds, and what in it would change an answer without a word."""

from __future__ import annotations

from .findings import ColumnFacts, Finding, TableCheck
from .table import check

__all__ = ["ColumnFacts", "Finding", "TableCheck", "check"]
