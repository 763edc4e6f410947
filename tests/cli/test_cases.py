import numpy as np
import pandas as pd
import pytest

from protocover._cli.check import make_labels, read_rows
from protocover._cli.commands import _build_parser
from protocover._cli.console import CommandError, Console, UsageError


def read(table, *words):
    """Read a table as ``protocover fit`` does, the last column as the target."""
    table.to_csv("t.csv", index=False)
    words = ("--target", str(table.columns[-1]), *words)
    return read_rows(_build_parser().parse_args(["fit", "t.csv", *words]), Console())


def test_rows_keep_the_numbers_they_have_in_the_file(flowers, capsys):
    flowers.loc[[0, 7], "kind"] = None
    cases = read(flowers)
    assert cases.rows[:7].tolist() == [2, 3, 4, 5, 6, 7, 9]
    assert "left out 2 rows without a value of 'kind'" in capsys.readouterr().err


def test_columns_that_cannot_tell_rows_apart_are_left_out_and_told(flowers, capsys):
    flowers.insert(0, "place", "Rome")
    flowers.insert(0, "code", [f"c{k}" for k in range(30)])
    flowers.insert(0, "nothing", "")
    assert list(read(flowers).X.columns) == ["length", "width"]
    said = capsys.readouterr().err
    for words in ("'place' (the same value", "'code' (a different text", "'nothing' (no values"):
        assert words in said


def test_a_column_that_numbers_the_rows_is_warned_of(flowers, capsys):
    flowers.insert(0, "no", np.arange(1, 31))
    with pytest.raises(CommandError, match="or pass --ignore-warnings"):
        read(flowers)
    assert "--id no or --drop no" in capsys.readouterr().err
    assert "no" in read(flowers, "--ignore-warnings").X.columns
    assert "column 'no': it numbers the rows" in capsys.readouterr().err
    cases = read(flowers, "--id", "no")
    assert "no" not in cases.X.columns
    assert cases.titles[:2] == ["1", "2"]
    assert "no" not in read(flowers, "--drop", "no").X.columns


def test_columns_get_their_types_and_kinds_may_be_given(patients):
    types = ("--feature-type", "grade=low,middle,high", "--feature-type", "age=categorical")
    cases = read(patients, "--id", "patient", *types)
    ages = cases.X["age"]
    assert ages.isna().any()
    assert all(isinstance(age, str) for age in ages.dropna())
    assert cases.X["smoker"].dtype == bool
    assert cases.X["seen"].dtype.kind == "M"
    assert cases.X["grade"].cat.categories.tolist() == ["low", "middle", "high"]


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ("--target=q", CommandError, "--target 'q'"),
        ("--target kin", CommandError, "did you mean 'kind'"),
        ("--target q", CommandError, "the columns are 'length', 'width', 'kind'"),
        ("--drop q", CommandError, "--drop 'q'"),
        ("--id q", CommandError, "--id 'q'"),
        ("--feature-type q=numeric", CommandError, "--feature-type 'q'"),
        ("--feature-type width=big", UsageError, "must be numeric, categorical"),
        ("--feature-type kind", CommandError, "--feature-type"),
        ("--feature-type width=a,b", CommandError, "must hold one of a, b"),
        ("--drop length --drop width", CommandError, "no feature columns are left"),
    ],
)
def test_wrong_columns_get_one_clear_error(flowers, words, error, message):
    with pytest.raises(error, match=message):
        read(flowers, *words.split())


def test_values_where_names_should_be_are_pointed_out(flowers):
    flowers.columns = ["5.1", "3.5", "rose"]
    with pytest.raises(CommandError, match="first line must hold column names"):
        read(flowers, "--target", "kind")


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["2", "10", "2"], [2, 10, 2]),
        ([" a", "b", "a"], ["a", "b", "a"]),
        (["01", "2", "2"], ["01", "2", "2"]),
        ([1.0, 2.0, 2.0], [1, 2, 2]),
        ([True, False, True], ["True", "False", "True"]),
    ],
)
def test_labels_are_whole_numbers_where_all_are(cells, labels):
    assert make_labels(pd.Series(cells, name="t")).tolist() == labels


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", "a"], "one class only"),
        ([], "no values"),
        ([f"{k / 7}" for k in range(50)], "50 different values in 50 rows"),
    ],
)
def test_a_target_that_names_no_classes_is_refused(cells, message):
    with pytest.raises(CommandError, match=message):
        make_labels(pd.Series(cells, name="t", dtype="str"))
