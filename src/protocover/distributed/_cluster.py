"""The cluster behind a client: whether it is there, how wide it is and what it remembers."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from dask.delayed import delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from distributed import default_client

from ._chunks import as_queries

_WAIT = 20  # seconds for an answer of the scheduler


@dataclass(frozen=True)
class Cluster:
    """What of a cluster decides how work is cut."""

    n_threads: int  # tasks that run at once
    # Memory of a worker for each of its threads, the least over the workers; inf without limits.
    thread_bytes: float


def find_client(client: Any) -> Any:
    """Return `client`, or the default client for None, if it can be waited for."""
    if client is None:
        try:
            client = default_client()  # type: ignore[no-untyped-call]
        except ValueError as error:
            raise ValueError(
                "no Dask client is active; start one, such as "
                "client = distributed.Client('tcp://scheduler:8786'), or pass client="
            ) from error
    if not hasattr(client, "scheduler_info"):
        raise TypeError(f"client must be a distributed.Client or None, got {client!r}")
    if client.asynchronous:
        raise ValueError(
            "client must not be asynchronous, because fit waits for its results; pass one made "
            "without asynchronous=True"
        )
    return client


def describe_cluster(client: Any) -> Cluster:
    """Ask the scheduler for its workers; say what to do where there is none of either."""
    if client.status != "running":
        raise ConnectionError(
            f"the client is {client.status}, so its scheduler cannot be reached; connect a new "
            "one, such as distributed.Client('tcp://scheduler:8786')"
        )
    try:
        info = client.sync(client.scheduler.identity, callback_timeout=_WAIT)
    except (OSError, TimeoutError) as error:
        raise ConnectionError(
            f"the scheduler at {client.scheduler.address} cannot be reached; check that it runs "
            "and connect a new client"
        ) from error
    workers = list(info["workers"].values())
    if not workers:
        raise RuntimeError(
            "the cluster has no workers, so nothing would ever be computed; start some and wait "
            "for them with client.wait_for_workers(1)"
        )
    limits = [(worker["memory_limit"] or float("inf")) / worker["nthreads"] for worker in workers]
    return Cluster(sum(worker["nthreads"] for worker in workers), min(limits))


def as_task(client: Any, value: Any) -> Any:
    """Return a future of `value` itself.

    Unlike scattered data, which die with their worker, it is made again from the scheduler's
    copy of the task.
    """
    return client.submit(_as_is, value)


def _as_is(value: Any) -> Any:
    """Return `value`: a task whose result is its input."""
    return value


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
    vars(light).pop("solution_", None)
    selection = replace(light._model.selection, solutions=())
    light._model = replace(light._model, selection=selection, assignment=None)
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


class OnCluster(BaseEstimator):
    """What the estimators on Dask share: a client and checks of collections."""

    client: Any

    @property
    def client_(self) -> Any:
        """The client in use."""
        return find_client(self.client)

    def __sklearn_clone__(self) -> Self:
        # A client is a connection: a copy of the estimator uses the same one.
        params = self.get_params(deep=False)
        copies = {name: clone(params[name], safe=False) for name in params if name != "client"}
        return type(self)(**copies, client=self.client)

    def __getstate__(self) -> dict[str, Any]:
        # A connection does not survive pickling; the default client stands in for it.
        return {**super().__getstate__(), "client": None}

    def _check_features(self, X: Any, *, reset: bool) -> None:
        """Note or check the number and the names of columns, without computing anything."""
        described = getattr(X, "_meta", X) if hasattr(X, "columns") else X
        validate_data(self, described, skip_check_array=True, reset=reset)

    def _queries(self, X: Any) -> Any:
        """Return queries as an array after checking their columns."""
        check_is_fitted(self)
        self._check_features(X, reset=False)
        return as_queries(X)
