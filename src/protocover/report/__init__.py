"""Reports on fitted models: one self-contained HTML page, or its data."""

from ._html import make_report, render, write_report
from ._queries import Queries
from ._summarize import summarize, summarize_queries
from ._summary import Summary

__all__ = [
    "Queries",
    "Summary",
    "make_report",
    "render",
    "summarize",
    "summarize_queries",
    "write_report",
]
