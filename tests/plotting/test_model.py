import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier

plotting = pytest.importorskip("protocover.plotting")

X, Y = load_iris(return_X_y=True)
X = X[:, 2:]
SCALED = StandardScaler().fit_transform(X)
PIPE = make_pipeline(StandardScaler(), PVMClassifier(eps=0.5, **PAPER)).fit(X, Y)
ALONE = PVMClassifier(eps=0.5, **PAPER).fit(SCALED, Y)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("BallsDisplay", ["points", "covered", "prototypes"]),
        ("BoundaryDisplay", ["points", "regions", "prototypes"]),
        ("CoverageDisplay", ["shares"]),
        ("CoverageConfusionDisplay", ["confusion", "uncovered"]),
        ("GreedyProgressDisplay", ["improvement", "error"]),
        ("PrototypeTableDisplay", ["values", "standings"]),
    ],
)
def test_a_pipeline_is_drawn_as_its_last_step_sees_the_points(name, data):
    display = getattr(plotting, name)
    drawn, expected = (display.from_estimator(m, x, Y) for m, x in ((PIPE, X), (ALONE, SCALED)))
    for attribute in data:
        np.testing.assert_array_equal(getattr(drawn, attribute), getattr(expected, attribute))


def test_rows_in_units_before_the_pipeline_are_compared_in_those_units():
    rows = X[PIPE[-1].prototype_indices_]
    drawn = plotting.PrototypeTableDisplay.from_estimator(PIPE, X, Y, rows=rows)
    np.testing.assert_array_equal(np.column_stack(drawn.values), rows)
    low, high = X[:, 0].min(), X[:, 0].max()
    assert drawn.standings[0, 0, 0] == pytest.approx((rows[0, 0] - low) / (high - low))
