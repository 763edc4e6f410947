import csv
from pathlib import Path

from protocover import load_model
from protocover._cli import main


def test_the_demo_prints_what_it_found_and_writes_over_what_an_earlier_one_left(capsys):
    assert main(["demo", "--output", "new", "--quiet"]) == 0
    Path("new/prototypes.csv").write_text("of an earlier run")
    assert main(["demo", "--output", "new"]) == 0
    said = capsys.readouterr().out
    for word in ("prototypes", "covered", "objective", "held-out", "1-NN", "report.html"):
        assert word in said
    with Path("new/prototypes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sorted({row["class"] for row in rows}) == list("0123456789")
    assert {path.name for path in Path("new").iterdir()} == {
        "model.protocover",
        "predictions.csv",
        "prototypes.csv",
        "prototypes.png",
        "report.html",
        "summary.json",
        "suspects.csv",
    }
    assert len(load_model("new/model.protocover").prototype_indices_) == len(rows)


def test_the_demo_does_not_write_over_files_of_others():
    Path("demo-output").mkdir()
    Path("demo-output/notes.txt").write_text("mine")
    assert main(["demo", "--quiet"]) == 1
    assert Path("demo-output/notes.txt").read_text() == "mine"
