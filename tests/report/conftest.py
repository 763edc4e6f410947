"""A browser for the tests of the page, and the reports that they look at."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

pytest.importorskip("jinja2", reason="jinja2, an optional package, is not installed")


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


@pytest.fixture
def look(browser):
    """Open a page in a window of its own; whatever it complains about fails the test."""

    @contextmanager
    def opened(path, *, width=1280, height=900, **settings):
        context = browser.new_context(
            viewport={"width": width, "height": height}, offline=True, **settings
        )
        page = context.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if not local(request) else None,
        )
        page.goto(path.as_uri())
        yield page
        context.close()
        assert complaints == []

    def local(request):
        return request.url.startswith(("file:", "data:"))

    return opened
