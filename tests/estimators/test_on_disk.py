"""The radius from a sample of the points, and a number of candidates for all of them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV
from protocover.estimators import draw_rows, fit_sample, on_disk, propose_candidates

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.where(X[:, 0] > 0.5, "right", "left")


def test_a_sample_holds_every_class_in_proportion():
    y = np.repeat(["a", "b", "c"], [200, 99, 1])
    rows = draw_rows(y, 30, random_state=0)
    assert (np.diff(rows) > 0).all()
    assert len(rows) == 30
    assert set(y[rows]) == {"a", "b", "c"}
    np.testing.assert_array_equal(rows, draw_rows(y, 30, random_state=0))
    np.testing.assert_array_equal(draw_rows(y, 999), np.arange(300))
    assert len(draw_rows(y, 1)) == 3


def test_the_fit_of_a_sample_is_that_of_its_points_at_a_cost_in_proportion():
    rows = draw_rows(Y, 75, random_state=0)
    model = PVMClassifier(eps="auto", prototype_cost=8.0, candidates=20, solver="exact", **PAPER)
    found = fit_sample(model, X, Y, rows=rows)
    same = PVMClassifier(eps="auto", prototype_cost=2.0, **PAPER).fit(X[rows], Y[rows])
    assert found.eps_ == same.eps_
    np.testing.assert_array_equal(found.prototype_rows_, same.prototype_rows_)
    assert not hasattr(model, "eps_")
    assert model.prototype_cost == 8.0


def test_a_search_is_that_of_the_sample_at_costs_in_proportion():
    rows = draw_rows(Y, 75, random_state=0)
    search = PVMClassifierCV(eps=[0.3, 0.6, 0.9], prototype_costs=[4.0, 8.0], cv=3, **PAPER)
    found = fit_sample(search, X, Y, rows=rows)
    same = PVMClassifierCV(eps=[0.3, 0.6, 0.9], prototype_costs=[1.0, 2.0], cv=3, **PAPER)
    same.fit(X[rows], Y[rows])
    assert found.best_params_ == same.best_params_
    assert found.best_score_ == same.best_score_


def test_points_on_disk_are_read_where_they_lie(tmp_path):
    on_file = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    on_file[:] = X
    rows = draw_rows(Y, 75, random_state=0)
    model = PVMClassifier(eps="auto", **PAPER)
    eps = fit_sample(model, on_file, Y, rows=rows).eps_
    assert eps == fit_sample(model, X, Y, rows=rows).eps_
    assert propose_candidates(on_file, eps=eps) == "train"


def test_a_frame_over_points_on_disk_names_the_columns(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas, an optional package, is not installed")
    on_file = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    on_file[:] = X
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(on_file, columns=names, copy=False)
    rows = draw_rows(Y, 75, random_state=0)
    found = fit_sample(PVMClassifier(eps="auto", **PAPER), frame, Y, rows=rows)
    assert found.eps_ == fit_sample(PVMClassifier(eps="auto", **PAPER), X, Y, rows=rows).eps_
    assert found.feature_names_in_.tolist() == names
    few = {"eps": found.eps_, "random_state": 0}
    assert propose_candidates(frame, **few) == propose_candidates(X, **few)


def test_a_pipeline_is_refused_with_the_way_out():
    model = make_pipeline(StandardScaler(), PVMClassifier(**PAPER))
    with pytest.raises(TypeError, match="got Pipeline; of a pipeline pass the last step"):
        fit_sample(model, X, Y, rows=np.arange(50))


def test_there_are_fewer_candidates_where_balls_hold_much(monkeypatch):
    monkeypatch.setattr(on_disk, "_FEWEST", 50)
    monkeypatch.setattr(on_disk, "_COVER_BYTES", 13 * 400 * 60)
    X = np.random.default_rng(0).uniform(size=(400, 2))

    def propose(eps):
        return propose_candidates(X, eps=eps, random_state=0)

    assert propose(9.0) == 60  # everything is in every ball
    assert 60 < propose(0.5) < 200
    assert propose(0.001) == "train"
