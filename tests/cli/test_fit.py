import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover import PVMClassifier, load_model
from protocover._cli import main
from protocover._cli.cases import Cases, split_cases
from protocover._cli.console import Console
from protocover._cli.tables import read_table

FILES = {
    "model.protocover",
    "predictions.csv",
    "prototypes.csv",
    "report.html",
    "summary.json",
    "suspects.csv",
}


def test_a_table_of_numbers_gives_a_folder_with_everything(flowers, fit, capsys):
    flowers.to_csv("flowers.csv", index=False)
    assert fit("flowers.csv", "--target", "kind") == 0
    said = capsys.readouterr()
    assert "standardized Euclidean (all columns are numbers)" in said.err
    for word in ("lily", "prototypes", "held-out", "1-NN", "flowers-protocover"):
        assert word in said.out
    assert {path.name for path in Path("flowers-protocover").iterdir()} == FILES


def test_prototypes_are_rows_of_the_file_cell_for_cell(flowers, fit):
    flowers.loc[3, "kind"] = None
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out") == 0
    prototypes = pd.read_csv("out/prototypes.csv", dtype=str)
    source = pd.read_csv("t.csv", dtype=str).iloc[prototypes["row"].astype(int) - 1]
    assert len(prototypes) >= 2
    for name in ("length", "width", "kind"):
        assert prototypes[name].tolist() == source[name].tolist()
    assert prototypes["class"].tolist() == source["kind"].tolist()


def test_predictions_tell_learned_from_and_held_out_cases(flowers, fit):
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--test-size", "0.4") == 0
    predictions = pd.read_csv("out/predictions.csv")
    summary = json.loads(Path("out/summary.json").read_text())
    assert predictions["row"].tolist() == list(range(1, 31))
    assert (predictions["used"] == "held out").sum() == 12
    held_out = predictions[predictions["used"] == "held out"]
    assert held_out["row"].tolist() == summary["held_out_rows"]
    wrong = (held_out["label"] != held_out["predicted"]).mean()
    assert summary["error"]["kind"] == "held-out"
    assert summary["error"]["value"] == pytest.approx(wrong)
    prototypes = set(pd.read_csv("out/prototypes.csv")["row"])
    assert set(predictions["prototype_row"]) <= prototypes
    assert not prototypes & set(held_out["row"])


def test_a_mixed_table_is_measured_by_gower(patients, fit, capsys):
    patients.to_csv("p.csv", index=False, sep=";")
    assert fit("p.csv", "--target", "ill", "--id", "patient", "-o", "out") == 0
    assert "Gower's (columns are mixed: 1 number" in capsys.readouterr().err
    names = pd.read_csv("out/predictions.csv", sep=";")["name"]
    assert names.tolist() == patients["patient"].tolist()


def test_a_mislabelled_row_leads_the_suspects(flowers, fit):
    flowers.loc[20, "kind"] = "lily"
    flowers.loc[20, "length"] = 6.0
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out") == 0
    suspects = pd.read_csv("out/suspects.csv")
    assert suspects["row"][0] == 21
    assert suspects["suggested"][0] == "rose"
    assert suspects["kind"][0] == "lily"


def test_terminal_table_report_and_figures_list_the_same_labels(flowers, fit, capsys):
    flowers = pd.concat([flowers.assign(length=flowers["length"] + k / 50) for k in range(6)])
    wrong = [2, 40, 77, 111, 150, 171]
    kinds = flowers["kind"].to_numpy()
    kinds[wrong] = np.where(kinds[wrong] == "lily", "rose", "lily")
    flowers.assign(kind=kinds).to_csv("t.csv", index=False)
    options = ("--target", "kind", "-o", "out", "--eps", "2", "--radii", "shared")
    assert fit("t.csv", *options, "--test-size", "0.4") == 0
    suspects = pd.read_csv("out/suspects.csv")
    assert set(suspects["row"]) & set(np.array(wrong) + 1)
    assert set(suspects["used"]) == {"held out", "training"}
    told = f"{len(suspects)} labels disagree with nearby prototypes."
    assert told in capsys.readouterr().out
    assert json.loads(Path("out/summary.json").read_text())["suspects"] == len(suspects)
    page = Path("out/report.html").read_text()
    assert told in page
    data = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    names = [data["cases"]["names"][suspect["case"]] for suspect in data["suspects"]]
    assert names == [f"row {row}" for row in suspects["row"]]
    assert main(["report", "out", "t.csv", "--quiet"]) == 0
    assert told in Path("out/report.html").read_text()


def test_images_are_fitted_and_their_files_named(tmp_path, save_images, fit, capsys):
    save_images(tmp_path / "pictures")
    assert fit("pictures") == 0
    assert "12 images at 8 x 8 pixels, gray" in capsys.readouterr().err
    prototypes = pd.read_csv("pictures-protocover/prototypes.csv")
    assert set(prototypes["class"]) == {"light", "dark"}
    first = prototypes.iloc[0]
    assert first["name"].startswith(first["class"] + "/")


