"""Data frames as JSON and arrays, column by column.

Prototypes are rows of the frame that the model was fitted on, so a file that holds a
frame needs the same package to be read.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._exceptions import ModelFileError
from ..data._fields import check_array, check_boolean, check_list, check_record, check_text, refuse
from ..data._frames import frame_library

_NUMBERS = {
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    "Float32",
    "Float64",
}
_MASKED = _NUMBERS | {"boolean"}
_POLARS_NUMBERS = _NUMBERS | {"Boolean"}
_FRAMES = ("DataFrame", "Series")
_POLARS_UNITS = ("ms", "us", "ns")


def is_frame(value: Any) -> bool:
    """Whether a value is a frame or series of pandas or polars, and of no class made of them."""
    return _library(value) in ("pandas", "polars") and type(value).__name__ in _FRAMES


def missing_word(value: Any) -> str | None:
    """Return the name of a missing value of pandas, None for anything else."""
    return {"NAType": "NA", "NaTType": "NaT"}.get(type(value).__name__)


def missing_value(word: Any) -> Any:
    """Return the missing value of pandas with this name."""
    return getattr(frame_library("pandas"), check_text(word, "a missing value", ("NA", "NaT")))


def encode_frame(frame: Any, encode: Any) -> Any:
    """Encode a frame or series; `encode` is applied to names and arrays."""
    library, single = _library(frame), type(frame).__name__ == "Series"
    index = None
    # Columns are taken by their places, since names may repeat.
    if library == "pandas":
        series = [frame] if single else [frame.iloc[:, i] for i in range(frame.shape[1])]
        columns = [[encode(one.name), _encode_pandas(one, encode)] for one in series]
        levels = [frame.index.get_level_values(k) for k in range(frame.index.nlevels)]
        index = [[encode(level.name), _encode_pandas(level, encode)] for level in levels]
    else:
        series = [frame] if single else frame.get_columns()
        columns = [[encode(one.name), _encode_polars(one, encode)] for one in series]
    return {"library": library, "single": single, "columns": columns, "index": index}


def decode_frame(content: Any, decode: Any) -> Any:
    """Put a frame or series together; `decode` is applied to names and arrays."""
    try:
        return _decode(content, decode)
    except Exception as error:
        # What polars objects to is no ValueError.
        polars = sys.modules.get("polars")
        if polars is None or not isinstance(error, polars.exceptions.PolarsError):
            raise
        raise ModelFileError(f"the file does not describe a frame: {error}") from error


def _decode(content: Any, decode: Any) -> Any:
    """Put a frame or series together from a record that is still to be checked."""
    record = check_record(content, "a frame", ("library", "single", "columns", "index"))
    library = check_text(record["library"], "the library of a frame", ("pandas", "polars"))
    decode_column = _decode_pandas if library == "pandas" else _decode_polars
    columns = _decode_columns(record["columns"], decode, decode_column)
    if len({len(values) for _, values in columns}) > 1:
        refuse("the columns of a frame are of unequal length")
    single = check_boolean(record["single"], "whether a frame is a series")
    if single and len(columns) != 1:
        refuse(f"a series has {len(columns)} columns")
    if library == "polars":
        return _polars_frame(columns, single)
    return _pandas_frame(columns, _decode_columns(record["index"], decode, decode_column), single)


def _library(frame: Any) -> str:
    """Return the package that the class of a value is of."""
    return type(frame).__module__.partition(".")[0]


def _decode_columns(content: Any, decode: Any, decode_column: Any) -> list[tuple[Any, Any]]:
    """Decode names and values of columns."""
    pairs = [check_list(pair, "a column", 2) for pair in check_list(content, "columns")]
    return [(decode(name), decode_column(values, decode)) for name, values in pairs]


def _encode_pandas(column: Any, encode: Any) -> dict[str, Any]:
    """Encode a series or an index by its type."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return {"type": "numpy", "values": encode(column.to_numpy())}
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        codes = column.cat.codes if hasattr(column, "cat") else column.codes
        return {
            "type": "category",
            "codes": encode(np.asarray(codes)),
            "categories": _encode_pandas(dtype.categories, encode),
            "ordered": bool(dtype.ordered),
        }
    if type(dtype).__name__ == "StringDtype":
        values = column.to_numpy(dtype=object, na_value=None)
        nan = isinstance(dtype.na_value, float)
        return {"type": "string", "nan": nan, "values": encode(values)}
    if str(dtype) in _MASKED:
        fill = False if str(dtype) == "boolean" else 0
        plain = encode(column.to_numpy(dtype=dtype.numpy_dtype, na_value=fill))
        missing = encode(np.asarray(column.isna()))
        return {"type": "masked", "dtype": str(dtype), "values": plain, "missing": missing}
    _refuse_column(column)


def _decode_pandas(content: Any, decode: Any) -> Any:
    """Return the values of a column of a pandas frame."""
    pandas = frame_library("pandas")
    kind = content.get("type") if isinstance(content, dict) else None
    if kind == "numpy":
        record = check_record(content, "a column", ("type", "values"))
        return check_array(decode(record["values"]), "a column", shape=(None,))
    if kind == "category":
        record = check_record(content, "a column", ("type", "codes", "categories", "ordered"))
        categories = pandas.Index(_decode_pandas(record["categories"], decode))
        codes = check_array(decode(record["codes"]), "codes", kinds="i", shape=(None,))
        check_array(codes + np.int64(1), "codes of categories", below=len(categories) + 1)
        ordered = check_boolean(record["ordered"], "whether categories are ordered")
        return pandas.Categorical.from_codes(codes, categories, ordered=ordered)
    if kind == "string":
        record = check_record(content, "a column", ("type", "nan", "values"))
        values = check_array(decode(record["values"]), "strings", kinds="O", shape=(None,))
        if not all(value is None or isinstance(value, str) for value in values):
            refuse("a column of strings holds something else")
        return _texts(pandas, values, nan=check_boolean(record["nan"], "the missing string"))
    if kind == "masked":
        record = check_record(content, "a column", ("type", "dtype", "values", "missing"))
        name = check_text(record["dtype"], "the type of a column", _MASKED)
        values, missing = _values_and_mask(record, decode, "biuf")
        column = pandas.array(values, dtype=name)
        column[missing] = pandas.NA
        return column
    refuse(f"a column of a frame has the type {kind!r:.80}")


