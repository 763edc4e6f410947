"""A report on a fitted model: one self-contained HTML page, or the data it is made of."""

from ._answers import summarize_queries
from ._html import make_report, render, write_report
from ._queries import Queries
from ._summarize import summarize
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
