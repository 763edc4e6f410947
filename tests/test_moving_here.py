"""What docs/moving-here.md says of R's protoclass, alibi and scikit-learn, line by line.

Each test names the lines that it checks, and one compares these with the page. What is said of
a peer is checked against its recorded answers (benchmarks/peers/record_alibi.py made alibi's;
protoclass's came from a run of that package), what is said of protocover by running it.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.neighbors import (
    KNeighborsClassifier,
    NearestNeighbors,
    RadiusNeighborsClassifier,
)

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, PVMSelector

PAGE = Path(__file__).parents[1] / "docs" / "moving-here.md"
X, Y = load_iris(return_X_y=True)
LINES: set[str] = set()


def checks(*lines):
    """Say which lines of the page, by what they have of the peer, a test is about."""
    LINES.update(lines)
    return lambda test: test


DATA = Path(__file__).parent / "recorded"
PROBLEMS = json.loads((DATA / "protoclass_recorded.json").read_text())
ALIBI = json.loads((DATA / "alibi_recorded.json").read_text())


def settings(**wanted):
    """Recorded answers of alibi with the given settings."""
    return [case for case in ALIBI if all(case[name] == wanted[name] for name in wanted)]


def fit(case, **parameters):
    problem = PROBLEMS[case["problem"]]
    table = np.array(problem["dissimilarities"])
    _, y = np.unique(problem["labels"], return_inverse=True)
    model = greedy(case["eps"], metric="precomputed", **parameters)
    return model.fit(table, y), table, y


def sequences(candidates, labels):
    """The order of selection within each class."""
    labels = np.asarray(labels)
    return {label: list(np.asarray(candidates)[labels == label]) for label in set(labels.tolist())}


def same_sequences(model, case):
    ours = sequences(model.candidate_indices_, model.prototype_labels_)
    return ours == sequences(case["candidates"], case["labels"])


@checks("`dxz =` points x candidates", "order of selection")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_protoclass_is_the_machine_of_the_paper_with_its_table(problem):
    """An open ball, the same cost: the same prototypes in the same order."""
    assert same_as_protoclass(problem)


def same_as_protoclass(problem, **parameters):
    """Whether our prototypes come in the order of protoclass; a class without any is refused."""
    try:
        model, _, _ = protoclass(problem, prototype_cost=problem["prototype_cost"], **parameters)
    except ValueError as error:
        if "every class needs a candidate" not in str(error):
            raise
        return False
    order = [entry[0] if isinstance(entry, list) else entry for entry in problem["order"]]
    return model.candidate_indices_.tolist() == order


@checks("one radius for all", "any candidate for any class", "a class may have no prototype")
@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize("name", PAPER)
def test_a_default_in_place_of_the_parameter_of_the_paper_gives_another_selection(name):
    default = PVMClassifier().get_params()[name]
    assert default != PAPER[name]
    assert not all(same_as_protoclass(problem, **{name: default}) for problem in PROBLEMS)


def test_the_parameters_of_the_paper_are_those_that_the_page_says():
    (said,) = re.findall(r"```python\npaper = (.*?)\n```", PAGE.read_text(), re.DOTALL)
    assert ast.literal_eval(said) == PAPER


@checks(
    "`ProtoSelect(EuclideanDistance(), eps=e)`",
    "ties go to what rounding leaves of gain minus cost",
    '`summary.data["prototype_indices"]`',
)
@pytest.mark.parametrize("case", settings(cost=2.0**-10, budget=None))
def test_alibi_is_a_closed_ball(case):
    """With a cost that is a power of two, class by class the same order of selection."""
    model, _, _ = fit(case, closed_ball=True, prototype_cost=case["cost"])
    assert same_sequences(model, case)


def test_an_open_ball_would_differ_from_alibi():
    """Each recorded radius is one of the distances, so that the boundary matters."""
    cases = settings(cost=2.0**-10, budget=None)
    assert not all(same_sequences(fit(case, prototype_cost=2.0**-10)[0], case) for case in cases)


@checks("stops when every gain is below the cost")
@pytest.mark.parametrize("case", settings(cost=1.0, budget=None))
def test_alibi_takes_a_prototype_whose_gain_equals_its_cost(case):
    """A cost a touch below does the same here."""
    model, _, _ = fit(case, closed_ball=True, prototype_cost=np.nextafter(1.0, 0.0))
    assert same_sequences(model, case)


def test_ours_stops_where_the_gain_equals_the_cost():
    cases = settings(cost=1.0, budget=None)
    models = [fit(case, closed_ball=True, prototype_cost=1.0)[0] for case in cases]
    fewer = [
        len(case["labels"]) - len(m.prototype_labels_)
        for case, m in zip(cases, models, strict=True)
    ]
    assert min(fewer) >= 0
    assert max(fewer) > 0


@pytest.mark.parametrize("case", settings(cost=None))
def test_alibi_with_its_default_cost_is_a_greedy_selection_up_to_ties(case):
    """Each of its choices has the largest gain of its class at that point."""
    _, table, y = fit(case)
    inside = table <= case["eps"]
    for label, chosen in sequences(case["candidates"], case["labels"]).items():
        own, wrong = inside[y == label].copy(), inside[y != label].sum(axis=0)
        for candidate in chosen:
            gain = own.sum(axis=0) - wrong
            assert gain[candidate] == gain.max()
            own[own[:, candidate]] = False


@checks("`summarise(num_prototypes=k)`")
@pytest.mark.parametrize("case", settings(cost=2.0**-10, budget=3))
def test_a_budget_keeps_prototypes_of_the_same_gains_as_alibi(case):
    """Which of several tied classes comes first differs; the gains kept do not."""
    model, table, y = fit(case, closed_ball=True, prototype_cost=2.0**-10, max_prototypes=3)
    assert objective(table, y, case["eps"], case["candidates"], case["labels"]) == objective(
        table, y, case["eps"], model.candidate_indices_, model.prototype_labels_
    )


def objective(table, y, eps, candidates, labels):
    """Uncovered plus wrongly covered points of a selection, by counting."""
    inside = table <= eps
    uncovered = sum(
        not any(
            inside[i, j] and label == y[i] for j, label in zip(candidates, labels, strict=True)
        )
        for i in range(len(y))
    )
    wrong = sum(
        np.sum(inside[:, j] & (y != label)) for j, label in zip(candidates, labels, strict=True)
    )
    return uncovered + wrong


def greedy(eps=0.8, **parameters):
    """A classifier of the paper, but for the given parameters."""
    return PVMClassifier(eps=eps, solver="greedy", **{**PAPER, **parameters})


def same_model(one, other):
    """Whether two models have the same prototypes in the same order."""
    return one.candidate_indices_.tolist() == other.candidate_indices_.tolist() and (
        one.prototype_labels_.tolist() == other.prototype_labels_.tolist()
    )


def protoclass(problem, **parameters):
    """Our model of a problem that protoclass has answered."""
    table = np.array(problem["dissimilarities"])
    model = greedy(problem["eps"], metric="precomputed", **parameters)
    return model.fit(table, problem["labels"]), table, np.array(problem["labels"])


@checks("`protoclass(x, y, eps = e)`", "`z =`", "`fit(X, y, Z)`")
@pytest.mark.parametrize("Z", [None, X[::3]], ids=["points", "candidates"])
def test_points_and_candidates_give_what_their_table_does(Z):
    """The table is what the recorded answers are about."""
    model = greedy(candidates="train" if Z is None else Z).fit(X, Y)
    table = cdist(X, X if Z is None else Z)
    assert same_model(model, greedy(metric="precomputed").fit(table, Y))


@checks("`lambda = 1/n`")
@pytest.mark.parametrize(
    "problem", [p for p in PROBLEMS if p["prototype_cost"] == 1 / len(p["labels"])]
)
def test_protoclass_has_our_default_cost(problem):
    model, _, y = protoclass(problem)
    assert model.prototype_cost_ == 1 / len(y)
    assert model.candidate_indices_.tolist() == problem["order"]


@checks("open ball, `d < eps`")
def test_a_point_at_the_radius_is_not_covered():
    line = np.arange(3.0)[:, None]
    for closed, size in ((False, 1), (True, 2)):
        model = PVMClassifier(eps=1.0, closed_ball=closed, **PAPER).fit(line[:2], [0, 0])
        assert model.coverage(line[:2], [0, 0]).balls.sum(axis=0).max() == size


@checks("`alpha`, a 0/1 matrix", "`nproto`")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_alpha_and_the_numbers_of_prototypes_follow_from_the_labels(problem):
    model, table, y = protoclass(problem, prototype_cost=problem["prototype_cost"])
    alpha = np.zeros((table.shape[1], len(np.unique(y))), dtype=int)
    alpha[model.candidate_indices_, model.prototype_labels_] = 1
    assert alpha.sum(axis=0).tolist() == problem["prototypes_per_class"]
    labels, counts = np.unique(model.prototype_labels_, return_counts=True)
    assert np.array(problem["prototypes_per_class"])[labels].tolist() == counts.tolist()


@checks("`uncovered`, `wrongcover`, `coverlist`")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_coverage_tells_what_protoclass_does(problem):
    """Point by point, by counting; and how many each prototype covers, as it was recorded."""
    model, table, y = protoclass(problem, prototype_cost=problem["prototype_cost"])
    of_class = model.prototype_labels_[None, :] == y[:, None]
    inside = table[:, model.candidate_indices_] < problem["eps"]
    coverage = model.coverage(table, y)
    np.testing.assert_array_equal(coverage.balls.toarray(), inside)
    np.testing.assert_array_equal(coverage.covered, (inside & of_class).any(axis=1))
    np.testing.assert_array_equal(coverage.other_count, (inside & ~of_class).sum(axis=1))
    recorded = np.array(problem["newly_covered_and_miscovered"]).T
    np.testing.assert_array_equal(model.newly_covered_count_, recorded[0])
    np.testing.assert_array_equal(model.miscovered_count_, recorded[1])


@checks("`predict(model, newx)`", "a 1-NN classifier of your own")
def test_answers_are_those_of_the_nearest_prototype():
    model = greedy().fit(X, Y)
    nearest = KNeighborsClassifier(1).fit(model.prototypes_, model.prototype_labels_)
    queries = X + np.random.default_rng(0).normal(size=X.shape)
    np.testing.assert_array_equal(model.predict(queries), nearest.predict(queries))


class Blocks:
    """An object that computes a function of blocks, as alibi's kernel does, the other way."""

    def fit(self, X, y=None):
        return self

    def pairwise(self, A, B):
        return cdist(A, B, "cityblock")


