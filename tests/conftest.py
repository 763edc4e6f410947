"""Options and fixtures that all tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Machines that run the tests may be slow at times.
settings.register_profile("protocover", deadline=None)
settings.load_profile("protocover")

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption("--run-slow", action="store_true", help="run the tests marked slow, too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--run-slow"):
        return
    skip = pytest.mark.skip(reason="slow: run with --run-slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of optional data sets; tests that need it skip where it is absent."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("PROTOCOVER_DATA", default))
    if not folder.is_dir():
        pytest.skip("optional data sets are absent: point PROTOCOVER_DATA at their folder")
    return folder.resolve()
