"""Options and fixtures that all tests share."""

from __future__ import annotations

import os
import shutil
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
    folder = Path(os.environ.get("PROTOCOVER_DATA", ""))
    if "PROTOCOVER_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("optional data sets are absent: point PROTOCOVER_DATA at their folder")
    return folder.resolve()


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium, or a skip that says how to get it.

    Not for the whole session: its driver holds an event loop, which other tests may need.
    """
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
    )
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = next((path for path in found if path), None)
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Without a sandbox, because containers often forbid the one that it brings.
        instance = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield instance
        instance.close()
