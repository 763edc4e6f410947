"""The whole run on tiny settings, and the words in which results are told."""

from __future__ import annotations

import itertools
import json
import re
import urllib.error

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("numba", reason="numba, of the group experiments, is not installed")
pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments.baselines.codebook import Codebook
from experiments.datasets import sources
from experiments.parts import write_json
from experiments.provenance import FILES, today
from experiments.tuning import make_folds, spread_sizes, tune

from experiments import __main__ as runner
from experiments import dann_page, usps_page, words


def test_quick_run_writes_the_whole_page(data_folder, tmp_path, monkeypatch):
    """One test, so that workers which share the tests run it once."""
    monkeypatch.setenv("PROTOCOVER_DATA", str(data_folder))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    folders = ["--output", str(tmp_path), "--results", str(tmp_path / "kept")]
    assert runner.main(["--quick", "--silent", *folders]) == 0
    page = (tmp_path / "paper.md").read_text()
    check_sections(page, tmp_path / "paper")
    check_figures(page, tmp_path / "paper")
    check_tables(page)


def check_sections(page, folder):
    """Every experiment has a section, and its results are kept beside the page."""
    # One more: the list at the top.
    assert page.count("\n## ") == len(runner.EXPERIMENTS) + 1
    assert "Not run yet" not in page
    # Each says when it was made, and from which data.
    assert page.count("<summary>Run on ") == len(runner.EXPERIMENTS)
    assert "`usps.npz` (" in page
    assert "the numbers mean nothing" in page
    for name in runner.EXPERIMENTS:
        assert json.loads((folder / f"{name}.json").read_text())["quick"] is True


def check_figures(page, folder):
    """Every figure of the page is there and none is left over."""
    shown = re.findall(r"\]\(paper/([^)]+\.png)\)", page)
    assert len(shown) >= 3
    assert sorted(shown) == sorted(path.name for path in folder.glob("*.png"))


def check_tables(page):
    """Rows have equally many cells, and no number is none."""
    assert not re.search(r"\b(nan|inf|None)\b", page)
    for above, line in itertools.pairwise(page.splitlines()):
        if above.startswith("|") and line.startswith("|"):
            assert above.count("|") == line.count("|"), line


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """Neither a folder of data nor a network."""

    def refuse(**options):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(sources, "fetch_openml", refuse)
    monkeypatch.setenv("PROTOCOVER_DATA", str(tmp_path))
    return ["--quick", "--silent", "--output", str(tmp_path), "--results", str(tmp_path / "kept")]


def test_data_that_is_absent_is_left_out_and_said(no_data, tmp_path, capsys):
    assert runner.main(["usps", *no_data]) == 1
    assert "usps: left out: USPS is not among the local data" in capsys.readouterr().err
    page = (tmp_path / "paper.md").read_text()
    empty = f"## {usps_page.TITLE}\n\n**The data of this section were not found on {today()}.**"
    assert empty in page
    assert page.count("Not run yet.") == len(runner.EXPERIMENTS) - 1


def test_old_numbers_are_not_shown_as_new_where_data_are_absent(no_data, tmp_path, monkeypatch):
    """An earlier run is told as such, in its section and in the list at the top."""
    monkeypatch.setattr(dann_page, "summarize", lambda results: "DANN.")
    monkeypatch.setattr(dann_page, "write", lambda results, folder: "## A title\n\nOld.\n")
    monkeypatch.setattr(dann_page, "TITLE", "A title")
    write_json(tmp_path / "paper" / "dann.json", {"quick": True})
    runner.mark_absent(tmp_path / "paper" / "dann.json")
    assert runner.main(["--page-only", *no_data]) == 0
    page = (tmp_path / "paper.md").read_text()
    assert "- DANN. (an earlier run: its data are absent)" in page
    said = f"not found on {today()}: what follows is not of that run, but of an earlier one.**"
    assert page.index("## A title") < page.index(said) < page.index("Old.")
    assert "Run before 2026-11-17; versions were not kept then." in page