@checks("`kernel_distance=f`")
def test_a_function_of_two_points_or_of_blocks_is_a_metric():
    table = greedy(metric="precomputed").fit(cdist(X, X, "cityblock"), Y)
    assert same_model(greedy(metric=lambda a, b: np.abs(a - b).sum()).fit(X, Y), table)
    assert same_model(greedy(metric=Blocks()).fit(X, Y), table)


@checks("`lambda_penalty=None`")
@pytest.mark.parametrize("case", settings(cost=None))
def test_any_cost_below_one_gives_the_same_selection(case):
    """By the number of candidates, as alibi has it, or of points, or what you like."""
    default, table, _ = fit(case, closed_ball=True)
    for cost in (1 / table.shape[1], 0.5, 0.99):
        assert same_model(fit(case, closed_ball=True, prototype_cost=cost)[0], default)


@checks("`fit(X)` without labels")
def test_one_class_has_nothing_that_is_wrongly_covered():
    model = greedy(closed_ball=True).fit(X, np.zeros(len(X)))
    assert model.miscovered_count_.tolist() == [0] * len(model.prototypes_)
    assert model.coverage(X, np.zeros(len(X))).covered.all()


def test_a_budget_is_one_of_the_search_too():
    search = PVMClassifierCV(eps=[0.5, 1.0], cv=3, max_prototypes=8, **PAPER).fit(X, Y)
    assert len(search.best_estimator_.prototypes_) <= 8


