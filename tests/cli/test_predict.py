import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from protocover._cli import main


def predict(capsys, *words):
    code = main(["predict", *words])
    said = capsys.readouterr()
    return code, (pd.read_csv(io.StringIO(said.out)) if said.out else None), said.err


@pytest.fixture
def out(flowers, fit, capsys):
    flowers.to_csv("t.csv", index=False)
    fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto")
    capsys.readouterr()
    return "out"


def test_answers_are_those_of_fit_whatever_the_order_of_columns(out, flowers, capsys):
    flowers[["kind", "width", "length"]].to_csv("new.tsv", index=False, sep="\t")
    code, answers, said = predict(capsys, out, "new.tsv")
    assert code == 0
    assert "Ignored: 'kind', not a column of the model" in said
    expected = pd.read_csv("out/predictions.csv").drop(columns=["used", "label"])
    pd.testing.assert_frame_equal(answers, expected)


def test_answers_go_to_a_file_whole_and_not_over_another(out, capsys):
    code, answers, _ = predict(capsys, out, "t.csv", "-o", "answers.csv")
    assert code == 0
    assert answers is None
    assert len(pd.read_csv("answers.csv")) == 30
    assert predict(capsys, out, "t.csv", "-o", "answers.csv")[0] == 1
    assert predict(capsys, out, "t.csv", "-o", "answers.csv", "--force")[0] == 0


def test_errors_are_counted_where_classes_are_known(out, capsys):
    _, answers, said = predict(capsys, out, "t.csv", "--target", "kind")
    wrong = (answers["predicted"] != pd.read_csv("t.csv")["kind"]).sum()
    right = 100 * (30 - wrong) / 30
    assert f"accuracy   {right:.1f} % of 30 cases of known class" in said
    assert "baseline   50.0 % by always predicting lily" in said
    assert "true  lily  rose" in said
    assert "recall  95 % interval  precision" in said
    assert "the accuracy is too optimistic on rows that the model was fitted on" in said


def test_rows_that_are_new_and_some_without_a_class_are_counted(out, flowers, capsys):
    new = flowers.assign(length=flowers["length"] + 0.01)
    new.loc[0, "kind"] = None
    new.loc[1, "kind"] = "fern"
    new.to_csv("new.csv", index=False)
    said = predict(capsys, out, "new.csv", "--target", "kind")[2]
    assert "of 29 cases of known class" in said
    assert "fern" in said
    assert "too optimistic" not in said


def test_a_missing_column_is_named(out, flowers, capsys):
    flowers.drop(columns="width").to_csv("new.csv", index=False)
    code, answers, said = predict(capsys, out, "new.csv")
    assert (code, answers) == (1, None)
    assert "lacks 1 of the columns of the model: 'width'" in said


def test_a_missing_value_or_a_wrong_one_is_named_with_its_row(out, flowers, capsys):
    flowers.loc[4, "width"] = None
    flowers.to_csv("new.csv", index=False)
    assert "row 5 has no value of 'width'" in predict(capsys, out, "new.csv")[2]
    flowers["width"] = flowers["width"].astype(object)
    flowers.loc[4, "width"] = "wide"
    flowers.to_csv("new.csv", index=False)
    assert "got 'wide' in row 5" in predict(capsys, out, "new.csv")[2]


def test_mixed_tables_are_read_by_the_types_of_the_model(patients, fit, capsys):
    patients.to_csv("p.csv", index=False)
    words = ("--id", "patient", "--feature-type", "grade=low,middle,high", "--eps", "auto")
    assert fit("p.csv", "--target", "ill", "-o", "out", *words) == 0
    capsys.readouterr()
    # One row alone does not tell the types: its sex looks like a truth value.
    patients.iloc[[5]].assign(sex="f", smoker="yes").to_csv("new.csv", index=False)
    code, answers, said = predict(capsys, "out", "new.csv", "--id", "patient")
    assert code == 0, said
    assert answers["name"].tolist() == [patients["patient"][5]]
    patients.assign(seen=pd.to_datetime(patients["seen"])).to_parquet("p.parquet")
    _, from_parquet, _ = predict(capsys, "out", "p.parquet", "--id", "patient")
    expected = pd.read_csv("out/predictions.csv").drop(columns=["used", "label"])
    pd.testing.assert_frame_equal(from_parquet, expected)


