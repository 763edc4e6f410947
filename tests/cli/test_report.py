import json
import re
from pathlib import Path

import pandas as pd
import pytest

from protocover._cli import main


@pytest.fixture
def out(flowers, fit, capsys):
    flowers.loc[4, "kind"] = None
    flowers.to_csv("t.csv", index=False)
    fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto")
    capsys.readouterr()
    return Path("out")


def test_the_report_made_anew_is_that_of_fit(out, capsys):
    before = (out / "report.html").read_text()
    (out / "report.html").unlink()
    assert main(["report", "out", "t.csv"]) == 0
    assert (out / "report.html").read_text() == before


def test_a_model_file_alone_needs_the_target_and_a_free_place(flowers, fit, capsys):
    flowers.to_csv("t.csv", index=False)
    fit("t.csv", "--target", "kind", "-o", "out", "--test-size", "0")
    Path("moved.protocover").write_bytes(Path("out/model.protocover").read_bytes())
    assert main(["report", "moved.protocover", "t.csv"]) == 2
    assert "--target" in capsys.readouterr().err
    words = ["report", "moved.protocover", "t.csv", "--target", "kind", "--title", "Mine"]
    assert main(words) == 0
    assert re.search(r"<h1[^>]*>Mine</h1>", Path("report.html").read_text())
    assert main(words) == 1
    assert "report.html exists" in capsys.readouterr().err


def test_a_model_file_that_does_not_tell_the_held_out_rows_is_refused(out, capsys):
    Path("moved.protocover").write_bytes((out / "model.protocover").read_bytes())
    assert main(["report", "moved.protocover", "t.csv", "--target", "kind"]) == 1
    assert "its output folder, which lists the held-out rows" in capsys.readouterr().err
    assert not Path("report.html").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda flowers: flowers.iloc[:3], "lacks rows"),
        (lambda flowers: flowers.assign(length=flowers["length"] + 50), "is not the model's"),
        (lambda flowers: flowers.sample(frac=1, random_state=0), "does not contain the rows"),
        (lambda flowers: pd.concat([flowers, flowers[-2:]]), "they hold .* and the fit had"),
        (lambda flowers: flowers.assign(kind="tulip"), "class 'tulip'"),
    ],
    ids=["fewer", "shifted", "shuffled", "more", "unknown class"],
)
def test_other_data_than_it_was_fitted_on_is_refused(out, flowers, capsys, change, words):
    before = (out / "report.html").read_bytes()
    change(flowers).to_csv("other.csv", index=False)
    for place in ([], ["-o", "r.html"]):
        assert main(["report", "out", "other.csv", *place]) == 1
        assert re.search(words, capsys.readouterr().err)
    assert (out / "report.html").read_bytes() == before
    assert not Path("r.html").exists()


def test_notes_beside_a_model_that_others_wrote_are_not_believed(out, capsys):
    notes = json.loads((out / "summary.json").read_text())
    (out / "summary.json").write_text(json.dumps({**notes, "written_by": "someone"}))
    assert main(["report", "out", "t.csv", "-o", "r.html"]) == 2
    assert "--target" in capsys.readouterr().err
