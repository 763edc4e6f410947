"""What is written: the files of an output folder, and nothing of the user's is lost."""

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
from .cases import Cases
from .console import CommandError, Console
from .dialect import csv_bytes
from .images import SUFFIXES
from .model import MODEL, SUMMARY, explain_labeled
from .numbering import number_rows
from .outcome import Outcome

REPORT = "report.html"
PICTURES = "pictures.npz"
WRITER = "protocover"
_PREDICTIONS = "predictions.csv"
FILES = {
    REPORT: "to look at in a browser: start here",
    "prototypes.csv": "the prototypes, as they are in the data",
    _PREDICTIONS: "every case, and the prototype that decides it",
    "suspects.csv": "labels that disagree with nearby prototypes",
    SUMMARY: "all figures",
    MODEL: "the model, for `protocover predict`",
}


def check_folder(folder: Path, *, force: bool, inputs: Sequence[Path | None] = ()) -> None:
    """Refuse a folder that cannot be written, or replaced, without loss to the user.

    `inputs` are read by the command, and must not be inside the folder.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CommandError(
            f"{folder} exists and is not a folder; choose another one with --output DIR"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise CommandError(
            f"the output folder {folder} exists; choose another one with --output DIR, or "
            "replace it with --force"
        )
    foreign = _foreign(folder)
    if foreign:
        raise CommandError(
            f"--force does not replace {folder}, which holds {foreign}, not written by "
            "protocover; choose another one with --output DIR"
        )
    inside = next((path for path in inputs if path is not None and _within(path, folder)), None)
    if inside is not None:
        raise CommandError(
            f"--force would replace {folder}, which holds the input {inside}; choose another "
            "folder with --output DIR"
        )


def _within(path: Path, folder: Path) -> bool:
    """Whether a path is a folder, or lies inside it."""
    whole = path.resolve()
    return folder.resolve() in (whole, *whole.parents)


@contextmanager
def fresh_folder(
    folder: Path, *, force: bool, inputs: Sequence[Path | None] = ()
) -> Iterator[Path]:
    """Give a folder to write to, which becomes `folder` when all has gone well.

    With `force` an earlier output of protocover is replaced; it stays until then. Where
    nothing can be written, that is found out before any work.
    """
    check_folder(folder, force=force, inputs=inputs)
    with ExitStack() as stack:
        with told_where(folder):
            unfinished = stack.enter_context(whole_folder(folder))
        yield unfinished
        check_folder(folder, force=force)


@contextmanager
def told_where(path: Path, instead: Callable[[], None] | None = None) -> Iterator[None]:
    """Tell of an error of the system, while `path` is written, that this is what failed.

    `instead` prints the results that could not be written, so that they are not lost.
    """
    try:
        yield
    except OSError as error:
        if instead is not None:
            with suppress(OSError, CommandError):  # standard output may be full as well
                instead()
        raise CommandError(
            f"{path} cannot be written ({error.strerror or error}); make room or get leave to "
            "write there, or choose another place with --output"
        ) from error


def check_file(
    path: Path, *, force: bool, option: str = "--output", inputs: Sequence[Path | None] = ()
) -> None:
    """Refuse a file that exists, and, with `force` too, one that the command reads."""
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
    """Whether writing a file would replace one that is read: itself, or an image of a folder."""
    if read is None or not path.exists() or not read.exists():
        return False
    is_image = read.is_dir() and path.suffix.lower() in SUFFIXES and _within(path, read)
    return is_image or path.samefile(read)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, [content])


def write_outcome(
    folder: Path, outcome: Outcome, *, further: Mapping[str, bytes] | None = None
) -> None:
    """Write all files of an outcome, and `further` ones by their names."""
    answers = explain_labeled(outcome.model, outcome.cases, outcome.is_held_out)
    write_table(folder / _PREDICTIONS, answers, outcome)
    further = dict(further or {})
    pictures = keep_pictures(outcome)
    if pictures is not None:
        further[PICTURES] = pictures
    save_model(outcome.model, folder / MODEL)
    write_report(outcome.summary, folder / REPORT)
    write_table(folder / "prototypes.csv", _prototypes(outcome), outcome)
    write_table(folder / "suspects.csv", _suspects(outcome), outcome)
    for name, content in further.items():
        (folder / name).write_bytes(content)
    figures = _figures(outcome, [*FILES, *further])
    text = json.dumps(figures, indent=2, allow_nan=False, default=str)
    (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def print_files(folder: Path, console: Console, files: Mapping[str, str] = FILES) -> None:
    """Print what was written."""
    console.say(f"\nWrote {folder}:")
    width = max(18, *(len(name) + 2 for name in files))
    for name, about in files.items():
        console.say(f"  {name:<{width}}{about}")


def write_table(path: Path, table: Any, outcome: Any) -> None:
    """Write a table as CSV, as the data are written."""
    path.write_bytes(csv_bytes(table, dialect=outcome.cases.dialect))


def _prototypes(outcome: Outcome) -> Any:
    """Return the prototypes in order of selection, with all cells of their rows."""
    import pandas as pd

    classifier, cases = outcome.classifier, outcome.cases
    rows = classifier.prototype_indices_
    table = pd.DataFrame(
        {
            "prototype": np.arange(1, len(rows) + 1),
            "row": number_rows(rows),
            "class": classifier.prototype_labels_,
            **(
                {}
                if classifier.solution_.radii is None
                else {"radius": classifier.solution_.radii}
            ),
            "newly_covered": classifier.newly_covered_count_,
            "wrongly_covered": classifier.miscovered_count_,
        }
    )
    if (rows >= 0).all():
        return beside(table, cases, np.searchsorted(cases.rows, rows + 1))
    table.insert(2, "source", classifier.prototype_sources_)
    return pd.concat([table, _synthetic(outcome)], axis=1)


def _synthetic(outcome: Outcome) -> Any:
    """Return the values of prototypes some of which are no real cases."""
    import pandas as pd

    values = np.asarray(outcome.classifier.prototypes_)
    if isinstance(outcome.model, Pipeline):
        values = outcome.model[:-1].inverse_transform(values)
    return pd.DataFrame(values, columns=list(outcome.cases.X.columns))


def _suspects(outcome: Outcome) -> Any:
    """Return the cases whose label is suspect, the most suspect first."""
    import pandas as pd

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
    return beside(table, cases, np.asarray(found.row))


def keep_pictures(outcome: Outcome) -> bytes | None:
    """Return the pictures of the prototypes as a file for `predict`, None where there are none."""
    rows = outcome.classifier.prototype_indices_
    if outcome.cases.pictures is None or (rows < 0).any():
        return None
    content = io.BytesIO()
    places = np.searchsorted(outcome.cases.rows, rows + 1)
    np.savez_compressed(content, pictures=outcome.cases.pictures[places])
    return content.getvalue()


def read_pictures(path: Path, n_prototypes: int) -> Any:
    """Return the pictures of prototypes that `fit` has kept beside a model, None for none."""
    folder = path if path.is_dir() else path.parent
    try:
        with np.load(folder / PICTURES, allow_pickle=False) as kept:
            pictures = kept["pictures"]
    except (OSError, ValueError, KeyError, EOFError):
        return None
    fits = pictures.ndim == 4 and pictures.dtype == np.uint8 and pictures.shape[3] == 3
    return pictures if fits and len(pictures) == n_prototypes else None


def prototype_names(classifier: Any, path: Path) -> list[str]:
    """Name the prototypes of a model by what `fit` has written beside it, or by their rows."""
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


def beside(table: Any, cases: Cases, places: Any) -> Any:
    """Put the cells of some cases beside a table, under names that it does not have."""
    import pandas as pd

    if cases.shown is None:
        if cases.names is not None:
            table.insert(list(table.columns).index("row") + 1, "name", cases.names[places])
        return table
    cells = cases.shown.iloc[places].reset_index(drop=True)
    cells.columns = [f"{name} (data)" if name in table.columns else name for name in cells.columns]
    return pd.concat([table, cells], axis=1)


def _figures(outcome: Outcome, files: list[str]) -> dict[str, Any]:
    """Return what summary.json says."""
    summary, cases, held_out = outcome.summary, outcome.cases, outcome.held_out
    quality, error, settings = outcome.quality, outcome.quality.error, outcome.settings
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
            "target": settings.get("target"),
            "id": settings.get("id"),
        },
        "distance": outcome.distance,
        "radii": summary.radii,
        "eps": summary.eps,
        "eps_sample": outcome.n_sampled,
        "prototype_cost": float(outcome.classifier.prototype_cost_),
        "prototypes": quality.n_prototypes,
        "training_cases": quality.n_points,
        "covered": quality.n_covered,
        "wrongly_covered": quality.n_wrong,
        "objective": quality.objective,
        "lower_bound": quality.lower_bound,
        "gap": quality.gap,
        "certificate": quality.certificate,
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
        if error is None or error.evaluation is None
        else {"samples": error.kind, **error.evaluation.to_dict()},
        "suspects": len(outcome.suspects.row),
        "classes": [vars(entry) for entry in summary.classes],
        "seconds": round(outcome.seconds, 3),
        "settings": settings,
        "held_out_rows": [] if held_out is None else held_out.rows.tolist(),
    }


def _foreign(folder: Path) -> str:
    """Name something in a folder that its summary does not say we have written, if any."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        ours = set(summary["files"]) if summary["written_by"] == WRITER else set()
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    names = sorted(entry.name for entry in os.scandir(folder))
    return next((name for name in names if name not in ours), "")
