"""Which distance to measure: the one asked for, or the one that suits the columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..dissimilarity import DANN, Gower, KernelDistance, RankDissimilarity, TangentDistance
from .cases import Cases
from .columns import type_of
from .errors import UsageError
from .labelled import count_kinds

__all__ = ["OWN_METRICS", "Distance", "choose_distance"]

_FACTORIES: dict[str, Callable[[], Any]] = {
    "dann": DANN,
    "rank": RankDissimilarity,
    "rbf": lambda: KernelDistance("rbf"),
}
OWN_METRICS = ("gower", "tangent", *_FACTORIES)


@dataclass(frozen=True)
class Distance:
    """A dissimilarity and what is done to the columns before.

    Parameters
    ----------
    metric : str or dissimilarity
        As the estimators take it.
    scaled : bool
        Whether columns are first brought to mean 0 and standard deviation 1.
    words : str
        What it is, for the user.
    reason : str
        Why it was taken.
    """

    metric: Any
    scaled: bool
    words: str
    reason: str

    @property
    def of_numbers(self) -> bool:
        """Whether it is between rows of numbers rather than of mixed columns."""
        return not isinstance(self.metric, Gower)


def choose_distance(
    cases: Cases, *, name: str | None, scaled: bool | None, asymmetric: list[str]
) -> Distance:
    """Choose the distance between cases.

    Parameters
    ----------
    cases : Cases
        Whose columns decide, unless the options do.
    name : str or None
        The metric asked for.
    scaled : bool or None
        Whether to standardise columns; None for as it suits.
    asymmetric : list of str
        Columns in which two absences tell nothing.
    """
    if cases.layout is not None:
        return _between_images(cases, name, scaled)
    stores = {type_of(cases.X[column]).stores for column in cases.X.columns}
    missing = bool(cases.X.isna().to_numpy().any())
    if name == "tangent":
        raise UsageError("--metric tangent is for images; give a folder of them")
    if name == "gower" or (name is None and (stores != {"numbers"} or missing or asymmetric)):
        reason = "as asked for" if name else _why_gower(cases, stores, missing)
        kinds = dict.fromkeys(asymmetric, "asymmetric")
        return Distance(Gower(kinds=kinds or None), False, "Gower's", reason)
    _check_numbers(cases, name or "euclidean", missing)
    reason = "as asked for" if name else "all columns are numbers"
    standardised = scaled is not False
    words = f"{'standardised ' if standardised else ''}{_title(name or 'euclidean')}"
    return Distance(_make(name or "euclidean"), standardised, words, reason)


def _between_images(cases: Cases, name: str | None, scaled: bool | None) -> Distance:
    """Choose the distance between images, whose pixels have a common scale."""
    layout = cases.layout
    assert layout is not None
    reason = "as asked for" if name else "the usual one for pixels"
    if name == "gower":
        raise UsageError("--metric gower is for tables; for images take euclidean or tangent")
    if name == "tangent":
        if layout.colour:
            raise UsageError("--metric tangent is for grey images; add --colour grey")
        metric = TangentDistance((layout.height, layout.width))
        return Distance(metric, False, "tangent distance", reason)
    words = f"{'standardised ' if scaled else ''}{_title(name or 'euclidean')}"
    return Distance(_make(name or "euclidean"), bool(scaled), words, reason)


def _why_gower(cases: Cases, stores: set[str], missing: bool) -> str:
    """Say why Gower's distance suits a table."""
    if stores != {"numbers"}:
        return f"columns are mixed: {count_kinds(cases.X)}"
    return "values are missing" if missing else "as --kind asks for"


def _check_numbers(cases: Cases, name: str, missing: bool) -> None:
    """Refuse columns that a metric between rows of numbers has no use for."""
    wrong = [
        str(column)
        for column in cases.X.columns
        if type_of(cases.X[column]).stores not in ("numbers", "booleans")
    ]
    if wrong:
        raise UsageError(
            f"--metric {name} needs numbers, but column {wrong[0]!r} holds none; use --metric "
            f"gower, or leave it out with --drop"
        )
    if missing and name != "nan_euclidean":
        raise UsageError(
            f"--metric {name} needs a value in every cell, and some are missing; use --metric "
            "gower, or fill them in"
        )


def _make(name: str) -> Any:
    """Return a metric by its name."""
    return _FACTORIES[name]() if name in _FACTORIES else name


def _title(name: str) -> str:
    """Return the name of a metric as written in a sentence."""
    return {"euclidean": "Euclidean", "dann": "DANN"}.get(name, name)
