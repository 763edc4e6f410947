"""``protocover fit --stream``: rows stream through, the cover alone stays."""

from __future__ import annotations

import shutil
import tempfile
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.pipeline import Pipeline

from ..report.summary import ErrorEstimate
from .answers import csv_text, explain_labelled
from .cases import Cases, draw_kept_back
from .console import Console
from .errors import CommandError, UsageError
from .metrics import Distance, choose_distance
from .outcome import Outcome, describe_cases, gather_outcome
from .output import fresh_folder
from .parquet import is_parquet
from .sampled import Totals, correct_summary, count_coverage, draw_cases
from .selection import Radius, check_candidates, choose_prototypes
from .streaming import StreamedRows, blocks_of, lay_out_rows, measure_columns, open_rows
from .written import PREDICTIONS, write_beside_predictions

__all__ = ["fit_streamed"]


def fit_streamed(
    options: Namespace, folder: Path, settings: dict[str, Any], console: Console
) -> Outcome:
    """Fit a Parquet file without holding its rows, and write what comes out.

    Returns
    -------
    Outcome
        Its counts are of all cases; its `cases` are a sample of those it was fitted on.
    """
    started = time.perf_counter()
    _check_options(options)
    streamed = open_rows(options.data, options, console)
    distance = _describe(streamed, options, console)
    held_out = draw_kept_back(streamed.y, options.test_size, options.seed)
    with fresh_folder(folder, force=options.force) as unfinished:
        _check_room(unfinished, 8 * len(streamed.features) * int((~held_out).sum()))
        streamed, model, radius, totals = _learn(
            streamed, ~held_out, distance, unfinished.parent, options, console
        )
        outcome = _gather(model, streamed, ~held_out, totals, distance, options)
        n_wrong = _write_predictions(unfinished / PREDICTIONS, outcome, streamed, held_out)
        outcome = _complete(outcome, radius, totals, n_wrong)
        outcome = replace(
            outcome,
            settings={**settings, "candidates": outcome.classifier.candidates},
            seconds=time.perf_counter() - started,
        )
        write_beside_predictions(unfinished, outcome)
    return outcome


def _learn(
    streamed: StreamedRows,
    training: NDArray[np.bool_],
    distance: Distance,
    folder: Path,
    options: Namespace,
    console: Console,
) -> tuple[StreamedRows, Any, Radius, Totals]:
    """Lay the training rows out on disk, fit, and count who lies in whose ball."""
    streamed, scaler = measure_columns(streamed, training, console)
    y = streamed.y[training]
    kept = len(streamed) - len(y)
    console.note(
        f"Choosing prototypes from {len(y)} cases, {kept or 'none'} kept back for a test ..."
    )
    # A file without a name: nothing is left of it, however the command ends.
    with tempfile.TemporaryFile(dir=folder) as file:
        X = lay_out_rows(streamed, training, scaler if distance.scaled else None, file)
        classifier, radius = choose_prototypes(X, y, distance, options, console)
        totals = count_coverage(classifier, X, y)
    if distance.scaled:
        return streamed, Pipeline([("scale", scaler), ("pvm", classifier)]), radius, totals
    classifier.feature_names_in_ = np.array(streamed.features, dtype=object)
    return streamed, classifier, radius, totals


def _gather(
    model: Any,
    streamed: StreamedRows,
    training: NDArray[np.bool_],
    totals: Totals,
    distance: Distance,
    options: Namespace,
) -> Outcome:
    """Draw cases to show, and gather what there is to tell of them."""
    rows, y = streamed.rows[training], streamed.y[training]
    source = streamed.path.name
    fitted_on = Cases(None, y, rows + 1, source)
    kept_back = Cases(None, streamed.y[~training], streamed.rows[~training] + 1, source)
    held_out = kept_back if len(kept_back) else None
    classifier = model[-1] if isinstance(model, Pipeline) else model
    prototypes, companions = classifier.prototype_rows_, totals.companions
    shown, places = draw_cases(
        streamed,
        rows,
        y,
        needed=np.concatenate((prototypes, companions[companions >= 0])),
        identifier=options.id,
        seed=options.seed,
    )
    classifier.prototype_rows_ = np.searchsorted(places, prototypes)
    how = describe_cases(fitted_on, held_out)
    if len(shown) < len(fitted_on):
        how["Shown"] = (
            f"a sample of {len(shown):,} training cases, drawn by chance from each class, the "
            "prototypes among them"
        )
    outcome = gather_outcome(
        model,
        cases=shown,
        training=shown,
        held_out=None,
        distance=distance.words,
        title=f"Prototypes of {source}",
        target=options.target,
        identifier=options.id,
        settings={},
        seconds=0.0,
        how=how,
    )
    return replace(outcome, training=fitted_on, held_out=held_out)


