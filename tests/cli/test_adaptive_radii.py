"""``--radii adaptive``: each prototype has its own radius, and every file tells it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover import PVMClassifierCV, load_model
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
    assert f"radius     per prototype, {extent}\n" in said.out
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
        ("--eps 0.4,0.8 --prototype-cost 2", 2, 1),
        ("--eps none --prototype-cost 1,2,4", 1, 3),
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--radii shared --eps none", "omit --radii shared, or give a radius"),
        (
            "--radii adaptive --eps auto --prototype-cost 1,2",
            "compared by cross-validation; omit --eps, or give a number or none",
        ),
        (
            "--radii shared --eps 1 --prototype-cost 1,2",
            "compared by cross-validation; omit --eps, or give several values of it, too",
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
