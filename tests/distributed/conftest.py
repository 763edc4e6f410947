"""One cluster in this process for all tests of the package, and data that are cut small."""

from __future__ import annotations

import pytest

from distributed import Client, LocalCluster
from protocover.distributed import _blocks


@pytest.fixture(scope="session")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def several_blocks(monkeypatch):
    """Cut even small data into several blocks."""
    monkeypatch.setattr(_blocks, "_PAIRS_PER_BLOCK", 4000)
