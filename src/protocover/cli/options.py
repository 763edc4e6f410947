"""The options of ``protocover fit``, which mirror the estimators', and the values they take."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ..dissimilarity.metric import METRIC_NAMES
from ..estimators.search.standard_error import RULES
from ..solvers import SOLVERS
from .estimator import OWN_METRICS

__all__ = ["add_columns", "add_images", "add_method", "add_reading", "add_search", "add_skipping"]

_METRICS = sorted({*METRIC_NAMES, *OWN_METRICS, "euclidean", "sqeuclidean", "cosine"})


def add_columns(parser: Any) -> None:
    """Add what the columns of a table are."""
    group = parser.add_argument_group("tables")
    group.add_argument("--target", metavar="NAME", help="column of the class (needed)")
    group.add_argument("--id", metavar="NAME", help="column that names the rows")
    group.add_argument(
        "--drop", action="append", default=[], metavar="NAME", help="leave a column out (repeat)"
    )
    group.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="NAME=KIND",
        help="what a column is (repeat): numeric, categorical, date, asymmetric (two absences "
        "tell nothing), or values in order such as low,medium,high (default: found)",
    )
    add_reading(group)
    group.add_argument(
        "--stream",
        action="store_true",
        help="never hold the rows of a Parquet file in memory; all columns must be numbers",
    )


def add_images(parser: Any) -> None:
    """Add how images are read."""
    group = parser.add_argument_group("images")
    group.add_argument(
        "--image-size",
        type=_read_image_size,
        metavar="SIZE",
        help="bring all images to 32 or 24x32 (width x height) pixels, say (default: as they "
        "are if small and all of one size, else 32 along the longer side)",
    )
    group.add_argument(
        "--colour",
        "--color",
        choices=("auto", "colour", "grey"),
        default="auto",
        help="whether colours count (default: if there are any)",
    )
    add_skipping(group)


def add_method(parser: Any) -> None:
    """Add the parameters of the classifier."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--metric",
        choices=_METRICS,
        metavar="NAME",
        help="distance between cases: gower, euclidean, cityblock, cosine, tangent (images) and "
        "all others of SciPy (default: Euclidean for numbers and images, Gower's for mixed "
        "columns or missing values)",
    )
    group.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="bring columns to mean 0 and standard deviation 1 first (default: for tables, "
        "except with gower)",
    )
    group.add_argument(
        "--prototype-cost",
        type=_read_numbers,
        metavar="COST[,COST]",
        help="cost of a prototype in uncovered cases; higher means fewer; several are tried "
        "by cross-validation (default: 1/n)",
    )
    group.add_argument(
        "--n-prototypes", type=_read_size, metavar="N", help="at most so many (default: no limit)"
    )
    group.add_argument(
        "--solver",
        choices=sorted(SOLVERS),
        default="greedy",
        metavar="NAME",
        help=f"{', '.join(SOLVERS)} (default: %(default)s)",
    )
    group.add_argument(
        "--time-limit",
        type=_read_positive,
        metavar="SECONDS",
        help="for the solver (default: none)",
    )
    group.add_argument(
        "--candidates",
        type=_read_candidates,
        metavar="NAME[,NAME]",
        help="what may be a prototype: train, kmeans, hull, or a number or share of cases to "
        "draw (default: train; with --stream at most 20000 cases)",
    )
    group.add_argument(
        "--closed-ball", action="store_true", help="a case at distance eps exactly is covered"
    )
    group.add_argument(
        "--outlier-label",
        metavar="LABEL",
        help="answer for cases in no ball (default: the class of the nearest prototype)",
    )
    group.add_argument("--n-jobs", type=int, metavar="N", help="folds or threads at once")
    group.add_argument(
        "--seed",
        type=_read_count,
        default=0,
        metavar="N",
        help="of all that is drawn (default: 0)",
    )


