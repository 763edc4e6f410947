"""The command line: ``protocover demo``."""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from . import PVMClassifier, __version__

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="protocover", description="Prototype selection by set cover."
    )
    parser.add_argument("--version", action="version", version=f"protocover {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="choose prototypes of the handwritten digits bundled with scikit-learn"
    )
    demo.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="folder to write to (%(default)s)"
    )
    options = parser.parse_args(arguments)
    run_demo(options.output)
    return 0


def run_demo(folder: Path) -> None:
    """Choose prototypes of the bundled digits, say how well they do, and show them."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    print(f"Handwritten digits: {len(y)} to choose prototypes from, {len(y_test)} held out.")
    model = PVMClassifier(random_state=0, verbose=1).fit(X, y)
    _print_classes(model, y)
    _print_quality(model, X, y, X_test, y_test)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "prototypes.csv", _table(model).encode())
    print(f"Wrote {folder / 'prototypes.csv'}: every prototype, its row and what it covers.")
    _draw_gallery(model, folder)


def _print_classes(model: PVMClassifier, y: Any) -> None:
    """Print how many prototypes each class has and what share of it they cover."""
    print("\nclass  points  prototypes  covered")
    for label in model.classes_:
        own = model.prototype_labels_ == label
        size, covered = int((y == label).sum()), int(model.prototype_covered_[own].sum())
        print(f"{label:>5}  {size:>6}  {own.sum():>10}  {100 * covered / size:>6.1f}%")


def _print_quality(model: PVMClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    """Print the objective, and the held-out error beside that of 1-NN."""
    n_prototypes = len(model.prototype_labels_)
    covered, wrong = model.prototype_covered_.sum(), model.prototype_miscovered_.sum()
    nearest = KNeighborsClassifier(1).fit(X, y)
    print(f"\nradius eps = {model.eps_:.2f}: half of the points have no rival that near")
    print(
        f"objective  = {model.objective_:.2f}: {len(y) - covered} points uncovered, "
        f"{wrong} wrongly covered, {n_prototypes} prototypes at {model.prototype_cost_:.2g} each"
    )
    if np.isfinite(model.lower_bound_):
        print(f"             of which a better choice could save at most {100 * model.gap_:.1f} %")
    print(
        f"held out   = {100 * (1 - model.score(X_test, y_test)):.1f} % wrong with "
        f"{n_prototypes} prototypes, {100 * (1 - nearest.score(X_test, y_test)):.1f} % with all "
        f"{len(y)} points (1-NN)\n"
    )


def _table(model: PVMClassifier) -> str:
    """Return the prototypes as CSV, in order of selection."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "class", "newly_covered", "wrongly_covered"])
    writer.writerows(
        zip(
            model.prototype_rows_,
            model.prototype_labels_,
            model.prototype_covered_,
            model.prototype_miscovered_,
            strict=True,
        )
    )
    return text.getvalue()


def _draw_gallery(model: PVMClassifier, folder: Path) -> None:
    """Write a picture of the first prototypes, if matplotlib is there to draw it."""
    try:
        from .plotting import PrototypeGalleryDisplay
    except ImportError:
        print('For a picture of them: pip install "protocover[plot]"')
        return
    display = PrototypeGalleryDisplay.from_estimator(model, image_shape=(8, 8), n_prototypes=60)
    picture = io.BytesIO()
    display.figure_.savefig(picture, format="png", dpi=150)
    _write(folder / "prototypes.png", picture.getvalue())
    print(
        f"Wrote {folder / 'prototypes.png'}: the first 60, each with its class, how many points "
        "it newly covers and, in brackets, how many of other classes."
    )


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
