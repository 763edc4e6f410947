"""A fitted classifier's answers to chunks of queries, computed when they are asked for."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from dask.delayed import delayed


def ask_lazily(
    model: Any, method: str, queries: Any, *, dtype: np.dtype[Any], width: int | None
) -> Any:
    """Return a dask array of what `method` of `model` says of each row of `queries`.

    The queries have all columns in one chunk and may be of unknown length. The answers have
    `width` columns, None for one number a row.
    """
    shape = {"drop_axis": 1} if width is None else {"chunks": (queries.chunks[0], (width,))}
    return queries.map_blocks(
        _answer,
        model=delayed(_for_queries(model)),
        method=method,
        width=width,
        answer_dtype=dtype,
        dtype=dtype,
        meta=np.empty((0,) if width is None else (0, 0), dtype=dtype),
        **shape,
    )


def _for_queries(model: Any) -> Any:
    """Return the model without what queries have no use for and tasks should not carry."""
    light = copy(model)
    del light.solution_
    # Names were checked on the collection; its chunks have none.
    vars(light).pop("feature_names_in_", None)
    return light


def _answer(
    rows: Any, *, model: Any, method: str, width: int | None, answer_dtype: np.dtype[Any]
) -> Any:
    """Answer one chunk of queries, which may be empty."""
    if rows.shape[0] == 0:
        return np.empty((0,) if width is None else (0, width), dtype=answer_dtype)
    return np.asarray(getattr(model, method)(rows)).astype(answer_dtype, copy=False)
