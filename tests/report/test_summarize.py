"""The numbers of a report against slow, obvious recomputation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier, PVMClassifierCV, find_label_issues
from protocover._inspection.evaluation import tally
from protocover.dissimilarity import Gower
from protocover.report import Queries, make_report, summarize
from protocover.report._quality import held_out_error
from protocover.report._summary import plain

X, Y = load_iris(return_X_y=True)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module")
def model():
    return PVMClassifier(eps=0.8, **PAPER).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def summary(model):
    return summarize(model, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]), title="Iris")


@pytest.fixture(scope="module")
def table(model):
    """Distances of the training points from the prototypes."""
    return cdist(X[TRAIN], model.prototypes_)


def test_each_prototype_covers_what_lies_within_the_radius(summary, model, table):
    for k, prototype in enumerate(summary.prototypes):
        inside = np.flatnonzero(table[:, k] < 0.8)
        own = Y[TRAIN][inside] == model.prototype_labels_[k]
        assert prototype.covers == own.sum()
        assert prototype.wrong == (~own).sum() == model.miscovered_count_[k]
        assert prototype.newly == model.newly_covered_count_[k]
        rows = [summary.cases.rows[i] for i in prototype.members]
        assert sorted(rows) == inside.tolist()
        np.testing.assert_allclose(
            prototype.distances, np.sort(table[inside, k]), rtol=5e-3, atol=1e-6
        )
        assert summary.cases.rows[prototype.case] == model.prototype_indices_[k]


def test_members_come_nearest_first(summary, table):
    for k, prototype in enumerate(summary.prototypes):
        rows = [summary.cases.rows[i] for i in prototype.members]
        assert (np.diff(table[rows, k]) >= -1e-9).all()


def test_the_nearest_prototype_of_another_class_is_found(summary, model):
    between = cdist(model.prototypes_, model.prototypes_)
    for k, prototype in enumerate(summary.prototypes):
        others = np.flatnonzero(model.prototype_labels_ != model.prototype_labels_[k])
        other = others[between[k, others].argmin()]
        assert prototype.nearest_other == other
        assert prototype.nearest_other_distance == pytest.approx(between[k, other], rel=1e-3)


def test_errors_are_those_on_the_held_out_cases(summary, model):
    error = summary.quality.error
    assert error.kind == "held-out"
    assert error.n_cases == 75
    assert error.value == pytest.approx(1 - model.score(X[TEST], Y[TEST]))
    nearest = KNeighborsClassifier(1).fit(X[TRAIN], Y[TRAIN])
    assert error.nearest_error == pytest.approx(1 - nearest.score(X[TEST], Y[TEST]))
    assert error.low < error.value < error.high


def test_objective_and_counts_are_the_models(summary, model, table):
    quality = summary.quality
    same = Y[TRAIN][:, None] == model.prototype_labels_[None, :]
    covered = ((table < 0.8) & same).any(axis=1)
    wrong = ((table < 0.8) & ~same).sum()
    assert (quality.n_points, quality.n_prototypes) == (75, len(model.prototypes_))
    assert (quality.n_covered, quality.n_wrong) == (covered.sum(), wrong)
    by_hand = (~covered).sum() + wrong + len(model.prototypes_) / 75
    assert quality.objective == pytest.approx(by_hand)
    assert quality.lower_bound <= quality.objective
    assert [c.covered for c in summary.classes] == [covered[Y[TRAIN] == c].sum() for c in range(3)]
    assert summary.n_uncovered == (~covered).sum()


def test_uncovered_cases_come_farthest_from_their_class_first(table):
    small = PVMClassifier(eps=0.4, prototype_cost=1.5, **PAPER).fit(X[TRAIN], Y[TRAIN])
    found = summarize(small, X[TRAIN], Y[TRAIN])
    table = cdist(X[TRAIN], small.prototypes_)
    table[Y[TRAIN][:, None] != small.prototype_labels_[None, :]] = np.inf
    rows = np.flatnonzero((table >= 0.4).all(axis=1))
    assert len(rows) > 3
    listed = [found.cases.rows[case.case] for case in found.uncovered]
    assert sorted(listed) == rows.tolist()
    reach = table.min(axis=1)[listed]
    assert (np.diff(reach) <= 0).all()
    np.testing.assert_allclose([case.distance for case in found.uncovered], reach, rtol=1e-3)


def test_without_unseen_cases_the_error_is_not_known(model):
    assert summarize(model, X[TRAIN], Y[TRAIN]).quality.error is None


def test_cross_validated_error_and_path_are_those_of_the_search():
    search = PVMClassifierCV(eps=[0.3, 0.6, 0.9, 1.2], cv=5, **PAPER).fit(X, Y)
    found = summarize(search, X, Y)
    results, best = search.cv_results_, search.best_index_
    folds = np.array([results[f"split{k}_test_score"] for k in range(5)])
    se = folds.std(axis=0, ddof=1) / np.sqrt(5)
    assert found.quality.error.kind == "cross-validated"
    assert found.quality.error.value == pytest.approx(1 - folds[:, best].mean())
    assert found.quality.error.high - found.quality.error.value == pytest.approx(se[best])
    assert found.quality.error.nearest_error is None
    assert found.path.eps == [0.3, 0.6, 0.9, 1.2]
    np.testing.assert_allclose(found.path.error, 1 - folds.mean(axis=0))
    np.testing.assert_allclose(found.path.se, se)
    assert found.path.eps[found.path.chosen] == search.eps_
    top = folds.mean(axis=0).argmax()
    assert found.path.limit == pytest.approx(1 - folds[:, top].mean() + se[top])
    assert found.path.error[found.path.chosen] <= found.path.limit


def test_held_out_cases_come_before_cross_validation():
    search = PVMClassifierCV(eps=[0.3, 0.9], cv=3, **PAPER).fit(X[TRAIN], Y[TRAIN])
    found = summarize(search, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]))
    assert found.quality.error.kind == "held-out"


def test_a_pipeline_shows_what_went_into_it():
    pipe = make_pipeline(StandardScaler(), PVMClassifier(eps=0.8, **PAPER)).fit(X[TRAIN], Y[TRAIN])
    found = summarize(pipe, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]))
    assert found.quality.error.value == pytest.approx(1 - pipe.score(X[TEST], Y[TEST]))
    first = found.prototypes[0]
    shown = [column.values[first.case] for column in found.cases.columns]
    assert shown == X[TRAIN][pipe[-1].prototype_indices_[0]].tolist()


def test_what_is_shown_may_be_other_than_what_is_measured():
    texts = [f"flower {i}" for i in range(75)]
    model = PVMClassifier(eps=0.8, **PAPER).fit(X[TRAIN], Y[TRAIN])
    found = summarize(model, X[TRAIN], Y[TRAIN], shown=texts, row_names=range(75))
    assert [column.kind for column in found.cases.columns] == ["text"]
    first = found.prototypes[0].case
    assert found.cases.columns[0].values[first] == f"flower {model.prototype_indices_[0]}"
    assert found.cases.names[first] == str(model.prototype_indices_[0])


def test_a_precomputed_table_gives_the_same_report_without_features(summary):
    table = cdist(X[TRAIN], X[TRAIN])
    model = PVMClassifier(eps=0.8, metric="precomputed", **PAPER).fit(table, Y[TRAIN])
    queries = cdist(X[TEST], X[TRAIN])
    found = summarize(model, table, Y[TRAIN], held_out=(queries, Y[TEST]))
    assert found.cases.columns == []
    assert found.quality == summary.quality
    for one, other in zip(found.prototypes, summary.prototypes, strict=True):
        assert sorted(one.members) == sorted(other.members)
    for one, other in zip(found.prototypes, summary.prototypes, strict=True):
        assert one.nearest_other == other.nearest_other


def test_prototypes_that_are_no_training_points_are_cases_of_their_own():
    model = PVMClassifier(eps=0.8, candidates="kmeans", random_state=0, **PAPER).fit(X, Y)
    found = summarize(model, X, Y)
    for k, prototype in enumerate(found.prototypes):
        assert prototype.source == "kmeans"
        assert found.cases.rows[prototype.case] == -1
        shown = [column.values[prototype.case] for column in found.cases.columns]
        np.testing.assert_allclose(shown, model.prototypes_[k], rtol=1e-4)


def test_a_mixed_frame_keeps_its_names_kinds_and_rows():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(
        {
            "age": [20, 25, 70, 75, 30, 72],
            "stage": pandas.Categorical(list("aabbab"), categories=["b", "a"], ordered=True),
            "seen": pandas.to_datetime(["2024-02-03"] * 6),
            "weight": [60.5, np.nan, 70.0, 80.0, 65.0, np.nan],
        },
        index=["p0", "p1", "p2", "p3", "p4", "p5"],
    )
    y = ["young", "young", "old", "old", "young", "old"]
    found = summarize(PVMClassifier(eps=0.4, metric=Gower(), **PAPER).fit(frame, y), frame, y)
    columns = {column.name: column for column in found.cases.columns}
    assert {name: column.kind for name, column in columns.items()} == {
        "age": "number",
        "stage": "label",
        "seen": "date",
        "weight": "number",
    }
    assert columns["stage"].categories == ["b", "a"]
    assert columns["stage"].shares == [[1.0, 0.0], [0.0, 1.0]]
    assert columns["weight"].values[found.cases.names.index("p1")] is None
    first = found.prototypes[0]
    assert columns["age"].values[first.case] == frame["age"][found.cases.names[first.case]]


def test_the_map_has_a_place_for_each_prototype(summary):
    assert len(summary.map.x) == len(summary.map.y) == len(summary.prototypes)
    assert max(np.abs(summary.map.x).max(), np.abs(summary.map.y).max()) == pytest.approx(1.0)


@pytest.mark.parametrize("most", [1000, 3])
def test_suspects_among_held_out_cases_are_listed_with_the_others(monkeypatch, most):
    """Even if fewer answers are listed than there are held-out cases."""
    monkeypatch.setattr("protocover.report._queries.MOST_LISTED", most)
    flipped = Y.copy()
    flipped[[3, 12, 101, 140]] = [2, 2, 0, 0]
    order = np.r_[0:150:2, 1:150:2]
    model = PVMClassifier(eps=0.8, **PAPER).fit(X[::2], flipped[::2])
    suspects = find_label_issues(model, X[order], flipped[order])
    held_out = Queries(X[1::2], flipped[1::2], names=[f"new {row}" for row in range(75)])
    found = summarize(model, X[::2], flipped[::2], held_out=held_out, suspects=suspects)
    names = [found.cases.names[suspect.case] for suspect in found.suspects]
    assert {"row 6", "row 70", "new 1", "new 50"} <= set(names)
    assert names == [f"row {row}" if row < 75 else f"new {row - 75}" for row in suspects.row]
    assert [suspect.label for suspect in found.suspects] == suspects.label.tolist()
    assert found.suspects_note == suspects.describe()
    for suspect in found.suspects:
        assert found.prototypes[suspect.prototype].class_ == suspect.suggested


def test_flipped_labels_are_listed_as_suspects():
    flipped = Y.copy()
    flipped[[3, 12]] = 2
    found = summarize(PVMClassifier(eps=0.8, **PAPER).fit(X, flipped), X, flipped)
    listed = {found.cases.rows[s.case]: s for s in found.suspects}
    assert {3, 12} <= set(listed)
    assert (listed[3].label, listed[3].suggested) == (2, 0)
    assert found.prototypes[listed[3].prototype].class_ == 0


def test_it_is_plain_data(summary):
    text = json.dumps(summary, default=plain, allow_nan=False)
    assert json.loads(text)["quality"]["n_points"] == 75
    with pytest.raises(TypeError, match="cannot put a object into a report"):
        json.dumps(object(), default=plain)


def test_too_many_members_are_cut_to_the_nearest(monkeypatch, model):
    from protocover.report import _training_data as neighbors

    monkeypatch.setattr(neighbors, "_MOST_MEMBERS", 60)
    monkeypatch.setattr(neighbors, "_FEWEST_MEMBERS", 3)
    cut = summarize(model, X[TRAIN], Y[TRAIN]).prototypes
    whole = PVMClassifier(eps=0.8, **PAPER).fit(X[TRAIN], Y[TRAIN]).coverage(X[TRAIN], Y[TRAIN])
    assert sum(len(p.members) for p in cut) <= 60 < whole.balls.nnz
    assert max(len(p.members) for p in cut) < max(p.covers + p.wrong for p in cut)


def test_small_blocks_give_the_same_numbers(monkeypatch, summary, model):
    monkeypatch.setattr("protocover._inspection.fitted._ENTRIES", 20)
    found = summarize(model, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]), title="Iris")
    assert found == summary


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"shown": ["a"]}, "shown must have a row for each of the 75 rows of X, got 1"),
        ({"row_names": ["a"]}, "row_names must name the 75 rows of X, got 1 names"),
        ({"feature_names": ["a"]}, "feature_names must name the 4 columns that are shown, got 1"),
        ({"image_shape": (3, 3)}, "of the 4 columns that are shown, got"),
        ({"images": np.zeros((75, 4))}, "images must be an array of shape"),
        ({"images": np.zeros((75, 2, 2)), "image_shape": (2, 2)}, "not both"),
        ({"held_out": (X[:0], Y[:0])}, "held_out must hold at least one case"),
    ],
)
def test_what_does_not_fit_is_refused(model, wrong, message):
    with pytest.raises(ValueError, match=message):
        summarize(model, X[TRAIN], Y[TRAIN], **wrong)


def test_labels_and_models_that_it_does_not_know_are_refused(model):
    with pytest.raises(ValueError, match="got 7 in row 0; pass the data that it was fitted on"):
        summarize(model, X[TRAIN], np.full(75, 7))
    with pytest.raises(TypeError, match="got KNeighborsClassifier"):
        summarize(KNeighborsClassifier().fit(X, Y), X, Y)
    none = PVMClassifier(eps=0.1, prototype_cost=1000.0, outlier_label=0, **PAPER).fit(X, Y)
    with pytest.raises(NoPrototypesError, match="nothing to report"):
        summarize(none, X, Y)


NOT_TRAINED = {
    "other rows": (X[1::2], Y[1::2]),
    "all rows": (X, Y),
    "one more": (X[[*range(0, 150, 2), 1]], Y[[*range(0, 150, 2), 1]]),
    "other order": (X[TRAIN][::-1], Y[TRAIN][::-1]),
    "other labels": (X[TRAIN], np.roll(Y[TRAIN], 10)),
    "other units": (X[TRAIN] * 1.01, Y[TRAIN]),
}


@pytest.mark.parametrize("which", NOT_TRAINED)
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_rows_that_the_model_was_not_fitted_on_are_refused(which, radii, tmp_path):
    given, labels = NOT_TRAINED[which]
    words = "must be the samples that the model was fitted on, in the same order, but"
    model = PVMClassifier(eps=0.8, radii=radii).fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match=words):
        make_report(model, given, labels, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    scaled = make_pipeline(StandardScaler(), PVMClassifierCV(eps=[0.6, 0.9], cv=3, radii=radii))
    with pytest.raises(ValueError, match=words):
        summarize(scaled.fit(X[TRAIN], Y[TRAIN]), given, labels)


def test_what_can_be_compared_of_other_candidates_is():
    words = "must be the samples that the model was fitted on"
    table = cdist(X[TRAIN], X[TRAIN])
    for model, given in (
        (PVMClassifier(eps=0.8, candidates="kmeans", random_state=0, **PAPER), X[TRAIN]),
        (PVMClassifier(eps=0.8, metric="precomputed", **PAPER), table),
    ):
        model.fit(given, Y[TRAIN])
        summarize(model, given, Y[TRAIN])
        for rows, labels in ((given, np.roll(Y[TRAIN], 10)), (given[:-1], Y[TRAIN][:-1])):
            with pytest.raises(ValueError, match=words):
                summarize(model, rows, labels)
        with pytest.raises(ValueError, match=r"prototype \d+ covers \d+ samples"):
            summarize(model, given * 1.5, Y[TRAIN])


def test_rows_of_weight_zero_are_known_by_their_weights():
    weights = np.arange(150) % 3
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y, weights)
    with pytest.raises(ValueError, match="with its sample_weight if some weights are 0"):
        summarize(model, X, Y)
    assert summarize(model, X, Y, sample_weight=weights).quality.n_points == 150
    with pytest.raises(ValueError, match="each of the 150 rows of X, got shape"):
        summarize(model, X, Y, sample_weight=weights[:3])


def test_a_step_that_rounds_otherwise_when_it_is_asked_again_is_no_other_data():
    turned = make_pipeline(PCA(3, svd_solver="full"), PVMClassifier(eps=0.8, **PAPER)).fit(X, Y)
    assert not np.array_equal(turned[0].fit_transform(X), turned[0].transform(X))
    assert summarize(turned, X, Y).quality.n_points == 150


def test_a_classifier_needs_labels(model, tmp_path):
    with pytest.raises(TypeError, match=r"call summarize\(model, X, y\) or make_report\(model"):
        make_report(model, X[TRAIN], tmp_path / "r.html")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_search_on_a_frame_is_reported_without_warnings(kind):
    frames = pytest.importorskip(kind, reason=f"{kind} is not installed")
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
    search = PVMClassifierCV(eps=[0.6, 0.9], cv=3, **PAPER).fit(frame, Y)
    found = summarize(search, frame, Y, held_out=(frame, Y))
    assert [column.name for column in found.cases.columns] == list("abcd")
    model = PVMClassifier(eps=0.8, candidates="kmeans", random_state=0, **PAPER).fit(frame, Y)
    made = summarize(model, frame, Y, held_out=(frame, Y))
    assert made.cases.columns[1].values[made.prototypes[0].case] == pytest.approx(
        model.prototypes_[0, 1], rel=1e-4
    )


@pytest.mark.parametrize(
    ("candidates", "words"),
    [(30, "a random sample of 30 training cases"), (0.5, "a random sample of 50.0 %")],
)
def test_a_draw_of_candidates_is_told_in_words(candidates, words):
    X, y = load_iris(return_X_y=True)
    model = PVMClassifier(eps=1.0, candidates=candidates, random_state=0, **PAPER).fit(X, y)
    asked = dict(summarize(model, X, y).settings)
    assert asked["Candidates"].startswith(words)


def counted(n_wrong, n_cases):
    """Return the error of answers of which some are wrong."""
    answers = np.arange(n_cases) < n_wrong
    both = np.array([False, True])
    labels = np.zeros(n_cases, dtype=bool)
    return held_out_error(tally(labels, answers, classes=both, class_count=np.array([2, 1])))


def test_an_error_that_is_known_is_reported(model):
    known = counted(3, 40)
    assert summarize(model, X[TRAIN], Y[TRAIN], error=known).quality.error == known


def test_words_under_a_heading_of_ours_stand_in_its_place(model):
    how = {"Data": "flowers", "Radius": "as my teacher said"}
    usual = dict(summarize(model, X[TRAIN], Y[TRAIN]).settings)
    settings = summarize(model, X[TRAIN], Y[TRAIN], how=how).settings
    assert settings == [("Data", "flowers"), *(usual | {"Radius": how["Radius"]}).items()]


@pytest.mark.parametrize(("n_wrong", "n_cases"), [(0, 7), (3, 40), (40, 40), (123, 100_000)])
def test_the_interval_of_the_error_is_wilsons(n_wrong, n_cases):
    """Its ends are the shares p that lie 1.96 of their own standard errors from that seen."""
    error = counted(n_wrong, n_cases)
    assert 0.0 <= error.low <= error.value <= error.high <= 1.0
    for end in (error.low, error.high):
        deviation = abs(end - error.value)
        if 0.0 < end < 1.0:
            assert deviation == pytest.approx(1.959964 * (end * (1 - end) / n_cases) ** 0.5)