def add_search(parser: Any) -> None:
    """Add how the radius is chosen, and how the result is tested."""
    group = parser.add_argument_group("radius and test")
    group.add_argument(
        "--eps",
        type=_read_eps,
        metavar="EPS[,EPS]|auto",
        help="radius of the balls; auto: a quick guess; several: chosen by cross-validation "
        "(default: chosen from a grid by cross-validation)",
    )
    group.add_argument(
        "--grid",
        type=_read_size,
        default=20,
        metavar="N",
        help="radii to try (default: %(default)s)",
    )
    group.add_argument(
        "--cv",
        type=_read_folds,
        metavar="N",
        help="parts to validate in (default: 10, fewer for small classes)",
    )
    group.add_argument(
        "--rule",
        choices=RULES,
        default="1se",
        help="1se: fewest prototypes within one standard error of the best; best: lowest error "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--test-size",
        type=_read_share,
        default=0.2,
        metavar="SHARE",
        help="share of each class that is kept back to test the model on; 0 to choose "
        "prototypes from all cases (default: %(default)s)",
    )


def add_reading(group: Any) -> None:
    """Add how files are read."""
    group.add_argument(
        "--separator",
        type=_read_separator,
        metavar="TEXT",
        help="between columns (default: found)",
    )
    group.add_argument("--encoding", metavar="NAME", help="of the text (default: found)")


def add_skipping(group: Any) -> None:
    """Add what to do about images that cannot be read."""
    group.add_argument(
        "--skip-broken", action="store_true", help="leave out images that cannot be read"
    )


def _read_separator(text: str) -> str:
    """Return one character; the word tab stands for a tab."""
    named = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(named) != 1:
        raise argparse.ArgumentTypeError(f"must be one character, or tab, got {text!r}")
    return named


def _read_image_size(text: str) -> tuple[int, int]:
    """Return width and height."""
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(s.isdecimal() and 0 < int(s) <= 1024 for s in sides):
        raise argparse.ArgumentTypeError(f"must be 32 or 24x32, at most 1024, got {text!r}")
    return int(sides[0]), int(sides[-1])


def _read_numbers(text: str) -> list[float]:
    """Return numbers, not negative, that commas separate."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or several, got {text!r}") from None
    if not all(math.isfinite(number) and number >= 0.0 for number in numbers):
        raise argparse.ArgumentTypeError(f"must not be negative, got {text!r}")
    return numbers


def _read_eps(text: str) -> list[float] | str:
    """Return positive radii, or "auto"."""
    if text == "auto":
        return text
    if 0.0 in _read_numbers(text):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text!r}")
    return _read_numbers(text)


def _read_count(text: str) -> int:
    """Return a whole number, not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    return int(text)


def _read_size(text: str) -> int:
    """Return a whole number above 0."""
    if _read_count(text) == 0:
        raise argparse.ArgumentTypeError("must be 1 or more, got '0'")
    return _read_count(text)


def _read_candidates(text: str) -> Any:
    """Return names of generators, numbers or shares of candidates, one alone as it is."""
    parts = [_read_number(part) for part in text.split(",")]
    return parts[0] if len(parts) == 1 else parts


def _read_number(text: str) -> int | float | str:
    """Return a whole number or a share, or, if it is neither, the text."""
    if text.isdecimal():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _read_folds(text: str) -> int:
    """Return a number of parts, two or more."""
    if _read_count(text) < 2:
        raise argparse.ArgumentTypeError(f"must be 2 or more, got {text!r}")
    return _read_count(text)


def _read_positive(text: str) -> float:
    """Return one number above 0."""
    numbers = _read_numbers(text)
    if len(numbers) != 1 or numbers[0] == 0.0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return numbers[0]


def _read_share(text: str) -> float:
    """Return a share below one."""
    numbers = _read_numbers(text)
    if len(numbers) != 1 or numbers[0] >= 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, got {text!r}")
    return numbers[0]
