"""The options of ``protocover cover``, which mirror those of BallCover."""

from __future__ import annotations

import argparse
import math
from typing import Any

from .options import (
    SOLVER_NAMES,
    add_distance,
    add_ignoring,
    add_images,
    add_reading,
    read_positive,
    whole_number,
)


def add_cover(parser: Any) -> None:
    """Add all options of the command but where to write to."""
    _add_question(parser)
    _add_columns(parser.add_argument_group("tables"))
    add_images(parser)
    _add_method(parser.add_argument_group("method"))


def _add_question(parser: Any) -> None:
    """Add what is asked for."""
    group = parser.add_argument_group("question (one of the first three, or none)")
    one = group.add_mutually_exclusive_group()
    about = "the N that leave least uncovered"
    one.add_argument("--max-representatives", type=whole_number(1), metavar="N", help=about)
    about = "the fewest that cover so much, such as 0.95"
    one.add_argument("--coverage", type=_read_coverage, metavar="SHARE", help=about)
    about = "only those that are each worth so many uncovered cases"
    one.add_argument("--cost", type=_read_cost, metavar="CASES", help=about)
    about = (
        "how far from its representative a case may be (default: auto, the smallest radius at "
        "which N, or the root of the number of cases, cover SHARE, or 95 %%)"
    )
    group.add_argument("--eps", type=_read_eps, default="auto", metavar="EPS|auto", help=about)
    about = (
        "cases that are in anyway, by their --id, or the names of images, or else by their row "
        "from 1 (repeat)"
    )
    group.add_argument(
        "--must-include", action="append", default=[], metavar="NAME[,NAME]", help=about
    )


def _add_columns(group: Any) -> None:
    """Add what the columns of a table are."""
    group.add_argument("--id", metavar="NAME", help="column that names the rows")
    about = "leave a column out (repeat)"
    group.add_argument("--drop", action="append", default=[], metavar="NAME", help=about)
    about = "column of what covering each row is worth (default: 1)"
    group.add_argument("--weights", metavar="NAME", help=about)
    about = "column of what each row costs as a representative (default: 1)"
    group.add_argument("--candidate-cost", metavar="NAME", help=about)
    about = "type of a column, as in fit (repeat)"
    group.add_argument(
        "--feature-type", action="append", default=[], metavar="NAME=TYPE", help=about
    )
    add_reading(group)
    add_ignoring(group)


def _add_method(group: Any) -> None:
    """Add how distances are measured, and how is chosen."""
    add_distance(group)
    about = f"{', '.join(SOLVER_NAMES)} (default: %(default)s)"
    group.add_argument(
        "--solver", choices=sorted(SOLVER_NAMES), default="auto", metavar="NAME", help=about
    )
    about = "for the solver (default: none)"
    group.add_argument("--time-limit", type=read_positive, metavar="SECONDS", help=about)
    about = "a case at distance eps exactly is covered"
    group.add_argument("--closed-ball", action="store_true", help=about)
    group.add_argument("--n-jobs", type=int, metavar="N", help="threads at once")


def _read_eps(text: str) -> float | str:
    """Return a positive radius or "auto"."""
    return text if text == "auto" else read_positive(text)


def _read_coverage(text: str) -> float:
    """Return a share above 0 and up to 1."""
    share = _read_number(text)
    if not 0.0 < share <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return share


def _read_cost(text: str) -> float:
    """Return a number that is not negative."""
    cost = _read_number(text)
    if not 0.0 <= cost < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number not below 0, got {text!r}")
    return cost


def _read_number(text: str) -> float:
    """Return a number, nan for anything else."""
    try:
        return float(text)
    except ValueError:
        return math.nan
