"""Warnings about selections that a reader would not expect."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def noisy():
    """Sixty rows of two classes that mix."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["p", "q"], 30)
    X = rng.normal(size=(60, 2)).round(3) + 1.5 * (kind == "q")[:, None]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": kind})


@pytest.mark.parametrize("radii", ["adaptive", "shared"])
def test_more_than_a_third_of_the_cases_is_no_summary(noisy, fit, capsys, radii):
    noisy.to_csv("t.csv", index=False)
    options = ("--eps", "0.01", "--prototype-cost", "0.01", "--radii", radii)
    assert fit("t.csv", "--target", "kind", "-o", "out", *options) == 0
    said = capsys.readouterr().err
    assert (
        "of 48 cases are prototypes, which is too many for a useful summary; "
        "--max-prototypes 4 asks for fewer" in said
    )
    assert ("--radii adaptive often needs fewer" in said) == (radii == "shared")


def test_a_class_without_prototypes_and_a_stranger_among_them_are_told(fit, capsys):
    """In the machine of the paper; by default every class has a prototype of its own cases."""
    table = pd.DataFrame({"a": np.r_[np.zeros(10), 0.1, 5.0 + np.zeros(10)].round(2)})
    table["b"] = np.arange(21) % 3 / 10
    table["kind"] = ["p"] * 10 + ["odd"] + ["q"] * 10
    table.to_csv("t.csv", index=False)
    options = ["--no-scale", "--test-size", "0", "--ignore-warnings"]
    paper = ["--radii", "shared", "--cross-class", "--min-per-class", "0"]
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "2", *options) == 0
    said = capsys.readouterr().err
    assert "no prototype of 'odd' is worth its cost, so the best single one was chosen" in said
    assert set(pd.read_csv("out/prototypes.csv")["class"]) == {"p", "odd", "q"}
    assert fit("t.csv", "--target", "kind", "-o", "o1", "--eps", "2", *options, *paper) == 0
    said = capsys.readouterr().err
    assert "no prototype was chosen for 'odd'" in said
    assert "omit --min-per-class 0, or try --balance" in said
    table.loc[10] = [0.0, 0.1, "q"]
    table.loc[:9, "b"] = np.tile([0.0, 0.2], 5)
    table.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "o2", "--eps", "0.15", *options) == 0
    assert "for another class" not in capsys.readouterr().err
    assert fit("t.csv", "--target", "kind", "-o", "o3", "--eps", "0.15", *options, *paper) == 0
    said = capsys.readouterr().err
    assert "1 prototype represents another class than the label of its own row" in said
    assert "such as row 11, labelled q among cases of p" in said
