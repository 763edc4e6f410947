import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, suggest_eps

plotting = pytest.importorskip("protocover.plotting")

X, Y = load_iris(return_X_y=True)


def test_the_path_shows_means_standard_errors_and_the_two_marks():
    model = PVMClassifierCV(
        radii="shared", eps=suggest_eps(X, Y, 8), cv=5, prototype_costs=[0.01, 1.0], random_state=0
    ).fit(X, Y)
    display = plotting.PathDisplay.from_estimator(model)
    results = model.cv_results_
    rows = np.flatnonzero(results["param_prototype_cost"] == model.prototype_cost_)
    np.testing.assert_allclose(display.loss, 1 - results["mean_test_score"][rows])
    by_split = np.array([results[f"split{k}_test_score"][rows] for k in range(5)])
    np.testing.assert_allclose(display.error, by_split.std(axis=0, ddof=1) / np.sqrt(5))
    assert rows[display.chosen] == model.best_index_
    assert results["param_eps"][rows[display.nearest_neighbor]] == results["param_eps"].min()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(text.startswith("chosen") for text in legend)
    assert any("1-NN" in text for text in legend)
    model.set_params(eps=[0.5, 1.0]).fit(X, Y)  # neither of which keeps all samples
    legend = plotting.PathDisplay.from_estimator(model).ax_.get_legend()
    assert not any("1-NN" in text.get_text() for text in legend.get_texts())


def test_the_path_of_a_pipeline_is_that_of_its_last_step():
    pipe = make_pipeline(StandardScaler(), PVMClassifierCV(eps=[0.4, 0.8], cv=2, **PAPER)).fit(
        X, Y
    )
    display = plotting.PathDisplay.from_estimator(pipe)
    alone = plotting.PathDisplay.from_estimator(pipe[-1])
    np.testing.assert_array_equal(display.loss, alone.loss)


def test_what_is_no_search_has_no_path():
    with pytest.raises(TypeError, match=r"PVMClassifierCV, got PVMClassifier.*GreedyProgressDisp"):
        plotting.PathDisplay.from_estimator(PVMClassifier(eps=0.4, **PAPER).fit(X, Y))
    pipe = make_pipeline(StandardScaler(), PVMClassifier(eps=0.4, **PAPER)).fit(X, Y)
    with pytest.raises(TypeError, match=r"got Pipeline, which has tried no other radii"):
        plotting.PathDisplay.from_estimator(pipe)
    with pytest.raises(NotFittedError):
        plotting.PathDisplay.from_estimator(PVMClassifierCV(**PAPER))


def test_progress_shows_gains_errors_and_the_tail_of_single_points():
    model = PVMClassifier(eps=0.4, **PAPER).fit(X[::2], Y[::2])
    display = plotting.GreedyProgressDisplay.from_estimator(model, X[1::2], Y[1::2])
    assert (np.diff(display.improvement) <= 0).all()
    assert (model.newly_covered_count_[display.tail_ :] == 1).all()
    assert model.newly_covered_count_[display.tail_ - 1] > 1
    for k in (1, 5, len(display.error)):
        few = PVMClassifier(eps=0.4, max_prototypes=k, **PAPER).fit(X[::2], Y[::2])
        assert display.error[k - 1] == pytest.approx(1 - few.score(X[1::2], Y[1::2]))
    assert len(display.axes_) == 2


def test_the_tail_is_of_those_that_gain_a_single_point_however_many_they_cover():
    """The third covers two points and one of another class: it gains one, as the last does."""
    display = plotting.GreedyProgressDisplay(
        improvement=np.array([5.0, 2.0, 1.0, 1.0]),
        covered=np.array([6, 2, 2, 1]),
        error=np.array([0.5, 0.4, 0.3, 0.2]),
    ).plot()
    assert display.tail_ == 2
    assert "the last 2 gain" in display.axes_[0].get_legend().get_texts()[0].get_text()
    np.testing.assert_allclose(display.axes_[1].lines[0].get_ydata(), [50, 40, 30, 20])


def test_the_error_of_the_first_prototypes_counts_their_adaptive_radii():
    model = PVMClassifier(eps=None, radii="adaptive", prototype_cost=0.1).fit(X[::2], Y[::2])
    queries, labels = X[1::2] + np.array([1.5, 0.0, 0.0, 0.0]), Y[1::2]
    display = plotting.GreedyProgressDisplay.from_estimator(model, queries, labels)
    away = model.transform(queries)
    multiples = away / model.prototype_radii_
    for k in range(1, len(display.error) + 1):
        answers = model.prototype_labels_[multiples[:, :k].argmin(axis=1)]
        assert display.error[k - 1] == pytest.approx((answers != labels).mean())
    nearest = model.prototype_labels_[away.argmin(axis=1)]
    assert display.error[-1] == pytest.approx(1 - model.score(queries, labels))
    assert display.error[-1] != pytest.approx((nearest != labels).mean())


def test_without_queries_there_is_one_panel():
    display = plotting.GreedyProgressDisplay.from_estimator(
        PVMClassifier(eps=0.4, **PAPER).fit(X, Y)
    )
    assert len(display.axes_) == 1
    with pytest.raises(ValueError, match="ax must be 1 axes"):
        display.plot(
            ax=plotting.GreedyProgressDisplay.from_estimator(
                PVMClassifier(eps=0.4, **PAPER).fit(X, Y), X, Y
            ).axes_
        )


def test_progress_of_a_search_is_that_of_its_best_model():
    search = PVMClassifierCV(eps=[0.4, 0.8], cv=3, random_state=0, **PAPER).fit(X, Y)
    display = plotting.GreedyProgressDisplay.from_estimator(search)
    np.testing.assert_array_equal(display.covered, search.best_estimator_.newly_covered_count_)


def test_numbers_of_prototypes_are_written_in_full():
    display = plotting.GreedyProgressDisplay.from_estimator(
        PVMClassifier(eps=0.2, **PAPER).fit(X, Y)
    )
    display.figure_.canvas.draw()
    ticks = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    assert {"1", "2", "5", "10", "20", "50"} <= set(ticks)
