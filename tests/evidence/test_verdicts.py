"""Sets are counted as won and lost by the mean, as clear by the corrected test."""

from __future__ import annotations

import numpy as np
import pytest
from evidence.equal_numbers.diagrams import draw_ranking
from evidence.verdicts import Verdict, fold_p, shown_p
from experiments.statistics import corrected_resampled_t, rank
from matplotlib import pyplot as plt


def test_sets_are_won_with_less_error_and_clearly_where_folds_agree():
    rng = np.random.default_rng(0)
    unclear = rng.normal(-0.01, 0.2, 50)
    unclear -= unclear.mean() + 0.01
    steady = 0.2 + rng.normal(0.0, 0.01, 50)
    verdict = Verdict.of([unclear, steady, -steady, np.zeros(50)])
    assert (verdict.won, verdict.lost) == (2, 1)
    assert (verdict.clearly_won, verdict.clearly_lost) == (1, 1)
    assert str(verdict) == "2 : 1 (1 : 1)"


def test_folds_are_judged_as_ten_of_which_nine_train():
    gap = np.random.default_rng(1).normal(0.02, 0.05, 50)
    assert fold_p(gap) == pytest.approx(corrected_resampled_t(gap, 9, 1))


def test_a_small_p_is_shown_by_its_magnitude():
    assert (shown_p(0.0123), shown_p(0.00001)) == ("0.012", "1e-05")


def test_a_diagram_names_every_method_and_joins_those_not_told_apart():
    errors = np.column_stack((np.zeros(30), np.tile([1.0, 2.0], 15), np.tile([2.0, 1.0], 15)))
    ranking = rank(errors, ["a", "b", "c"])
    figure, ax = plt.subplots()
    draw_ranking(ax, ranking, title="at last", ours=["b"])
    texts = [text.get_text() for text in ax.texts]
    assert {"a  1.00", "b  2.50", "2.50  c"} <= set(texts)
    bars = [line for line in ax.lines if line.get_linewidth() > 3.0]
    assert ranking.cliques == [["b", "c"]]
    assert [tuple(bar.get_xdata()) for bar in bars] == [pytest.approx((2.44, 2.56))]
    plt.close(figure)
