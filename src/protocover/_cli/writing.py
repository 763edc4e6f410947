"""The files of an output folder, written without overwriting files of the user."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import __version__
from .._persistence import save_model
from ..data._files import whole_folder, write_whole
from ..report import write_report
from ..report._summary import Quality
from .cases import Cases
from .console import CommandError, Console
from .images import SUFFIXES
from .model import MODEL, SUMMARY, assign_cases, explain_labeled, final_step, number_rows
from .outcome import Outcome
from .tables import csv_bytes

REPORT = "report.html"
PICTURES = "pictures.npz"
WRITER = "protocover"
_PREDICTIONS = "predictions.csv"
_REPRESENTATIVES, _ASSIGNMENTS = "representatives.csv", "assignments.csv"
_START = {REPORT: "start here: open it in a browser"}
_END = {SUMMARY: "all results as JSON", MODEL: "the model, for `protocover predict`"}
_FILES = {
    **_START,
    "prototypes.csv": "the prototypes with their rows of the data",
    _PREDICTIONS: "the prediction and the deciding prototype of every case",
    "suspects.csv": "labels that disagree with nearby prototypes",
    **_END,
}
_COVER_FILES = {
    **_START,
    _REPRESENTATIVES: "the representatives with their rows of the data",
    _ASSIGNMENTS: "the representative of every case, and its distance",
    **_END,
}


def check_folder(folder: Path, *, force: bool, inputs: Sequence[Path | None] = ()) -> None:
    """Raise an error if a folder cannot be written or replaced without losing files of the user.

    `inputs` are read by the command, and must not be inside the folder.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CommandError(
            f"{folder} exists and is not a folder; choose another folder with --output DIR"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise CommandError(
            f"the output folder {folder} exists; choose another folder with --output DIR, or "
            "replace it with --force"
        )
    foreign = _foreign(folder)
    if foreign:
        raise CommandError(
            f"--force does not replace {folder}, because it contains {foreign}, not written by "
            "protocover; choose another folder with --output DIR"
        )
    inside = next((path for path in inputs if path is not None and _within(path, folder)), None)
    if inside is not None:
        raise CommandError(
            f"--force would replace {folder}, which contains the input {inside}; choose another "
            "folder with --output DIR"
        )


def _within(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or inside it."""
    whole = path.resolve()
    return folder.resolve() in (whole, *whole.parents)


@contextmanager
def fresh_folder(
    folder: Path, *, force: bool, inputs: Sequence[Path | None] = ()
) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` if no error occurs.

    With `force` earlier output of protocover is replaced at the end. A folder that cannot be
    written is reported before any work.
    """
    check_folder(folder, force=force, inputs=inputs)
    with ExitStack() as stack:
        with name_failed_output(folder):
            unfinished = stack.enter_context(whole_folder(folder))
        yield unfinished
        check_folder(folder, force=force)


@contextmanager
def name_failed_output(path: Path, instead: Callable[[], None] | None = None) -> Iterator[None]:
    """Name `path` in a system error that occurs while it is written.

    `instead` prints the results that could not be written, so that they are not lost.
    """
    try:
        yield
    except OSError as error:
        if instead is not None:
            with suppress(OSError, CommandError):  # standard output may be full as well
                instead()
        raise CommandError(
            f"{path} cannot be written ({error.strerror or error}); free some disk space, fix the "
            "permissions, or choose another location with --output"
        ) from error


def check_file(
    path: Path, *, force: bool, option: str = "--output", inputs: Sequence[Path | None] = ()
) -> None:
    """Raise an error if a file is an input of the command, or exists (unless `force`)."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give a file with {option} FILE")
    if any(_replaces(path, read) for read in inputs):
        raise CommandError(
            f"{option} {path} is the input of this command; choose another file with {option} FILE"
        )
    if path.exists() and not force:
        raise CommandError(
            f"{path} exists; choose another file with {option} FILE, or replace it with --force"
        )


def _replaces(path: Path, read: Path | None) -> bool:
    """Whether writing a file would replace an input: itself, or an image of a folder."""
    if read is None or not path.exists() or not read.exists():
        return False
    is_image = read.is_dir() and path.suffix.lower() in SUFFIXES and _within(path, read)
    return is_image or path.samefile(read)


def write_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, [content])


def write_outcome(
    folder: Path, outcome: Outcome, *, further: Mapping[str, bytes] | None = None
) -> None:
    """Write all files of an outcome, and `further` ones by name."""
    further = dict(further or {})
    files = dict(_COVER_FILES if outcome.suspects is None else _FILES)
    if outcome.suspects is None:
        tables = {
            _REPRESENTATIVES: _representatives(outcome),
            _ASSIGNMENTS: assign_cases(outcome.model, outcome.cases, known=True),
        }
    else:
        tables = {
            _PREDICTIONS: explain_labeled(outcome.model, outcome.cases, outcome.is_held_out),
            "prototypes.csv": _prototypes(outcome),
            "suspects.csv": _suspects(outcome),
        }
        pictures = _keep_pictures(outcome)
        if pictures is not None:
            further[PICTURES] = pictures
    for name, table in tables.items():
        (folder / name).write_bytes(csv_bytes(table, dialect=outcome.cases.dialect))
    save_model(outcome.model, folder / MODEL)
    write_report(outcome.summary, folder / REPORT)
    for name, content in further.items():
        (folder / name).write_bytes(content)
    figures = _figures(outcome, [*files, *further])
    text = json.dumps(figures, indent=2, allow_nan=False, default=str)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def print_files(folder: Path, outcome: Outcome, console: Console) -> None:
    """Print which files were written."""
    print_lines(folder, _COVER_FILES if outcome.suspects is None else _FILES, console)


def print_lines(folder: Path, files: Mapping[str, str], console: Console) -> None:
    """Print each file of a folder with what it contains."""
    console.say(f"\nWrote {folder}:")
    width = max(18, *(len(name) + 2 for name in files))
    for name, about in files.items():
        console.say(f"  {name:<{width}}{about}")


def _representatives(outcome: Outcome) -> Any:
    """Return the representatives in their order, with all cells of their rows."""
    import pandas as pd

    cover = final_step(outcome.model)
    places = cover.representative_indices_
    table = pd.DataFrame(
        {
            "representative": np.arange(1, len(places) + 1),
            "row": number_rows(places),
            "stands_for": cover.counts_,
            "within_reach": [entry.covers for entry in outcome.summary.prototypes],
        }
    )
    return _with_cells(table, outcome.cases, places)


def _prototypes(outcome: Outcome) -> Any:
    """Return the prototypes in order of selection, with all cells of their rows."""
    import pandas as pd

    classifier, cases = outcome.classifier, outcome.cases
    rows, radii = classifier.prototype_indices_, classifier.solution_.radii
    table = pd.DataFrame(
        {
            "prototype": np.arange(1, len(rows) + 1),
            "row": number_rows(rows),
            "class": classifier.prototype_labels_,
            **({} if radii is None else {"radius": radii}),
            "newly_covered": classifier.newly_covered_count_,
            "wrongly_covered": classifier.miscovered_count_,
        }
    )
    if (rows >= 0).all():
        return _with_cells(table, cases, np.searchsorted(cases.rows, rows + 1))
    table.insert(2, "source", classifier.prototype_sources_)
    return pd.concat([table, _synthetic(outcome)], axis=1)


def _synthetic(outcome: Outcome) -> Any:
    """Return the values of prototypes some of which are synthetic."""
    import pandas as pd

    values = np.asarray(outcome.classifier.prototypes_)
    if isinstance(outcome.model, Pipeline):
        values = outcome.model[:-1].inverse_transform(values)
    return pd.DataFrame(values, columns=list(outcome.cases.X.columns))


def _suspects(outcome: Outcome) -> Any:
    """Return the cases with likely label errors, the most likely first."""
    import pandas as pd

    assert outcome.suspects is not None
    cases, found = outcome.cases, outcome.suspects
    table = pd.DataFrame(
        {
            "row": cases.rows[found.row],
            "used": np.where(outcome.is_held_out, "held out", "training")[found.row],
            "label": found.label,
            "suggested": found.suggested,
            "score": found.score,
            "reason": found.reason,
        }
    )
    return _with_cells(table, cases, np.asarray(found.row))


def _keep_pictures(outcome: Outcome) -> bytes | None:
    """Return the pictures of the prototypes as a file for `predict`, None if there are none."""
    rows = outcome.classifier.prototype_indices_
    if outcome.cases.pictures is None or (rows < 0).any():
        return None
    content = io.BytesIO()
    places = np.searchsorted(outcome.cases.rows, rows + 1)
    np.savez_compressed(content, pictures=outcome.cases.pictures[places])
    return content.getvalue()


def read_pictures(path: Path, n_prototypes: int) -> Any:
    """Return the pictures of prototypes that `fit` saved with a model, None if there are none."""
    folder = path if path.is_dir() else path.parent
    try:
        with np.load(folder / PICTURES, allow_pickle=False) as kept:
            pictures = kept["pictures"]
    except (OSError, ValueError, KeyError, EOFError):
        return None
    fits = pictures.ndim == 4 and pictures.dtype == np.uint8 and pictures.shape[3] == 3
    return pictures if fits and len(pictures) == n_prototypes else None


def prototype_names(classifier: Any, path: Path) -> list[str]:
    """Return the names of prototypes that `fit` wrote next to a model, or their row numbers."""
    import pandas as pd

    folder = path if path.is_dir() else path.parent
    names = [
        f"row {row + 1}" if row >= 0 else f"prototype {k + 1}"
        for k, row in enumerate(classifier.prototype_indices_.tolist())
    ]
    try:
        figures = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        known = (figures["written_by"] == WRITER and figures["data"]["id"]) or "name"
        table = pd.read_csv(folder / "prototypes.csv", sep=None, engine="python", dtype=str)
    except (OSError, ValueError, KeyError, TypeError):
        return names
    if known in table.columns and len(table) == len(names) and table[known].notna().all():
        return [str(name) for name in table[known]]
    return names


def _with_cells(table: Any, cases: Cases, places: Any) -> Any:
    """Return a table with the cells of some cases added, under names that it does not have."""
    import pandas as pd

    if cases.shown is None:
        if cases.names is not None:
            table.insert(list(table.columns).index("row") + 1, "name", cases.names[places])
        return table
    cells = cases.shown.iloc[places].reset_index(drop=True)
    cells.columns = [f"{name} (data)" if name in table.columns else name for name in cells.columns]
    return pd.concat([table, cells], axis=1)


def _figures(outcome: Outcome, files: list[str]) -> dict[str, Any]:
    """Return the content of summary.json."""
    cases, settings, held_out = outcome.cases, outcome.settings, outcome.held_out
    columns = [] if outcome.suspects is None else ["target"]
    specific = _cover_figures if outcome.suspects is None else _classifier_figures
    return {
        "written_by": WRITER,
        "version": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": files,
        "data": {
            "source": cases.source,
            "cases": len(cases),
            "columns": None if cases.layout else [str(name) for name in cases.X.columns],
            "images": str(cases.layout) if cases.layout else None,
            **{name: settings.get(name) for name in (*columns, "id")},
        },
        "distance": outcome.distance,
        **specific(outcome),
        "seconds": round(outcome.seconds, 3),
        "settings": settings,
        "held_out_rows": [] if held_out is None else held_out.rows.tolist(),
    }


def _cover_figures(outcome: Outcome) -> dict[str, Any]:
    """Return the results of a cover."""
    quality, cover = outcome.quality, final_step(outcome.model)
    return {
        "eps": float(cover.eps_),
        "representatives": quality.n_prototypes,
        "cases": quality.n_points,
        "covered": quality.n_covered,
        "coverage": float(cover.coverage_),
        **_objective(quality),
        "proof": quality.verdict,
    }


def _classifier_figures(outcome: Outcome) -> dict[str, Any]:
    """Return the results of a classifier."""
    assert outcome.suspects is not None
    summary, quality, error = outcome.summary, outcome.quality, outcome.quality.error
    known = None if error is None else error.evaluation
    return {
        "radii": summary.radii,
        "eps": summary.eps,
        "eps_sample": outcome.n_sampled,
        "prototype_cost": float(outcome.classifier.prototype_cost_),
        "prototypes": quality.n_prototypes,
        "training_cases": quality.n_points,
        "covered": quality.n_covered,
        "wrongly_covered": quality.n_wrong,
        **_objective(quality),
        "error": None
        if error is None
        else {
            "kind": error.kind,
            "value": error.value,
            "low": error.low,
            "high": error.high,
            "cases": error.n_cases,
            "nearest_neighbor": error.nearest_error,
            "majority_class": error.majority,
            "majority_accuracy": error.baseline,
        },
        "evaluation": None
        if error is None or known is None
        else {"samples": error.kind, **known.to_dict()},
        "suspects": len(outcome.suspects.row),
        "classes": [vars(entry) for entry in summary.classes],
    }


def _objective(quality: Quality) -> dict[str, Any]:
    """Return the objective, its bound and the certificate."""
    names = ("objective", "lower_bound", "gap", "certificate")
    return {name: getattr(quality, name) for name in names}


def _foreign(folder: Path) -> str:
    """Return the name of a file in a folder that protocover did not write, "" if none."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        ours = set(summary["files"]) if summary["written_by"] == WRITER else set()
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    names = sorted(entry.name for entry in os.scandir(folder))
    return next((name for name in names if name not in ours), "")
