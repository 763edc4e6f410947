"""``--balance``, ``--cross-class`` and ``--min-per-class`` on a table with a rare class."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover import PVMClassifier, load_model
from protocover._cli import main
from protocover._cli.model import classifier_of

# The parameters that the options set.
SETTINGS = {
    "": {},
    "--balance": {"class_weight": "balanced"},
    "--min-per-class 0": {"min_per_class": 0},
    "--cross-class": {"cross_class": True},
    "--cross-class --min-per-class 0": {"cross_class": True, "min_per_class": 0},
}
SHARED = "--radii shared --eps 1.5"


@pytest.fixture(autouse=True)
def table():
    """Two grids of a common class: three rare cases lie in the one, the other surrounds one."""
    wide = [(x, y) for x in range(5) for y in range(5) if (x, y) != (2, 2)]
    small = [(x + 9, y + 9) for x in range(3) for y in range(3) if (x, y) != (1, 1)]
    rare = [(2.0, 2.0), (2.2, 2.0), (2.0, 2.2), (10.0, 10.0)]
    table = pd.DataFrame([*wide, *small, *rare], columns=["length", "width"])
    table["kind"] = np.repeat(["common", "rare"], [32, 4])
    table.to_csv("t.csv", index=False)
    return table


def fit(words):
    options = [
        "--target",
        "kind",
        "-o",
        "out",
        "--no-scale",
        "--test-size",
        "0",
        "--ignore-warnings",
    ]
    return main(["fit", "t.csv", *options, *words.split()])


def prototypes():
    return pd.read_csv("out/prototypes.csv")


@pytest.mark.filterwarnings("ignore:no prototype of the classes")
@pytest.mark.parametrize(("words", "settings"), SETTINGS.items())
def test_the_options_are_the_parameters(table, words, settings):
    assert fit(f"{SHARED} {words}") == 0
    found = classifier_of(load_model("out"))
    params = found.get_params()
    defaults = {"class_weight": None, "cross_class": False, "min_per_class": 1}
    assert {name: params[name] for name in defaults} == defaults | settings
    same = PVMClassifier(
        eps=found.eps_,
        radii=found.radii,
        prototype_cost=found.prototype_cost_,
        random_state=0,
        **settings,
    )
    same.fit(table[["length", "width"]], table["kind"])
    np.testing.assert_array_equal(found.prototype_indices_, same.prototype_indices_)
    np.testing.assert_array_equal(found.prototype_labels_, same.prototype_labels_)
    settled = json.loads(Path("out/summary.json").read_text())["settings"]
    assert settled["balance"] == ("class_weight" in settings)
    assert settled["cross_class"] == ("cross_class" in settings)
    assert settled["min_per_class"] == settings.get("min_per_class", 1)


def test_balance_makes_prototypes_of_the_rare_class_worth_their_cost(table, capsys):
    assert fit(f"{SHARED} --balance") == 0
    said = capsys.readouterr()
    assert "worth its cost" not in said.err
    assert "rare" in set(prototypes()["class"])
    figure = float(re.search(r"objective +(\S+) with the same total weight for all", said.out)[1])
    found = load_model("out")
    coverage = found.coverage(table[["length", "width"]], table["kind"])
    weight = np.where(table["kind"] == "rare", 36 / (2 * 4), 36 / (2 * 32))
    wrong = coverage.balls.toarray().astype(bool)
    wrong &= coverage.point_classes[:, None] != coverage.prototype_classes
    by_hand = (weight * ~coverage.covered).sum() + (weight[:, None] * wrong).sum()
    by_hand += found.prototype_cost_ * len(found.prototype_indices_)
    assert figure == pytest.approx(by_hand, rel=1e-3)
    assert max(map(len, said.out.splitlines())) <= 80


def test_a_case_becomes_a_prototype_of_another_class_only_if_that_is_allowed(capsys):
    assert fit(SHARED) == 0
    assert (prototypes()["class"] == prototypes()["kind"]).all()
    assert "represents another class" not in capsys.readouterr().err
    assert fit(f"{SHARED} --cross-class --force") == 0
    center = prototypes().set_index("row").loc[36]
    assert (center["class"], center["kind"]) == ("common", "rare")
    assert "such as row 36, labelled rare among cases of common" in capsys.readouterr().err
