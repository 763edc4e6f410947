"""Options of ``protocover fit``, ``cover`` and the other commands, and the values they accept.

The module imports nothing of the library, so that ``--help`` is quick; a test compares
`SOLVER_NAMES` and `PARAMETERS` with the library.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOLVER_NAMES = (
    "auto",
    "greedy",
    "ratio-greedy",
    "local-search",
    "lp-rounding",
    "exact",
)
# The option for each parameter of the estimators; None if a command does not need it.
PARAMETERS: dict[str, str | None] = {
    "eps": "--eps",
    "n_eps": "--grid",
    "radii": "--radii",
    "metric": "--metric",
    "metric_params": "--metric-param",
    "candidates": "--candidates",
    "cross_class": "--cross-class",
    "solver": "--solver",
    "solver_options": "--solver-option",
    "prototype_cost": "--prototype-cost",
    "prototype_costs": "--prototype-cost",
    "max_prototypes": "--max-prototypes",
    "min_per_class": "--min-per-class",
    "class_weight": "--balance",
    "closed_ball": "--closed-ball",
    "outlier_label": "--outlier-label",
    "decision": "--probabilities",
    "feature_weights": None,  # changes the rule of --probabilities only
    "cv": "--cv",
    "max_search_samples": "--max-search-samples",
    "sample_weight": "--weights",
    "n_jobs": "--n-jobs",
    "random_state": "--seed",
    "verbose": "--quiet",
    "rule": None,  # the default rule
    "scoring": None,  # the error rate
    "error_score": None,  # has no effect with this scoring
    "unlabeled": None,  # every case has a class
    "groups": None,  # folds are stratified
    "params": None,  # of splitters, of which there is one
}


def add_fit_options(parser: Any) -> None:
    """Add the options of ``protocover fit``."""
    tables = parser.add_argument_group("tables")
    add_features(tables)
    _add_ignoring(tables)
    _add_images(parser)
    method = parser.add_argument_group("method")
    _add_distance(method)
    _add_selection(method)
    _add_solver(method)
    _add_named(method, "--solver-option", "another option of the solver (repeat): max_nodes=1000")
    _add(
        method,
        "--candidates",
        "NAME[,NAME]",
        "candidates for prototypes: train, kmeans, hull, or a number or fraction of cases to "
        "draw (default: train; a random sample above 100,000 cases)",
        type=_read_candidates,
    )
    _add_closed_ball(method)
    _add(
        method,
        "--outlier-label",
        "LABEL",
        "label for cases outside every neighborhood (default: the class of the nearest prototype)",
    )
    _add(method, "--n-jobs", "N", "number of folds or threads to run in parallel", type=int)
    _add(method, "--seed", "N", "random seed (default: %(default)s)", type=_integer(0), default=0)
    _add_search(parser)


def add_cover_options(parser: Any) -> None:
    """Add the options of ``protocover cover``."""
    group = parser.add_argument_group("goal (one of the first three, or none)")
    one = group.add_mutually_exclusive_group()
    about = "choose N cases that leave the fewest uncovered"
    _add(one, "--max-representatives", "N", about, type=_integer(1))
    about = "smallest set that covers at least this fraction of the cases, e.g. 0.95"
    _add(one, "--coverage", "FRACTION", about, type=_read_coverage)
    about = "cost of a representative in uncovered cases; higher means fewer"
    _add(one, "--cost", "CASES", about, type=_read_cost)
    about = (
        "maximum distance from a case to its representative (default: auto, the smallest radius "
        "at which N representatives, or as many as the square root of the number of cases, cover "
        "FRACTION, or 95 %%)"
    )
    _add(group, "--eps", "EPS|auto", about, type=_read_radius, default="auto")
    about = "cases that must be chosen, by their --id, image name, or row number from 1 (repeat)"
    _add(group, "--must-include", "NAME[,NAME]", about, action="append", default=[])
    group = parser.add_argument_group("pairs")
    _add_flag(group, "--pairs", "DATA lists near pairs in columns i, j, distance (Parquet)")
    about = "i and j are row numbers from 0 (default: identifiers, found in the list)"
    _add(group, "--n-samples", "N", about, type=_integer(1))
    _add_flag(group, "--directed", "each direction of a pair is listed (default: only one)")
    _add_flag(group, "--similarity", "the column distance holds 1 - distance")
    group = parser.add_argument_group("tables")
    _add(group, "--id", "NAME", "column that names the rows")
    _add(group, "--drop", "NAME", "leave out a column (repeat)", action="append", default=[])
    _add(group, "--weights", "NAME", "column of sample weights (default: 1 for each row)")
    about = "column with the cost of each row as a representative (default: 1)"
    _add(group, "--candidate-cost", "NAME", about)
    about = "type of a column, as in fit (repeat)"
    _add(group, "--feature-type", "NAME=TYPE", about, action="append", default=[])
    add_reading(group)
    _add_ignoring(group)
    _add_images(parser)
    group = parser.add_argument_group("method")
    _add_distance(group)
    _add_solver(group)
    _add_closed_ball(group)
    _add(group, "--n-jobs", "N", "number of threads to run in parallel", type=int)


def add_features(group: Any) -> None:
    """Add the roles and types of columns, and how they are read."""
    _add(group, "--target", "NAME", "column of the class (required)")
    _add(group, "--id", "NAME", "column that names the rows")
    _add(group, "--weights", "NAME", "column of sample weights (default: 1 for each row)")
    _add(group, "--drop", "NAME", "leave out a column (repeat)", action="append", default=[])
    _add(
        group,
        "--feature-type",
        "NAME=TYPE",
        "type of a column (repeat): numeric, categorical, date, asymmetric (binary; joint "
        "absences are ignored), or ordered values such as low,medium,high (default: inferred)",
        action="append",
        default=[],
    )
    add_reading(group)


def add_reading(group: Any) -> None:
    """Add how files are read."""
    about = "column separator (default: detected)"
    _add(group, "--separator", "TEXT", about, type=_read_separator)
    _add(group, "--encoding", "NAME", "text encoding (default: detected)")
    _add(group, "--sheet", "NAME", "sheet of a spreadsheet (default: the first non-empty one)")
    _add(
        group,
        "--missing",
        "[NAME=]VALUE",
        "value that means missing, in one column or all (repeat), e.g. --missing=-999",
        action="append",
        default=[],
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        metavar=".|,",
        help="decimal mark of numbers (default: detected)",
    )


def add_image_reading(group: Any) -> None:
    """Add how images are read for a fitted model."""
    _add_flag(group, "--skip-broken", "skip images that cannot be read")
    _add(
        group,
        "--features",
        "FILE",
        "compare images by these vectors, not by pixels: an array (.npy) with one row per file, "
        "in order of the file names, or a Parquet file with a column 'file'",
        type=Path,
    )


def _add_images(parser: Any) -> None:
    """Add how a folder of images is read."""
    group = parser.add_argument_group("images")
    _add(
        group,
        "--image-size",
        "SIZE",
        "resize all images, e.g. to 32 or 24x32 (width x height) pixels (default: unchanged if "
        "all have the same small size, otherwise 32 along the longer side)",
        type=_read_image_size,
    )
    group.add_argument(
        "--color",
        choices=("auto", "color", "gray"),
        default="auto",
        help="compare images in color or in gray (default: color if any image has color)",
    )
    add_image_reading(group)


def _add_ignoring(group: Any) -> None:
    """Add whether to continue despite problems in a table."""
    _add_flag(group, "--ignore-warnings", "continue even if the table check finds problems")


def _add_closed_ball(group: Any) -> None:
    """Add whether neighborhoods contain their boundary."""
    _add_flag(group, "--closed-ball", "also cover cases at a distance of exactly eps")


def _add_distance(group: Any) -> None:
    """Add the distance between cases."""
    _add(
        group,
        "--metric",
        "NAME",
        "distance between cases: gower, euclidean, cityblock, cosine, tangent (images) or any "
        "other metric of SciPy (default: Euclidean for numbers and images, Gower's for mixed "
        "columns or missing values)",
        type=_read_metric,
    )
    about = "parameter of the metric (repeat), a number or JSON: p=3, 'w=[1,2,1]'"
    _add_named(group, "--metric-param", about)
    group.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="standardize columns to mean 0 and standard deviation 1 (default: for tables, "
        "except with gower)",
    )


def _add_selection(group: Any) -> None:
    """Add how many prototypes there are per class."""
    _add(
        group,
        "--prototype-cost",
        "COST[,COST]",
        "cost of a prototype in uncovered cases; higher means fewer; several values are compared "
        "by cross-validation (default: 1, with --radii shared 1/n)",
        type=_read_numbers,
    )
    _add(
        group,
        "--max-prototypes",
        "N|CLASS=N[,CLASS=N]",
        "maximum number of prototypes in total, or per class (default: no limit)",
        type=_read_budget,
    )
    _add(
        group,
        "--min-per-class",
        "0|1",
        "1: at least one prototype per class; 0: a class may have none if none is worth its cost "
        "(default: %(default)s)",
        type=int,
        choices=(0, 1),
        default=1,
    )
    _add_flag(group, "--balance", "give all classes the same total weight")
    _add_flag(group, "--cross-class", "allow a case to become a prototype of another class")
    about = "predict by class probabilities that are fitted to the distances to the prototypes"
    _add_flag(group, "--probabilities", about)


def _add_solver(group: Any) -> None:
    """Add the solver and its time limit."""
    about = f"{', '.join(SOLVER_NAMES)} (default: %(default)s)"
    _add(group, "--solver", "NAME", about, choices=sorted(SOLVER_NAMES), default="auto")
    about = "time limit of the solver (default: none)"
    _add(group, "--time-limit", "SECONDS", about, type=_read_positive)


def _add_search(parser: Any) -> None:
    """Add how the radius is chosen, and how the result is tested."""
    group = parser.add_argument_group("radius and test")
    group.add_argument(
        "--radii",
        choices=("adaptive", "shared"),
        default="adaptive",
        help="adaptive: each prototype has its own radius, at most --eps; shared: all have the "
        "radius --eps (default: %(default)s)",
    )
    _add(
        group,
        "--eps",
        "EPS[,EPS]|auto|none",
        "maximum radius (none: no limit), or the radius with --radii shared; auto: a quick "
        "guess; several values are compared by cross-validation (default: a grid, compared by "
        "cross-validation)",
        type=_read_eps,
    )
    about = "number of radii to try (default: 5, with --radii shared 20)"
    _add(group, "--grid", "N", about, type=_integer(1))
    about = "number of cross-validation folds (default: 10, fewer for small classes)"
    _add(group, "--cv", "N", about, type=_integer(2))
    _add(
        group,
        "--max-search-samples",
        "N|all",
        "with more cases, search on a stratified sample of N and fit on all "
        "(default: %(default)s)",
        type=_read_search_samples,
        default=5000,
    )
    _add(
        group,
        "--test-size",
        "FRACTION",
        "fraction of each class to hold out for testing; 0 chooses prototypes from all cases "
        "(default: %(default)s)",
        type=_read_fraction,
        default=0.2,
    )


def _add(group: Any, name: str, metavar: str, about: str, **how: Any) -> None:
    """Add an option that takes a value."""
    group.add_argument(name, metavar=metavar, help=about, **how)


def _add_named(group: Any, name: str, about: str) -> None:
    """Add an option that takes values by name."""
    _add(group, name, "NAME=VALUE", about, type=_read_named, action="append", default=[])


def _add_flag(group: Any, name: str, about: str) -> None:
    """Add an option without a value."""
    group.add_argument(name, action="store_true", help=about)


def _read_separator(text: str) -> str:
    """Return one character; the word tab means a tab."""
    named = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(named) != 1:
        raise argparse.ArgumentTypeError(f"must be one character, or tab, got {text!r}")
    return named


def _read_image_size(text: str) -> tuple[int, int]:
    """Return width and height."""
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(s.isdecimal() and 0 < int(s) <= 1024 for s in sides):
        raise argparse.ArgumentTypeError(
            f"must be a size such as 32 or 24x32, at most 1024, got {text!r}"
        )
    return int(sides[0]), int(sides[-1])


def _number(text: str) -> float:
    """Return a number, NaN if the text is not one."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _read_numbers(text: str) -> list[float]:
    """Return non-negative numbers separated by commas."""
    numbers = [_number(part) for part in text.split(",")]
    if any(map(math.isnan, numbers)):
        raise argparse.ArgumentTypeError(f"must be a number or several, got {text!r}")
    if not all(0.0 <= number < math.inf for number in numbers):
        raise argparse.ArgumentTypeError(f"must be non-negative, got {text!r}")
    return numbers


