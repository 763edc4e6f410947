"""Threads are started only where they were asked for, and limits to memory are seen."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController, threadpool_info

from paper import PAPER
from protocover import (
    BallCover,
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    find_label_issues,
    pvm_path,
)
from protocover._resources import (
    _libraries,
    available_memory,
    limited_threads,
    thread_count,
    worker_map,
)
from protocover.dissimilarity import DANN, TangentDistance
from protocover.report import make_report
from protocover.solvers._registry import SOLVERS

X, Y = load_iris(return_X_y=True)
METRICS = ["euclidean", "cityblock", DANN(), TangentDistance((2, 2))]


@pytest.fixture
def started(monkeypatch):
    """Names of the threads that a test starts."""
    names: list[str] = []
    start = threading.Thread.start

    def record(thread):
        names.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", record)
    return names


@pytest.fixture
def no_threads(monkeypatch):
    """A machine on which no thread can be started."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def use_everything(metric, n_jobs, verbose=0):
    """Fit, predict, explain, measure and cover with one number of jobs."""
    clf = PVMClassifier(metric=metric, n_jobs=n_jobs, verbose=verbose, **PAPER).fit(X, Y)
    clf.explain(X)
    clf.transform(X)
    clf.coverage(X, Y)
    return clf.candidate_indices_, clf.predict(X)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_one_job_starts_no_thread(metric, started, capsys):
    use_everything(metric, 1, verbose=1)
    assert started == []


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_job_starts_no_thread_whatever_the_solver(solver, started, capsys):
    PVMClassifier(eps=0.8, solver=solver, n_jobs=1, verbose=1, **PAPER).fit(X, Y)
    assert started == []


def test_the_exact_solver_shows_its_best_and_its_bound_where_bars_are_shown(capsys):
    PVMClassifier(eps=0.8, solver="exact", n_jobs=1, verbose=1, **PAPER).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"[\w ]+: best [\d.]+, bound [\d.]+", err)


@pytest.mark.parametrize(
    ("metric", "n_jobs"), [(metric, 2) for metric in METRICS] + [("euclidean", None)], ids=str
)
def test_a_model_is_the_same_where_no_thread_can_be_started(metric, n_jobs, request):
    expected = use_everything(metric, n_jobs)
    request.getfixturevalue("no_threads")
    found = use_everything(metric, n_jobs)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def _report(n_jobs, folder):
    model = PVMClassifier(n_jobs=n_jobs, **PAPER).fit(X, Y)
    make_report(model, X, Y, folder / "report.html")


ERRANDS = {
    "path": lambda n_jobs, _: pvm_path(X, Y, eps=[0.5, 1.0], n_jobs=n_jobs, verbose=1, **PAPER),
    "own path": lambda n_jobs, _: pvm_path(X, Y, eps=[0.5, 1.0], radii="adaptive", n_jobs=n_jobs),
    "search": lambda n_jobs, _: PVMClassifierCV(eps=[0.5, 1.0], cv=3, n_jobs=n_jobs, **PAPER).fit(
        X, Y
    ),
    "own radii": lambda n_jobs, _: (
        PVMClassifier(radii="adaptive", n_jobs=n_jobs).fit(X, Y).explain(X)
    ),
    "k-means": lambda n_jobs, _: PVMClassifier(candidates="kmeans", n_jobs=n_jobs, **PAPER).fit(
        X, Y
    ),
    "hull": lambda n_jobs, _: PVMClassifier(candidates="hull", n_jobs=n_jobs, **PAPER).fit(X, Y),
    "batches": lambda n_jobs, _: (
        PVMClassifier(n_jobs=n_jobs, **PAPER).partial_fit(X, Y).predict(X)
    ),
    "selector": lambda n_jobs, _: PVMSelector(eps=0.8, n_jobs=n_jobs, **PAPER).fit(X, Y),
    "cover": lambda n_jobs, _: BallCover(n_jobs=n_jobs).fit(X),
    "verify": lambda n_jobs, _: PVMClassifier(n_jobs=n_jobs, **PAPER).fit(X, Y).verify(X, Y),
    "suspects": lambda n_jobs, _: find_label_issues(
        PVMClassifier(n_jobs=n_jobs, **PAPER).fit(X, Y), X, Y
    ),
    "report": _report,
    "large": lambda n_jobs, _: PVMClassifier(n_jobs=n_jobs, **PAPER).fit(LARGE, LARGE[:, 0] > 0),
    "large queries": lambda n_jobs, _: (
        PVMClassifier(n_jobs=n_jobs, **PAPER).fit(X, Y).explain(QUERIES)
    ),
}
LARGE = np.random.default_rng(0).normal(size=(3000, 5))
QUERIES = np.random.default_rng(0).normal(size=(200_000, 4))


@pytest.mark.parametrize("errand", ERRANDS)
def test_one_job_starts_no_thread_for_anything(errand, started, tmp_path, capsys):
    ERRANDS[errand](1, tmp_path)
    assert started == []


@pytest.mark.parametrize("errand", ERRANDS)
def test_everything_works_if_no_thread_can_be_started(errand, no_threads, tmp_path, capsys):
    ERRANDS[errand](2, tmp_path)