def test_every_file_of_an_experiment_is_recorded():
    """What reads files is listed with them, and nothing that is no experiment."""
    assert set(FILES) <= set(runner.EXPERIMENTS)
    drawn = set(runner.EXPERIMENTS) - set(FILES)
    assert drawn == {"mixture", "dann"}


def test_unknown_experiment_is_refused(capsys):
    with pytest.raises(SystemExit):
        runner.main(["mnist", "--quick"])
    assert "no such experiment: mnist" in capsys.readouterr().err


def test_percentile_counts_ties_half():
    among = [0.1, 0.2, 0.2, 0.3]
    assert words.percentile_of(0.2, among) == 50.0
    assert words.percentile_of(0.05, among) == 0.0
    assert words.percentile_of(0.31, among) == 100.0


def test_columns_of_numbers_are_aligned_to_the_right():
    got = words.table(("a", "b", "c"), [("x", 1, "2.0 ± 0.1 (3)"), ("y", "", "no")])
    assert got.splitlines()[1] == "| --- | ---: | --- |"
    assert got.splitlines()[3] == "| y |  | no |"


def test_comparison_follows_from_the_numbers():
    old = np.linspace(0.2, 0.3, 20)
    gap = 0.02 + np.linspace(-0.01, 0.01, 20)
    better = words.compare_draws(old - gap, old)
    assert re.fullmatch(r"better \(-2.0 points, p < 0.0001, lower in 20 of 20\)", better)
    assert words.compare_draws(old + gap, old).startswith("worse (+2.0 points, p < 0.0001, lower")
    same = words.compare_draws(old, 1.0 - (1.0 - old))
    assert same == "no clear difference (+0.0 points, p = 1, lower in 0 of 20, equal in 20)"


def test_splits_that_share_points_need_more_to_be_clear():
    """What independent draws would make clear, splits of one set need not."""
    old, gap = np.full(20, 0.3), np.array([0.06, 0.005] * 10)
    assert words.compare_draws(old - gap, old).startswith("better")
    assert words.compare_splits(old - gap, old).startswith("no clear difference")
    assert words.compare_splits(old - gap, old, n_train=1000).startswith("better")


def test_mean_and_spread_are_over_a_sample():
    assert words.mean_sd([0.1, 0.3], scale=100.0) == "20.0 ± 14.1"
    assert words.mean_sd([5], 0) == "5 ± 0"


def test_curves_are_read_off_between_their_points():
    run = {"size": [100, 10], "error": [0.1, 0.3]}
    assert usps_page._read_off(run, 10**1.5) == pytest.approx(0.2)
    assert usps_page._read_off(run, 1000) is None


def test_tuning_takes_the_smallest_codebook_within_one_standard_error():
    """One prototype a class suffices for two far clouds, however many are offered."""
    rng = np.random.default_rng(0)
    X = np.concatenate((rng.normal(0, 1, (40, 1)), rng.normal(50, 1, (40, 1))))
    y = np.repeat([0, 1], 40)

    def first_ones(X, y, sizes, *, seed):
        rows = [np.concatenate([np.flatnonzero(y == c)[:k] for c in (0, 1)]) for k in sizes]
        return [Codebook(X[r], y[r]) for r in rows]

    book, size = tune(first_ones, X, y, [1, 5, 20], seed=0)
    assert (len(book), size) == (2, 1)


def test_folds_are_the_same_for_every_method_and_cover_all():
    X, y = np.zeros((30, 1)), np.arange(30) % 3
    one, two = make_folds(X, y, seed=4), make_folds(X, y, seed=4)
    for (_, a), (_, b) in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    assert sorted(np.concatenate([test for _, test in one])) == list(range(30))


def test_sizes_are_spread_at_equal_ratios_without_doubles():
    assert spread_sizes(1, 100, 5) == [1, 3, 10, 32, 100]
    assert spread_sizes(1, 4, 12) == [1, 2, 3, 4]
