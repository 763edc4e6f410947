"""Why a case is answered as it is: numbers, words and the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._inspection.fitted import unwrap
from protocover.dissimilarity import Gower
from protocover.report import Queries, summarize, summarize_queries, write_report
from protocover.report._comparisons import compare_cases

X, Y = load_iris(return_X_y=True)
TRAIN, TEST = slice(None, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module", params=["shared", "adaptive"])
def model(request):
    return PVMClassifier(eps=0.6, radii=request.param).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def summary(model):
    return summarize(model, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]))


def by_case(summary):
    return {item.case: item for item in summary.comparisons}


def test_every_held_out_case_is_answered_as_predict_does_and_the_wrong_come_first(model, summary):
    answers = summary.held_out
    assert answers.n_cases == answers.n_labeled == len(answers.listed) == len(X[TEST])
    expected = model.predict(X[TEST])
    found = {summary.cases.names[item.case]: item for item in answers.listed}
    for row, (answer, label) in enumerate(zip(expected, Y[TEST], strict=True)):
        item = found[f"row {row}"]
        assert (item.answer, item.label) == (str(answer), str(label))
        assert item.wrong == (answer != label)
        assert summary.cases.classes[item.case] == label
    wrong = [item.wrong for item in answers.listed]
    assert wrong == sorted(wrong, reverse=True)
    assert answers.n_wrong == sum(wrong) == (expected != Y[TEST]).sum()
    assert answers.n_outside == (~model.explain(X[TEST]).inside).sum()


def test_a_comparison_has_the_deciding_prototype_and_the_runner_up(model, summary):
    why, comparisons = model.explain(X[TEST]), by_case(summary)
    for item in summary.held_out.listed:
        row = int(summary.cases.names[item.case].removeprefix("row "))
        found = comparisons[item.case]
        assert found.near.prototype == why.prototype[row]
        assert found.far.prototype == why.runner_up_prototype[row]
        assert found.near.distance == pytest.approx(why.distance[row], rel=1e-12)
        assert found.near.relative == pytest.approx(why.relative_distance[row], rel=1e-12)
        assert found.near.inside == why.inside[row]
        assert found.far.distance == pytest.approx(why.runner_up_distance[row], rel=1e-12)


def test_contributions_are_those_by_hand_and_make_up_the_squared_distance(model, summary):
    assert summary.contribution_unit == "square"
    assert "squared distance" in summary.shares
    for item in summary.held_out.listed[:20]:
        x = X[TEST][int(summary.cases.names[item.case].removeprefix("row "))]
        found = by_case(summary)[item.case]
        assert sorted(found.columns) == [0, 1, 2, 3]
        for side in (found.near, found.far):
            expected = naive.contributions("euclidean", x, model.prototypes_[side.prototype])
            assert side.terms == pytest.approx([expected[j] for j in found.columns], rel=1e-3)
            assert side.rest == 0.0
            assert sum(side.terms) == pytest.approx(side.distance**2, rel=1e-3)


def test_suspects_and_uncovered_cases_are_compared_too(model, summary):
    comparisons = by_case(summary)
    for suspect in summary.suspects:
        found = comparisons[suspect.case]
        assert found.near.prototype == suspect.prototype
        assert summary.prototypes[found.far.prototype].class_ == suspect.label
        assert found.words.startswith(f"Labelled “{suspect.label}”, but nearby prototypes")
    suspects = {suspect.case for suspect in summary.suspects}
    for case in summary.uncovered:
        if case.case in suspects:
            continue
        found, own = comparisons[case.case], summary.cases.classes[case.case]
        row = summary.cases.rows[case.case]
        assert found.near.prototype == model.explain(X[TRAIN][[row]]).prototype[0]
        sides = {summary.prototypes[side.prototype].class_ for side in (found.near, found.far)}
        assert own in sides
        assert f"No prototype of its class, “{own}”, covers it." in found.words


def line_model(**options):
    """Prototypes at 0 and 10 on a line, with three points each."""
    points = np.array([[-1.0], [0.0], [1.0], [9.0], [10.0], [11.0]])
    return PVMClassifier(eps=1.5, **options).fit(points, ["a"] * 3 + ["b"] * 3)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (0.0, "The case is identical to the first one, a clear margin."),
        (
            1.0,
            "9.0 times as far, a very clear margin. The case lies within the radius of row 1",
        ),
        (4.0, "50 % farther, a clear margin. The case lies outside the radius of row 1, 1.5."),
        (4.6, "17 % farther, a small margin"),
        (4.9, "4.1 % farther, a very small margin"),
        (4.9999, "less than 0.1 % farther, a very small margin"),
        (5.0, "equally near, and the first class in order wins the tie"),
    ],
)
def test_words_say_how_close_the_call_was(place, words):
    summary = summarize_queries(line_model(**PAPER), [[place]])
    assert words in summary.comparisons[0].words


def test_adaptive_radii_are_explained_by_multiples_of_them():
    points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [6.5], [7.0], [7.5]])
    model = PVMClassifier(eps=None, radii="adaptive", prototype_cost=0.5).fit(
        points, list("aaaaabbb")
    )
    assert sorted(model.prototype_radii_.tolist()) != [model.prototype_radii_[0]] * 2
    summary = summarize_queries(model, [[5.0]])
    why = model.explain([[5.0]])
    near = summary.comparisons[0].near
    assert near.prototype == why.prototype[0]
    assert f"times its radius of {model.prototype_radii_[near.prototype]:.3g}" in (
        summary.comparisons[0].words
    )
    assert "Relative to the radii it is" in summary.comparisons[0].words


def test_an_outlier_label_is_the_answer_and_the_nearest_is_still_told():
    model = line_model(outlier_label="none")
    summary = summarize_queries(model, Queries([[4.0], [0.5]], ["a", "a"]))
    far = next(item for item in summary.queries.listed if item.answer == "none")
    assert far.class_ == -1
    assert far.wrong
    assert "Predicted “none”, incorrectly: the class is “a”." in by_case(summary)[far.case].words


def test_one_class_has_no_runner_up():
    model = PVMClassifier(eps=1.0, **PAPER).fit([[0.0], [0.5]], ["a", "a"])
    summary = summarize_queries(model, [[0.2]])
    assert summary.comparisons[0].far is None
    assert "No other class has a prototype." in summary.comparisons[0].words


def test_gower_tells_shares_of_the_distance_and_unseen_labels_are_shown():
    frame = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", None]})
    model = PVMClassifier(eps=0.3, metric=Gower(), **PAPER).fit(frame, list("aabb"))
    asked = pd.DataFrame({"size": [8.5], "colour": ["green"]}, index=["mine"])
    summary = summarize(model, frame, list("aabb"), queries=asked)
    item = summary.queries.listed[0]
    assert summary.cases.names[item.case] == "mine"
    color = next(c for c in summary.cases.columns if c.name == "colour")
    assert color.categories[color.values[item.case]] == "green"
    found = by_case(summary)[item.case]
    assert summary.contribution_unit == "distance"
    for side in (found.near, found.far):
        assert sum(side.terms) + side.rest == pytest.approx(side.distance, rel=1e-3)


@pytest.mark.parametrize(
    ("steps", "told"), [([StandardScaler()], True), ([StandardScaler(), PCA(3)], False)]
)
def test_columns_are_told_only_where_they_are_those_of_the_distance(steps, told):
    data = load_wine(as_frame=True)
    model = make_pipeline(*steps, PVMClassifier(eps=2.5, **PAPER)).fit(
        data.data[::2], data.target[::2]
    )
    summary = summarize(
        model, data.data[::2], data.target[::2], held_out=(data.data[1::2], data.target[1::2])
    )
    assert bool(summary.comparisons[0].columns) == told
    assert ("other columns than those shown" in summary.shares) == (not told)
    assert summary.cases.columns


def test_a_dissimilarity_that_is_no_sum_says_so():
    model = PVMClassifier(eps=0.5, metric="chebyshev", **PAPER).fit(X[TRAIN], Y[TRAIN])
    summary = summarize(model, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]))
    assert "not available" in summary.shares
    assert summary.contribution_unit is None
    assert summary.comparisons[0].columns == []


def test_of_many_columns_the_rest_is_told_as_a_sum():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 300)) + 3.0 * np.repeat([[0.0], [1.0]], 20, axis=0)
    labels = np.repeat(["a", "b"], 20)
    model = PVMClassifier(eps=30.0, **PAPER).fit(wide[::2], labels[::2])
    summary = summarize(model, wide[::2], labels[::2], held_out=(wide[1::2], labels[1::2]))
    found = summary.comparisons[-1]
    assert 0 < len(found.columns) <= 12
    assert sum(found.near.terms) + found.near.rest == pytest.approx(
        found.near.distance**2, rel=1e-3
    )
    assert found.near.rest > 0.0


def test_a_table_of_dissimilarities_is_explained_without_columns(model, summary):
    D = np.sqrt(((X[TRAIN][:, None] - X[TRAIN][None]) ** 2).sum(axis=2))
    D_test = np.sqrt(((X[TEST][:, None] - X[TRAIN][None]) ** 2).sum(axis=2))
    options = {"radii": model.radii, "metric": "precomputed"}
    table = PVMClassifier(eps=0.6, **options).fit(D, Y[TRAIN])
    other = summarize(table, D, Y[TRAIN], held_out=(D_test, Y[TEST]))
    assert [a.answer for a in other.held_out.listed] == [a.answer for a in summary.held_out.listed]
    assert other.contribution_unit is None


def test_ten_thousand_queries_make_a_page_that_is_cut_and_says_so(tmp_path):
    rng = np.random.default_rng(0)
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y)
    asked = X[rng.integers(0, 150, 10_000)] + rng.normal(0.0, 0.3, (10_000, 4))
    summary = summarize_queries(model, asked)
    assert summary.queries.n_cases == 10_000
    assert len(summary.queries.listed) == 1000
    path = write_report(summary, tmp_path / "why.html")
    assert path.stat().st_size < 2_000_000
    assert "Only the first 1,000 are listed." in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"held_out": Queries(X[TEST])}, "held_out must be .X_test, y_test., got no y_test; pass"),
        ({"queries": X[:0]}, "queries must hold at least one case, got none"),
        (
            {"queries": Queries(X[:2], shown=pd.DataFrame({"a": [1, 2]}))},
            "must have the 4 columns of the training data, got 1",
        ),
    ],
)
def test_queries_that_do_not_fit_are_refused(model, wrong, message):
    with pytest.raises(ValueError, match=message):
        summarize(model, X[TRAIN], Y[TRAIN], **wrong)


@pytest.mark.parametrize(
    "labels",
    [
        [0, None, 1],
        [0.0, np.nan, 1.0],
        pd.Series([0, None, 1]),
        pd.Series([0, pd.NA, 1], dtype="Int64"),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_a_missing_label_is_no_wrong_answer_and_leaves_numbers_what_they_are(labels):
    found = summarize_queries(PVMClassifier(eps=1.0, **PAPER).fit(X, Y), (X[:3], labels)).queries
    assert (found.n_labeled, found.n_wrong) == (2, 1)
    assert {item.label for item in found.listed} == {"0", None, "1"}


@pytest.mark.parametrize(
    "labels",
    [["a", np.nan, "b"], pd.Series(["a", pd.NA, "b"], dtype="string")],
    ids=["list", "NA"],
)
def test_a_missing_label_among_texts_is_none(labels):
    texts = np.array(["a", "b", "c"])[Y]
    found = summarize_queries(
        PVMClassifier(eps=1.0, **PAPER).fit(X, texts), (X[:3], labels)
    ).queries
    assert (found.n_labeled, found.n_wrong) == (2, 1)
    assert {item.label for item in found.listed} == {"a", None, "b"}


def test_what_is_shown_of_too_few_cases_is_refused():
    asked = Queries(X[:3], shown=X[:2])
    with pytest.raises(ValueError, match="a row for each of the 3 cases of queries, got 2"):
        summarize_queries(PVMClassifier(eps=1.0, **PAPER).fit(X, Y), asked)


def test_an_encoder_of_images_may_precede_the_classifier():
    def encode(images):
        return images.reshape(len(images), -1, 3).mean(axis=1)

    rng = np.random.default_rng(0)
    photos = rng.integers(0, 120, (24, 6, 5, 3)).astype(np.uint8)
    photos[12:, :, :, 0] += 120
    labels = np.repeat(["dark", "red"], 12)
    model = make_pipeline(FunctionTransformer(encode), PVMClassifier(metric="cosine", **PAPER))
    model.fit(photos[::2], labels[::2])
    asked = Queries(photos[1::2], labels[1::2], images=photos[1::2])
    found = summarize(model, photos[::2], labels[::2], held_out=asked, images=photos[::2])
    assert found.cases.columns == []
    assert found.cases.pictures.count >= 12
    assert found.comparisons[0].columns == []


def test_an_uncovered_case_is_compared_with_its_own_class_even_if_two_others_are_nearer():
    clusters = np.linspace(-0.4, 0.4, 5), np.linspace(3.6, 4.4, 5), [20.0, 20.2, 20.4, 1.6]
    points, labels = np.concatenate(clusters)[:, None], [*"aaaaabbbbbcccc"]
    model = PVMClassifier(eps=1.0, prototype_cost=1.5, **PAPER).fit(points, labels)
    coverage = model.coverage(points, labels)
    assert not coverage.covered[13]
    found = compare_cases(
        unwrap(model),
        points,
        uncovered=np.array([13]),
        coverage=coverage,
        nearest_own=np.full(14, model.prototype_labels_.tolist().index("c")),
    )
    (group,) = found.groups
    assert model.prototype_labels_[[group.near[0], group.far[0]]].tolist() == ["a", "c"]
    assert group.roles[0][1] == "The nearest prototype of its own class"
