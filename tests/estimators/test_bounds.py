"""A bound in words is true, whatever the question: every choice on tiny data is tried."""

import re
import warnings
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from protocover import BallCover, PVMClassifier
from protocover._cover import CoverSolution
from protocover._estimators.display import describe_bound

NUMBER = r"([\d,]+(?:\.\d+)?)"
PLACES = st.lists(st.integers(0, 14), min_size=3, max_size=8)
EPS = st.sampled_from([0.5, 1.5, 2.5])
SOLVER = st.sampled_from(["greedy", "local-search", "auto"])


def number(words, pattern):
    found = re.search(pattern, words)
    return None if found is None else float(found[1].replace(",", ""))


def choices(n, most=None):
    for size in range((n if most is None else min(n, most)) + 1):
        yield from map(list, combinations(range(n), size))


def weighed(draw, n):
    kind = draw(st.sampled_from(["none", "integers", "floats", "halves"]))
    values = {
        "none": st.just(1.0),
        "integers": st.integers(0, 3).map(float),
        "floats": st.floats(0.01, 5.0),
        "halves": st.sampled_from([0.5, 1.0, 1.5]),
    }[kind]
    weights = np.array(draw(st.lists(values, min_size=n, max_size=n)))
    weights[0] = max(weights[0], 1.0)
    return None if kind == "none" else weights


@st.composite
def covers(draw):
    """A cover with its samples, weights and prices, fitted to some question."""
    X = np.array(draw(PLACES), dtype=float)[:, None]
    n = len(X)
    question = draw(
        st.sampled_from([{"max_representatives": 1}, {"max_representatives": 2}])
        | st.sampled_from([{}, {"coverage": 0.6}, {"coverage": 0.9}, {"cost": 1.5}])
    )
    prices = st.lists(st.sampled_from([0.5, 1.0, 2.25]), min_size=n, max_size=n)
    price = draw(st.none() | prices)
    given = [0] if draw(st.booleans()) else None
    cover = BallCover(
        eps=draw(EPS),
        must_include=given,
        candidate_cost=None if price is None else np.array(price),
        solver=draw(SOLVER),
        **question,
    )
    weights = weighed(draw, n)
    return cover.fit(X, sample_weight=weights), X, np.ones(n) if weights is None else weights


@settings(max_examples=60, deadline=None)
@given(covers())
def test_what_is_said_of_a_cover_is_true_of_every_choice(fitted):
    cover, X, weights = fitted
    words = describe_bound(cover)
    near = abs(X - X.T) < cover.eps
    price = np.ones(len(X)) if cover.candidate_cost is None else cover.candidate_cost
    for chosen in choices(len(X), cover.max_representatives):
        if (cover.must_include and 0 not in chosen) or (weights[chosen] == 0).any():
            continue
        covered = weights[near[:, chosen].any(axis=1)].sum() / weights.sum()
        paid = price[chosen].sum()
        most = number(words, rf"covers? more than {NUMBER} %")
        if cover.max_representatives is not None and most is not None:
            assert 100 * covered <= most + 1e-6
        elif re.search("covers? more$", words):
            assert covered <= cover.coverage_ + 1e-6
        demanded = 1.0 if words.startswith("no cover") else cover.coverage
        if demanded is not None and covered >= demanded - 1e-12:
            fewest = number(words, rf"(?:fewer than|at least) {NUMBER} rep")
            least = number(words, rf"(?:less than|costs at least) {NUMBER}")
            assert (len(chosen) if least is None else paid + 1e-6) >= (fewest or least)
        if cover.cost is not None:
            bound = number(words, rf"objective below {NUMBER}") or 0.0
            assert weights.sum() * (1 - covered) + cover.cost * paid >= bound - 1e-6


def poor(problem, *, max_prototypes=None, **_):
    """Choose the first candidates, whatever they cover."""
    return CoverSolution.of(problem, np.arange(min(max_prototypes, problem.n_candidates)))


@settings(max_examples=40, deadline=None)
@given(st.data(), PLACES, EPS, st.integers(1, 3), st.booleans())
def test_the_best_bound_there_is_on_a_budget_is_true_and_tight(data, places, eps, k, priced):
    X, n = np.array(places, dtype=float)[:, None], len(places)
    price = np.where(np.arange(n) % 2, 2.25, 0.5) if priced else np.ones(n)
    weights = weighed(data.draw, n)
    if weights is not None:
        weights = np.maximum(weights, 0.25)
    cover = BallCover(
        eps=eps, max_representatives=k, candidate_cost=price if priced else None, solver=poor
    ).fit(X, sample_weight=weights)
    w, near = np.ones(n) if weights is None else weights, abs(X - X.T) < eps
    uncovered = {tuple(chosen): w[~near[:, chosen].any(axis=1)].sum() for chosen in choices(n, k)}
    chosen = cover.candidate_indices_
    cost = (cover.objective_ - uncovered[tuple(chosen)]) / price[chosen].sum()
    best = min(u + cost * price[list(some)].sum() for some, u in uncovered.items())
    cover.lower_bound_, cover.certificate_ = best, "verified"
    words, most = describe_bound(cover), 1 - min(uncovered.values()) / w.sum()
    stated = number(words, rf"more than {NUMBER} %")
    if "everything" in words:
        stated = 100.0
    elif stated is None:
        assert words.endswith("more")
        stated = 100 * cover.coverage_
    assert stated >= 100 * most - 1e-6
    assert weights is not None or stated < 100 * most + 0.1


def idle(problem, **_):
    """Choose nothing, whatever is worth its cost."""
    return CoverSolution.of(problem, [], dual=np.zeros(problem.n_points))