def _complete(outcome: Outcome, radius: Radius, totals: Totals, n_wrong: int) -> Outcome:
    """Put into an outcome what is known of all cases, and how the radius was found."""
    error = radius.error
    if outcome.held_out is not None:
        n_cases = len(outcome.held_out)
        low, high = binomtest(n_wrong, n_cases).proportion_ci(method="wilson")
        error = ErrorEstimate(
            "held-out", "error", n_wrong / n_cases, float(low), float(high), n_cases, None
        )
    summary = correct_summary(
        outcome.summary,
        outcome.classifier,
        totals,
        n_shown=len(outcome.cases),
        n_sampled=radius.n_sampled,
        error=error,
        path=radius.path,
    )
    return replace(outcome, summary=summary, n_sampled=radius.n_sampled)


def _write_predictions(
    path: Path, outcome: Outcome, streamed: StreamedRows, held_out: NDArray[np.bool_]
) -> int:
    """Write an answer for every row, and count the wrong ones among those kept back."""
    n_wrong = 0
    with path.open("wb") as file:
        for places, frame, batch in blocks_of(streamed, outcome.identifier):
            names: Any = None
            if outcome.identifier is not None:
                cells = batch.column(outcome.identifier).to_pandas()
                names = cells.astype(str).to_numpy(dtype=object)
            rows = streamed.rows[places] + 1
            cases = Cases(frame, streamed.y[places], rows, streamed.path.name, names)
            answers = explain_labelled(outcome.model, cases, held_out[places])
            file.write(csv_text(answers, header=places.start == 0).encode())
            wrong = answers["predicted"].to_numpy() != cases.y
            n_wrong += int((wrong & held_out[places]).sum())
    return n_wrong


def _describe(streamed: StreamedRows, options: Namespace, console: Console) -> Distance:
    """Say what there is, and by which distance it is measured."""
    import pandas as pd

    console.note(
        f"Opened {options.data}: {len(streamed)} rows, {len(streamed.features)} columns of "
        f"numbers, {len(np.unique(streamed.y))} classes."
    )
    header = pd.DataFrame(columns=streamed.features, dtype=np.float64)
    cases = Cases(header, streamed.y, streamed.rows, streamed.path.name)
    distance = choose_distance(cases, name=options.metric, scaled=options.scale, asymmetric=[])
    console.note(f"Distance: {distance.words} ({distance.reason}).")
    return distance


def _check_options(options: Namespace) -> None:
    """Refuse what cannot be streamed."""
    path = options.data
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    if path.is_dir() or not is_parquet(path):
        raise UsageError(
            f"--stream goes with a Parquet file, and {path} is none; leave it out, or write the "
            "table as Parquet"
        )
    if options.metric not in (None, "euclidean", "sqeuclidean"):
        raise UsageError(
            f"--stream goes with --metric euclidean or sqeuclidean, got {options.metric}; leave "
            "one of them out"
        )
    check_candidates(options.candidates)
    for name in ("kind", "image_size", "skip_broken"):
        if getattr(options, name):
            raise UsageError(f"--stream does not go with --{name.replace('_', '-')}; leave it out")
    if options.prototype_cost is not None and len(options.prototype_cost) > 1:
        raise UsageError("--stream goes with one --prototype-cost, got several; choose one")


def _check_room(folder: Path, needed: int) -> None:
    """Refuse to begin without room on the disk for the rows."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise CommandError(
            f"--stream needs {needed / 1e9:.1f} GB on the disk of the output folder for the time "
            f"it takes, and {free / 1e9:.1f} GB are free; choose another with --output DIR"
        )
