"""The examples of the gallery: each runs, prints, draws, and is a page that can be rendered."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = {"recheck_cover"}  # not pages; tests of the command line run them
EXAMPLES = sorted(p for p in (ROOT / "examples").glob("*.py") if p.stem not in SCRIPTS)
# What a script draws, where none is left on screen.
NO_SCREEN = "FigureCanvasAgg is non-interactive"
OPTIONAL = {
    "edit_distance": ["rapidfuzz"],
    "imbalanced_pipeline": ["imblearn"],
    "medical_table": ["pandas"],
    "pipeline_search": ["pandas"],
    "time_series": ["dtaidistance"],
}


@pytest.fixture
def pyplot():
    """Draw without a screen, and leave no figure behind."""
    matplotlib = pytest.importorskip("matplotlib", reason="examples draw: install matplotlib")
    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.close("all")
    yield plt
    plt.close("all")
    matplotlib.use(before)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_without_a_warning_and_draws(path, pyplot, capsys):
    for package in OPTIONAL.get(path.stem, []):
        pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=NO_SCREEN)
        runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures
    for figure in figures:
        figure.canvas.draw()
        assert figure.axes or figure.subfigs


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_starts_with_a_title_and_a_sentence_for_its_thumbnail(path):
    text = path.read_text()
    start = re.match(
        r'"""\n(?P<title>.+)\n(?P<line>=+)\n\n(?P<words>.+?)\n\n|"""', text, re.DOTALL
    )
    assert start is not None
    assert start["title"] is not None
    assert "\n" not in start["title"]
    assert len(start["line"]) == len(start["title"])
    assert re.search(r"[.?]", start["words"])
    assert text.count("\n# %%\n") >= 3


def test_every_example_that_the_gallery_promises_is_there():
    names = {path.stem for path in EXAMPLES}
    assert names >= {
        "digits",
        "documents",
        "edit_distance",
        "exact_against_greedy",
        "imbalanced_pipeline",
        "label_noise",
        "medical_table",
        "neighbor_graphs",
        "pipeline_search",
        "protein_families",
        "semi_supervised",
        "time_series",
        "unbalanced_classes",
    }
    assert (ROOT / "examples" / "README.rst").read_text().startswith("Examples\n========\n")
