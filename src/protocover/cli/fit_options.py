"""The options of ``protocover fit``, which mirror the parameters of the estimators."""

from __future__ import annotations

import argparse
from typing import Any

from ..dissimilarity.metric import METRIC_NAMES
from ..estimators.search.standard_error import RULES
from ..solvers import SOLVERS
from .metrics import OWN_METRICS
from .values import (
    read_candidates,
    read_count,
    read_eps,
    read_folds,
    read_image_size,
    read_numbers,
    read_positive,
    read_separator,
    read_share,
    read_size,
)

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
        type=read_image_size,
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
        type=read_numbers,
        metavar="COST[,COST]",
        help="cost of a prototype in uncovered cases; higher means fewer; several are tried "
        "by cross-validation (default: 1/n)",
    )
    group.add_argument(
        "--n-prototypes", type=read_size, metavar="N", help="at most so many (default: no limit)"
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
        type=read_positive,
        metavar="SECONDS",
        help="for the solver (default: none)",
    )
    group.add_argument(
        "--candidates",
        type=read_candidates,
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
        "--seed", type=read_count, default=0, metavar="N", help="of all that is drawn (default: 0)"
    )


def add_search(parser: Any) -> None:
    """Add how the radius is chosen, and how the result is tested."""
    group = parser.add_argument_group("radius and test")
    group.add_argument(
        "--eps",
        type=read_eps,
        metavar="EPS[,EPS]|auto",
        help="radius of the balls; auto: a quick guess; several: chosen by cross-validation "
        "(default: chosen from a grid by cross-validation)",
    )
    group.add_argument(
        "--grid",
        type=read_size,
        default=20,
        metavar="N",
        help="radii to try (default: %(default)s)",
    )
    group.add_argument(
        "--cv",
        type=read_folds,
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
        type=read_share,
        default=0.2,
        metavar="SHARE",
        help="share of each class that is kept back to test the model on; 0 to choose "
        "prototypes from all cases (default: %(default)s)",
    )


def add_reading(group: Any) -> None:
    """Add how files are read."""
    group.add_argument(
        "--separator", type=read_separator, metavar="TEXT", help="between columns (default: found)"
    )
    group.add_argument("--encoding", metavar="NAME", help="of the text (default: found)")


def add_skipping(group: Any) -> None:
    """Add what to do about images that cannot be read."""
    group.add_argument(
        "--skip-broken", action="store_true", help="leave out images that cannot be read"
    )