@st.composite
def classifiers(draw):
    """A classifier of two classes with its samples, labels and weights, within some budget."""
    X = np.array(draw(PLACES), dtype=float)[:, None]
    n, floor = len(X), draw(st.integers(0, 1))
    y = np.append([0, 1], np.random.default_rng(draw(st.integers(0, 2**16))).integers(0, 2, n - 2))
    weights = weighed(draw, n)
    weights = None if weights is None else np.maximum(weights, 0.25)
    by_class = st.sampled_from([{0: 1}, {0: 0, 1: 2}, {0: 2, 1: 1}])
    model = PVMClassifier(
        eps=draw(EPS),
        radii="shared",
        cross_class=draw(st.booleans()),
        min_per_class=floor,
        prototype_cost=draw(st.sampled_from(["auto", 0.4, 1.5, 4.0])),
        max_prototypes=draw(st.none() | st.integers(1 + floor, 3) | by_class),
        solver=draw(SOLVER | st.just(idle)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that only the floor gives a prototype
        return (
            model.fit(X, y, sample_weight=weights),
            X,
            y,
            np.ones(n) if weights is None else weights,
        )


def least_lost(near, y, weights, label, candidates, *, covering):
    """The least weight uncovered or wrongly covered, by the number of prototypes of a class.

    With `covering`, prototypes that cover no sample of their class do not count as any.
    """
    own, least = y == label, {}
    for some in choices(len(candidates)):
        held = near[:, candidates[some]]
        if covering and len(some) and not held[own].any():
            continue
        lost = weights[own & ~held.any(axis=1)].sum() + weights[~own] @ held[~own].sum(axis=1)
        least[len(some)] = min(lost, least.get(len(some), np.inf))
    return least


@settings(max_examples=80, deadline=None)
@given(classifiers())
def test_what_is_said_of_prototypes_is_true_of_every_choice(fitted):
    model, X, y, weights = fitted
    words, near = describe_bound(model), abs(X - X.T) < model.eps
    covering = " with " in words
    least = [
        least_lost(
            near, y, weights, k, np.flatnonzero((y == k) | model.cross_class), covering=covering
        )
        for k in (0, 1)
    ]
    budget, has = model.max_prototypes, np.isin([0, 1], model.prototype_labels_)
    assert "with one for every class" not in words or has.all()  # it is one of these choices
    for sizes in product(*least):
        if isinstance(budget, int) and sum(sizes) > budget:
            continue
        if isinstance(budget, dict) and any(sizes[k] > most for k, most in budget.items()):
            continue
        if "with one for every class" in words and not all(sizes):
            continue
        if "with prototypes for the same classes" in words and (has != np.sign(sizes)).any():
            continue
        lost = sum(one[size] for one, size in zip(least, sizes, strict=True))
        objective = lost + model.prototype_cost_ * sum(sizes)
        assert lost >= (number(words, rf"(?:fewer|less) than {NUMBER}") or 0.0) - 1e-6
        assert objective >= (number(words, rf"objective below {NUMBER}") or 0.0) - 1e-6
        assert not words.endswith("better") or objective >= model.objective_ - 1e-6


def test_a_floor_that_matters_is_said_to():
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1], [7, 2])
    options = {"eps": 1.5, "prototype_cost": 2.5, "radii": "shared", "max_prototypes": {0: 3}}
    with pytest.warns(UserWarning, match=r"no prototype of the classes \[1\] is worth its cost"):
        model = PVMClassifier(**options).fit(X, y)
    assert "within the budget with one for every class" in describe_bound(model)
    with pytest.warns(UserWarning, match=r"no prototype of the classes \[1\] is worth its cost"):
        model.set_params(max_prototypes={0: 0}).fit(X, y)
    assert set(model.prototype_labels_) == {1}
    assert "within the budget with prototypes for the same classes" in describe_bound(model)
    model.set_params(max_prototypes=None, min_per_class=0).fit(X, y)
    assert " with " not in describe_bound(model)


IRIS = load_iris().data
WEIGHTS = IRIS[:, 0] / 3


def unproved(problem, **_):
    return CoverSolution.of(problem, [0])


@pytest.mark.parametrize(
    ("options", "weights", "words"),
    [
        (
            {"max_representatives": 5},
            None,
            r"no 5 representatives cover more than \S+ % of the samp",
        ),
        ({"max_representatives": 5}, WEIGHTS, r"cover more than \S+ % of the weight$"),
        ({}, None, r"no cover has fewer than \d+ representatives$"),
        ({"coverage": 0.95}, None, r"covering 95 % of the samples takes at least \d+ rep"),
        ({"coverage": 0.8}, WEIGHTS, r"covering 80 % of the weight takes at least \d+ rep"),
        ({"coverage": 0.8, "candidate_cost": WEIGHTS}, None, r"costs at least \d"),
        (
            {"cost": 3.0},
            None,
            r"below \S+ \(samples uncovered plus 3 per representative\)|better$",
        ),
        (
            {"must_include": [7], "max_representatives": 4},
            None,
            "no 4 representatives with the 1 gi",
        ),
        ({"solver": unproved}, None, "it is not known how much better"),
    ],
)
def test_a_bound_is_stated_in_the_terms_of_the_question(options, weights, words):
    cover = BallCover(eps=0.5, **{"solver": "greedy", **options}).fit(IRIS, sample_weight=weights)
    assert re.search(words, describe_bound(cover))


def test_a_bound_that_rests_on_the_solver_is_said_to():
    cover = BallCover(eps=0.5, coverage=0.8, solver="exact").fit(IRIS)
    cover.certificate_ = "solver"
    assert describe_bound(cover).startswith("according to the solver, covering 80 %")
