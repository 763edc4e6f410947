"""``--radii adaptive``: each prototype has its own radius, and every file tells it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover import PVMClassifierCV, find_label_issues, load_model
from protocover._cli import main
from protocover._cli.model import classifier_of


@pytest.fixture
def shells(tmp_path):
    """A small class within a wide one, so that radii differ; and a row that looks mislabelled."""
    rng = np.random.default_rng(4)
    kind = np.repeat(["cockle", "whelk"], [60, 20])
    table = pd.DataFrame(rng.normal(0, np.where(kind == "whelk", 0.2, 1.5)[:, None], (80, 2)))
    table.columns = ["length", "width"]
    table["length"] += 3.0 * (kind == "whelk")
    table["kind"] = kind
    table.to_csv("t.csv", index=False)
    return table


def fit(*words, data="t.csv", out="out"):
    return main(["fit", data, "--target", "kind", "-o", out, *map(str, words)])


def load(out="out"):
    return load_model(Path(out, "model.protocover"))


def figures(out="out"):
    return json.loads(Path(out, "summary.json").read_text())


def test_the_radii_are_told_in_every_file(shells, capsys):
    assert fit("--radii", "adaptive", "--eps", "auto") == 0
    said = capsys.readouterr()
    model = classifier_of(load())
    assert model.radii == "adaptive"
    radii = model.prototype_radii_
    assert len(set(radii)) > 1
    prototypes = pd.read_csv("out/prototypes.csv")
    np.testing.assert_allclose(prototypes["radius"], radii)
    assert prototypes.columns[:4].tolist() == ["prototype", "row", "class", "radius"]
    assert figures()["radii"] == "adaptive"
    assert figures()["eps"] == model.eps_
    extent = f"{radii.min():.4g} to {radii.max():.4g}"
    assert f"radius     its own for each prototype, {extent}\n" in said.out
    limit = f"at most {model.eps_:.4g} (0.9 quantile of the distances to another class)\n"
    assert limit in said.out
    assert max(map(len, said.out.splitlines())) <= 80
    page = Path("out/report.html").read_text()
    assert "Each prototype has its own radius" in page
    assert "a prototype must cover other cases" in page


@pytest.mark.parametrize(
    ("words", "limits", "costs"),
    [
        ("", 5, 5),
        ("--grid 3 --prototype-cost 1,2", 3, 2),
        ("--eps 0.4,0.8 --prototype-cost 2", 2, 1),
        ("--eps none --prototype-cost 1,2,4", 1, 3),
        ("--eps 0.7 --prototype-cost 1,3 --solver exact", 1, 2),
    ],
)
def test_limit_and_cost_are_searched_for(shells, words, limits, costs, capsys):
    assert fit("--radii", "adaptive", "--cv", "3", *words.split()) == 0
    search = load()[-1]
    assert isinstance(search, PVMClassifierCV)
    assert len(set(search.cv_results_["param_eps"])) == limits
    assert len(set(search.cv_results_["param_prototype_cost"])) == costs
    said = capsys.readouterr().out
    eps = "no limit" if np.isinf(search.eps_) else f"at most {search.eps_:.4g}"
    assert (
        f"           {eps}, by 3-fold cross-validation ({costs} cost{'s'[: costs != 1]}, rule 1se)"
        in said
    )
    assert max(map(len, said.splitlines())) <= 80
    page = Path("out/report.html").read_text()
    radii = "maximum radius" if limits == 1 else "maximum radii"
    tried = f"{limits} {radii} and {costs} cost{'s'[: costs != 1]}"
    assert f"chosen from {tried} by 3-fold cross-validation" in page
    assert re.search(r"uncovered cases, chosen from \d+ with the maximum radius", page)
    assert "Infinity" not in page.split('id="data"')[1].split("</script>")[0]
    assert figures()["eps"] == (None if np.isinf(search.eps_) else search.eps_)


def test_predictions_tell_distances_in_multiples_of_the_radius(shells):
    assert fit("--radii", "adaptive", "--eps", "auto", "--no-scale") == 0
    model, answers = load(), pd.read_csv("out/predictions.csv")
    why = model.explain(shells[["length", "width"]])
    for name in ("radius", "relative_distance", "runner_up_radius", "runner_up_relative_distance"):
        np.testing.assert_allclose(answers[name], getattr(why, name))
    np.testing.assert_allclose(
        answers["relative_distance"], answers["distance"] / answers["radius"]
    )
    apart = answers["runner_up_relative_distance"] - answers["relative_distance"]
    np.testing.assert_allclose(answers["margin"], apart)
    assert (answers["inside"] == (answers["relative_distance"] < 1.0)).all()


def test_eps_is_the_limit(shells, capsys):
    assert fit("--radii", "adaptive", "--eps", "0.5", "--no-scale", "--prototype-cost", "0.1") == 0
    assert "           at most 0.5, as given\n" in capsys.readouterr().out
    radii = pd.read_csv("out/prototypes.csv")["radius"]
    assert radii.max() == 0.5 > radii.min()
    assert load().prototype_cost == 0.1


def test_no_limit_is_said_and_no_infinity_is_written(shells, capsys):
    assert fit("--radii", "adaptive", "--eps", "none") == 0
    assert "           no limit, as given\n" in capsys.readouterr().out
    assert classifier_of(load()).eps_ == np.inf
    text = Path("out/summary.json").read_text()
    assert "Infinity" not in text
    assert json.loads(text)["eps"] is None
    assert "; no limit</dd>" in Path("out/report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--radii shared --eps none", "leave out --radii shared, or give a number"),
        (
            "--radii adaptive --eps auto --prototype-cost 1,2",
            "tried by cross-validation; leave out --eps, or give a number or none",
        ),
        (
            "--radii shared --eps 1 --prototype-cost 1,2",
            "tried by cross-validation; leave out --eps, or give several values of it, too",
        ),
    ],
)
def test_options_that_do_not_go_together_end_in_one_line(shells, words, message, capsys):
    assert fit(*words.split()) == 2
    said = capsys.readouterr().err
    assert message in said.splitlines()[-1]
    assert not Path("out").exists()


def test_with_one_radius_for_all_the_tables_are_as_they_were(shells, capsys):
    assert fit("--radii", "shared", "--eps", "0.8") == 0
    assert "radius     0.8, as given\n" in capsys.readouterr().out
    assert pd.read_csv("out/prototypes.csv").columns.tolist() == [
        *("prototype", "row", "class", "newly_covered", "wrongly_covered"),
        *("length", "width", "kind"),
    ]
    assert pd.read_csv("out/predictions.csv").columns.tolist() == [
        *("row", "used", "label", "predicted", "prototype", "prototype_row", "distance"),
        *("inside", "margin", "runner_up", "runner_up_prototype", "runner_up_row"),
        "runner_up_distance",
    ]
    assert figures()["radii"] == "shared"


def test_suspects_are_those_that_python_finds(shells):
    shells.loc[70, "kind"] = "cockle"
    shells.to_csv("t.csv", index=False)
    assert fit("--radii", "adaptive", "--eps", "auto", "--test-size", "0") == 0
    found = find_label_issues(load(), shells[["length", "width"]], shells["kind"])
    assert pd.read_csv("out/suspects.csv")["row"].tolist() == (found.row + 1).tolist()


def test_new_cases_are_answered_by_the_rule(shells, capsys):
    assert fit("--radii", "adaptive") == 0
    shells[["width", "length"]].to_csv("new.csv", index=False)
    assert main(["predict", "out", "new.csv", "-o", "answers.csv"]) == 0
    answers = pd.read_csv("answers.csv")
    expected = load().predict(shells[["length", "width"]])
    assert answers["predicted"].tolist() == expected.tolist()
    assert "relative_distance" in answers


def test_the_report_made_anew_is_that_of_fit_and_notices_other_data(shells, capsys):
    assert fit("--radii", "adaptive", "--eps", "none") == 0
    before = Path("out/report.html").read_bytes()
    assert main(["report", "out", "t.csv"]) == 0
    assert Path("out/report.html").read_bytes() == before
    capsys.readouterr()
    moved = shells.assign(length=shells["length"] + 2.0)
    moved.to_csv("t.csv", index=False)
    assert main(["report", "out", "t.csv"]) == 1
    assert "t.csv does not hold the rows that the model was fitted on" in capsys.readouterr().err
    assert Path("out/report.html").read_bytes() == before
