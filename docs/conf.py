"""How the documentation is built; `make docs` calls Sphinx with this."""

from __future__ import annotations

import warnings
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import protocover

project = "protocover"
author = "The protocover developers"
copyright = "the protocover developers"
release = version = protocover.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "adr", "**/README.md", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
html_static_path = ["_static"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
# Methods follow the class with all they say, and the page's own contents list them.
numpydoc_show_class_members = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"protocover {version}"
html_show_sourcelink = False
html_sidebars = {"**": ["sidebar.html"]}
html_css_files = ["protocover.css"]
html_js_files = [("pictures.js", {"defer": "defer"})]
html_theme_options = {
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "navbar_center": [],  # the sidebar has all pages
    "footer_start": ["copyright"],
    "footer_end": [],
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    # The script rechecks the output of the command, and draws nothing.
    "ignore_pattern": r"__init__\.py|recheck_cover\.py",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "copyfile_regex": "",
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
}

# Links of the documentation point within it; what lies outside is not fetched.
linkcheck_ignore = [r"https?://.*"]

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def setup(app: Any) -> None:
    """Let browsers draw formulas themselves: no script, no network."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_display, None))


def write_inline(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_display(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
