"""A report on a fitted model: one self-contained HTML page, or the data it is made of."""

from .html import make_report, render, write_report
from .summarize import summarize
from .summary import Summary

__all__ = ["Summary", "make_report", "render", "summarize", "write_report"]
