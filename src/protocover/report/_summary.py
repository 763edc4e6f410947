"""What a report says, as plain data: numbers, strings, lists, error figures."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from .._inspection.evaluation import Evaluation


@dataclass(frozen=True)
class ErrorEstimate:
    """Share of unseen cases that the model gets wrong, or another score of them."""

    kind: str  # where the unseen cases come from: "held-out" or "cross-validated"
    name: str  # "error", or the name of the score
    value: float
    low: float  # of the 95 % interval for held-out cases, else one standard error below
    high: float
    n_cases: int  # how many cases it rests on
    nearest_error: float | None  # the same of 1-NN with all training cases, where it is known
    majority: str | None = None  # the most frequent class of the training cases
    baseline: float | None = None  # accuracy of always answering that, None for other scores
    evaluation: Evaluation | None = None  # all figures, where every answer is known


@dataclass(frozen=True)
class Quality:
    """How good the selection is."""

    n_points: int
    n_prototypes: int
    n_covered: int  # cases in a ball of their own class
    n_wrong: int  # memberships of cases in balls of other classes
    error: ErrorEstimate | None  # None where nothing unseen was at hand
    objective: float  # uncovered plus wrongly covered plus the cost of the prototypes
    lower_bound: float | None  # None where nothing is proved
    gap: float | None  # largest share of the objective that a better choice could save
    certificate: str  # as in PVMClassifier
    verdict: str  # the last three in plain words


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
    """One column of the table that is shown."""

    name: str
    kind: str  # "number", "date", "label" or "text"
    # One for each case: floats (dates in milliseconds), places in categories, or strings;
    # None where missing.
    values: list[Any]
    categories: list[str] = field(default_factory=list)  # of a "label" column
    low: float | None = None  # of numbers and dates
    high: float | None = None
    # For each class the 5, 25, 50, 75 and 95 % quantiles of numbers, none without values.
    ranges: list[list[float]] = field(default_factory=list)
    shares: list[list[float]] = field(default_factory=list)  # of each class, by category


@dataclass(frozen=True)
class PictureSheets:
    """Images of equal size, row by row on sheets."""

    width: int  # of one image, in pixels
    height: int
    across: int  # images in a row of a sheet
    per_sheet: int
    count: int  # images of the first cases; later ones have none
    sheets: list[str]  # PNG files in base64
    is_reduced: bool = False  # to fewer pixels than the images have, so that the page stays small


@dataclass(frozen=True)
class Cases:
    """The cases that are mentioned, column by column."""

    rows: list[int]  # in the training data, -1 for what is no training case
    names: list[str]
    classes: list[int]  # numbers, -1 where the class is not known
    columns: list[ColumnSummary]
    n_columns: int  # of the data, of which the most telling may be shown alone
    pictures: PictureSheets | None


@dataclass(frozen=True)
class PrototypeSummary:
    """One prototype."""

    case: int  # its place among the cases
    source: str  # "train" for a training case
    class_: int  # number of the class it stands for
    radius: float  # of its ball
    covers: int  # cases of its class in its ball
    newly: int  # those of them that no earlier one covers
    wrong: int  # cases of other classes in its ball
    # The nearest prototype of another class, of own radii in multiples of its, -1 if there
    # is none.
    rival: int
    rival_distance: float | None
    members: list[int]  # cases in its ball, nearest first; the nearest if they are too many
    distances: list[float]  # theirs
    telling: list[int]  # columns, the most telling first


@dataclass(frozen=True)
class MapSummary:
    """Places of the first prototypes on a plane, and the stress of that map."""

    x: list[float]
    y: list[float]
    stress: float


@dataclass(frozen=True)
class PathSummary:
    """Cross-validated error, its standard error and the prototypes against radius or cost."""

    name: str  # "error", or the name of the score
    parameter: str  # "radius", or "cost" of a prototype where radii are their own
    eps: list[float]  # its values, rising
    error: list[float | None]  # mean over the folds, None where there is no score
    se: list[float | None]  # its standard error
    prototypes: list[float]  # mean over the folds
    chosen: int  # place of the chosen one
    rule: str  # how it was chosen: "1se" or "best"
    limit: float  # how bad a score might be by that rule
    most: int | None  # the largest number of prototypes allowed
    n_splits: int


@dataclass(frozen=True)
class Suspect:
    """A case whose label is suspect."""

    case: int  # its place among the cases
    label: int  # number of its class
    suggested: int  # number of the class that its neighbourhood suggests
    score: float  # from 0 to 1; above 0.5 the suggested class is nearer
    reason: str
    prototype: int  # the nearest of the suggested class, -1 if there is none


@dataclass(frozen=True)
class Uncovered:
    """A case in no ball of its class: nearest prototype of it, distance, balls of others.

    Of own radii the nearest is that in multiples of its radius.
    """

    case: int
    prototype: int
    distance: float | None
    others: int


@dataclass(frozen=True)
class Figure:
    """A figure for statisticians, and a sentence on what it is."""

    name: str
    value: str
    about: str


@dataclass(frozen=True)
class Side:
    """One of the two prototypes that a case is compared with."""

    prototype: int
    distance: float
    relative: float | None  # the distance in radii of the prototype, None for a radius of 0
    inside: bool  # whether the case lies in its ball
    # What each column of the comparison contributes to the distance, or to its square.
    terms: list[float]
    rest: float  # what all other columns contribute together


@dataclass(frozen=True)
class Comparison:
    """A case beside the prototype that decides and the nearest of another class."""

    case: int  # its place among the cases
    words: str  # the same in a few sentences
    columns: list[int]  # that contribute most, those first
    near: Side
    far: Side | None  # None where only one class has prototypes


@dataclass(frozen=True)
class Answer:
    """What the model answers to a case."""

    case: int  # its place among the cases
    answer: str
    class_: int  # number of the answer, -1 for one that is no class
    label: str | None  # what it should be, where that is known
    wrong: bool


@dataclass(frozen=True)
class Answers:
    """Answers to cases that were not learned from, the wrong ones first, then the closest."""

    n_cases: int
    n_labeled: int  # whose class is known
    n_wrong: int  # of these
    n_outside: int  # in no ball of any prototype
    listed: list[Answer]
    evaluation: Evaluation | None = None  # of those whose class is known


@dataclass(frozen=True)
class Summary:
    """All that a report says.

    Parameters
    ----------
    title, lead : str
        Heading and first sentence.
    settings : list of (str, str)
        What was asked, in words.
    radii : {"shared", "adaptive"}
        Whether all prototypes have one radius, or each its own.
    eps : float or None
        The radius; of own radii the largest allowed, None for no limit.
    quality : Quality or None
        How good the selection is; None where the training data is not at hand, and with it
        all that is said of coverage.
    target : str
        Name of what the classes tell, such as "diagnosis"; empty where it has none.
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
    suspects_note : str
        That in words, or why none are listed.
    uncovered : list of Uncovered
        The farthest first.
    n_uncovered : int
        How many there are in all.
    held_out : Answers or None
        To the cases that were kept back.
    queries : Answers or None
        To the cases that were asked about.
    comparisons : list of Comparison
        Why a case is answered as it is, or is suspect, or uncovered.
    shares : str
        What the contributions of the columns are, or why there are none.
    contribution_unit : {"distance", "square"} or None
        What the contributions add up to.
    figures : list of Figure
        What statisticians ask for.
    version : str
        Of the package.
    """

    title: str
    lead: str
    settings: list[tuple[str, str]]
    radii: str
    eps: float | None
    quality: Quality | None
    target: str
    classes: list[ClassSummary]
    confusion: list[list[int]]
    prototypes: list[PrototypeSummary]
    cases: Cases
    map: MapSummary | None
    path: PathSummary | None
    suspects: list[Suspect]
    n_suspects: int
    suspects_note: str
    uncovered: list[Uncovered]
    n_uncovered: int
    held_out: Answers | None
    queries: Answers | None
    comparisons: list[Comparison]
    shares: str
    contribution_unit: str | None
    figures: list[Figure]
    version: str


@dataclass(frozen=True)
class Far:
    """A case, its nearest representative and how far that is."""

    case: int
    prototype: int
    distance: float | None


@dataclass(frozen=True)
class CoverSummary(Summary):
    """All that a report on a cover says: of one class, and without labels to be told.

    Parameters
    ----------
    farthest : list of Far
        Of the cases that are covered those that are farthest from who stands for them.
    standing : list of int
        For each of the cases that are mentioned who stands for it, -1 for nobody.
    labeled : bool, default=False
        Whether there are classes to be told apart.
    """

    uncovered: list[Far]  # type: ignore[assignment]
    farthest: list[Far]
    standing: list[int]
    labeled: bool = False


def plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dict, one level deep: what ``json.dumps(default=)`` asks for."""
    if isinstance(value, Evaluation):
        return value.to_dict()
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"cannot put a {type(value).__name__} into a report")
    return {part.name.rstrip("_"): getattr(value, part.name) for part in fields(value)}
