"""``protocover fit --stream``: rows stream through, the cover alone stays."""

from __future__ import annotations

import shutil
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing

from ..candidates import is_number, is_train
from ..data.parquet import is_parquet, lay_out_rows, take_rows
from ..estimators import PVMClassifier, PVMClassifierCV, draw_rows, fit_sample, propose_candidates
from ..inspection.suspects import SuspectLabels
from ..prototypes import CoverageTotals
from ..report import Summary
from ..report.quality import cross_validated_error, held_out_error, tally_answers
from ..report.summary import ErrorEstimate
from ..report.wording import short_number, short_range
from ..resources import available_memory
from .cases import Cases, announce_split, row_names, split_cases
from .console import CommandError, Console, UsageError
from .estimator import Distance, build_model, choose_distance, fit_model
from .model import classifier_of, explain_labelled, with_last_step, with_rows
from .outcome import (
    Outcome,
    count_searched,
    describe_cases,
    find_suspects,
    gather_outcome,
    in_source,
    print_outcome,
    summarize_cases,
)
from .stream_rows import StreamedRows, blocks_of, measure_columns, open_rows
from .writing import PREDICTIONS, csv_text, told_where, write_beside_predictions

__all__ = ["fit_streamed"]

# Cases to search for the radius in, and at least so many where the memory is short. All pairs
# of them take so much, at most, and part of what is left is needed for all else.
_SAMPLE, _FEWEST_SAMPLED = 5_000, 500
_BYTES_PER_PAIR = 32
_SHARE_OF_MEMORY = 0.5
# Bytes for the cover, where there are so many.
_COVER_BYTES = 1 << 30
# Cases to show, the prototypes among them, and at least so many beside those.
_SHOWN, _FEWEST_SHOWN = 10_000, 1_000
# Memberships at a time, if all cases lay in all balls.
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A model fitted to rows on disk, and what is known of them once they are gone.

    `search` and `n_sampled` are None where the radius needed no search, or no sample;
    `totals` count all training cases; `companions` has a training case of its class in each
    prototype's ball, not itself, -1 for none.
    """

    model: Any
    search: PVMClassifierCV | None
    n_sampled: int | None
    totals: CoverageTotals
    companions: NDArray[np.intp]


def fit_streamed(
    options: Namespace, folder: Path, settings: dict[str, Any], console: Console
) -> Outcome:
    """Fit a Parquet file without holding its rows, and write and return what comes out.

    Counts of the outcome are of all cases; its `cases` are some of those it was fitted on.
    """
    started = time.perf_counter()
    _check_options(options)
    streamed = open_rows(options, console)
    distance = _describe(streamed, options, console)
    training, held_out = split_cases(streamed.cases, options.test_size, options.seed)
    learned = np.isin(streamed.cases.rows, training.rows)
    _check_room(folder, 8 * len(streamed.features) * len(training))
    streamed, scaler = measure_columns(streamed, learned, console)
    announce_split(training, held_out, console)
    scaler = scaler if distance.scaled else None
    with _laid_out(streamed, learned, scaler, folder.parent) as X:
        fitted = _fit(X, training.y, distance, options, console)
    if scaler is not None:
        scaled = Pipeline([("scale", scaler), ("pvm", fitted.model)])
        fitted = replace(fitted, model=scaled)
    model = in_source(fitted.model, training)
    predicted, unwritten = _write_predictions(folder, model, streamed, ~learned, options.id)
    error = _estimate_error(fitted, held_out, predicted)
    shown, suspects, summary = _summarize(fitted, streamed, training, held_out, error, options)
    outcome = gather_outcome(
        fitted.model,
        cases=shown,
        training=training,
        held_out=held_out,
        summary=summary,
        suspects=suspects,
        distance=distance.words,
        settings={**settings, "candidates": classifier_of(model).candidates},
        seconds=time.perf_counter() - started,
        n_sampled=fitted.n_sampled,
    )
    with told_where(options.output, instead=lambda: print_outcome(outcome, console)):
        if unwritten is not None:
            raise unwritten
        write_beside_predictions(folder, outcome)
    return outcome


@contextmanager
def _laid_out(
    streamed: StreamedRows, learned: NDArray[np.bool_], scaler: StandardScaler | None, folder: Path
) -> Iterator[Any]:
    """Give the rows to learn from as they lie on disk, scaled, or else under their names."""
    import pandas as pd

    frames = (frame.loc[learned[places]] for places, frame, _ in blocks_of(streamed))
    blocks = (
        frame.to_numpy() if scaler is None else scaler.transform(frame)
        for frame in frames
        if len(frame)
    )
    shape = int(learned.sum()), len(streamed.features)
    # A file without a name: nothing is left of it, however the command ends.
    with tempfile.TemporaryFile(dir=folder) as file:
        X = lay_out_rows(blocks, file, shape=shape, dtype=np.float64)
        yield pd.DataFrame(X, columns=streamed.features, copy=False) if scaler is None else X


def _fit(X: Any, y: Any, distance: Distance, options: Namespace, console: Console) -> _Fitted:
    """Choose prototypes from rows on disk, scaled already, and count who lies in whose ball."""
    distance = replace(distance, scaled=False)
    if options.radii == "own" and options.eps is None:
        # What a prototype costs in a sample says little of what it should among all.
        options = Namespace(**{**vars(options), "eps": "auto"})
    search, n_sampled = None, None
    if options.eps in (None, "auto") or len(options.eps) > 1:
        search, n_sampled = _fit_sample(X, y, distance, options, console)
    eps = options.eps[0] if search is None else float(classifier_of(search).eps_)
    candidates = options.candidates
    if candidates is None:
        candidates = _propose_candidates(X, eps, distance, options, console)
    chosen = Namespace(**{**vars(options), "eps": [eps], "candidates": candidates})
    classifier = fit_model(build_model(chosen, distance, y, console), chosen, X, y)
    if not isinstance(search, PVMClassifierCV):
        search = None
    return _Fitted(classifier, search, n_sampled, *_count_coverage(classifier, X, y))


def _fit_sample(
    X: Any, y: Any, distance: Distance, options: Namespace, console: Console
) -> tuple[Any, int]:
    """Find the radius in a sample; return what was fitted to it, and its size."""
    size = _affordable_sample(len(y), console)
    rows = draw_rows(y, size, random_state=options.seed)
    console.note(f"Finding the radius with {len(rows)} of them, drawn from each class ...")
    model = build_model(options, distance, y[rows], console)
    fitted = fit_sample(model, X, y, rows=rows)
    return fitted, count_searched(fitted) or len(rows)


def _affordable_sample(n_cases: int, console: Console) -> int:
    """Return how many cases to search in: as many as usual, fewer where the memory is short."""
    memory = available_memory()
    if memory is None:
        return _SAMPLE
    most = int(np.sqrt(_SHARE_OF_MEMORY * memory / _BYTES_PER_PAIR))
    size = min(_SAMPLE, max(_FEWEST_SAMPLED, most))
    if size < min(_SAMPLE, n_cases):
        console.warn(
            f"the radius is searched for with {size} cases and not {min(_SAMPLE, n_cases)}, since "
            f"{memory / 1e6:.0f} MB of memory are free; --eps gives it without a search"
        )
    return size


def _propose_candidates(
    X: Any, eps: float, distance: Distance, options: Namespace, console: Console
) -> int | str:
    """Return how many cases may become prototypes, and say so unless it is all."""
    memory = available_memory()
    most = _COVER_BYTES
    if memory is not None:
        most = min(most, int(_SHARE_OF_MEMORY * memory))
    size = propose_candidates(
        X, eps=eps, metric=distance.metric, random_state=options.seed, max_bytes=most
    )
    if size != "train":
        console.note(
            f"{size} of them, drawn by chance, may become prototypes; --candidates N for another "
            "number, or train for all."
        )
    return size


def _count_coverage(
    classifier: PVMClassifier, X: Any, y: NDArray[Any]
) -> tuple[CoverageTotals, NDArray[np.intp]]:
    """Count who lies in whose ball, some rows at a time, and find companions of prototypes."""
    rows = classifier.prototype_rows_
    totals: CoverageTotals | None = None
    companions = np.full(len(rows), -1)
    step = int(np.clip(_BLOCK // max(1, len(rows)), 1 << 8, 1 << 14))
    for start in range(0, len(y), step):
        some = slice(start, start + step)
        coverage = classifier.coverage(_safe_indexing(X, some), y[some])
        totals = coverage.totals() if totals is None else totals + coverage.totals()
        held = coverage.balls.tocoo()
        point, prototype = held.row + start, held.col
        same = coverage.point_classes[held.row] == coverage.prototype_classes[prototype]
        company = same & (point != rows[prototype])
        companions[prototype[company]] = point[company]
    assert totals is not None
    return totals, companions


def _write_predictions(
    folder: Path,
    model: Any,
    streamed: StreamedRows,
    held_out: NDArray[np.bool_],
    identifier: str | None,
) -> tuple[NDArray[Any], OSError | None]:
    """Write an answer for every row, and return those for the rows that were held out.

    Where they cannot be written all the same, and the error is returned to be raised later.
    """
    unwritten = None
    predicted = []
    with (folder / PREDICTIONS).open("wb", buffering=0) as file:
        for places, frame, batch in blocks_of(streamed, identifier):
            names: Any = None
            if identifier is not None:
                names = row_names(batch.column(identifier).to_pandas())
            cases = replace(streamed.cases.take(places), X=frame, names=names)
            answers = explain_labelled(model, cases, held_out[places])
            if unwritten is None:
                unwritten = _append(file, csv_text(answers, header=places.start == 0).encode())
            predicted.append(answers["predicted"].to_numpy()[held_out[places]])
    return np.concatenate(predicted), unwritten


def _append(file: FileIO, content: bytes) -> OSError | None:
    """Write to a file without a buffer, and return what has prevented it, if anything."""
    rest = memoryview(content)
    try:
        while rest:  # a disk that becomes full takes a part first
            rest = rest[file.write(rest) :]
    except OSError as error:
        return error
    return None


def _estimate_error(
    fitted: _Fitted, held_out: Cases | None, predicted: NDArray[Any]
) -> ErrorEstimate | None:
    """Return the error on held-out cases, else that cross-validated on the sample, if any."""
    if held_out is not None:
        return held_out_error(tally_answers(classifier_of(fitted.model), held_out.y, predicted))
    if fitted.search is None:
        return None
    return cross_validated_error(fitted.search, cast("int", fitted.n_sampled))


def _summarize(
    fitted: _Fitted,
    streamed: StreamedRows,
    training: Cases,
    held_out: Cases | None,
    error: ErrorEstimate | None,
    options: Namespace,
) -> tuple[Cases, SuspectLabels, Summary]:
    """Draw cases to show, and sum up: counts of all training cases, lists of those shown."""
    prototypes = classifier_of(fitted.model).prototype_rows_
    companions = fitted.companions[fitted.companions >= 0]
    places = _draw_shown(training.y, np.concatenate((prototypes, companions)), options.seed)
    shown = _fetch_cases(streamed, training.take(places), options.id)
    how = describe_cases(training, held_out)
    if len(shown) < len(training):
        how["Shown"] = (
            f"a sample of {len(shown):,} training cases, drawn by chance from each class, the "
            "prototypes among them"
        )
    model = with_rows(fitted.model, np.searchsorted(places, prototypes))
    if fitted.search is not None:
        search = copy(fitted.search)
        search.best_estimator_ = classifier_of(model)
        model = with_last_step(model, search)
    suspects = find_suspects(model, shown)
    summary = summarize_cases(
        model,
        shown,
        None,
        title=f"Prototypes of {training.source}",
        suspects=suspects,
        target_name=options.target,
        how=how | _describe_draws(fitted),
        totals=fitted.totals,
        error=error,
    )
    return shown, suspects, summary


def _draw_shown(y: Any, needed: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Draw places of cases to show, from each class in proportion, `needed` among them."""
    needed = np.unique(needed)
    size = max(_SHOWN - len(needed), _FEWEST_SHOWN)
    return np.union1d(draw_rows(y, size, random_state=seed), needed)


