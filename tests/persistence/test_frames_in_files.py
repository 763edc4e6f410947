"""Frames in model files: what a library objects to is the file's fault."""

from __future__ import annotations

import pytest

from protocover import ModelFileError
from protocover._persistence.frames import decode_frame


def test_a_polars_column_with_words_outside_of_its_enum_is_refused():
    pytest.importorskip("polars", reason="polars, an optional package, is not installed")
    column = {"type": "Enum", "values": ["a", "z"], "order": ["a", "b"]}
    content = {"library": "polars", "single": False, "columns": [["c", column]], "index": None}
    with pytest.raises(ModelFileError, match="does not describe a frame"):
        decode_frame(content, lambda value: value)


def test_an_error_that_is_not_of_polars_passes_as_it_is():
    def broken(value):
        raise RuntimeError("not about the file")

    column = {"type": "numpy", "values": None}
    content = {"library": "pandas", "single": False, "columns": [["c", column]], "index": []}
    with pytest.raises(RuntimeError, match="not about the file"):
        decode_frame(content, broken)