@checks("a candidate serves one class")
@pytest.mark.parametrize("problem", [p for p in PROBLEMS if p["prototype_cost"] > 0])
def test_no_candidate_serves_two_classes_at_a_positive_cost(problem):
    model, _, _ = protoclass(problem, prototype_cost=problem["prototype_cost"])
    assert len(set(model.candidate_indices_.tolist())) == len(model.candidate_indices_)


@checks("prototypes grouped by class")
@pytest.mark.parametrize("case", settings(cost=2.0**-10, budget=None))
def test_sorted_by_label_the_prototypes_come_as_those_of_alibi(case):
    model, _, _ = fit(case, closed_ball=True, prototype_cost=case["cost"])
    order = np.argsort(model.prototype_labels_, kind="stable")
    assert model.prototype_labels_[order].tolist() == case["labels"]
    assert model.candidate_indices_[order].tolist() == case["candidates"]


@checks("`cv_protoselect_euclidean(grid_size=k)`")
def test_the_search_has_ten_folds_and_the_rule_of_one_standard_error():
    search = PVMClassifierCV(n_eps=4, **PAPER).fit(X, Y)
    assert len(search.cv_results_["param_eps"]) == 4
    assert (search.n_splits_, search.rule) == (10, "1se")


@checks("`visualize_image_prototypes`")
def test_there_are_pictures_of_prototypes():
    pytest.importorskip("matplotlib", reason="matplotlib, an optional package, is not installed")
    from protocover.plotting import PrototypeGalleryDisplay, PrototypeMapDisplay

    model = greedy().fit(X, Y)
    PrototypeMapDisplay.from_estimator(model)
    PrototypeGalleryDisplay.from_estimator(model, image_shape=(2, 2))


