"""What a check finds in a table that is not what it seems."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from protocover.data import TableCheck, check
from protocover.data._check import inspect_table
from protocover.data._findings import COMMAND_LINE

N = 40
Y = np.repeat(["a", "b"], N // 2)


def found(column, y=None, name="c", **known):
    """Return (what, level) of the findings about one column beside a complete one."""
    table = pd.DataFrame({name: column, "beside": ["red", "blue"] * (len(column) // 2)})
    checked = check(table, y, **known)
    return [(finding.what, finding.level) for finding in checked.findings]


def numbers(seed=0, low=0, high=1000):
    return np.random.default_rng(seed).integers(low, high, N).astype(float)


def test_plain_columns_give_nothing_to_look_at():
    table = pd.DataFrame(
        {
            "x": np.random.default_rng(0).normal(size=N),
            "colour": ["red", "blue"] * (N // 2),
            "n": [*range(20), *range(20)][::-1],
        }
    )
    checked = check(table, Y)
    assert checked.findings == ()
    assert [facts.stores for facts in checked.columns] == ["numbers", "labels", "numbers"]
    assert "No problems found" in repr(checked)


def test_thousands_are_settled_by_another_column_of_the_file_or_asked_about():
    commas = ["1,675", "750"] * (N // 2)
    assert found(commas) == [("thousands or decimals", "unclear")]
    assert found(commas, decimal=".") == []
    for other, mark in ((["0.5", "7.25"], "."), (["0,5", "7,25"], ",")):
        table = pd.DataFrame({"c": commas, "d": other * (N // 2)})
        checked = check(table)
        assert checked.findings == ()
        assert checked.decimal == mark
    table = pd.DataFrame({"c": commas, "d": ["0.5", "1"] * 20, "e": ["0,5", "1"] * 20})
    assert [finding.column for finding in check(table).findings] == ["c"]


@pytest.mark.parametrize("odd", ["-", "<3000", "unknown", "inf"])
def test_odd_cells_are_named_with_the_option_that_settles_them(odd):
    cells = [*map(str, range(3000, 3000 + N - 1)), odd]
    (finding,) = check(pd.DataFrame({"mass": cells})).findings
    assert finding.what == "odd cells"
    assert repr(odd) in finding.why
    assert f"missing={{'mass': [{odd!r}]}}" in finding.option
    (finding,) = inspect_table(pd.DataFrame({"mass": cells}), remedies=COMMAND_LINE).findings
    assert f"--missing=mass={odd}" in finding.option.replace("'", "")
    cells = [*map(str, numbers().tolist()[:-1]), odd]
    assert found(cells, missing={"c": [odd]}) == []


def test_units_and_dates_of_other_notations_are_told():
    assert found([f"{k % 9} g" for k in range(N)]) == [("unit", "danger")]
    assert found(["01/02/2024", "01/12/2024"] * 20) == [("dates", "danger")]
    assert found(["31/12/24", "01/12/24"] * 20) == [("dates", "danger")]
    assert found(["31/12/2024", "01/12/2024"] * 20) == []


@pytest.mark.parametrize("sentinel", [-999, -99, 9999, -9])
def test_sentinels_far_from_all_other_values_are_told(sentinel):
    values = numbers(high=90)
    values[[3, 7]] = sentinel
    assert ("sentinel", "danger") in found(values)
    assert ("sentinel", "danger") in found(values.astype(int).astype(str))
    assert found(values, missing={None: [str(sentinel)]}) == []
    assert found(values, feature_types={"c": "numbers"}) == []


def test_values_that_look_like_sentinels_amid_others_are_none():
    values = numbers(high=1000)
    values[0] = 999.0
    assert found(values) == []
    assert found(np.append(numbers(low=-1000)[1:], -999.0)) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", np.arange(N)),
        ("n", np.random.default_rng(0).permutation(N) + 1000),
        ("patient_id", np.random.default_rng(0).choice(10**8, N, replace=False)),
        ("ID", np.random.default_rng(0).choice(10**8, N, replace=False)),
        ("sampleNo", np.random.default_rng(0).choice(10**8, N, replace=False)),
        ("n", [*range(25), *range(15)]),
    ],
)
def test_identifiers_made_of_numbers_are_told(name, values):
    assert found(values, name=name) == [("identifier", "danger")]


def test_wide_whole_numbers_under_another_name_are_measurements():
    assert found(np.random.default_rng(0).choice(10**8, N, replace=False), name="income") == []


def test_nearly_constant_columns_are_noted():
    values = np.zeros(200)
    values[7] = 1.0
    assert found(values) == [("nearly constant", "note")]


def test_the_class_under_another_name_is_a_leak_and_what_tells_it_is_noted():
    assert found(np.where(Y == "a", 1, 0), Y) == [("leak", "danger")]
    assert found(np.where(Y == "a", "ill", "well"), Y) == [("leak", "danger")]
    parts = np.where(Y == "a", ["p", "q"] * (N // 2), "r")
    assert found(parts, Y) == [("determines the class", "note")]
    assert found(["p", "q"] * (N // 2), Y) == []


def test_a_column_that_determines_the_class_by_a_threshold_is_noted():
    weight = np.random.default_rng(0).permutation(np.arange(200) * 17 % 3001 + 0.5)
    low = np.where(weight < 2500, "low", "normal")
    (finding,) = check(pd.DataFrame({"w": weight, "y": low}), "y").findings
    assert (finding.column, finding.what, finding.level) == ("w", "threshold", "note")
    below, above = weight[low == "low"].max(), weight[low == "normal"].min()
    assert f"'low' up to {below:g}, 'normal' from {above:g}" in finding.why
    terciles = np.digitize(weight, [1000, 2000]).astype(str)
    (finding,) = check(pd.DataFrame({"w": weight, "y": terciles}), "y").findings
    assert finding.why.startswith("2 thresholds determine the class")


def test_a_threshold_needs_all_rows_and_more_than_chance():
    weight = np.random.default_rng(0).permutation(200) * 17.5
    low = np.where(weight < 2500, "low", "normal")
    one_off = low.copy()
    one_off[np.argmax(weight)] = "low"
    tied = np.where(weight > 2500, 2500, weight)
    tied[np.flatnonzero(low == "low")[0]] = 2500
    for values, y in ((weight, one_off), (tied, low), (weight[:12], low[:12])):
        assert "threshold" not in [what for what, _ in found(values, y)]
    assert found(weight, low, feature_types={"c": "numbers"}) == []
    # Numbers of rows sorted by class are told as such.
    assert found(np.arange(N), Y) == [("identifier", "danger")]


@pytest.mark.parametrize(
    ("labels", "is_measured"),
    [
        (np.random.default_rng(0).normal(size=200).round(1), True),
        (np.arange(200) % 93, True),
        (np.arange(3000) % 30 + 0.5, True),
        (np.arange(200) % 10, False),
        (np.arange(200) % 10 + 0.5, False),
        (np.arange(3000) % 100, False),
        ([f"c{k}" for k in range(93)] * 2, False),
        ([f"0{k:03d}" for k in range(93)] * 2, False),
    ],
)
def test_a_target_of_many_numbers_is_a_measurement(labels, is_measured):
    x = np.random.default_rng(1).normal(size=len(labels))
    told = [f.what for f in check(pd.DataFrame({"x": x, "y": labels}), "y").findings]
    assert ("measurement" in told) == is_measured


def test_rows_of_each_class_are_counted():
    y = ["rose"] * 25 + ["lily"] * 15
    checked = check(pd.DataFrame({"x": numbers()}), y)
    assert checked.classes == {"rose": 25, "lily": 15}
    assert "class  rows\nrose     25\nlily     15\n" in repr(checked)


def test_findings_of_one_kind_are_capped_in_print_and_complete_in_the_frame():
    table = pd.DataFrame({f"id{k}": np.arange(N) + k for k in range(500)})
    checked = check(table)
    text = repr(checked)
    assert len(text.splitlines()) < 150
    assert "! 495 more (identifier): 'id5', 'id6'" in text
    assert len(checked.to_frame()) == 500


def test_remedies_are_those_of_the_interface():
    spoiled = {
        "id": np.arange(N),
        "sentinel": [*numbers(high=90)[2:], -999, -999],
        "odd": [*map(str, range(3000, 3000 + N - 1)), "-"],
        "unit": [f"{k % 9} g" for k in range(N)],
        "date": ["01/02/2024", "01/12/2024"] * 20,
        "leak": np.where(Y == "a", 1, 0),
        "comma": ["1,675", "750"] * 20,
        "name": [f"n{k % 30}" for k in range(N)],
        "rare": [*np.zeros(N - 1), np.inf],
    }
    frame = pd.DataFrame(spoiled)
    in_python = check(frame, Y)
    assert "--" not in repr(in_python)
    assert "feature_types={'id': 'numbers'}" in repr(in_python)
    on_command_line = inspect_table(frame, Y, remedies=COMMAND_LINE)
    assert {f.column for f in on_command_line.dangers} == {f.column for f in in_python.dangers}
    assert all("--" in f.option for f in on_command_line.dangers)


def test_texts_that_are_nearly_unique_cannot_help():
    names = pd.DataFrame({"name": [f"n{k % 30}" for k in range(N)], "x": numbers()})
    facts = inspect_table(names, remedies=COMMAND_LINE).columns[0]
    assert (
        facts.useless == "30 different texts in 40 rows; --feature-type name=categorical keeps it"
    )
    (finding,) = check(names).findings
    assert (finding.column, finding.what) == ("name", "free text")
    shared = names.assign(name=[f"n{k % 20}" for k in range(N)])
    assert not inspect_table(shared, remedies=COMMAND_LINE).columns[0].useless


def test_classes_too_small_and_classes_alike_are_told():
    y = ["rose"] * 20 + ["Rose "] * 18 + ["lily"] * 2
    x = np.random.default_rng(0).normal(size=N)
    assert found(x, y) == [("classes alike", "danger"), ("small class", "note")]


def test_nearly_empty_rows_are_named_by_their_numbers():
    x = np.random.default_rng(0).normal(size=(N, 4))
    x[5, 1:] = np.nan
    (finding,) = check(x).findings
    assert "row 6" in finding.why
    (finding,) = check(x, row_numbers=np.arange(N) + 101).findings
    assert "row 106" in finding.why


def test_frames_of_both_packages_arrays_and_rows_are_checked_alike():
    columns = {"x": ["1,675", "750"] * 20, "n": list(range(N)), "y": Y.tolist()}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns)]
    results = [check(frame, "y").to_frame() for frame in frames]
    pd.testing.assert_frame_equal(*results)
    assert results[0]["what"].tolist() == ["thousands or decimals", "identifier"]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    assert check(rows, 2).to_frame()["what"].tolist() == results[0]["what"].tolist()


def test_a_check_prints_every_column_and_marks_what_is_dangerous():
    checked = check(pd.DataFrame({"id": np.arange(N), "x": numbers()}))
    assert isinstance(checked, TableCheck)
    text = repr(checked)
    assert text.splitlines()[0].split() == ["column", "type", "values", "missing", "why"]
    assert "! column 'id'" in text
    assert [finding.column for finding in checked.dangers] == ["id"]


def test_a_target_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="target must be a column of the table or labels"):
        check(pd.DataFrame({"x": [1.0]}), "y")
    with pytest.raises(ValueError, match="one label for each of the 1 rows, got 2"):
        check(pd.DataFrame({"x": [1.0]}), ["a", "b"])


def test_classes_that_are_one_number_are_named():
    table = pd.DataFrame({"x": numbers(), "y": ["0", "0.0", "1", "007"] * (N // 4)})
    (finding,) = check(table, "y").findings
    assert finding.what == "classes alike"
    assert "'0', '0.0'" in finding.why


def test_numbers_with_an_odd_text_among_them_are_named_whatever_their_type():
    mixed = [*range(20, 20 + N - 2), "-", None]
    assert found(mixed) == [("odd cells", "danger")]
    assert found([*np.tile([0.5, 1.5], N // 2 - 1), "1.5", "n/a"]) == []


def test_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1.0, 2.0]], columns=["x", "x"])
    with pytest.raises(ValueError, match="several columns named 'x'; rename them"):
        check(table)


def test_numbers_with_more_digits_than_are_kept_are_named():
    assert found([str(10**18 + 3 * k) for k in range(N)]) == [("identifier", "danger")]
    assert found(np.array([10**18 + 3 * k for k in range(N)])) == [("identifier", "danger")]


@pytest.mark.parametrize("mark", [-8888, -77, 8888])
def test_other_marks_of_surveys_are_sentinels(mark):
    assert found([*(np.arange(N - 2) % 9 + 60), mark, mark]) == [("sentinel", "danger")]


def test_marks_for_missing_are_found_among_objects():
    mixed = np.array([-999, *range(5, 16)] * 4, dtype=object)
    assert found(mixed) == [("sentinel", "danger")]
    assert found(mixed, missing={"c": ["-999"]}) == []


@pytest.mark.parametrize("cell", [np.inf, "1e999"])
def test_infinity_is_named(cell):
    column = [*numbers()[1:], cell]
    assert found([str(v) for v in column] if cell == "1e999" else column) == [
        ("infinite", "danger")
    ]
