"""What a report says, as plain data: numbers, strings, lists, and nothing to compute."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

__all__ = [
    "Cases",
    "ClassSummary",
    "ColumnSummary",
    "ErrorEstimate",
    "MapSummary",
    "PathSummary",
    "PictureSheets",
    "PrototypeSummary",
    "Quality",
    "Summary",
    "Suspect",
    "Uncovered",
    "plain",
]


@dataclass(frozen=True)
class ErrorEstimate:
    """Share of unseen cases that the model gets wrong, or another score of them.

    Parameters
    ----------
    kind : {"held-out", "cross-validated"}
        Where the unseen cases come from.
    name : str
        "error", or the name of the score.
    value : float
        The estimate.
    low, high : float
        For held-out cases the 95 % interval, otherwise one standard error either side.
    n_cases : int
        How many cases it rests on.
    nearest_error : float or None
        The same of 1-NN with all training cases, where it is known.
    """

    kind: str
    name: str
    value: float
    low: float
    high: float
    n_cases: int
    nearest_error: float | None


@dataclass(frozen=True)
class Quality:
    """How good the selection is.

    Parameters
    ----------
    n_points, n_prototypes : int
        Training cases and prototypes.
    n_covered : int
        Cases in a ball of their own class.
    n_wrong : int
        Memberships of cases in balls of other classes.
    error : ErrorEstimate or None
        None where nothing unseen was at hand.
    objective : float
        Uncovered plus wrongly covered plus the cost of the prototypes.
    lower_bound : float or None
        None where nothing is proved.
    gap : float or None
        Largest share of the objective that a better choice could save.
    certificate : str
        As in :class:`protocover.PVMClassifier`.
    verdict : str
        The last three in plain words.
    """

    n_points: int
    n_prototypes: int
    n_covered: int
    n_wrong: int
    error: ErrorEstimate | None
    objective: float
    lower_bound: float | None
    gap: float | None
    certificate: str
    verdict: str


@dataclass(frozen=True)
class ClassSummary:
    """One class: its label, cases, prototypes, and its cases covered rightly and wrongly."""

    label: str
    points: int
    prototypes: int
    covered: int
    wrongly_covered: int


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table that is shown.

    Parameters
    ----------
    name : str
        What it is called.
    kind : {"number", "date", "label", "text"}
        What it holds.
    values : list
        A value for each case: floats (dates in milliseconds), places in `categories`, or
        strings; None where missing.
    categories : list of str
        The labels of a "label" column.
    low, high : float or None
        Extent of numbers and dates.
    ranges : list of list of float
        For each class the 5, 25, 50, 75 and 95 % quantiles of numbers; empty where the
        class has no value.
    shares : list of list of float
        For each class the share of each category.
    """

    name: str
    kind: str
    values: list[Any]
    categories: list[str]
    low: float | None
    high: float | None
    ranges: list[list[float]]
    shares: list[list[float]]


@dataclass(frozen=True)
class PictureSheets:
    """Images of equal size, row by row on sheets.

    Parameters
    ----------
    width, height : int
        Of one image, in pixels.
    across, per_sheet : int
        Images in a row of a sheet, and on a sheet.
    count : int
        How many there are: those of the first cases. Later ones have none.
    sheets : list of str
        PNG files in base64.
    """

    width: int
    height: int
    across: int
    per_sheet: int
    count: int
    sheets: list[str]


@dataclass(frozen=True)
class Cases:
    """The cases that are mentioned, column by column.

    Parameters
    ----------
    rows : list of int
        Row of each in the training data, -1 for a prototype that is no training case.
    names : list of str
        What each is called.
    classes : list of int
        Number of its class, -1 for a prototype that is no training case.
    columns : list of ColumnSummary
        Their values.
    n_columns : int
        How many columns the data has, of which the most telling may be shown alone.
    pictures : PictureSheets or None
        Their images.
    """

    rows: list[int]
    names: list[str]
    classes: list[int]
    columns: list[ColumnSummary]
    n_columns: int
    pictures: PictureSheets | None


