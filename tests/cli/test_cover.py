"""``protocover cover``, and what `predict` and `report` make of its model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from protocover import BallCover, load_model
from protocover._cli import main

FILES = {
    "assignments.csv",
    "model.protocover",
    "report.html",
    "representatives.csv",
    "summary.json",
}


@pytest.fixture
def blobs():
    """Four groups of ten points around the corners of a square, and one far away."""
    rng = np.random.default_rng(0)
    corners = np.repeat([[0, 0], [0, 10], [10, 0], [10, 10]], 10, axis=0)
    points = np.vstack((corners + rng.normal(0, 0.5, (40, 2)), [[40, 40]])).round(3)
    table = pd.DataFrame(points, columns=["x", "y"])
    table["case"] = [f"c{k:02d}" for k in range(41)]
    table["seconds"] = np.where(np.arange(41) % 10 == 3, 1, 9)
    table.to_csv("blobs.csv", index=False)
    return table


FOUR = ["--max-representatives", "4", "--id", "case", "--drop", "seconds", "-o", "out"]


def cover(*words):
    return main(["cover", *map(str, words)])


def read(name):
    return json.loads(Path(name).read_text(encoding="utf-8"))


def test_the_best_so_many_of_a_table_with_everything_in_a_folder(blobs, capsys):
    assert cover("blobs.csv", "--max-representatives", 4, "--id", "case", "--drop", "seconds") == 0
    said = capsys.readouterr()
    assert "standardized Euclidean (all columns are numbers)" in said.err
    assert "4 representatives of 41 cases." in said.out
    assert "the smallest at which 4 representatives cover 95.0 %" in said.out
    assert "No 4 representatives cover more." in said.out
    assert "representatives.csv  the representatives" in said.out
    assert {path.name for path in Path("blobs-protocover").iterdir()} == FILES
    summary = read("blobs-protocover/summary.json")
    assert (summary["representatives"], summary["covered"], summary["cases"]) == (4, 39, 41)
    assert summary["data"]["columns"] == ["x", "y"]
    assert set(summary["files"]) == FILES
    assert summary["proof"] == "No 4 representatives cover more."


def test_assignments_tell_who_stands_for_each_row_and_how_far_that_is(blobs):
    assert (
        cover("blobs.csv", "--max-representatives", 4, "--id", "case", "--no-scale", "-o", "out")
        == 0
    )
    table = pd.read_csv("out/assignments.csv")
    assert table["row"].tolist() == list(range(1, 42))
    assert table["name"].tolist() == blobs["case"].tolist()
    points = blobs[["x", "y", "seconds"]].to_numpy(float)
    rows = pd.read_csv("out/representatives.csv")["row"].to_numpy() - 1
    distances = cdist(points, points[rows])
    assert table["representative"].tolist() == (distances.argmin(axis=1) + 1).tolist()
    np.testing.assert_allclose(table["distance"], distances.min(axis=1), rtol=1e-9)
    eps = read("out/summary.json")["eps"]
    assert table["covered"].tolist() == (distances.min(axis=1) < eps).tolist()
    assert table["representative_row"].tolist() == (rows[distances.argmin(axis=1)] + 1).tolist()
    names = blobs["case"].to_numpy()[rows[distances.argmin(axis=1)]]
    assert table["representative_name"].tolist() == names.tolist()
    assert not table["covered"].iloc[-1]


def test_the_model_is_the_one_that_python_makes_and_tells_of_itself_what_is_true(blobs):
    assert cover("blobs.csv", "--coverage", 0.9, "--drop", "case", "--no-scale", "-o", "out") == 0
    model = load_model("out/model.protocover")
    X = blobs[["x", "y", "seconds"]].astype(float)
    again = BallCover(coverage=0.9).fit(X)
    assert model.candidate_indices_.tolist() == again.candidate_indices_.tolist()
    assert model.eps_ == again.eps_
    assert model.verify(X).ok
    assert read("out/summary.json")["coverage"] == model.coverage_ >= 0.9


def test_prices_are_taken_from_a_column(blobs):
    words = [
        "--coverage",
        "0.95",
        "--id",
        "case",
        "--eps",
        "1",
        "--candidate-cost",
        "seconds",
        "-o",
        "out",
    ]
    assert cover("blobs.csv", *words) == 0
    chosen = pd.read_csv("out/representatives.csv")
    assert chosen["seconds"].tolist() == [1] * 4
    assert read("out/summary.json")["objective"] == 4.0
    assert read("out/summary.json")["data"]["columns"] == ["x", "y"]


def test_weights_are_taken_from_a_column(blobs, capsys):
    blobs["worth"] = [0.0] * 40 + [5.0]
    blobs.to_csv("blobs.csv", index=False)
    words = "--max-representatives 1 --id case --drop seconds --eps 1 --weights worth -o out"
    assert cover("blobs.csv", *words.split()) == 0
    assert pd.read_csv("out/representatives.csv")["case"].tolist() == ["c40"]
    assert "1 representative of 41 cases." in capsys.readouterr().out


def test_cases_that_are_in_anyway_are_named_or_numbered(blobs):
    words = ("--max-representatives", 5, "--drop", "seconds", "--must-include")
    assert cover("blobs.csv", "--id", "case", *words, "c40,c07", "-o", "named") == 0
    assert pd.read_csv("named/representatives.csv")["case"].tolist()[:2] == ["c40", "c07"]
    by_row = (*words, "41", "--must-include", "8", "--drop", "case", "-o", "numbered")
    assert cover("blobs.csv", *by_row) == 0
    assert pd.read_csv("numbered/representatives.csv")["row"].tolist()[:2] == [41, 8]
    assert "representatives with the 2 given" in read("named/summary.json")["proof"]


def test_a_mixed_table_with_missing_values(patients):
    patients.to_csv("patients.csv", index=False)
    assert (
        cover("patients.csv", "--id", "patient", "--drop", "ill", "--max-representatives", 6) == 0
    )
    chosen = pd.read_csv("patients-protocover/representatives.csv")
    assert len(chosen) == 6
    assert set(chosen["patient"]) <= set(patients["patient"])


def test_new_cases_get_their_representative(blobs, capsys):
    assert cover("blobs.csv", *FOUR) == 0
    pd.DataFrame({"x": [0.1, 80], "y": [9.9, 80], "case": ["a", "b"]}).to_csv("n.csv", index=False)
    capsys.readouterr()
    assert main(["predict", "out", "n.csv", "--id", "case"]) == 0
    Path("answers.csv").write_text(capsys.readouterr().out)
    answers = pd.read_csv("answers.csv")
    assert answers["name"].tolist() == ["a", "b"]
    assert answers["covered"].tolist() == [True, False]
    assert 11 <= answers["representative_row"][0] <= 20
    assert main(["predict", "out", "n.csv", "--target", "case"]) == 2
    assert "the model is a cover; omit it" in capsys.readouterr().err


def test_the_report_can_be_made_anew(blobs, capsys):
    assert cover("blobs.csv", *FOUR) == 0
    before = Path("out/report.html").read_text(encoding="utf-8")
    Path("out/report.html").unlink()
    assert main(["report", "out", "blobs.csv"]) == 0
    assert Path("out/report.html").read_text(encoding="utf-8") == before
    assert "Representatives of blobs.csv" in before


def test_images_without_classes(capsys):
    from PIL import Image

    rng = np.random.default_rng(0)
    Path("photos/some").mkdir(parents=True)
    for k in range(12):
        pixels = np.full((6, 5), 40 if k % 2 else 200) + rng.integers(0, 20, (6, 5))
        folder = "photos/some" if k % 3 else "photos"
        Image.fromarray(pixels.astype(np.uint8)).save(f"{folder}/{k:02d}.png")
    assert cover("photos", "--max-representatives", 2, "--eps", 1, "--must-include", "00.png") == 0
    assert "12 images at 5 x 6 pixels, gray" in capsys.readouterr().err
    chosen = pd.read_csv("photos-protocover/representatives.csv")
    assert chosen["name"][0] == "00.png"
    assert chosen["stands_for"].tolist() == [6, 6]
    assert main(["predict", "photos-protocover", "photos/some"]) == 0
    assert cover("photos", "--id", "name", "-o", "other") == 2
    assert "--id is only valid for a table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--must-include", "99"), 1, "there is no row '99'; try '1', '2', '41'"),
        (("--must-include", "c1", "--id", "case"), 1, "there is no case 'c1'; try 'c00'"),
        (
            ("--candidate-cost", "case"),
            1,
            "must hold a non-negative number in every row, got 'c00' in row 1",
        ),
        (("--weights", "second"), 1, "did you mean 'seconds'?"),
        (
            ("--max-representatives", "1", "--must-include", "1,2"),
            1,
            "must_include names 2 rows, more",
        ),
        (
            ("--eps", "0.5", "--metric", "tangent"),
            2,
            "tangent is only valid for a folder of images",
        ),
        (("--image-size", "8"), 2, "--image-size is only valid for a folder of images"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_way_out(blobs, capsys, words, code, message):
    assert cover("blobs.csv", *words, "-o", "out") == code
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-representatives", "0"), "must be at least 1, got '0'"),
        (("--max-representatives", "3", "--coverage", "0.5"), "not allowed with argument"),
        (("--coverage", "1.5"), "must be above 0 and at most 1, got '1.5'"),
        (("--coverage", "much"), "must be above 0 and at most 1, got 'much'"),
        (("--cost", "-1"), "must be a non-negative number, got '-1'"),
        (("--eps", "-1"), "must be a positive number"),
        (("--eps", "0"), "must be a positive number"),
    ],
)
def test_wrong_usage_is_told_by_the_parser(blobs, capsys, words, message):
    with pytest.raises(SystemExit) as ended:
        cover("blobs.csv", *words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_name_that_several_rows_have_is_refused(blobs, capsys):
    blobs["case"] = "same"
    blobs.to_csv("blobs.csv", index=False)
    assert cover("blobs.csv", "--id", "case", "--must-include", "same") == 1
    said = capsys.readouterr().err
    assert "is the name of 41 cases; omit --id and give the row number, such as 1, 2, 3" in said
