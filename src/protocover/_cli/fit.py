"""``protocover fit``, ``cover`` and ``demo``: from data to a folder of results."""

from __future__ import annotations

import io
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Cases, ImageLayout, split_cases
from .check import read_rows
from .columns import count_types
from .console import CommandError, Console, UsageError, count_things, list_names
from .estimator import build_cover, build_model, choose_candidates, choose_distance, fit_model
from .images import read_image_folder
from .outcome import (
    Outcome,
    cross_validate_answers,
    find_suspects,
    gather_outcome,
    print_outcome,
    summarize_cases,
)
from .vectors import cover_vectors, is_vectors
from .writing import check_folder, fresh_folder, name_failed_output, print_files, write_outcome

_TABLE_OPTIONS = (
    *("target", "id", "weights", "candidate_cost", "drop", "feature_type", "missing", "decimal"),
    *("ignore_warnings", "separator", "encoding", "sheet"),
)
_IMAGE_OPTIONS = ("image_size", "skip_broken", "features")
# With fewer cases the steps after the fit are quick.
_MANY = 20_000
_GALLERY = "prototypes.png"
_SHOWN = 60


def run_fit(options: Namespace, console: Console) -> None:
    """Read cases, choose prototypes, test them, and write everything to one folder."""
    _run(options, console, _choose_prototypes)


def run_cover(options: Namespace, console: Console) -> None:
    """Read cases, choose representatives, and write everything to one folder."""
    if options.features is not None:
        raise UsageError(
            "--features is only for `protocover fit`; give a table that contains the vectors"
        )
    if is_vectors(options):
        cover_vectors(options, _output_folder(options), console)
    else:
        _run(options, console, _choose_representatives)


def _run(
    options: Namespace,
    console: Console,
    choose: Callable[[Cases, Namespace, Console], Outcome],
) -> None:
    """Read the data, fit, and write and print the outcome."""
    folder = _output_folder(options)
    inputs = [options.data, options.features]
    with fresh_folder(folder, force=options.force, inputs=inputs) as unfinished:
        outcome = choose(_read(options, console), options, console)
        with name_failed_output(folder, instead=lambda: print_outcome(outcome, console)):
            write_outcome(unfinished, outcome)
    # Printed after the folder is complete, so that a closed pipe does not discard the fit.
    print_outcome(outcome, console)
    print_files(folder, outcome, console)


def _output_folder(options: Namespace) -> Path:
    """Return the output folder, by default named after the data, which must exist."""
    if not options.data.exists():
        raise FileNotFoundError(2, "No such file or folder", str(options.data))
    name = options.data.absolute().name
    stem = name.split(".")[0] or name if options.data.is_file() else name
    return Path(options.output or f"{stem}-protocover")


def _read(options: Namespace, console: Console) -> Cases:
    """Read a table or a folder of images, and print its size."""
    path, labeled = options.data, hasattr(options, "target")
    if path.is_dir():
        _refuse_options(options, _TABLE_OPTIONS, "a table", "is a folder")
        cases = read_image_folder(
            path,
            labeled=labeled,
            size=options.image_size,
            color={"auto": None, "color": True, "gray": False}[options.color],
            skip=options.skip_broken,
            console=console,
            features=options.features,
        )
        how = f"at {cases.layout}"
        if options.features is not None:
            how = f"with vectors of {count_things(cases.X.shape[1], 'number', 'numbers')}"
        what = f"{len(cases)} images {how}"
    else:
        _refuse_options(options, _IMAGE_OPTIONS, "a folder of images", "is not a folder")
        cases = read_rows(options, console)
        columns = count_things(cases.X.shape[1], "column", "columns")
        what = f"{len(cases)} rows, {columns} ({count_types(cases.X)})"
    classes = "" if cases.y is None else f", {len(np.unique(cases.y))} classes"
    console.note(f"Read {path}: {what}{classes}.")
    return cases


def _refuse_options(options: Namespace, names: tuple[str, ...], what: str, but: str) -> None:
    """Raise an error if an option for another kind of data is given."""
    for name in names:
        if getattr(options, name, None):
            raise UsageError(
                f"--{name.replace('_', '-')} is only valid for {what}, and {options.data} {but}; "
                "omit it"
            )


def _with_distance(cases: Cases, options: Namespace, console: Console) -> tuple[Cases, Any]:
    """Return cases as the distance between them needs them, and that distance."""
    ends = "=asymmetric"
    distance = choose_distance(
        cases,
        name=options.metric,
        scaled=options.scale,
        asymmetric=[text[: -len(ends)] for text in options.feature_type if text.endswith(ends)],
        params=dict(options.metric_param),
    )
    console.note(f"Distance: {distance.words} ({distance.reason}).")
    if distance.of_numbers:
        cases = replace(cases, X=cases.X.astype(float if cases.layout is None else np.float32))
    return cases, distance


