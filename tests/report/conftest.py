"""A window for the tests of the page, that listens to its complaints."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

pytest.importorskip("jinja2", reason="jinja2, an optional package, is not installed")


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
