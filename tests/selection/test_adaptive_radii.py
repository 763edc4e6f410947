"""Problems with radii of their own, against all balls written out and against enumeration."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import naive
from protocover._balls import build_balls, ordered, ordered_members
from protocover._cover import CoverProblem, snap_weights, verify
from protocover._selection.adaptive_radii import CandidateBalls, Rules, join_balls
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity import Cosine, Euclidean, Metric, Precomputed, SquaredEuclidean
from protocover.solvers import exact, greedy
from protocover.solvers._registry import SOLVERS


def own_problems(
    X, y, weights=None, *, eps, closed=False, cost=0.0, metric=None, Z=None, n_jobs=1, served=None
):
    """The problems of all classes and what their columns stand for."""
    weights = np.ones(len(y)) if weights is None else weights
    rules = Rules(y, weights, int(y.max(initial=0)) + 1, cost, eps, closed, served)
    found = ordered_members(
        Euclidean() if metric is None else metric,
        X,
        X if Z is None else Z,
        lambda members: CandidateBalls.of(members, rules),
        eps=eps,
        closed=closed,
        n_jobs=n_jobs,
    )
    classes = list(join_balls(list(found), rules, prototype_cost=cost))
    return [one.problem for one in classes], classes


@st.composite
def labeled_points(draw, max_points=12, max_candidates=12, max_classes=3):
    """Points of a small grid, so that ties and duplicates of other labels abound."""
    n = draw(st.integers(1, max_points))
    grid = st.tuples(st.integers(0, 3), st.integers(0, 3))
    X = np.array(draw(st.lists(grid, min_size=n, max_size=n)), dtype=float)
    if draw(st.booleans()):
        Z = X[:max_candidates]
    else:
        Z = np.array(draw(st.lists(grid, min_size=1, max_size=max_candidates)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, max_classes - 1), min_size=n, max_size=n)))
    weight = st.sampled_from(draw(st.sampled_from([[1.0], [1.0, 2.0, 0.5, 0.25], [0.1, 0.7]])))
    weights = snap_weights(np.array(draw(st.lists(weight, min_size=n, max_size=n))))
    # Radii of which some are distances and some are not, and the limit that is none.
    eps = draw(st.sampled_from([0.5, 1.0, 2.0, 2.5, 3.0, np.inf]))
    cost = draw(st.sampled_from([0.0, 0.1, 0.25, 1.0]))
    return X, Z, y, weights, eps, draw(st.booleans()), cost


def written_out(columns, rows, weights, cost):
    """The problem with a column for each ball."""
    own = np.array([column[1][rows] for column in columns], dtype=bool)
    wrong = np.array([column[2] for column in columns], dtype=float)
    return CoverProblem(own.reshape(len(columns), len(rows)).T, wrong, weights[rows], cost)


def check_balls(problem, balls, expected, rows):
    """The columns of a problem are the balls expected, number by number."""
    assert balls.candidate.tolist() == [ball[0] for ball in expected]
    assert balls.radius.tolist() == [ball[1] for ball in expected]
    assert problem.wrong.tolist() == [ball[3] for ball in expected]
    assert balls.miscovered.tolist() == [ball[4] for ball in expected]
    assert balls.covered.tolist() == [ball[2].sum() for ball in expected]
    for column, ball in enumerate(expected):
        assert sorted(rows[problem.ball(column)]) == np.flatnonzero(ball[2]).tolist()


@settings(max_examples=60)
@given(
    labeled_points(),
    st.none() | st.lists(st.integers(-1, 2), min_size=12, max_size=12).map(np.array),
)
def test_the_balls_are_those_found_one_radius_at_a_time(instance, served):
    """Candidates that serve one class have balls for that class only."""
    X, Z, y, weights, eps, closed, cost = instance
    served = None if served is None else served[: len(Z)]
    problems, balls = own_problems(
        X, y, weights, eps=eps, closed=closed, cost=cost, Z=Z, served=served
    )
    D = cdist(X, Z)
    for label, (problem, of_class) in enumerate(zip(problems, balls, strict=True)):
        expected = naive.own_balls(D, y, weights, label, eps, closed, cost, served)
        check_balls(problem, of_class, expected, np.flatnonzero(y == label))
        assert problem.prize.tolist() == weights[y == label].tolist()


@settings(max_examples=25)
@given(labeled_points())
def test_solvers_find_what_they_find_among_all_balls_written_out(instance):
    X, Z, y, weights, eps, closed, cost = instance
    problems, balls = own_problems(X, y, weights, eps=eps, closed=closed, cost=cost, Z=Z)
    D = cdist(X, Z)
    for label, problem in enumerate(problems):
        columns = naive.own_columns(D, y, weights, label, eps, closed)
        whole = written_out(columns, np.flatnonzero(y == label), weights, cost)
        ours, theirs = greedy(problem), greedy(whole)
        assert ours.objective == theirs.objective
        assert ours.score.tolist() == theirs.score.tolist()
        chosen = balls[label].candidate[ours.selected].tolist()
        assert chosen == [columns[c][0] for c in theirs.selected]
        proved = exact(problem, time_limit=None)
        assert proved.objective == exact(whole, time_limit=None).objective
        assert verify(problem, proved).ok


@settings(max_examples=40)
@given(labeled_points(max_points=5, max_candidates=4, max_classes=2))
def test_the_optimum_is_that_over_all_radii(instance):
    X, Z, y, weights, eps, closed, cost = instance
    problems, _ = own_problems(X, y, weights, eps=eps, closed=closed, cost=cost, Z=Z)
    for label, problem in enumerate(problems):
        least = naive.own_optimum(cdist(X, Z), y, weights, label, eps, closed, cost)
        found = exact(problem, time_limit=None).objective
        assert found == pytest.approx(least, rel=1e-12, abs=1e-12)


@settings(max_examples=25)
@given(labeled_points())
def test_a_table_and_every_other_way_to_the_distances_give_the_same_problems(instance):
    X, Z, y, weights, eps, closed, cost = instance
    D = cdist(X, Z)
    given_table = Precomputed().fit(D)
    ways = {
        "table": (given_table, D, np.arange(D.shape[1])),
        "generic": (Metric("minkowski", {"p": 2}).fit(X), X, Z),
        "sparse": (Euclidean(), csr_array(X), csr_array(Z)),
    }
    for metric, points, candidates in ways.values():
        problems, balls = own_problems(
            points, y, weights, eps=eps, closed=closed, cost=cost, metric=metric, Z=candidates
        )
        for label, (problem, of_class) in enumerate(zip(problems, balls, strict=True)):
            expected = naive.own_balls(D, y, weights, label, eps, closed, cost)
            check_balls(problem, of_class, expected, np.flatnonzero(y == label))


def mixture(n=300, p=40, n_classes=4, seed=0, dtype=np.float64):
    """Overlapping classes, every tenth point a duplicate whose label may differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = 0.6 * rng.normal(size=(n_classes, p))[y] + rng.normal(size=(n, p))
    X[::10] = X[rng.integers(n, size=len(X[::10]))]
    return X.astype(dtype), y