def _choose_prototypes(cases: Cases, options: Namespace, console: Console) -> Outcome:
    """Hold out a test set, fit a classifier on the other cases, and gather the results."""
    cases, distance = _with_distance(cases, options, console)
    started = time.perf_counter()
    training, held_out = split_cases(cases, options.test_size, options.seed)
    n_held_out = 0 if held_out is None else len(held_out)
    console.note(f"Choosing prototypes from {len(training)} cases ({n_held_out} held out) ...")
    options.candidates = choose_candidates(options, len(training), console)
    model = build_model(options, distance, np.asarray(training.y), console)
    fit_model(model, options, training.X, training.y, training.weights)
    if len(cases) >= _MANY:
        console.note("Testing the model, checking labels and writing the report ...")
    return gather_outcome(
        model,
        cases=cases,
        training=training,
        held_out=held_out,
        title=f"Prototypes of {cases.source}",
        error=None if held_out is not None else cross_validate_answers(model, training, console),
        suspects=find_suspects(model, cases),
        target_name=options.target,
        distance=distance.words,
        settings=_settings(options),
        started=started,
    )


def _choose_representatives(cases: Cases, options: Namespace, console: Console) -> Outcome:
    """Choose representatives of all cases, and gather the results."""
    included = _included_rows(options.must_include, cases)
    cases, distance = _with_distance(cases, options, console)
    started = time.perf_counter()
    console.note(f"Choosing representatives of {len(cases)} cases ...")
    model = build_cover(options, distance, included, cases, console)
    return Outcome(
        model,
        cases,
        cases,
        None,
        summarize_cases(model, cases, None, title=f"Representatives of {cases.source}"),
        None,
        distance=distance.words,
        settings=_settings(options),
        seconds=time.perf_counter() - started,
    )


def _included_rows(asked: list[str], cases: Cases) -> list[int]:
    """Return the indices of cases given by name, or by row number."""
    known = [str(row) for row in cases.rows] if cases.names is None else cases.titles
    places: list[int] = []
    for name in (part.strip() for text in asked for part in text.split(",")):
        found = [place for place, one in enumerate(known) if one == name]
        if not found:
            what = "row" if cases.names is None else "case"
            example = list_names(known[:2] + known[-1:])
            raise CommandError(f"--must-include: there is no {what} {name!r}; try {example}")
        if len(found) > 1:
            rows = ", ".join(str(cases.rows[k]) for k in found[:5])
            raise CommandError(
                f"--must-include {name!r} is the name of {len(found)} cases; omit --id and give "
                f"the row number, such as {rows}"
            )
        places += [place for place in found if place not in places]
    return places


def _settings(options: Namespace) -> dict[str, Any]:
    """Return the options and their values, for summary.json."""
    left_out = {"command", "data", "output", "force", "quiet", "debug"}
    return {name: value for name, value in sorted(vars(options).items()) if name not in left_out}


def run_demo(options: Namespace, console: Console) -> None:
    """Choose prototypes of the digits of scikit-learn, print the accuracy, and draw them."""
    from sklearn.datasets import load_digits

    from .._estimators import PVMClassifier

    folder = options.output
    check_folder(folder, force=True)
    X, y = load_digits(return_X_y=True)
    cases = Cases(X, y, np.arange(1, len(y) + 1), "digits", layout=ImageLayout(8, 8, False))
    training, held_out = split_cases(cases, 1 / 3, seed=0)
    assert held_out is not None
    console.note(
        f"Choosing prototypes from {len(training)} handwritten digits ({len(held_out)} held out) "
        "..."
    )
    started = time.perf_counter()
    model = PVMClassifier(random_state=0, verbose=console.verbose)
    model.fit(training.X, training.y).set_params(verbose=0)
    outcome = gather_outcome(
        model,
        cases=cases,
        training=training,
        held_out=held_out,
        title="Prototypes of handwritten digits",
        high_is_dark=True,
        suspects=find_suspects(model, cases),
        distance="Euclidean",
        settings={"eps": "auto"},
        started=started,
    )
    picture = _draw_gallery(outcome)
    with fresh_folder(folder, force=True) as unfinished:
        further = {} if picture is None else {_GALLERY: picture}
        write_outcome(unfinished, outcome, further=further)
    print_outcome(outcome, console)
    print_files(folder, outcome, console)
    if picture is None:
        console.say('To draw the prototypes, install matplotlib: pip install "protocover[plot]"')
    else:
        console.say(f"  {_GALLERY:<18}the first {_SHOWN}, each with the number of cases it newly")
        console.say(f"{'':<20}covers and, in brackets, of cases of other classes")


def _draw_gallery(outcome: Outcome) -> bytes | None:
    """Return a picture of the first prototypes, None without matplotlib."""
    try:
        from ..plotting import PrototypeGalleryDisplay
    except ImportError:
        return None
    display = PrototypeGalleryDisplay.from_estimator(
        outcome.classifier, image_shape=(8, 8), max_prototypes=_SHOWN
    )
    picture = io.BytesIO()
    display.figure_.savefig(picture, format="png", dpi=150)
    return picture.getvalue()
