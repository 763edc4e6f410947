"""``protocover demo``: prototypes of the handwritten digits bundled with scikit-learn."""

from __future__ import annotations

import io
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from .._estimators import PVMClassifier
from .cases import Cases, ImageLayout, split_cases
from .console import Console
from .outcome import (
    Outcome,
    find_suspects,
    gather_outcome,
    print_outcome,
    summarize_cases,
)
from .writing import check_folder, fresh_folder, print_files, write_outcome

_GALLERY = "prototypes.png"
_SHOWN = 60


def run_demo(options: Namespace, console: Console) -> None:
    """Choose prototypes of the bundled digits, say how well they do, and show them."""
    folder = options.output
    check_folder(folder, force=True)
    X, y = load_digits(return_X_y=True)
    cases = Cases(X, y, np.arange(1, len(y) + 1), "digits", None, None, ImageLayout(8, 8, False))
    training, held_out = split_cases(cases, 1 / 3, seed=0)
    assert held_out is not None
    console.note(
        f"Handwritten digits: {len(training)} to choose prototypes from, {len(held_out)} held out."
    )
    started = time.perf_counter()
    model = PVMClassifier(random_state=0, verbose=console.verbose)
    model.fit(training.X, training.y).set_params(verbose=0)
    suspects = find_suspects(model, cases)
    outcome = gather_outcome(
        model,
        cases=cases,
        training=training,
        held_out=held_out,
        summary=summarize_cases(
            model,
            training,
            held_out,
            title="Prototypes of handwritten digits",
            high_is_dark=True,
            suspects=suspects,
        ),
        suspects=suspects,
        distance="Euclidean",
        settings={"eps": "auto"},
        seconds=time.perf_counter() - started,
    )
    _write(folder, outcome, console)


def _write(folder: Path, outcome: Outcome, console: Console) -> None:
    """Write what `fit` does and, if matplotlib is there to draw it, a picture."""
    picture = _draw_gallery(outcome)
    with fresh_folder(folder, force=True) as unfinished:
        further = {} if picture is None else {_GALLERY: picture}
        write_outcome(unfinished, outcome, further=further)
    print_outcome(outcome, console)
    print_files(folder, console)
    if picture is None:
        console.say('For a picture of the prototypes: pip install "protocover[plot]"')
    else:
        console.say(f"  {_GALLERY:<18}the first {_SHOWN}, with the points each newly covers and,")
        console.say(f"{'':<20}in brackets, those of other classes in its ball")


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
