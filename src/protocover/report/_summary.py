"""The data of a report: numbers, strings, lists and error figures."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from .._inspection.evaluation import Evaluation


@dataclass(frozen=True)
class ErrorEstimate:
    """Error rate, or another score, on cases that the model was not fitted on."""

    kind: str  # "held-out" or "cross-validated"
    name: str  # "error", or the name of the score
    value: float
    low: float  # of the 95 % interval for held-out cases, else one standard error below
    high: float
    n_cases: int
    nearest_error: float | None  # of 1-NN with all training cases, if known
    majority: str | None = None  # the most frequent class of the training cases
    baseline: float | None = None  # accuracy of always predicting it, None for other scores
    evaluation: Evaluation | None = None  # all figures, if every prediction is known


@dataclass(frozen=True)
class Quality:
    """How good the selection is."""

    n_points: int
    n_prototypes: int
    n_covered: int  # cases within the radius of a prototype of their own class
    n_wrong: int  # (case, prototype) pairs of different classes within the radius
    error: ErrorEstimate | None  # None if it was not measured
    objective: float  # uncovered plus miscovered plus the cost of the prototypes
    lower_bound: float | None  # None if nothing is proved
    gap: float | None  # relative optimality gap
    certificate: str  # as in PVMClassifier
    verdict: str  # bound and certificate in plain words


@dataclass(frozen=True)
class ClassSummary:
    """Label and counts of one class."""

    label: str
    points: int
    prototypes: int
    covered: int
    wrongly_covered: int


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table that is shown."""

    name: str
    kind: str  # "number", "date", "label" or "text"
    # One per case: floats (dates in milliseconds), indices of categories, or strings; None if
    # missing.
    values: list[Any]
    categories: list[str] = field(default_factory=list)  # of a "label" column
    low: float | None = None  # of numbers and dates
    high: float | None = None
    # The 5, 25, 50, 75 and 95 % quantiles of the numbers per class, empty without values.
    ranges: list[list[float]] = field(default_factory=list)
    shares: list[list[float]] = field(default_factory=list)  # per class and category


@dataclass(frozen=True)
class PictureSheets:
    """Images of equal size, row by row on sheets."""

    width: int  # of one image, in pixels
    height: int
    across: int  # images per row of a sheet
    per_sheet: int
    count: int  # images of the first cases; later cases have none
    sheets: list[str]  # PNG files in base64
    is_reduced: bool = False  # to fewer pixels, to keep the page small


@dataclass(frozen=True)
class Cases:
    """All cases on the page, column by column."""

    rows: list[int]  # rows of the training data, -1 for other cases
    names: list[str]
    classes: list[int]  # -1 if the class is not known
    columns: list[ColumnSummary]
    n_columns: int  # of the data; the page may show only some of them
    pictures: PictureSheets | None


@dataclass(frozen=True)
class PrototypeSummary:
    """One prototype."""

    case: int
    source: str  # "train" for a training case
    class_: int
    radius: float
    covers: int  # cases of its class within its radius
    newly: int  # those that no earlier prototype covers
    wrong: int  # cases of other classes within its radius
    # The nearest prototype of another class, measured in its radii if these differ; -1 if there
    # is none.
    nearest_other: int
    nearest_other_distance: float | None
    members: list[int]  # cases within its radius, nearest first, cut if there are too many
    distances: list[float]  # of the members
    top_columns: list[int]  # columns, the most characteristic first


@dataclass(frozen=True)
class MapSummary:
    """Coordinates of the first prototypes in the plane, and the stress of this map."""

    x: list[float]
    y: list[float]
    stress: float


@dataclass(frozen=True)
class PathSummary:
    """Cross-validated score, its standard error and the prototypes against radius or cost."""

    name: str  # "error", or the name of the score
    parameter: str  # "radius", or "cost" of a prototype if each has its own radius
    eps: list[float]  # its values, in ascending order
    error: list[float | None]  # mean over the folds, None if there is no score
    se: list[float | None]  # its standard error
    prototypes: list[float]  # mean over the folds
    chosen: int
    rule: str  # "1se", "few" or "best"
    limit: float  # the worst score that the rule accepts
    most: int | None  # the largest number of prototypes allowed
    n_splits: int


@dataclass(frozen=True)
class Suspect:
    """A case whose label may be wrong."""

    case: int
    label: int  # its class
    suggested: int  # the class that its neighbourhood suggests
    score: float  # from 0 to 1; above 0.5 the suggested class is nearer
    reason: str
    prototype: int  # the nearest of the suggested class, -1 if there is none


@dataclass(frozen=True)
class FarCase:
    """A case and its nearest prototype of the same class, measured in radii if these differ."""

    case: int
    prototype: int
    distance: float | None
    others: int | None = None  # prototypes of other classes that cover it; None in a cover