def _fetch_cases(streamed: StreamedRows, bare: Cases, identifier: str | None) -> Cases:
    """Return cases with their cells from the file."""
    cells = take_rows(streamed.path, streamed.columns, bare.rows - 1)
    names = None if identifier is None else row_names(cells[identifier])
    X = cells[streamed.features].astype(np.float64)
    return replace(bare, X=X, names=names, shown=cells)


def _describe_draws(fitted: _Fitted) -> dict[str, str]:
    """Say of the radius and the candidates on how many cases they rest."""
    classifier, how = classifier_of(fitted.model), {}
    if fitted.n_sampled is not None:
        radii = classifier.solution_.radii
        share = "median" if radii is None else "0.9 quantile"
        guessed = f"as the {share} of the distances to another class"
        why = guessed if fitted.search is None else "by cross-validation"
        eps = short_number(classifier.eps_)
        if radii is not None:
            eps = f"its own for each prototype, {short_range(radii)}; at most {eps}"
        how["Radius"] = f"{eps}, chosen {why} on {fitted.n_sampled:,} cases drawn by chance"
    if isinstance(classifier.candidates, int):
        how["May become a prototype"] = f"{classifier.candidates:,} cases drawn by chance"
    return how


def _describe(streamed: StreamedRows, options: Namespace, console: Console) -> Distance:
    """Say what there is, and by which distance it is measured."""
    import pandas as pd

    console.note(
        f"Opened {options.data}: {len(streamed.cases)} rows, {len(streamed.features)} columns of "
        f"numbers, {len(np.unique(np.asarray(streamed.cases.y)))} classes."
    )
    header = pd.DataFrame(columns=streamed.features, dtype=np.float64)
    cases = replace(streamed.cases, X=header)
    distance = choose_distance(cases, name=options.metric, scaled=options.scale, asymmetric=[])
    console.note(f"Distance: {distance.words} ({distance.reason}).")
    return distance


def _check_options(options: Namespace) -> None:
    """Refuse what cannot be streamed."""
    path = options.data
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
    asked = options.candidates
    if asked is not None and not is_train(asked) and not is_number(asked):
        raise UsageError(
            "--stream goes with --candidates train, a number or a share of the cases, got "
            f"{asked if isinstance(asked, str) else ','.join(map(str, asked))}"
        )
    for name in ("kind", "weights", "metric_param", "image_size", "skip_broken"):
        if getattr(options, name):
            raise UsageError(f"--stream does not go with --{name.replace('_', '-')}; leave it out")
    if options.eps == "none":
        raise UsageError(
            "--stream needs a limit to the radii, or every ball might hold every case; give it "
            "with --eps, a number or auto"
        )
    if options.radii == "own" and isinstance(options.eps, list) and len(options.eps) > 1:
        raise UsageError("--stream goes with one --eps for --radii own, got several; choose one")
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