def test_options_reach_the_estimator(flowers, fit, monkeypatch):
    monkeypatch.setattr(Console, "verbose", 1)  # bars are not for the model to remember
    flowers.to_csv("t.csv", index=False)
    words = (
        "--eps 1.5 --prototype-cost 0.5 --max-prototypes 3 --solver local-search --time-limit 9 "
        "--closed-ball --outlier-label odd --metric cityblock --candidates train,kmeans --seed 7 "
        "--no-scale --test-size 0"
    )
    assert fit("t.csv", "--target", "kind", "-o", "out", *words.split()) == 0
    model = load_model("out/model.protocover")
    assert isinstance(model, PVMClassifier)
    wanted = {
        "eps": 1.5,
        "prototype_cost": 0.5,
        "max_prototypes": 3,
        "solver": "local-search",
        "solver_options": {"time_limit": 9.0},
        "closed_ball": True,
        "outlier_label": "odd",
        "metric": "cityblock",
        "candidates": ["train", "kmeans"],
        "random_state": 7,
        "verbose": 0,
    }
    given = model.get_params(deep=False)
    assert {name: given[name] for name in wanted} == wanted


def test_the_search_is_as_asked_for_and_the_solver_selects_at_its_radius(flowers, fit):
    flowers.to_csv("t.csv", index=False)
    words = "--eps 0.5,1,2 --prototype-cost 0.1,1 --max-prototypes 9 --solver exact"
    assert fit("t.csv", "--target", "kind", "-o", "out", *words.split()) == 0
    search = load_model("out/model.protocover")[-1]
    assert set(search.cv_results_["param_eps"]) == {0.5, 1.0, 2.0}
    assert set(search.cv_results_["param_prototype_cost"]) == {0.1, 1.0}
    assert (search.rule, search.n_splits_, search.max_prototypes) == ("1se", 3, 9)
    assert search.best_estimator_.solver == "exact"
    assert search.best_estimator_.eps_ == search.eps_
    assert search.best_estimator_.gap_ == 0.0


def test_prototypes_that_are_no_real_cases_are_written_in_the_units_of_the_file(flowers, fit):
    flowers["width"] += 1000
    flowers.to_csv("t.csv", index=False)
    words = ["--eps", "auto", "--candidates", "kmeans"]
    assert fit("t.csv", "--target", "kind", "-o", "out", *words) == 0
    prototypes = pd.read_csv("out/prototypes.csv")
    assert prototypes["row"].isna().all()
    assert set(prototypes["source"]) == {"kmeans"}
    assert prototypes["width"].between(700, 1300).all()


def test_with_nothing_held_out_the_error_is_cross_validated_or_not_known(flowers, fit, capsys):
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "a", "--test-size", "0") == 0
    assert "of 30 cases, cross-validated" in capsys.readouterr().out
    assert fit("t.csv", "--target", "kind", "-o", "b", "--test-size", "0", "--eps", "auto") == 0
    assert "unknown" in capsys.readouterr().out
    assert json.loads(Path("b/summary.json").read_text())["error"] is None


def test_few_cases_of_a_class_are_warned_of_and_do_not_stop_the_search(flowers, capsys):
    flowers.loc[29, "kind"] = "orchid"
    flowers.to_csv("t.csv", index=False)
    assert main(["fit", "t.csv", "--target", "kind", "-o", "out", "--grid", "3"]) == 0
    assert "class 'orchid' has 1 training case," in capsys.readouterr().err


def test_an_existing_folder_is_refused_before_the_work_and_replaced_if_forced(
    flowers, fit, capsys
):
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "1") == 0
    capsys.readouterr()
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "2") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("protocover: error: the output folder out exists")
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "2", "--force") == 0
    assert json.loads(Path("out/summary.json").read_text())["eps"] == 2.0


@pytest.mark.parametrize("place", ["t.csv/out", "/proc/out"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    flowers, fit, place, monkeypatch, capsys
):
    flowers.to_csv("t.csv", index=False)

    def refuse(*_):
        pytest.fail("the table was read")

    monkeypatch.setattr("protocover._cli.fit.read_rows", refuse)
    assert fit("t.csv", "--target", "kind", "-o", place) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{place} cannot be written (" in said.err
    assert "--output" in said.err


def test_a_failed_fit_leaves_nothing_behind(flowers, fit, tmp_path):
    flowers.to_csv("t.csv", index=False)
    options = ("--target", "kind", "-o", "out", "--eps", "1", "--prototype-cost", "9999")
    assert fit("t.csv", *options, "--min-per-class", "0") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_every_class_is_held_out_in_its_share_and_keeps_a_case():
    y = np.repeat(["a", "b", "c"], [20, 10, 1])
    cases = Cases(np.zeros((31, 1)), y, np.arange(1, 32), "t")
    training, held_out = split_cases(cases, 0.3, seed=0)
    assert {label: (held_out.y == label).sum() for label in "abc"} == {"a": 6, "b": 3, "c": 0}
    assert sorted([*training.rows, *held_out.rows]) == list(range(1, 32))
    assert split_cases(cases, 0.99, seed=0)[0].y.tolist() == ["a", "b", "c"]
    assert split_cases(cases, 0.0, seed=0)[1] is None


def test_hostile_names_are_shown_as_text_and_written_as_they_are(flowers, fit, capsys):
    flowers["kind"] = flowers["kind"].replace("rose", "=cmd()\x1b[31m<script>/../x")
    flowers = flowers.rename(columns={"width": "\x1b]0;title\x07"})
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto") == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "=cmd()\\x1b[31m<script>/../x" in said.out
    # Made harmless to a spreadsheet by an apostrophe, which reading takes away again.
    assert "'=cmd()\x1b[31m<script>/../x" in set(pd.read_csv("out/prototypes.csv")["class"])
    written = read_table(Path("out/prototypes.csv"), console=Console())
    assert "=cmd()\x1b[31m<script>/../x" in set(written["class"])
    assert "<script>/.." not in Path("out/report.html").read_text()
