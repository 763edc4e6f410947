"""``protocover fit``: from a table or a folder of images to prototypes, a model and a report."""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Cases, announce_split, read_labeled, split_cases
from .columns import count_kinds
from .console import Console, UsageError, count_things
from .errors import cross_validate_answers
from .estimator import Distance, build_model, choose_distance, fit_model
from .images import read_labeled_images
from .outcome import (
    Outcome,
    find_suspects,
    gather_outcome,
    print_outcome,
    summarize_cases,
)
from .sampling import choose_candidates
from .writing import fresh_folder, print_files, told_where, write_outcome

_OF_TABLES = (
    *("target", "id", "weights", "drop", "feature_type", "missing", "decimal"),
    *("ignore_warnings", "separator", "encoding", "sheet"),
)

# With fewer cases what comes after the fit takes no time to speak of.
_MANY = 20_000


def run_fit(options: Namespace, console: Console) -> None:
    """Read, choose prototypes, test them, and write everything into one folder."""
    folder = options.output = options.output or Path(f"{stem(options.data)}-protocover")
    if not options.data.exists():
        raise FileNotFoundError(2, "No such file or folder", str(options.data))
    inputs = [options.data, options.features]
    with fresh_folder(folder, force=options.force, inputs=inputs) as unfinished:
        outcome = _fit(options, console)
        with told_where(folder, instead=lambda: print_outcome(outcome, console)):
            write_outcome(unfinished, outcome)
    # Printed after the folder is complete, so that a closed pipe does not discard the fit.
    print_outcome(outcome, console)
    print_files(folder, console)


def _fit(options: Namespace, console: Console) -> Outcome:
    """Read everything, fit, and gather what comes out."""
    cases = _read(options, console)
    asymmetric = [
        text.rpartition("=")[0] for text in options.feature_type if text.endswith("=asymmetric")
    ]
    distance = choose_distance(
        cases,
        name=options.metric,
        scaled=options.scale,
        asymmetric=asymmetric,
        params=dict(options.metric_param),
    )
    console.note(f"Distance: {distance.words} ({distance.reason}).")
    return _learn(cases, distance, options, console)


def _learn(cases: Cases, distance: Distance, options: Namespace, console: Console) -> Outcome:
    """Keep cases back, fit on the others, and gather what came out."""
    started = time.perf_counter()
    if distance.of_numbers:
        cases = replace(cases, X=cases.X.astype(float if cases.layout is None else np.float32))
    training, held_out = split_cases(cases, options.test_size, options.seed)
    announce_split(training, held_out, console)
    options.candidates = choose_candidates(options, len(training), console)
    model = build_model(options, distance, np.asarray(training.y), console)
    fit_model(model, options, training.X, training.y, training.weights)
    if len(cases) >= _MANY:
        console.note("Testing the model, comparing labels and writing the report ...")
    error = None if held_out is not None else cross_validate_answers(model, training, console)
    suspects = find_suspects(model, cases)
    title = f"Prototypes of {cases.source}"
    return gather_outcome(
        model,
        cases=cases,
        training=training,
        held_out=held_out,
        summary=summarize_cases(
            model,
            training,
            held_out,
            title=title,
            error=error,
            suspects=suspects,
            target_name=options.target,
        ),
        suspects=suspects,
        distance=distance.words,
        settings=settings_of(options),
        seconds=time.perf_counter() - started,
    )


def _read(options: Namespace, console: Console) -> Cases:
    """Read a table or a folder of images, and say what there is."""
    path = options.data
    if path.is_dir():
        refuse_options(options, _OF_TABLES, "a table")
        cases = read_labeled_images(
            path,
            size=options.image_size,
            color={"auto": None, "color": True, "gray": False}[options.color],
            skip=options.skip_broken,
            console=console,
            features=options.features,
        )
        length = count_things(cases.X.shape[1], "number", "numbers")
        how = f"by vectors of {length}" if options.features else f"at {cases.layout}"
        what = f"{len(cases)} images {how}"
    else:
        refuse_options(options, ("image_size", "skip_broken", "features"), "a folder of images")
        cases = read_labeled(path, options, console)
        columns = count_things(cases.X.shape[1], "column", "columns")
        what = f"{len(cases)} rows, {columns} ({count_kinds(cases.X)})"
    console.note(f"Read {path}: {what}, {len(np.unique(np.asarray(cases.y)))} classes.")
    return cases


def refuse_options(options: Namespace, names: tuple[str, ...], what: str) -> None:
    """Refuse options that go with another kind of data."""
    for name in names:
        if getattr(options, name):
            option = "--" + name.replace("_", "-")
            raise UsageError(
                f"{option} goes with {what}, and {options.data} is none; leave it out"
            )


def stem(path: Path) -> str:
    """Return the name of a file without its endings, or of a folder."""
    name = path.absolute().name
    return name.split(".")[0] or name if path.is_file() else name


def settings_of(options: Namespace) -> dict[str, Any]:
    """Return the options as they were given or left, for the record."""
    left_out = {"command", "data", "output", "force", "quiet", "debug"}
    return {name: value for name, value in sorted(vars(options).items()) if name not in left_out}