@pytest.mark.parametrize(
    ("dtype", "shift"),
    [(np.float32, 0.0), (np.float32, 1e3), (np.float64, 0.0), (np.float64, 1e6)],
)
@pytest.mark.parametrize("metric", [Euclidean(), SquaredEuclidean(), Cosine()], ids=repr)
@pytest.mark.parametrize("closed", [False, True])
def test_many_features_and_rows_far_from_zero_make_no_difference(dtype, shift, metric, closed):
    """Single precision tells some of the order there, little of it, or nothing."""
    X, y = mixture(n=70, dtype=dtype)
    X[:, 0] += dtype(shift)
    weights = snap_weights(np.random.default_rng(1).random(len(y)))
    D = metric.pairwise(X, X)
    limits = float(np.quantile(D, 0.3)), np.inf
    for eps, some in ((limits[0], weights), (limits[1], weights), (limits[1], np.ones(len(y)))):
        check_all(D, X, y, some, eps=eps, closed=closed, metric=metric, cost=0.01)


def check_all(D, X, y, weights, *, eps, closed=False, cost=0.0, **options):
    """The balls of all classes are those of the obvious version."""
    problems, balls = own_problems(X, y, weights, eps=eps, closed=closed, cost=cost, **options)
    for label, (problem, of_class) in enumerate(zip(problems, balls, strict=True)):
        expected = naive.own_balls(D, y, weights, label, eps, closed, cost)
        check_balls(problem, of_class, expected, np.flatnonzero(y == label))


