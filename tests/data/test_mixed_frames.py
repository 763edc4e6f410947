"""What the estimators say of a frame whose columns are no numbers."""

import pandas as pd
import pytest

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV

MIXED = pd.DataFrame({"age": [20.0, 30.0, 60.0, 70.0] * 3, "sex": ["f", "m", "f", "m"] * 3})
Y = [0, 0, 1, 1] * 3


def test_a_mixed_frame_is_pointed_to_gower_by_column():
    with pytest.raises(ValueError, match=r"column 'sex' of X must hold numbers, got 'f'.*gower"):
        PVMClassifier(**PAPER).fit(MIXED, Y)


def test_a_frame_with_gaps_is_pointed_to_gower():
    with pytest.raises(ValueError, match=r"contains NaN[\s\S]*metric=\"gower\""):
        PVMClassifier(**PAPER).fit(MIXED[["age"]].mask(MIXED[["age"]] == 60.0), Y)


def test_the_name_works_wherever_a_name_does():
    assert PVMClassifier(eps=0.3, metric="gower", **PAPER).fit(MIXED, Y).score(MIXED, Y) == 1.0
    search = PVMClassifierCV(n_eps=3, cv=2, metric="gower", **PAPER).fit(MIXED, Y)
    assert search.score(MIXED, Y) == 1.0