@checks("`KNeighborsClassifier(1)`", "back again")
def test_below_the_smallest_distance_every_point_is_a_prototype():
    points, first = np.unique(X, axis=0, return_index=True)
    eps = cdist(points, points)[~np.eye(len(points), dtype=bool)].min() / 2
    model = PVMClassifier(eps=eps, radii="shared")
    model.fit(points, Y[first])
    assert len(model.prototypes_) == len(points)
    queries = X + 0.01
    expected = KNeighborsClassifier(1).fit(points, Y[first]).predict(queries)
    np.testing.assert_array_equal(model.predict(queries), expected)
    np.testing.assert_array_equal(model.to_knn().predict(queries), expected)


@checks("the same, with fewer points", "`KNeighborsClassifier(k)` votes", "`kneighbors(X)`")
def test_the_nearest_of_fewer_points_answers_and_is_named():
    for model in (PVMClassifier().fit(X, Y), PVMClassifierCV(cv=3).fit(X, Y).best_estimator_):
        assert len(model.prototypes_) < len(X)
        multiples = cdist(X, model.prototypes_) / model.prototype_radii_
        nearest = multiples.argmin(axis=1)
        of_class = model.prototype_labels_ == model.prototype_labels_[nearest, None]
        rivals = np.where(of_class, np.inf, multiples)
        why = model.explain(X)
        np.testing.assert_array_equal(model.predict(X), model.prototype_labels_[nearest])
        np.testing.assert_array_equal(why.label, model.predict(X))
        assert (why.runner_up_label != why.label).all()
        np.testing.assert_allclose(why.margin, rivals.min(axis=1) - multiples.min(axis=1))
        shape = len(X), len(model.prototypes_)
        assert model.transform(X).shape == shape


@checks("`NearestCentroid()`")
def test_centroids_are_candidates_that_must_be_worth_it():
    model = PVMClassifier(eps=1.0, candidates="kmeans", random_state=0).fit(X, Y)
    assert set(model.prototype_indices_.tolist()) == {-1}
    assert len(model.prototypes_) >= 3


@checks("`RadiusNeighborsClassifier(r, outlier_label=...)`")
def test_queries_in_no_ball_have_the_same_word():
    far = np.add(X.max(axis=0), [[100.0], [200.0]])
    theirs = RadiusNeighborsClassifier(1.0, outlier_label=-1).fit(X, Y).predict(far)
    model = PVMClassifier(eps=1.0, closed_ball=True, outlier_label=-1).fit(X, Y)
    np.testing.assert_array_equal(model.predict(far), theirs)


@checks(
    "`metric=`, `metric_params=`, `n_jobs=`", '`radius_neighbors_graph(X, r, mode="distance")`'
)
def test_metrics_have_the_same_names_and_a_graph_can_be_fitted():
    """Without ties of distances, which the last bit would decide."""
    points = X + np.random.default_rng(0).normal(0.0, 0.01, size=X.shape)
    theirs = NearestNeighbors(radius=2.0, metric="minkowski", metric_params={"p": 3}).fit(points)
    graph = theirs.radius_neighbors_graph(points, 2.0, mode="distance")
    for machine in ({}, PAPER):
        ours = PVMClassifier(
            eps=1.0, metric="minkowski", metric_params={"p": 3}, n_jobs=1, **machine
        ).fit(points, Y)
        on_graph = PVMClassifier(eps=1.0, metric="precomputed", **machine).fit(graph, Y)
        np.testing.assert_array_equal(ours.candidate_indices_, on_graph.candidate_indices_)


@checks("imbalanced-learn's `CondensedNearestNeighbour().fit_resample(X, y)`")
def test_the_selector_resamples():
    fewer, labels = PVMSelector().fit_resample(X, Y)
    assert 3 <= len(fewer) == len(labels) < len(X)


def test_every_line_of_the_page_is_checked():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    headings = {"protoclass", "ProtoSelect", "scikit-learn"}
    found = {re.split(r"(?<!\\) \| ", row)[0].removeprefix("| ").strip() for row in rows}
    assert found - headings == LINES
