"""Error figures of the commands: on which cases they are counted, and where they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, recall_score

from protocover import load_model


def evaluation(folder):
    return json.loads(Path(folder, "summary.json").read_text())["evaluation"]


@pytest.fixture
def rare():
    """Two hundred rows of numbers without any meaning, one in twenty of them "yes"."""
    rng = np.random.default_rng(3)
    kind = np.where(np.arange(200) % 20 == 0, "yes", "no")
    return pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200), "kind": kind})


def test_the_figures_are_those_of_the_held_out_rows(rare, fit, capsys):
    rare.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "0.3", "--test-size", "0.5") == 0
    said = capsys.readouterr()
    found = evaluation("out")
    answers = pd.read_csv("out/predictions.csv")
    unseen = answers[answers["used"] == "held out"]
    matrix = confusion_matrix(unseen["label"], unseen["predicted"], labels=["no", "yes"])
    assert found["samples"] == "held-out"
    assert found["confusion"] == matrix.tolist()
    recalls = recall_score(unseen["label"], unseen["predicted"], average=None)
    assert [entry["recall"] for entry in found["classes"]] == recalls.tolist()
    assert found["baseline_accuracy"] == pytest.approx(0.95)
    assert "100 held-out cases, not used to fit\n" in said.out
    rows = [line.split() for line in said.out.splitlines()]
    for label, (no, yes) in zip(("no", "yes"), matrix.tolist(), strict=True):
        assert [label, str(no), str(yes)] in rows
    assert "not significantly above that of always predicting 'no'" in said.err


@pytest.mark.parametrize("words", ["--eps 0.3", "--test-size 0", "--test-size 0 --eps 0.3"])
def test_no_accuracy_is_printed_without_the_baseline(rare, fit, words, capsys):
    rare.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", *words.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("accuracy"))
    if words == "--test-size 0 --eps 0.3":
        assert "unknown" in lines[place]
        assert evaluation("out") is None
    else:
        assert lines[place + 1].startswith("baseline   95.0 % by always predicting no,")
        page = Path("out/report.html").read_text(encoding="utf-8")
        assert "always predicting" in page[: page.index('id="prototypes"')]
        assert 'aria-label="Confusion matrix"' in page
    assert max(map(len, lines)) <= 80


def test_without_held_out_rows_every_row_is_answered_by_a_model_that_has_not_seen_it(fit):
    """Labels by chance, each row a prototype: right on all rows that it has seen."""
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat(["heads", "tails"], 60))
    pd.DataFrame({"a": rng.normal(size=120), "kind": kind}).to_csv("t.csv", index=False)
    radii = ["--radii", "shared", "--eps", "1e-9,2e-9"]
    assert fit("t.csv", "--target", "kind", "-o", "out", "--test-size", "0", *radii) == 0
    answers = pd.read_csv("out/predictions.csv")
    assert (answers["label"] == answers["predicted"]).all()
    found = evaluation("out")
    assert found["samples"] == "cross-validated"
    assert 0.3 < found["accuracy"] < 0.7
    # The folds are of one size, so their mean is that of all rows.
    model = load_model("out/model.protocover")
    assert found["accuracy"] == pytest.approx(model[-1].best_score_)


def test_an_abstention_is_an_answer_of_its_own(flowers, fit, capsys):
    flowers.to_csv("t.csv", index=False)
    words = ["--eps", "0.1", "--outlier-label", "none", "--test-size", "0.4", "-o", "out"]
    assert fit("t.csv", "--target", "kind", *words) == 0
    assert "true  lily  rose  none" in capsys.readouterr().out
    assert evaluation("out")["predicted_labels"] == ["lily", "rose", "none"]