def _read_eps(text: str) -> list[float] | str:
    """Return positive radii, "auto" or "none"."""
    if text in ("auto", "none"):
        return text
    numbers = _read_numbers(text)
    if 0.0 in numbers:
        raise argparse.ArgumentTypeError(f"must be positive, got {text!r}")
    return numbers


def _read_radius(text: str) -> float | str:
    """Return a positive radius or "auto"."""
    return text if text == "auto" else _read_positive(text)


def _read_positive(text: str) -> float:
    """Return one positive number."""
    if not 0.0 < _number(text) < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text!r}")
    return float(text)


def _read_fraction(text: str) -> float:
    """Return a fraction below 1."""
    if not 0.0 <= _number(text) < 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, got {text!r}")
    return float(text)


def _read_coverage(text: str) -> float:
    """Return a fraction above 0, at most 1."""
    if not 0.0 < _number(text) <= 1.0:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1, got {text!r}")
    return float(text)


def _read_cost(text: str) -> float:
    """Return one non-negative number."""
    if not 0.0 <= _number(text) < math.inf:
        raise argparse.ArgumentTypeError(f"must be a non-negative number, got {text!r}")
    return float(text)


def _integer(least: int) -> Callable[[str], int]:
    """Return a function that reads an integer of at least `least`."""

    def read(text: str) -> int:
        if not text.isdecimal():
            raise argparse.ArgumentTypeError(f"must be an integer, got {text!r}")
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {text!r}")
        return int(text)

    return read


