"""From the data of a report to its page: the only importer of the template engine."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._inspection.proportions import percent, percentages
from ..data._files import write_whole
from ._summarize import summarize
from ._summary import CoverSummary, Summary, plain
from ._wording import count, short_number, short_range

# Each script may use what those before it define.
_ORDER = "dom data pictures strips cards grid compare detail map path lists answers start"
# These would end the element that holds the data, or begin another; JSON has another way
# to write them. The two line separators are written as numbers by json.dumps already.
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def make_report(model: Any, X: Any, y: Any, path: Any = None, **options: Any) -> Path:
    """Write a report on a fitted model as one self-contained HTML file.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector or BallCover, or what ends in one
        Fitted; also a pipeline or search that ends in one of these.
    X, y : array-like, data frame, list of texts
        What it was fitted on. A cover has no `y`: leave it out.
    path : path-like
        File to write; written whole or not at all.
    **options
        What to show and how: the keywords of :func:`summarize`.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    summarize : The data of the report.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.report import make_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = PVMClassifier().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     page = make_report(model, X, y, Path(folder) / "iris.html", title="Iris")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    if path is None:
        y, path = None, y
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"path must be the name of a file, got {type(path).__name__}; call "
            "make_report(model, X, y, path), or make_report(cover, X, path) for a BallCover"
        )
    return write_report(summarize(model, X, y, **options), path)


def render(summary: Summary) -> str:
    """Return the page of a report.

    Parameters
    ----------
    summary : Summary
        What :func:`summarize` returned.

    Returns
    -------
    str
        HTML that needs nothing else: no network, no further file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.report import render, summarize
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render(summarize(PVMClassifier().fit(X, y), X, y, title="A < B"))
    >>> '<h1 dir="auto">A &lt; B</h1>' in page
    True
    """
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError('a report needs jinja2: pip install "protocover[report]"') from error
    folder = files(__package__)
    style = (folder / "page.css").read_text(encoding="utf-8")
    parts = [(folder / "js" / f"{name}.js").read_text(encoding="utf-8") for name in _ORDER.split()]
    # All scripts as one, closed off from the rest of the page.
    script = '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
    )
    words = {
        "count": count,
        "percent": percent,
        "percentages": percentages,
        "range": short_range,
        "short": short_number,
    }
    environment.filters |= words
    of_cover = isinstance(summary, CoverSummary)
    template = environment.get_template("cover.html.j2" if of_cover else "page.html.j2")
    return template.render(
        summary=summary,
        # The package's own files, and JSON that cannot leave its element.
        style=Markup(style),
        script=Markup(script),
        data=Markup(_to_json(summary)),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Write the page of a report, whole or not at all.

    Parameters
    ----------
    summary : Summary
        What :func:`summarize` returned.
    path : path-like
        File to write.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    # Text from the data may hold halves of surrogate pairs, which no file can.
    content = render(summary).encode("utf-8", errors="replace")
    write_whole(target, [content])
    return target


def _to_json(summary: Summary) -> str:
    """Return the data as JSON in which nothing can be taken for markup."""
    text = json.dumps(summary, default=plain, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _hash(text: str) -> str:
    """Return the hash by which the content security policy knows a script or style."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
