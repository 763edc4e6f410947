"""From the data of a report to its page."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._inspection.evaluation import percent, percentages
from ..data._files import write_whole
from ._summarize import summarize
from ._summary import Summary, plain
from ._wording import as_outside, count, short_number, short_range

# Each script may use what those before it define.
_ORDER = "dom data pictures strips cards grid compare detail map path lists answers start"
# These characters could end the element that holds the data. json.dumps escapes the two line
# separators already.
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def make_report(model: Any, X: Any, y: Any, path: Any = None, **options: Any) -> Path:
    """Write a report on a fitted model as one self-contained HTML file.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector or BallCover
        Fitted; also a pipeline or search that ends in one of these.
    X, y : array-like, data frame, list of texts
        The samples of the fit, in the same order. Omit `y` for a cover.
    path : path-like
        File to write. It is written completely or not at all.
    **options
        Keywords of :func:`summarize`.

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
        From :func:`summarize` or :func:`summarize_queries`.

    Returns
    -------
    str
        Self-contained HTML: it needs no network and no other file.

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
    # One scope for all scripts.
    script = '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
    )
    environment.filters |= {
        "count": count,
        "percent": percent,
        "percentages": percentages,
        "range": short_range,
        "short": short_number,
        "outside": as_outside,
    }
    name = "page.html.j2" if summary.labeled else "cover.html.j2"
    template = environment.get_template(name)
    return template.render(
        summary=summary,
        # Our own files, and JSON that cannot end its element.
        style=Markup(style),
        script=Markup(script),
        data=Markup(_to_json(summary)),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Write the page of a report, completely or not at all.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize` or :func:`summarize_queries`.
    path : path-like
        File to write.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    # Text from the data may hold lone surrogates, which cannot be encoded.
    content = render(summary).encode("utf-8", errors="replace")
    write_whole(target, [content])
    return target


def _to_json(summary: Summary) -> str:
    """Return the data as JSON without markup characters."""
    text = json.dumps(summary, default=plain, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _hash(text: str) -> str:
    """Return the hash of a script or style for the content security policy."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
