"""The result on the terminal: a table of the classes, the error and the objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..report import Summary
from .console import Console, count_things, shorten
from .outcome import Outcome
from .writing import FILES

__all__ = ["print_files", "print_outcome"]

_MOST_CLASSES = 30
_WIDEST_LABEL = 30


def print_outcome(outcome: Outcome, console: Console) -> None:
    """Print what was found, in a few lines of at most 80 characters."""
    summary = outcome.summary
    console.say()
    _print_classes(summary, console)
    console.say()
    _print_quality(outcome, console)
    if len(outcome.suspects):
        console.say(f"suspects   {_describe_suspects(outcome)}")


def print_files(folder: Path, console: Console) -> None:
    """Print what was written."""
    console.say(f"\nWrote {folder}:")
    for name, about in FILES.items():
        console.say(f"  {name:<18}{about}")


def _describe_suspects(outcome: Outcome) -> str:
    """Say how many labels are suspect, and among which cases."""
    n_suspects = len(outcome.suspects)
    if outcome.is_sample:
        return f"{n_suspects} of the {len(outcome.cases)} shown look more like another class"
    among = f", {_count_held_out(outcome)} of them held out" if outcome.held_out else ""
    return f"{n_suspects} cases look more like another class{among}"


def _count_held_out(outcome: Outcome) -> int:
    """Count the cases of suspect label that were kept back; the report is on the others."""
    assert outcome.held_out is not None
    rows = outcome.cases.rows[outcome.suspects.row]
    return int(np.isin(rows, outcome.held_out.rows).sum())


def _print_classes(summary: Summary, console: Console) -> None:
    """Print how many prototypes each class has and what share of it they cover."""
    labels = [shorten(entry.label, _WIDEST_LABEL) for entry in summary.classes]
    width = max(5, *map(len, labels[:_MOST_CLASSES]))
    digits = max(5, *(len(str(entry.points)) for entry in summary.classes))
    console.say(f"{'class':<{width}}  {'cases':>{digits}}  prototypes  covered  in others' balls")
    for label, entry in list(zip(labels, summary.classes, strict=True))[:_MOST_CLASSES]:
        console.say(
            f"{label:<{width}}  {entry.points:>{digits}}  {entry.prototypes:>10}  "
            f"{_percent(entry.covered, entry.points):>7}  "
            f"{_percent(entry.wrongly_covered, entry.points):>16}"
        )
    if len(labels) > _MOST_CLASSES:
        console.say(f"... and {len(labels) - _MOST_CLASSES} more in report.html")


def _print_quality(outcome: Outcome, console: Console) -> None:
    """Print radius, objective and error, beside that of 1-NN."""
    quality = outcome.summary.quality
    console.say(f"radius     {outcome.summary.eps:.4g}{_why_radius(outcome)}")
    prototypes = count_things(quality.n_prototypes, "prototype", "prototypes")
    console.say(
        f"objective  {quality.objective:.4g}: {quality.n_points - quality.n_covered} uncovered, "
        f"{quality.n_wrong} wrongly covered, "
        f"{prototypes} at {outcome.classifier.prototype_cost_:.2g}"
    )
    if quality.gap is not None:
        console.say(f"           a better choice could save at most {100 * quality.gap:.1f} %")
    error = quality.error
    if error is None:
        console.say("error      not known: no case was kept back (--test-size)")
        return
    digits = 0 if error.n_cases < 1000 else 1 if error.n_cases < 100_000 else 2
    extent = f"{100 * error.low:.{digits}f} to {100 * error.high:.{digits}f} %"
    if error.kind == "held-out":
        cases = f"{error.n_cases} held-out cases (95 % interval: {extent})"
    else:
        cases = f"{error.n_cases} cases, cross-validated (one standard error: {extent})"
    console.say(f"error      {100 * error.value:.{max(1, digits)}f} % of {cases}")
    if error.nearest_error is not None:
        nearest = f"{100 * error.nearest_error:.1f} %"
        console.say(f"1-NN       {nearest} of them, with all {quality.n_points} cases to compare")


def _why_radius(outcome: Outcome) -> str:
    """Say where the radius comes from."""
    path = outcome.summary.path
    if path is not None:
        tried = f"{len(path.eps)} radii, rule {path.rule}"
        return f", by {path.n_splits}-fold cross-validation ({tried}){_sampled(outcome)}"
    if outcome.settings["eps"] == "auto":
        return f": half of the cases have no rival that near{_sampled(outcome)}"
    return ", as given"


def _sampled(outcome: Outcome) -> str:
    """Say on how many cases the radius rests, where that is a sample."""
    return "" if outcome.n_sampled is None else f" on {outcome.n_sampled} cases"


def _percent(part: int, whole: int) -> str:
    """Return a share in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"