def _read_search_samples(text: str) -> int | None:
    """Return a number of samples, None for all."""
    return None if text == "all" else _integer(2)(text)


def _read_metric(text: str) -> str:
    """Return the name of a metric."""
    # Imported only if a metric is given, to keep everything else quick.
    from ..dissimilarity._metric import METRIC_NAMES
    from .estimator import OWN_METRICS

    known = sorted({*METRIC_NAMES, *OWN_METRICS, "euclidean", "sqeuclidean", "cosine"})
    if text not in known:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(known)}, got {text!r}")
    return text


def _read_named(text: str) -> tuple[str, Any]:
    """Return a name and its value: JSON, such as a number or a list, otherwise the text."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as p=3, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _read_budget(text: str) -> int | dict[str, int]:
    """Return a number of prototypes in total, or per class."""
    if "=" not in text:
        return _integer(1)(text)
    budgets: dict[str, int] = {}
    for part in text.split(","):
        label, separator, number = part.rpartition("=")
        if not separator or label in budgets:
            raise argparse.ArgumentTypeError(
                f"must be a number, or CLASS=N with each class at most once, got {text!r}"
            )
        budgets[label] = _integer(0)(number)
    return budgets


def _read_candidates(text: str) -> Any:
    """Return names of generators, numbers or fractions of candidates; a single one as it is."""
    parts = [_read_candidate(part) for part in text.split(",")]
    return parts[0] if len(parts) == 1 else parts


def _read_candidate(text: str) -> int | float | str:
    """Return an integer, a fraction, or the text if it is neither."""
    if text.isdecimal():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text
