"""The options of ``protocover fit``, which mirror the estimators', and the values they take.

To be quick it imports nothing of the library; a test compares `SOLVER_NAMES` and
`PARAMETERS` with it.
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
# The option for each parameter of the estimators; None for what is of no use in a command.
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
    "cv": "--cv",
    "max_search_samples": "--max-search-samples",
    "sample_weight": "--weights",
    "n_jobs": "--n-jobs",
    "random_state": "--seed",
    "verbose": "--quiet",
    "rule": None,  # the default rule
    "scoring": None,  # errors are counted
    "error_score": None,  # nothing but that can fail
    "unlabeled": None,  # every case has a class
    "groups": None,  # folds are drawn by class
    "params": None,  # a splitter's, of which there is one
}


def add_columns(parser: Any) -> None:
    """Add what the columns of a table are."""
    group = parser.add_argument_group("tables")
    add_features(group)
    add_ignoring(group)


def add_features(group: Any) -> None:
    """Add which columns are what, and how they are read."""
    _add(group, "--target", "NAME", "column of the class (needed)")
    _add(group, "--id", "NAME", "column that names the rows")
    _add(group, "--weights", "NAME", "column of how much each row counts (default: one each)")
    _add(group, "--drop", "NAME", "leave a column out (repeat)", action="append", default=[])
    _add(
        group,
        "--feature-type",
        "NAME=TYPE",
        "type of a column (repeat): numeric, categorical, date, asymmetric (binary; shared "
        "absence is ignored), or ordered values such as low,medium,high (default: inferred)",
        action="append",
        default=[],
    )
    add_reading(group)


def add_images(parser: Any) -> None:
    """Add how images are read."""
    group = parser.add_argument_group("images")
    _add(
        group,
        "--image-size",
        "SIZE",
        "bring all images to 32 or 24x32 (width x height) pixels, say (default: as they "
        "are if small and all of one size, else 32 along the longer side)",
        type=_read_image_size,
    )
    group.add_argument(
        "--color",
        choices=("auto", "color", "gray"),
        default="auto",
        help="compare images in color or in gray (default: color if any image has it)",
    )
    add_skipping(group)
    add_vectors(group)


def add_method(parser: Any) -> None:
    """Add the parameters of the classifier."""
    group = parser.add_argument_group("method")
    add_distance(group)
    _add_selection(group)
    _add_flag(group, "--closed-ball", "a case at distance eps exactly is covered")
    _add(
        group,
        "--outlier-label",
        "LABEL",
        "answer for cases in no ball (default: the class of the nearest prototype)",
    )
    _add(group, "--n-jobs", "N", "folds or threads at once", type=int)
    _add(
        group, "--seed", "N", "of all that is drawn (default: 0)", type=whole_number(0), default=0
    )


def add_search(parser: Any) -> None:
    """Add how the radius is chosen, and how the result is tested."""
    group = parser.add_argument_group("radius and test")
    group.add_argument(
        "--radii",
        choices=("adaptive", "shared"),
        default="adaptive",
        help="own: a radius for each prototype, at most --eps; shared: one radius, --eps, for "
        "all (default: %(default)s)",
    )
    _add(
        group,
        "--eps",
        "EPS[,EPS]|auto|none",
        "largest radius allowed, none for no limit, or with --radii shared the radius; auto: a "
        "quick guess; several: chosen by cross-validation (default: chosen from a grid by "
        "cross-validation)",
        type=_read_eps,
    )
    about = "radii to try (default: 5 limits, with --radii shared 20)"
    _add(group, "--grid", "N", about, type=whole_number(1))
    about = "parts to validate in (default: 10, fewer for small classes)"
    _add(group, "--cv", "N", about, type=whole_number(2))
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
        "SHARE",
        "share of each class that is kept back to test the model on; 0 to choose "
        "prototypes from all cases (default: %(default)s)",
        type=_read_share,
        default=0.2,
    )


def add_reading(group: Any) -> None:
    """Add how files are read."""
    about = "between columns (default: found)"
    _add(group, "--separator", "TEXT", about, type=_read_separator)
    _add(group, "--encoding", "NAME", "of the text (default: found)")
    _add(group, "--sheet", "NAME", "of a spreadsheet (default: the first with cells)")
    _add(
        group,
        "--missing",
        "[NAME=]VALUE",
        "what stands for a missing value, in one column or all (repeat), such as --missing=-999",
        action="append",
        default=[],
    )
    group.add_argument(
        "--decimal", choices=(".", ","), help="decimal mark of numbers (default: found)"
    )


def add_ignoring(group: Any) -> None:
    """Add whether to go on in spite of what the check of a table finds."""
    _add_flag(group, "--ignore-warnings", "fit whatever the check of the table finds")


def add_skipping(group: Any) -> None:
    """Add what to do about images that cannot be read."""
    _add_flag(group, "--skip-broken", "leave out images that cannot be read")


def add_vectors(group: Any) -> None:
    """Add vectors beside images."""
    _add(
        group,
        "--features",
        "FILE",
        "compare images by vectors, not pixels: an array (.npy) with a row for each file in "
        "order of their names, or a Parquet file with a column 'file'",
        type=Path,
    )


def add_distance(group: Any) -> None:
    """Add by which distance cases are compared."""
    _add(
        group,
        "--metric",
        "NAME",
        "distance between cases: gower, euclidean, cityblock, cosine, tangent (images) and "
        "all others of SciPy (default: Euclidean for numbers and images, Gower's for mixed "
        "columns or missing values)",
        type=_read_metric,
    )
    _add_named(
        group,
        "--metric-param",
        "parameter of the metric (repeat), a number or JSON: p=3, 'w=[1,2,1]'",
    )
    group.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="bring columns to mean 0 and standard deviation 1 first (default: for tables, "
        "except with gower)",
    )


def _add_selection(group: Any) -> None:
    """Add how prototypes are selected, and from what."""
    _add(
        group,
        "--prototype-cost",
        "COST[,COST]",
        "cost of a prototype in uncovered cases; higher means fewer; several are tried "
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
        "1: every class has a prototype; 0: only those where one is worth its cost "
        "(default: %(default)s)",
        type=int,
        choices=(0, 1),
        default=1,
    )
    _add_flag(group, "--balance", "give all classes the same total weight")
    _add_flag(group, "--cross-class", "a case may become a prototype of another class")
    about = f"{', '.join(SOLVER_NAMES)} (default: %(default)s)"
    _add(group, "--solver", "NAME", about, choices=sorted(SOLVER_NAMES), default="auto")
    about = "for the solver (default: none)"
    _add(group, "--time-limit", "SECONDS", about, type=read_positive)
    _add_named(group, "--solver-option", "another option of the solver (repeat): max_nodes=1000")
    _add(
        group,
        "--candidates",
        "NAME[,NAME]",
        "what may be a prototype: train, kmeans, hull, or a number or share of cases to "
        "draw (default: train, or fewer beyond 100,000 cases)",
        type=_read_candidates,
    )


def _add(group: Any, name: str, metavar: str, about: str, **how: Any) -> None:
    """Add an option that takes a value."""
    group.add_argument(name, metavar=metavar, help=about, **how)


def _add_named(group: Any, name: str, about: str) -> None:
    """Add an option that takes values by name."""
    _add(group, name, "NAME=VALUE", about, type=_read_named, action="append", default=[])


def _add_flag(group: Any, name: str, about: str) -> None:
    """Add an option that is there or not."""
    group.add_argument(name, action="store_true", help=about)


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
    """Return positive radii, "auto" or "none"."""
    if text in ("auto", "none"):
        return text
    if 0.0 in _read_numbers(text):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text!r}")
    return _read_numbers(text)


def read_positive(text: str) -> float:
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


def whole_number(least: int) -> Callable[[str], int]:
    """Return a function that reads a whole number, so large or larger."""

    def read(text: str) -> int:
        if not text.isdecimal():
            raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more, got {text!r}")
        return int(text)

    return read


def _read_search_samples(text: str) -> int | None:
    """Return a number of samples, None for all."""
    return None if text == "all" else whole_number(2)(text)


def _read_metric(text: str) -> str:
    """Return the name of a metric."""
    # Only who asks for one waits for the library to be asked which there are.
    from ..dissimilarity._metric import METRIC_NAMES
    from .estimator import OWN_METRICS

    known = sorted({*METRIC_NAMES, *OWN_METRICS, "euclidean", "sqeuclidean", "cosine"})
    if text not in known:
        raise argparse.ArgumentTypeError(f"must be one of {', '.join(known)}, got {text!r}")
    return text


def _read_named(text: str) -> tuple[str, Any]:
    """Return a name and its value: JSON, such as a number or a list, or else the text."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as p=3, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _read_budget(text: str) -> int | dict[str, int]:
    """Return a number of prototypes, or numbers of them by class."""
    if "=" not in text:
        return whole_number(1)(text)
    budgets: dict[str, int] = {}
    for part in text.split(","):
        label, separator, number = part.rpartition("=")
        if not separator or label in budgets:
            raise argparse.ArgumentTypeError(
                f"must be a number, or CLASS=N for some classes, each once, got {text!r}"
            )
        budgets[label] = whole_number(0)(number)
    return budgets


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
