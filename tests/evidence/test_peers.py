"""Peers that are not at hand are named with a reason, those that are with their numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import bench_peers


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 2)), np.arange(40) % 2


def test_what_is_not_given_is_not_measured(tmp_path, points):
    options = SimpleNamespace(alibi_python=None, protoclass=None)
    found = bench_peers.compare(tmp_path, *points, 0.5, options)
    assert [row[:2] for row in found.rows] == [
        ["alibi ProtoSelect", "not measured: no --alibi-python"],
        ["R protoclass", "not measured: no --protoclass"],
    ]
    assert bench_peers.in_words("made data", 40, found.rows) == ""


def test_without_r_the_package_alone_does_not_help(tmp_path, points, monkeypatch):
    monkeypatch.setattr(bench_peers.shutil, "which", lambda name: None)
    found = bench_peers.run_protoclass(tmp_path, *points, 0.5, tmp_path)
    assert found == bench_peers.Absent("no Rscript")


def test_a_folder_without_the_package_is_refused(tmp_path, points, monkeypatch):
    monkeypatch.setattr(bench_peers.shutil, "which", lambda name: "Rscript")
    with pytest.raises(
        SystemExit, match=r"--protoclass must be a folder with the package's source"
    ):
        bench_peers.run_protoclass(tmp_path, *points, 0.5, tmp_path)


def test_selections_are_compared_as_pairs_of_candidate_and_class():
    def chosen(candidates, labels):
        answer = {"candidates": candidates, "labels": labels}
        return answer | {"seconds": 2.0, "megabytes": 3.0}

    ours = chosen([1, 2], [0, 1])
    assert bench_peers.hold(ours, chosen([2, 1], [1, 0])) == ["1", "1", "2", "yes"]
    other = bench_peers.hold(ours, chosen([1, 2], [1, 1]))
    assert other[-1] == "1 shared, 2 in one only"


@pytest.mark.parametrize("memory", ["", "48"])
def test_a_page_with_measured_rows_is_written_only_by_a_run_of_both(memory, points, monkeypatch):
    both = [["alibi ProtoSelect", "50", "127", "9", "yes"], ["R protoclass", "1", memory, "", ""]]
    written = []
    monkeypatch.setattr(bench_peers, "parse", lambda: SimpleNamespace(write=True))
    monkeypatch.setattr(bench_peers, "load", lambda: ("made data", *points, None))
    monkeypatch.setattr(bench_peers, "compare", lambda *given: bench_peers.Compared(both))
    monkeypatch.setattr(bench_peers, "write_section", lambda *told: written.append(told[0]))
    bench_peers.main()
    assert written == (["benchmarks.md", "../README.md"] if memory else [])