@dataclass(frozen=True)
class PrototypeSummary:
    """One prototype.

    Parameters
    ----------
    case : int
        Its place among the cases.
    source : str
        Where it comes from, "train" for a training case.
    class_ : int
        Number of the class it stands for.
    covers, newly, wrong : int
        Cases of its class in its ball, those that no earlier one covers, and cases of
        other classes.
    rival : int
        The nearest prototype of another class, -1 if there is none.
    rival_distance : float or None
        Its distance.
    members : list of int
        The cases in its ball, nearest first; the nearest of them if they are too many.
    distances : list of float
        Their distances.
    telling : list of int
        Columns, the most telling first.
    """

    case: int
    source: str
    class_: int
    covers: int
    newly: int
    wrong: int
    rival: int
    rival_distance: float | None
    members: list[int]
    distances: list[float]
    telling: list[int]


@dataclass(frozen=True)
class MapSummary:
    """Places of the first prototypes on a plane, and the stress of that map."""

    x: list[float]
    y: list[float]
    stress: float


@dataclass(frozen=True)
class PathSummary:
    """Cross-validated error, its standard error and the prototypes against the radius.

    Parameters
    ----------
    name : str
        "error", or the name of the score.
    eps : list of float
        Radii, rising.
    error, se : list of float or None
        Mean over the folds and its standard error; None where there is no score.
    prototypes : list of float
        Mean number of prototypes.
    chosen : int
        Place of the chosen radius.
    rule : {"1se", "best"}
        How it was chosen.
    limit : float
        How bad a score might be by that rule.
    most : int or None
        The largest number of prototypes allowed.
    n_splits : int
        Number of folds.
    """

    name: str
    eps: list[float]
    error: list[float | None]
    se: list[float | None]
    prototypes: list[float]
    chosen: int
    rule: str
    limit: float
    most: int | None
    n_splits: int


@dataclass(frozen=True)
class Suspect:
    """A case whose label is suspect.

    Parameters
    ----------
    case : int
        Its place among the cases.
    label, suggested : int
        Numbers of its class and of the class that its neighbourhood suggests.
    score : float
        From 0 to 1; above 0.5 the suggested class is nearer.
    reason : str
        Why it is here.
    prototype : int
        The nearest prototype of the suggested class, -1 if there is none.
    """

    case: int
    label: int
    suggested: int
    score: float
    reason: str
    prototype: int


@dataclass(frozen=True)
class Uncovered:
    """A case in no ball of its class: nearest prototype of it, distance, balls of others."""

    case: int
    prototype: int
    distance: float | None
    others: int


@dataclass(frozen=True)
class Summary:
    """All that a report says.

    Parameters
    ----------
    title, lead : str
        Heading and first sentence.
    settings : list of (str, str)
        What was asked, in words.
    eps : float
        The radius.
    quality : Quality
        How good the selection is.
    classes : list of ClassSummary
        The classes, sorted by label.
    confusion : list of list of int
        Cases of a class (row) in a ball of a class (column).
    prototypes : list of PrototypeSummary
        In order of selection.
    cases : Cases
        Everything that is mentioned.
    map : MapSummary or None
        None for fewer than two prototypes.
    path : PathSummary or None
        None where the radius was not chosen by cross-validation.
    suspects : list of Suspect
        The most suspect first.
    n_suspects : int
        How many there are in all.
    uncovered : list of Uncovered
        The farthest first.
    n_uncovered : int
        How many there are in all.
    version : str
        Of the package.
    """

    title: str
    lead: str
    settings: list[tuple[str, str]]
    eps: float
    quality: Quality
    classes: list[ClassSummary]
    confusion: list[list[int]]
    prototypes: list[PrototypeSummary]
    cases: Cases
    map: MapSummary | None
    path: PathSummary | None
    suspects: list[Suspect]
    n_suspects: int
    uncovered: list[Uncovered]
    n_uncovered: int
    version: str


def plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict, one level deep: what ``json.dumps(default=)`` asks for."""
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"cannot put a {type(value).__name__} into a report")
    return {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value)}