@pytest.mark.parametrize("closed", [False, True])
def test_points_almost_equally_far_are_told_apart(closed):
    """About the first point all others lie on a sphere, but for the last few bits."""
    rng = np.random.default_rng(0)
    away = rng.normal(size=(60, 5))
    away *= (1.0 + 1e-9 * rng.random((60, 1))) / np.linalg.norm(away, axis=1, keepdims=True)
    X = np.concatenate((np.zeros((1, 5)), away))
    D = cdist(X, X[:1])
    for y in (np.zeros(61, dtype=int), rng.integers(2, size=61), np.arange(61) % 20 // 19):
        for eps in (1.0 + 5e-10, np.inf):
            check_all(D, X, y, np.ones(61), eps=eps, closed=closed, Z=X[:1])


def test_heavy_weights_of_many_runs_are_compared_rightly(monkeypatch):
    """So many candidates and classes that gains so large cannot be counted in one row."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(90, 2)), rng.normal(size=(1024, 2))
    y, weights = np.maximum(np.arange(90) - 60, 0), snap_weights(rng.random(90))
    together = own_problems(X, y, weights, eps=np.inf, Z=Z)
    monkeypatch.setattr(ordered, "_LEAST_COLUMNS", 1)
    monkeypatch.setattr(ordered, "MOST_COLUMNS", 1)
    assert same(together, own_problems(X, y, weights, eps=np.inf, Z=Z))


def test_nothing_within_reach_leaves_problems_without_balls():
    X, y = np.eye(3), np.array([0, 1, 1])
    problems, balls = own_problems(X, y, eps=0.5, Z=X + 5.0)
    assert [problem.n_candidates for problem in problems] == [0, 0]
    assert [len(of_class.radius) for of_class in balls] == [0, 0]
    assert [greedy(problem).objective for problem in problems] == [1.0, 2.0]


@settings(max_examples=25)
@given(labeled_points())
def test_below_the_nearest_rival_it_is_the_machine_with_one_radius(instance):
    X, _, y, weights, _, _, cost = instance
    D = cdist(X, X)
    rivals = D[y[:, None] != y]
    eps = float(rivals.min(initial=2.5))
    if eps == 0.0:
        return
    _, balls = own_problems(X, y, weights, eps=eps, cost=cost)
    own = select(balls, greedy)
    table = build_balls(Euclidean(), X, X, eps=eps)
    n_classes = int(y.max()) + 1
    written = formulate(table, y, weights, n_classes=n_classes, prototype_cost=cost)
    shared = select(written, greedy)
    assert own.candidates.tolist() == shared.candidates.tolist()
    assert own.classes.tolist() == shared.classes.tolist()
    assert own.radii.tolist() == [eps] * len(own.candidates)
    assert Fraction(own.objective) == Fraction(shared.objective)


def same(one, other):
    """Whether two answers are alike to the last bit."""
    return fingerprint(*one) == fingerprint(*other)


def fingerprint(problems, balls):
    """A digest of problems and of what their columns stand for."""
    digest = hashlib.sha256()
    for problem, of_class in zip(problems, balls, strict=True):
        for numbers in (
            problem.parts.indptr.astype(np.int64),
            problem.parts.indices.astype(np.int64),
            problem.first,
            problem.wrong,
            of_class.candidate,
            of_class.radius,
            of_class.covered,
            of_class.miscovered,
        ):
            digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("eps", [7.0, np.inf])
@pytest.mark.parametrize("metric", [Euclidean(), Metric("cityblock")], ids=["fast", "generic"])
def test_threads_and_the_width_of_strips_make_no_difference(eps, metric, monkeypatch):
    X, y = mixture(n=200)
    eps = 4 * eps if isinstance(metric, Metric) else eps
    metric.fit(X)
    whole = own_problems(X, y, eps=eps, metric=metric)
    assert sum(problem.n_candidates for problem in whole[0]) > 150
    assert same(whole, own_problems(X, y, eps=eps, metric=metric, n_jobs=3))
    monkeypatch.setattr(ordered, "_LEAST_COLUMNS", 1)
    for in_strip, in_block, held in (
        (1, 1, 0),
        (900, 300, 1 << 20),
        (7000, 1000, 0),
        (7000, 9, 1 << 20),
    ):
        monkeypatch.setattr(ordered, "STRIP_MEMBERS", in_strip)
        monkeypatch.setattr(ordered, "BLOCK_MEMBERS", in_block)
        monkeypatch.setattr(ordered, "_MOST_BYTES", held)
        assert same(whole, own_problems(X, y, eps=eps, metric=metric, n_jobs=2))


PROGRAM = textwrap.dedent(
    """
    import json, sys
    import numpy as np
    from threadpoolctl import threadpool_info
    from test_adaptive_radii import Cosine, Euclidean, fingerprint, mixture, own_problems
    from protocover.dissimilarity import *

    answers = {}
    for shift in (0.0, 1e3):
        for dtype in (np.float32, np.float64):
            X, y = mixture(n=150, dtype=dtype)
            X[:, 0] += dtype(shift)
            for metric in (Euclidean(), Cosine()):
                table = metric.pairwise(X, X)
                for eps in (float(table[0, 7]), float(np.sort(table, axis=None)[5_000]), np.inf):
                    for closed in (False, True):
                        found = own_problems(X, y, eps=eps, closed=closed, metric=metric)
                        key = str((shift, dtype.__name__, repr(metric), eps, closed))
                        answers[key] = fingerprint(*found)
    blas = sorted({str(lib.get("architecture")) for lib in threadpool_info()})
    print(json.dumps({"blas": blas, "answers": answers}))
    """
)


def test_problems_are_the_same_with_the_kernels_of_another_processor():
    folder = os.path.dirname(__file__)
    paths = os.pathsep.join([folder, os.path.dirname(folder), *sys.path])
    told = []
    # With those of Haswell some builds of NumPy crash in a bare product.
    for core in ("Sandybridge", "Nehalem"):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout))
    if told[0]["blas"] == told[1]["blas"]:
        pytest.skip(f"OPENBLAS_CORETYPE has no effect here: BLAS is {told[0]['blas']} either way")
    assert told[0]["answers"] == told[1]["answers"]


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_takes_them_and_says_the_radii(name):
    X, y = mixture(n=60, p=3)
    problems, balls = own_problems(X, y, eps=2.5, cost=0.5)
    selection = select(balls, SOLVERS[name], rng=np.random.default_rng(0))
    assert len(selection.candidates) > 4
    D = cdist(X, X)
    for j, label, radius, covered, wrong in zip(
        selection.candidates,
        selection.classes,
        selection.radii,
        selection.covered,
        selection.miscovered,
        strict=True,
    ):
        inside = D[:, j] < radius
        assert covered == (inside & (y == label)).sum()
        assert wrong == (inside & (y != label)).sum()
    for problem, solution in zip(problems, selection.solutions, strict=True):
        assert solution.lower_bound <= solution.objective
        assert len(solution.selected) <= problem.n_points
