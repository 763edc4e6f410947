"""A report on a fitted model: one self-contained HTML page, or the data it is made of."""

from .answers import summarize_queries
from .html import make_report, render, write_report
from .queries import Queries
from .summarize import summarize
from .summary import Summary

__all__ = [
    "Queries",
    "Summary",
    "make_report",
    "render",
    "summarize",
    "summarize_queries",
    "write_report",
]