def _texts(pandas: Any, values: NDArray[Any], *, nan: bool) -> Any:
    """Return texts as pandas keeps them; before 2.3 those with NaN for missing are objects."""
    if not nan:
        return pandas.array(values, dtype=pandas.StringDtype())
    try:
        text = pandas.StringDtype(na_value=np.nan)
    except TypeError:
        return np.array([np.nan if value is None else value for value in values], dtype=object)
    return pandas.array(values, dtype=text)


def _values_and_mask(record: dict[str, Any], decode: Any, kinds: str) -> tuple[Any, Any]:
    """Return the values of a column and which of them are missing."""
    values = check_array(decode(record["values"]), "a column", kinds=kinds, shape=(None,))
    return values, check_array(decode(record["missing"]), "a mask", kinds="b", shape=values.shape)


def _pandas_frame(
    columns: list[tuple[Any, Any]], levels: list[tuple[Any, Any]], single: bool
) -> Any:
    """Put columns and index together."""
    pandas = frame_library("pandas")
    if not levels:
        refuse("a frame has no index")
    if len({len(values) for _, values in [*columns, *levels]}) != 1:
        refuse("the index of a frame is not as long as its columns")
    names, arrays = zip(*levels, strict=True)
    if len(levels) == 1:
        index = pandas.Index(arrays[0], name=names[0])
    else:
        index = pandas.MultiIndex.from_arrays(arrays, names=names)
    if single:
        return pandas.Series(columns[0][1], index=index, name=columns[0][0])
    frame = pandas.DataFrame(dict(enumerate(values for _, values in columns)), index=index)
    frame.columns = pandas.Index([name for name, _ in columns], tupleize_cols=False)
    return frame


def _encode_polars(column: Any, encode: Any) -> dict[str, Any]:
    """Encode a polars series by its type."""
    dtype = column.dtype
    kind = str(dtype).partition("(")[0]
    missing = encode(column.is_null().to_numpy())
    if kind in _POLARS_NUMBERS:
        plain = column.fill_null(False if kind == "Boolean" else 0).to_numpy()
        return {"type": kind, "values": encode(np.array(plain)), "missing": missing}
    if kind in ("Date", "Datetime", "Duration") and getattr(dtype, "time_zone", None) is None:
        unit = getattr(dtype, "time_unit", "us")
        plain = column.to_physical().fill_null(0).to_numpy().astype(np.int64)
        values = encode(np.array(plain))
        return {"type": kind, "values": values, "missing": missing, "unit": unit}
    if kind in ("String", "Categorical", "Enum"):
        order = dtype.categories.to_list() if kind == "Enum" else []
        return {"type": kind, "values": column.cast(str).to_list(), "order": order}
    _refuse_column(column)


def _decode_polars(content: Any, decode: Any) -> Any:
    """Return a column of a polars frame."""
    polars = frame_library("polars")
    kind = content.get("type") if isinstance(content, dict) else None
    if kind in ("String", "Categorical", "Enum"):
        record = check_record(content, "a column", ("type", "values", "order"))
        for word in [*check_list(record["values"], "strings"), *check_list(record["order"], "")]:
            if word is not None:
                check_text(word, "a string of a column")
        dtype = polars.Enum(record["order"]) if kind == "Enum" else getattr(polars, kind)
        return polars.Series(values=record["values"], dtype=dtype)
    if kind in _POLARS_NUMBERS:
        record = check_record(content, "a column", ("type", "values", "missing"))
        return _with_nulls(record, decode, "biuf", getattr(polars, kind))
    if kind in ("Date", "Datetime", "Duration"):
        record = check_record(content, "a column", ("type", "values", "missing", "unit"))
        unit = check_text(record["unit"], "the unit of times", _POLARS_UNITS)
        days = kind == "Date"
        physical = _with_nulls(record, decode, "i", polars.Int32 if days else polars.Int64)
        return physical.cast(polars.Date if days else getattr(polars, kind)(unit))
    refuse(f"a column of a frame has the type {kind!r:.80}")


def _with_nulls(record: dict[str, Any], decode: Any, kinds: str, dtype: Any) -> Any:
    """Return a polars series with nulls where values are missing."""
    pairs = zip(*_values_and_mask(record, decode, kinds), strict=True)
    items = [None if absent else item.item() for item, absent in pairs]
    return frame_library("polars").Series(values=items, dtype=dtype)


def _polars_frame(columns: list[tuple[Any, Any]], single: bool) -> Any:
    """Put columns together."""
    named = [values.alias(check_text(name, "a column's name")) for name, values in columns]
    return named[0] if single else frame_library("polars").DataFrame(named)


def _refuse_column(column: Any) -> NoReturn:
    """Say that a type of column is not known."""
    refuse(
        f"column {column.name!r} of the prototypes has the type {column.dtype}, which model files "
        "do not hold; convert it to numbers, strings, categories or times without zone before "
        "fitting, or keep the model with joblib.dump"
    )
