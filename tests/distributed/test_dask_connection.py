"""Clusters that are not there: an error at once, and never a wait for nothing."""

from __future__ import annotations

import asyncio
import math
from contextlib import contextmanager

import dask.array as da
import numpy as np
import pytest

from distributed import Client, LocalCluster
from paper import PAPER
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
        DaskPVMClassifier(**PAPER).fit(X, Y)


def test_a_client_must_be_one():
    with pytest.raises(TypeError, match="client must be a distributed"):
        DaskPVMClassifier(client="tcp://127.0.0.1:8786", **PAPER).fit(X, Y)


@contextmanager
def waiting_seconds_at_most(limit):
    """See to it that all questions to the cluster together may wait `limit` for answers.

    What is read is how long they may wait: how long they do is a matter of the machine.
    """
    seconds = []
    sync = Client.sync

    def note(client, *args, callback_timeout=math.inf, **options):
        seconds.append(callback_timeout)
        return sync(client, *args, callback_timeout=callback_timeout, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "sync", note)
        yield
    assert sum(seconds) <= limit


def test_a_cluster_without_workers_is_refused(empty_cluster):
    refusal = pytest.raises(RuntimeError, match=r"no workers.*wait_for_workers")
    with Client(empty_cluster) as client, waiting_seconds_at_most(20), refusal:
        DaskPVMClassifier(client=client, **PAPER).fit(X, Y)


def test_an_unreachable_scheduler_is_reported(empty_cluster):
    client = Client(empty_cluster)
    empty_cluster.close()
    refusal = pytest.raises(ConnectionError, match="cannot be reached")
    with waiting_seconds_at_most(20), refusal:
        DaskPVMClassifier(client=client, **PAPER).fit(X, Y)
    client.close()


def test_an_asynchronous_client_is_refused(empty_cluster):
    async def attempt():
        address = empty_cluster.scheduler_address
        async with Client(address, asynchronous=True, set_as_default=False) as client:
            with pytest.raises(ValueError, match="must not be asynchronous"):
                DaskPVMClassifier(client=client, **PAPER).fit(X, Y)

    asyncio.run(attempt())