def test_images_are_brought_to_the_size_of_the_model(tmp_path, save_images, fit, capsys):
    save_images(tmp_path / "pictures")
    assert fit("pictures", "-o", "out") == 0
    capsys.readouterr()
    save_images(tmp_path / "new", size=(40, 40))
    code, answers, said = predict(capsys, "out", "new")
    assert code == 0
    assert answers["predicted"].tolist() == ["dark"] * 6 + ["light"] * 6
    assert answers["name"][0] == "dark/0.png"
    assert "accuracy   100.0 % of 12 cases" in said
    (tmp_path / "new" / "dark").rename(tmp_path / "june")
    (tmp_path / "new" / "light").rename(tmp_path / "new" / "july")
    assert "accuracy" not in predict(capsys, "out", "new")[2]
    (tmp_path / "new" / "july").rename(tmp_path / "new" / "light")
    _, one, _ = predict(capsys, "out", "new/light/0.png")
    assert one["predicted"].tolist() == ["light"]


def test_a_model_that_is_none_gives_one_clear_line(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert "there is no nothing" in predict(capsys, "nothing", "t.csv")[2]
    (tmp_path / "empty").mkdir()
    assert "holds no model.protocover" in predict(capsys, "empty", "t.csv")[2]
    code, _, said = predict(capsys, "t.csv", "t.csv")
    assert code == 1
    assert said.startswith("protocover: error: ")
    assert len(said.splitlines()) == 1


def test_whole_numbers_that_a_file_holds_as_fractions_are_the_classes_of_fit(flowers, fit, capsys):
    """Beside a missing label, Parquet holds the classes 1 and 2 as 1.0 and 2.0."""
    flowers["kind"] = flowers["kind"].map({"lily": 1, "rose": 2})
    flowers.loc[4, "kind"] = None
    flowers.to_parquet("t.parquet")
    assert fit("t.parquet", "--target", "kind", "-o", "out", "--eps", "auto") == 0
    capsys.readouterr()
    code, _, said = predict(capsys, "out", "t.parquet", "--target", "kind")
    assert code == 0
    assert "of 29 cases of known class" in said
    before = Path("out/report.html").read_text()
    assert main(["report", "out", "t.parquet"]) == 0
    assert Path("out/report.html").read_text() == before


def test_a_page_says_why_each_case_is_answered_as_it_is(out, flowers, capsys):
    flowers.assign(name=[f"flower {i}" for i in range(30)]).to_csv("new.csv", index=False)
    words = (out, "new.csv", "--target", "kind", "--id", "name", "--report", "why.html")
    code, answers, said = predict(capsys, *words)
    assert code == 0
    assert len(answers) == 30
    assert "Wrote why.html: the prototypes that decided each case." in said
    page = Path("why.html").read_text(encoding="utf-8")
    assert '<h1 dir="auto">Predictions for new.csv</h1>' in page
    wrong = (answers["predicted"] != flowers["kind"]).sum()
    assert f"{wrong} of 30 cases of known class " in page
    first = answers.iloc[0]
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    nearest = f"The nearest prototype is row {first['prototype_row']} of “{first['predicted']}”"
    assert any(nearest in item["words"] for item in data["comparisons"])
    assert predict(capsys, *words)[0] == 1
    assert predict(capsys, *words, "--force")[0] == 0


def test_prototypes_are_shown_in_the_units_of_the_table_and_by_their_names(flowers, fit, capsys):
    flowers.insert(0, "name", [f"flower {i}" for i in range(30)])
    flowers.to_csv("t.csv", index=False)
    fit("t.csv", "--target", "kind", "--id", "name", "-o", "out", "--scale", "--eps", "auto")
    capsys.readouterr()
    predict(capsys, "out", "t.csv", "--id", "name", "--report", "why.html")
    page = Path("why.html").read_text(encoding="utf-8")
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    rows = flowers.set_index("name")
    columns = {column["name"]: column["values"] for column in data["cases"]["columns"]}
    for prototype in data["prototypes"]:
        name = data["cases"]["names"][prototype["case"]]
        for column in ("length", "width"):
            shown = columns[column][prototype["case"]]
            assert shown == pytest.approx(rows.loc[name, column], rel=1e-4, abs=1e-4)


def test_pages_show_the_words_of_the_file_for_yes_and_no(patients, fit):
    patients["smoker"] = patients["smoker"].map({"true": "Yes", "false": "No"})
    patients.to_csv("t.csv", index=False)
    words = ["--id", "patient", "--target", "ill"]
    assert fit("t.csv", *words, "--eps", "auto", "-o", "out") == 0
    assert main(["predict", "out", "t.csv", *words, "-o", "new.csv", "--report", "why.html"]) == 0
    for page in ("out/report.html", "why.html"):
        text = Path(page).read_text(encoding="utf-8")
        assert not re.search(r"\b(True|False)\b", text)
        assert '"Yes"' in text
