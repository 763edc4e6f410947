"""Clusters that are not there: an error at once, and never a wait for nothing."""

from __future__ import annotations

import asyncio
import time

import dask.array as da
import numpy as np
import pytest

from distributed import Client, LocalCluster
from protocover.distributed import DaskPVMClassifier

X = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(3, 2))
Y = da.from_array(np.array([0, 0, 0, 1, 1, 1]), chunks=3)


@pytest.fixture
def empty_cluster():
    with LocalCluster(
        n_workers=0, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster


def test_without_any_client_it_is_said_how_to_get_one():
    with pytest.raises(ValueError, match=r"no Dask client is active.*or pass client="):
        DaskPVMClassifier().fit(X, Y)


def test_a_client_must_be_one():
    with pytest.raises(TypeError, match="client must be a distributed"):
        DaskPVMClassifier(client="tcp://127.0.0.1:8786").fit(X, Y)


def test_a_cluster_without_workers_is_refused(empty_cluster):
    with Client(empty_cluster) as client:
        start = time.monotonic()
        with pytest.raises(RuntimeError, match=r"no workers.*wait_for_workers"):
            DaskPVMClassifier(client=client).fit(X, Y)
        assert time.monotonic() - start < 20.0


def test_an_unreachable_scheduler_is_reported(empty_cluster):
    client = Client(empty_cluster)
    empty_cluster.close()
    start = time.monotonic()
    with pytest.raises(ConnectionError, match="cannot be reached"):
        DaskPVMClassifier(client=client).fit(X, Y)
    assert time.monotonic() - start < 30.0
    client.close()


def test_an_asynchronous_client_is_refused(empty_cluster):
    async def attempt():
        address = empty_cluster.scheduler_address
        async with Client(address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(ValueError, match="must not be asynchronous"):
                DaskPVMClassifier(client=client).fit(X, Y)

    asyncio.run(attempt())
