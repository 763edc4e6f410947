"""Clusters that lose a worker, or that are not there: no wrong answer and no endless wait."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial

import dask
import dask.array as da
import numpy as np
import pytest
from distributed.utils import get_mp_context

from distributed import Client, LocalCluster
from paper import PAPER
from protocover import PVMClassifier
from protocover.distributed import DaskPVMClassifier
from protocover.distributed import _selection as selection_module
from protocover.distributed._rounds import begin, take_round


@pytest.fixture(scope="module")
def forked_workers():
    """Fork workers off a process that has imported what each would need seconds to import."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(["protocover.distributed", "dask.dataframe"])
        yield


@pytest.fixture(scope="module")
def processes(forked_workers):
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit="1GB",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def tied_points(seed, n=120):
    """Points on a coarse grid, so that distances, gains and nearest points tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 2)).astype(float)
    noise = rng.random(n) < 0.2
    return X, np.where(noise, rng.integers(0, 3, n), X[:, 0] // 2).astype(int)


def cut(values, step):
    return da.from_array(values, chunks=(step, *values.shape[1:]))


def counting(path, pause=0.0):
    """Return a metric that notes on a file each time that a worker calls it."""
    driver = os.getpid()

    def cityblock(a, b):
        if os.getpid() != driver:
            with path.open("a") as file:
                file.write(".")
            time.sleep(pause)
        return float(abs(a - b).sum())

    return cityblock


def kill_one_worker(processes):
    os.kill(next(iter(processes.run(os.getpid).values())), signal.SIGKILL)


def test_a_worker_killed_while_the_cover_is_built_does_not_change_the_answer(processes, tmp_path):
    X, y = tied_points(9, n=60)
    calls = tmp_path / "calls"
    model = DaskPVMClassifier(
        eps=1.5, metric=counting(calls, pause=0.001), client=processes, **PAPER
    )
    processes.wait_for_workers(2, timeout=180)
    thread = threading.Thread(target=lambda: model.fit(cut(X, 20), cut(y, 20)))
    thread.start()
    while not calls.exists():
        assert thread.is_alive()
        time.sleep(0.01)
    kill_one_worker(processes)
    thread.join(timeout=120)
    assert not thread.is_alive()
    expected = PVMClassifier(eps=1.5, metric="cityblock", **PAPER).fit(X, y)
    np.testing.assert_array_equal(model.candidate_indices_, expected.candidate_indices_)


@pytest.mark.usefixtures("several_blocks")
def test_a_worker_killed_during_selection_costs_at_most_a_reload(processes, tmp_path, monkeypatch):
    """Blocks on storage are read again: no distance is computed twice."""
    X, y = tied_points(9, n=60)
    calls, at_kill = tmp_path / "calls", []

    def take_round_after_a_kill(progress, reports):
        if not at_kill:
            at_kill.append(calls.stat().st_size)
            kill_one_worker(processes)
        return take_round(progress, reports)

    monkeypatch.setattr(selection_module, "take_round", take_round_after_a_kill)
    monkeypatch.setattr(selection_module, "begin", partial(begin, ask=1))
    processes.wait_for_workers(2, timeout=180)
    model = DaskPVMClassifier(
        eps=1.5,
        metric=counting(calls),
        client=processes,
        cache_dir=tmp_path / "blocks",
        selection="rounds",
        max_prototypes={0: 4, 1: 4, 2: 4},
        **PAPER,
    ).fit(cut(X, 20), cut(y, 20))
    expected = PVMClassifier(
        eps=1.5, metric="cityblock", max_prototypes={0: 4, 1: 4, 2: 4}, **PAPER
    ).fit(X, y)
    np.testing.assert_array_equal(model.candidate_indices_, expected.candidate_indices_)
    assert at_kill == [calls.stat().st_size]


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
