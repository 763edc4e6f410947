"""``--about N``, and what is said where a selection is no summary."""

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


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--radii", "own"],
        ["--eps", "0.8"],
        ["--radii", "own", "--eps", "none"],
        ["--no-scale"],
    ],
)
def test_about_so_many_prototypes_are_chosen(noisy, fit, capsys, options):
    noisy.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--about", "6", *options) == 0
    assert abs(len(pd.read_csv("out/prototypes.csv")) - 6) <= 3
    assert "chosen for about 6 prototypes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-prototypes", "5"], "--about and --n-prototypes both say how many"),
        (["--eps", "1,2"], "--about finds the radius or the cost itself"),
        (["--radii", "own", "--prototype-cost", "2"], "leave out --prototype-cost"),
        (["--stream"], "--about does not go with --stream"),
    ],
)
def test_what_contradicts_about_is_refused(noisy, fit, capsys, options, message):
    noisy.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "--about", "6", *options) == 2
    assert message in capsys.readouterr().err


def test_more_than_a_third_of_the_cases_is_no_summary(noisy, fit, capsys):
    noisy.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "0.01") == 0
    said = capsys.readouterr().err
    assert "of 48 cases are kept, which is no summary; --about 4 asks for fewer" in said


def test_a_class_without_prototypes_and_a_stranger_among_them_are_told(fit, capsys):
    table = pd.DataFrame({"a": np.r_[np.zeros(10), 0.1, 5.0 + np.zeros(10)].round(2)})
    table["b"] = np.arange(21) % 3 / 10
    table["kind"] = ["p"] * 10 + ["odd"] + ["q"] * 10
    table.to_csv("t.csv", index=False)
    options = ["--no-scale", "--test-size", "0", "--yes"]
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "2", *options) == 0
    assert "no prototype stands for 'odd'" in capsys.readouterr().err
    table.loc[10] = [0.0, 0.1, "q"]
    table.loc[:9, "b"] = np.tile([0.0, 0.2], 5)
    table.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "o2", "--eps", "0.15", *options) == 0
    said = capsys.readouterr().err
    assert "1 prototype stands for another class than the label of its own row" in said
    assert "such as row 11, labelled q amid cases of p" in said
