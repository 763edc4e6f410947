import json
import re
from pathlib import Path

import pytest

from protocover.cli import main


@pytest.fixture
def out(flowers, fit, capsys):
    flowers.loc[4, "kind"] = None
    flowers.to_csv("t.csv", index=False)
    fit("t.csv", "--target", "kind", "-o", "out")
    capsys.readouterr()
    return Path("out")


def test_the_report_made_anew_is_that_of_fit(out, capsys):
    before = (out / "report.html").read_text()
    (out / "report.html").unlink()
    assert main(["report", "out", "t.csv"]) == 0
    assert (out / "report.html").read_text() == before


def test_a_model_file_alone_needs_the_target_and_a_free_place(out, capsys):
    Path("moved.protocover").write_bytes((out / "model.protocover").read_bytes())
    assert main(["report", "moved.protocover", "t.csv"]) == 2
    assert "--target" in capsys.readouterr().err
    words = ["report", "moved.protocover", "t.csv", "--target", "kind", "--title", "Mine"]
    assert main(words) == 0
    assert re.search(r"<h1[^>]*>Mine</h1>", Path("report.html").read_text())
    assert main(words) == 1
    assert "report.html exists" in capsys.readouterr().err


def test_other_data_than_it_was_fitted_on_is_noticed(out, flowers, capsys):
    flowers.iloc[:3].to_csv("short.csv", index=False)
    assert main(["report", "out", "short.csv"]) == 1
    assert "lacks rows" in capsys.readouterr().err
    flowers.assign(length=flowers["length"] + 50).to_csv("other.csv", index=False)
    assert main(["report", "out", "other.csv"]) == 0
    assert "not those rows of other.csv" in capsys.readouterr().err
    flowers.assign(kind="tulip").to_csv("tulips.csv", index=False)
    assert main(["report", "out", "tulips.csv"]) == 1
    assert "class 'tulip'" in capsys.readouterr().err


def test_notes_beside_a_model_that_others_wrote_are_not_believed(out, capsys):
    notes = json.loads((out / "summary.json").read_text())
    (out / "summary.json").write_text(json.dumps({**notes, "written_by": "someone"}))
    assert main(["report", "out", "t.csv", "-o", "r.html"]) == 2
    assert "--target" in capsys.readouterr().err


def test_images_are_reported_anew(tmp_path, save_images, fit):
    save_images(tmp_path / "pictures")
    assert fit("pictures", "-o", "out") == 0
    before = Path("out/report.html").read_text()
    assert main(["report", "out", "pictures"]) == 0
    assert Path("out/report.html").read_text() == before