@dataclass(frozen=True)
class Figure:
    """A figure for statisticians, and a sentence that explains it."""

    name: str
    value: str
    about: str


@dataclass(frozen=True)
class Side:
    """One of the two prototypes that a case is compared with."""

    prototype: int
    distance: float
    relative: float | None  # the distance in radii of the prototype, None for a radius of 0
    inside: bool  # whether the prototype covers the case
    # Contribution of each column of the comparison to the distance, or to its square.
    terms: list[float]
    rest: float  # of all other columns together


@dataclass(frozen=True)
class ClassProbability:
    """The probability of a class, and the prototypes that contribute most to it."""

    class_: int
    probability: float
    prototypes: list[int]  # the largest contribution first
    parts: list[float]


@dataclass(frozen=True)
class Comparison:
    """A case compared with the deciding prototype and the nearest of another class."""

    case: int
    words: str  # the comparison in a few sentences
    columns: list[int]  # that contribute most, in this order
    near: Side
    far: Side | None  # None if only one class has prototypes
    # The two most probable classes if the decision is fitted.
    probable: list[ClassProbability] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """The prediction for one case."""

    case: int
    answer: str
    class_: int  # the predicted class, -1 for an answer that is not a class
    label: str | None  # the true class, if known
    wrong: bool


@dataclass(frozen=True)
class Answers:
    """Predictions for cases outside the training data: errors first, then small margins."""

    n_cases: int
    n_labeled: int  # cases of known class
    n_wrong: int
    n_outside: int  # cases that no prototype covers
    listed: list[Answer]
    evaluation: Evaluation | None = None  # on the cases of known class


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The data of a report.

    Cases, classes, prototypes and columns refer to each other by index.

    Parameters
    ----------
    title, lead : str
        Heading and first sentence.
    settings : list of (str, str)
        The settings of the model in words.
    radii : {"shared", "adaptive"}
        Whether all prototypes have one radius, or each its own.
    eps : float or None
        The radius; with adaptive radii the maximum radius, None for no limit.
    prototypes : list of PrototypeSummary
        In order of selection.
    cases : Cases
        All cases on the page.
    classes : list of ClassSummary
        Sorted by label.
    labeled : bool, default=True
        False for a cover, whose cases are all of one class.
    quality : Quality or None, default=None
        How good the selection is; None without the training data.
    target : str, default=""
        Name of the classes, such as "diagnosis".
    confusion : list of list of int
        Number of cases per class (row) that prototypes of a class (column) cover.
    map : MapSummary or None, default=None
        None for fewer than two prototypes.
    path : PathSummary or None, default=None
        None without cross-validation.
    suspects : list of Suspect
        Suspect labels, the most suspect first; the list may be cut.
    n_suspects : int, default=0
        Number of suspect labels.
    suspects_note : str, default=""
        This number in words, or why none are listed.
    uncovered : list of FarCase
        Uncovered cases, the farthest first; the list may be cut.
    n_uncovered : int, default=0
        Number of uncovered cases.
    farthest : list of FarCase
        Of a cover, the covered cases farthest from their representative.
    represented_by : list of int
        Of a cover, the representative of each case, -1 if it is uncovered.
    held_out, queries : Answers or None, default=None
        Predictions for held-out cases and for queries.
    comparisons : list of Comparison
        Why cases are predicted, suspect or uncovered.
    shares : str, default=""
        What the contributions of the columns add up to, or why there are none.
    contribution_unit : {"distance", "square"} or None, default=None
        What they add up to.
    figures : list of Figure
        Figures for statisticians.
    version : str
        Version of the package.
    """

    title: str
    lead: str
    settings: list[tuple[str, str]]
    radii: str
    eps: float | None
    prototypes: list[PrototypeSummary]
    cases: Cases
    classes: list[ClassSummary]
    version: str
    labeled: bool = True
    quality: Quality | None = None
    target: str = ""
    confusion: list[list[int]] = field(default_factory=list)
    map: MapSummary | None = None
    path: PathSummary | None = None
    suspects: list[Suspect] = field(default_factory=list)
    n_suspects: int = 0
    suspects_note: str = ""
    uncovered: list[FarCase] = field(default_factory=list)
    n_uncovered: int = 0
    farthest: list[FarCase] = field(default_factory=list)
    represented_by: list[int] = field(default_factory=list)
    held_out: Answers | None = None
    queries: Answers | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    shares: str = ""
    contribution_unit: str | None = None
    figures: list[Figure] = field(default_factory=list)


def plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict, one level deep, for ``json.dumps(default=)``."""
    if isinstance(value, Evaluation):
        return value.to_dict()
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"cannot put a {type(value).__name__} into a report")
    return {part.name.rstrip("_"): getattr(value, part.name) for part in fields(value)}