def test_libraries_are_looked_for_once(monkeypatch):
    """Looking for them, or asking for all that is known of them, takes milliseconds."""
    clf = PVMClassifier(n_jobs=1, **PAPER).fit(X, Y)

    def refuse(controller):
        pytest.fail("a small call has asked for all that is known of the libraries")

    monkeypatch.setattr(ThreadpoolController, "info", refuse)
    monkeypatch.setattr(ThreadpoolController, "__init__", refuse)
    for n_jobs in (None, 1, 2):
        clf.set_params(n_jobs=n_jobs).fit(X, Y).predict(X[:1])
        clf.explain(X[:1])


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_libraries_get_their_threads_back(n_jobs):
    # They are looked for once, and other tests may have loaded some since.
    _libraries.cache_clear()
    before = [library["num_threads"] for library in threadpool_info()]
    with limited_threads(n_jobs):
        assert {library["num_threads"] for library in threadpool_info()} == {n_jobs}
        with worker_map(2):
            assert thread_count(None) == 1
        assert thread_count(None) == n_jobs
    assert [library["num_threads"] for library in threadpool_info()] == before
    with pytest.raises(ZeroDivisionError), limited_threads(n_jobs):
        raise ZeroDivisionError
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_large_fits_do_use_threads_when_asked(started):
    Z = check_random_state(0).normal(size=(5000, 3))
    PVMClassifier(eps=0.1, n_jobs=2, **PAPER).fit(Z, Z[:, 0] > 0)
    assert len(started) == 2


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_order(n_jobs):
    second_is_done = threading.Event()

    def first_waits(k):
        if k == 0 and n_jobs > 1:
            assert second_is_done.wait(timeout=120)
        if k == 1:
            second_is_done.set()
        return k

    with worker_map(n_jobs) as run:
        assert list(run(first_waits, range(8))) == list(range(8))


def test_only_the_first_of_several_threads_can_be_started(monkeypatch):
    start, n_started, refused = threading.Thread.start, [], threading.Event()

    def refuse_the_second(thread):
        if n_started:
            refused.set()
            raise RuntimeError("can't start new thread")
        n_started.append(1)
        start(thread)

    def stay_busy(k):
        """The first thread must not be idle when the second is wanted."""
        assert refused.wait(timeout=120)
        return k

    monkeypatch.setattr(threading.Thread, "start", refuse_the_second)
    with worker_map(2) as run:
        assert list(run(stay_busy, range(4))) == [0, 1, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_worker_reaches_the_caller(n_jobs):
    with worker_map(n_jobs) as run, pytest.raises(ZeroDivisionError):
        list(run(lambda k: 1 // k, [1, 0, 2]))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 8 GB free, told by files; a function that writes more of them."""
    monkeypatch.setattr("protocover._resources._PROC", tmp_path / "proc")
    monkeypatch.setattr("protocover._resources._GROUPS", tmp_path / "groups")

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    write(proc__meminfo="MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n")
    return write


SECOND = ("max", "current")
FIRST = ("limit_in_bytes", "usage_in_bytes")
SYSTEM = 8_000_000 * 1024


@pytest.mark.parametrize(
    ("groups", "folder", "names", "sizes", "available"),
    [
        ("", "", SECOND, ("1000000", "400000"), SYSTEM),
        ("0::/group/deep\n", "", SECOND, ("1000000", "400000"), 700_000),
        ("0::/group/deep\n", "group__", SECOND, ("1000000", "400000"), 700_000),
        ("0::/group/deep\n", "group__deep__", SECOND, ("1000000", "400000"), 700_000),
        ("0::/\n", "", SECOND, ("max\n", "400000"), SYSTEM),
        ("0::/\n", "", SECOND, ("1000", "2000"), 0),
        # The path of a container may be the one outside of it; then the root has the limit.
        ("5:cpu:/x\n4:memory:/a/b\n0::/y\n", "memory__", FIRST, ("2000000", "500000"), 1_500_000),
        ("4:memory:/a/b\n", "memory__a__b__", FIRST, ("2000000\n", "500000\n"), 1_500_000),
        ("4:memory:/\n", "memory__", FIRST, ("9223372036854771712", "500000"), SYSTEM),
    ],
)
def test_available_memory_respects_control_groups(
    machine, groups, folder, names, sizes, available
):
    machine(proc__self__cgroup=groups)
    for name, size in zip(names, sizes, strict=True):
        machine(**{f"groups__{folder}memory.{name}": size})
    if folder.startswith("group") or groups == "0::/group/deep\n":
        machine(**{f"groups__{folder}memory.stat": "inactive_file 100000\n"})
    assert available_memory() == available


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read memory from")
def test_available_memory_respects_ulimit():
    """With 4 GB, slightly less than the available memory can be allocated, and not more."""
    code = """
import resource
import numpy as np
from protocover._resources import available_memory
for limit in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
    hard = resource.getrlimit(limit)[1]
    resource.setrlimit(limit, (1 << 32, hard))
    left = available_memory()
    assert 0 < left < 1 << 32, left
    np.empty(left - (64 << 20), dtype=np.uint8)
    try:
        np.empty(left + (64 << 20), dtype=np.uint8)
    except MemoryError:
        print("limited")
    resource.setrlimit(limit, (hard, hard))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "limited\n" * 2, ran.stderr
