"""Cases for a model that exists: read and given the columns and types it was fitted on."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ..persistence import load_model
from .cases import Cases, ImageLayout
from .columns import ColumnType, convert, is_missing
from .console import Console
from .errors import CommandError
from .images import ImageFile, find_images, flatten, layout_of, read_images
from .labelled import find_column, list_names
from .models import classifier_of, feature_names
from .tables import read_table
from .written import MODEL

__all__ = ["open_model", "read_cases"]


def open_model(path: Path) -> Any:
    """Load a model from its file, or from the folder that `fit` has written."""
    file = path / MODEL if path.is_dir() else path
    if not file.exists():
        hint = f"{path} holds no {MODEL}" if path.is_dir() else f"there is no {path}"
        raise CommandError(f"{hint}; give a model file, or the folder that `fit` has written")
    return load_model(file)


def read_cases(model: Any, options: Namespace, console: Console) -> Cases:
    """Read a table or images with the columns that a model was fitted on.

    `options` has ``data``, ``target``, ``id`` and how to read; labels are text or None.
    """
    path = options.data
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    types = _column_types(model)
    layout = layout_of(list(types))
    if layout is not None and not _is_table(path):
        return _read_images(path, layout, skip=options.skip_broken, console=console)
    return _read_rows(path, types, options, console)


def _read_rows(
    path: Path, types: dict[str, ColumnType], options: Namespace, console: Console
) -> Cases:
    """Read the rows of a table."""
    import pandas as pd

    frame = read_table(
        path, separator=options.separator, encoding=options.encoding, console=console
    )
    absent = [name for name in types if name not in frame.columns]
    if absent:
        raise CommandError(
            f"{path} lacks {len(absent)} of the model's columns: {list_names(absent)}; add them, "
            "empty where a value is missing"
        )
    known = {*types, options.target, options.id}
    others = [name for name in frame.columns if name not in known]
    if others:
        console.note(f"Ignored: {list_names(others)}, unknown to the model.")
    X = pd.DataFrame({name: convert(frame[name], kind) for name, kind in types.items()})
    y: Any = None
    names: Any = None
    if options.target is not None:
        target = frame[find_column(frame, options.target, "--target", path)]
        cells = target.astype(str).str.strip().to_numpy(dtype=object)
        y = np.where(is_missing(target), None, cells)
    if options.id is not None:
        column = frame[find_column(frame, options.id, "--id", path)]
        names = column.astype(str).to_numpy(dtype=object)
    return Cases(X, y, frame.index.to_numpy() + 1, path.name, names, frame)


def _read_images(path: Path, layout: ImageLayout, *, skip: bool, console: Console) -> Cases:
    """Read images from a folder, or one image."""
    files = find_images(path, console) if path.is_dir() else [ImageFile(path, path.name, None)]
    size = (layout.width, layout.height)
    files, pixels = read_images(files, size=size, skip=skip, console=console)
    names = np.array([file.name for file in files], dtype=object)
    y = np.array([file.label for file in files], dtype=object)
    rows = np.arange(1, len(files) + 1)
    return Cases(flatten(pixels, layout), y, rows, path.name, names, None, layout)


def _column_types(model: Any) -> dict[str, ColumnType]:
    """Return what each column of a model must hold, in order."""
    names = feature_names(model)
    dissimilarity = classifier_of(model).dissimilarity_
    if not hasattr(dissimilarity, "stores_"):
        return dict.fromkeys(names, ColumnType("numbers"))
    return {
        name: ColumnType(stores, tuple(categories) if stores == "ranks" else None)
        for name, stores, categories in zip(
            names, dissimilarity.stores_, dissimilarity.categories_, strict=True
        )
    }


def _is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    name = path.name.lower().removesuffix(".gz")
    return path.is_file() and name.endswith((".csv", ".tsv", ".tab", ".txt", ".parquet"))
