"""``protocover check``, and the same as the first step of ``fit``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover._cli import main


def check(*options):
    return main(["check", "t.csv", "--target", "kind", *options])


def spoil(flowers, **columns):
    table = flowers.assign(**columns)
    table[[*columns, "length", "width", "kind"]].to_csv("t.csv", index=False)


def test_a_table_with_nothing_to_settle_is_ready(flowers, capsys):
    flowers.to_csv("t.csv", index=False)
    assert check() == 0
    said = capsys.readouterr().out
    assert "t.csv: 30 rows" in said
    assert "length  numbers" in said
    assert "Ready for `protocover fit`" in said


def test_a_target_of_many_numbers_is_fitted_only_when_told_to(flowers, fit, capsys):
    table = pd.concat([flowers] * 8, ignore_index=True)
    table["kind"] = np.arange(len(table)) % 30 * 1.5
    table.to_csv("t.csv", index=False)
    assert check() == 1
    assert "! column 'kind': 30 different numbers in 240 rows" in capsys.readouterr().out
    asked = ["t.csv", "--target", "kind", "--eps", "auto", "-o", "out"]
    assert fit(*asked) == 1
    said = capsys.readouterr().err
    assert "look like a measurement" in said
    assert "--ignore-warnings" in said
    assert fit(*asked, "--ignore-warnings", "--test-size", "0", "--solver", "greedy") == 0


def test_names_are_left_out_of_the_distance_unless_kept(flowers, fit, capsys):
    flowers["name"] = [f"n{k % 25}" for k in range(30)]
    flowers.to_csv("t.csv", index=False)
    words = ["t.csv", "--target", "kind", "--eps", "auto", "--force", "-o", "out"]
    for more, columns in (([], []), (["--feature-type", "name=categorical"], ["name"])):
        assert fit(*words, *more) == 0
        told = "(25 different texts in 30 rows; --feature-type name=categorical keeps it)"
        assert (f"Left out: 'name' {told}" in capsys.readouterr().err) == (not more)
        figures = json.loads(Path("out/summary.json").read_text())
        assert figures["data"]["columns"] == ["length", "width", *columns]


def test_many_columns_with_one_finding_do_not_flood_a_check(flowers, capsys):
    ids = pd.DataFrame({f"id{k}": np.arange(30) + k for k in range(300)})
    pd.concat([flowers, ids], axis=1).to_csv("t.csv", index=False)
    assert check() == 1
    told = capsys.readouterr().out
    assert len(told.splitlines()) < 150
    assert "! 295 more (identifier): 'id5'" in told


CASES = {
    "thousands": (["1,675", "750"] * 15, ["--decimal", "."]),
    "points": (["1.675", "750"] * 15, ["--decimal", ","]),
    "odd": ([*(str(3000 + 10 * (k % 9)) for k in range(29)), "<3000"], ["--missing=c=<3000"]),
    "unit": ([f"{k % 9 + 3000} g" for k in range(30)], ["--feature-type", "c=numeric"]),
    "sentinel": ([*(np.arange(28) % 9 + 20), -999, -999], ["--missing=-999"]),
    "identifier": (np.arange(30) + 5, ["--id", "c"]),
    "leak": (np.repeat([1, 0], 15), ["--drop", "c"]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_dangerous_stops_a_fit_until_its_option_settles_it(case, flowers, fit, capsys):
    cells, option = CASES[case]
    if case in ("thousands", "points"):
        flowers = flowers.round(0).astype({"length": int, "width": int})
    spoil(flowers, c=cells)
    assert check() == 1
    assert "! column 'c'" in capsys.readouterr().out
    assert fit("t.csv", "--target", "kind", "--quiet") == 1
    refused = capsys.readouterr().err
    assert "column 'c'" in refused
    assert "could silently change the result" in refused
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto", *option) == 0
    assert fit(
        "t.csv", "--target", "kind", "-o", "o2", "--eps", "auto", "--ignore-warnings"
    ) == int(case == "thousands")


def test_numbers_of_two_units_are_refused_as_numbers(flowers, fit, capsys):
    spoil(flowers, c=["3750 g", "4 kg"] * 15)
    assert fit("t.csv", "--target", "kind", "--feature-type", "c=numeric") == 1
    assert "must hold numbers in one notation and unit" in capsys.readouterr().err


def test_new_cases_are_read_with_the_same_care(flowers, fit, capsys):
    whole = flowers.round(0).astype({"length": int, "width": int})
    whole["width"] = whole["width"] + 2000
    whole.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto") == 0
    pd.DataFrame({"length": [1, 2], "width": ["1,950", "2,100"]}).to_csv("new.csv", index=False)
    assert main(["predict", "out", "new.csv"]) == 1
    assert "choose with --decimal . or --decimal ," in capsys.readouterr().err
    assert main(["predict", "out", "new.csv", "--decimal", "."]) == 0


def test_what_stands_for_missing_in_a_fit_does_so_for_new_cases(flowers, fit, capsys):
    flowers.loc[3, "width"] = -999
    flowers.to_csv("t.csv", index=False)
    options = ["--target", "kind", "--missing=-999", "-o", "out", "--eps", "auto"]
    assert fit("t.csv", *options) == 0
    flowers.assign(width="")[:5].to_csv("empty.csv", index=False)
    flowers.assign(width=-999)[:5].to_csv("marked.csv", index=False)
    capsys.readouterr()
    answers = []
    for name in ("empty.csv", "marked.csv"):
        assert main(["predict", "out", name, "--quiet"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_rows_of_gaps_are_told_and_never_prototypes(fit, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 4)).round(3), columns=list("abcd"))
    table["kind"] = np.repeat(["p", "q"], 20)
    table.loc[table["kind"] == "q", "a"] += 6
    table.loc[[4, 30], ["a", "b", "c"]] = np.nan
    table.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "0.05", "--test-size", "0") == 0
    assert "2 rows have values in fewer than half" in capsys.readouterr().err
    assert not {5, 31} & set(pd.read_csv("out/prototypes.csv")["row"])
    with open("out/report.html", encoding="utf-8") as file:
        assert "cannot be prototypes (2 here)" in file.read()


def test_findings_of_one_sort_do_not_flood_a_fit(flowers, fit, capsys):
    rare = {f"c{k}": np.eye(1, 240, k)[0] for k in range(6)}
    table = pd.concat([flowers] * 8, ignore_index=True).assign(**rare)
    table.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto") == 0
    said = capsys.readouterr().err
    assert said.count("in all rows except 1") == 3
    assert "3 more findings of this kind (nearly constant)" in said


def test_a_mark_for_the_target_leaves_its_rows_out(flowers, capsys):
    flowers.loc[:3, "kind"] = "unknown"
    flowers.to_csv("t.csv", index=False)
    assert check("--missing=kind=unknown") == 0
    told = capsys.readouterr()
    assert "left out 4 rows without a value of 'kind'" in told.err
    assert "t.csv: 26 rows" in told.out


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"length": "", "width": 1}, "no feature columns are left"),
        ({"kind": "lily"}, "has one class only"),
        ({"kind": np.arange(30) / 7}, "30 different values in 30 rows"),
    ],
)
def test_a_table_that_no_fit_takes_is_not_called_ready(columns, said, flowers, capsys):
    flowers.assign(**columns).to_csv("t.csv", index=False)
    assert check() == 1
    told = capsys.readouterr()
    assert said in told.err
    assert "Ready" not in told.out


def test_a_mark_for_a_column_that_is_not_there_is_refused(flowers, fit, capsys):
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "--missing=widht=-999", "-o", "out") == 2
    said = capsys.readouterr().err
    assert "--missing widht=-999 names no column of t.csv and occurs in no cell" in said
    assert "'width'" in said
    flowers["note"] = np.where(flowers.index % 2, "a=b", "c")
    flowers.to_csv("t.csv", index=False)
    assert fit("t.csv", "--target", "kind", "--missing=a=b", "--eps", "auto", "-o", "out") == 0


def test_the_decimal_mark_of_a_fit_is_that_of_new_cases(flowers, fit, capsys):
    flowers["price"] = [f"{1 + k % 3}.675" if k % 2 else str(700 + k) for k in range(len(flowers))]
    flowers.to_csv("t.csv", index=False, sep=";")
    flowers[["length", "width"]] = flowers[["length", "width"]].round().astype(int)
    flowers.to_csv("t.csv", index=False, sep=";")
    options = ["--target", "kind", "--decimal", ",", "-o", "out", "--eps", "auto"]
    assert fit("t.csv", *options) == 0
    flowers[:6].to_csv("new.csv", index=False, sep=";")
    answers = []
    for more in ([], ["--decimal", ","], ["--decimal", "."]):
        capsys.readouterr()
        assert main(["predict", "out", "new.csv", "--quiet", *more]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] != answers[2]


def test_a_unit_that_is_left_out_is_named(flowers, fit, capsys):
    flowers["mass"] = [f"{3000 + k} g" for k in range(len(flowers))]
    flowers.to_csv("t.csv", index=False)
    options = ["--target", "kind", "--feature-type", "mass=numeric", "--eps", "auto", "-o", "out"]
    assert fit("t.csv", *options) == 0
    flowers["mass"] = flowers["mass"].str.replace("g", "kg")
    flowers.to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main(["predict", "out", "new.csv"]) == 0
    assert "column 'mass' is read without its unit 'kg'" in capsys.readouterr().err
