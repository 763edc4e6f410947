import numpy as np
import pandas as pd
import pytest

from protocover._cli.columns import (
    convert,
    find_type,
    in_own_words,
    is_missing,
)
from protocover._cli.console import CommandError
from protocover.data._columns import ColumnType


def column(*cells):
    return pd.Series(cells, name="c", dtype="str")


@pytest.mark.parametrize(
    ("cells", "stores"),
    [
        (["1", "-2.5", "+3e4", ".5", "NA", ""], "numbers"),
        (["1,5", "2", "-0,25"], "numbers"),
        (["00713", "01067", "80331"], "labels"),
        (["yes", "No", "?"], "booleans"),
        (["TRUE", "false"], "booleans"),
        (["2024-01-31", "2023-12-01 10:30"], "dates"),
        (["31/12/2024", "01/01/2025"], "dates"),
        (["01/02/2024", "01/01/2025"], "labels"),
        (["1", "two"], "labels"),
        (["inf", "1"], "labels"),
        (["", "NA"], "labels"),
    ],
)
def test_the_text_of_cells_tells_what_a_column_holds(cells, stores):
    assert find_type(column(*cells)).stores == stores


@pytest.mark.parametrize(
    ("series", "stores"),
    [
        (pd.Series([1, 2]), "numbers"),
        (pd.Series([1.5, None]), "numbers"),
        (pd.Series([True, False]), "booleans"),
        (pd.Series([True, None], dtype="boolean"), "booleans"),
        (pd.Series(pd.date_range("2024-01-01", periods=2, tz="Asia/Tokyo")), "dates"),
        (pd.Series(["a", "b"], dtype="category"), "labels"),
        (pd.Series(pd.Categorical(["a", "b"], ordered=True)), "ranks"),
    ],
)
def test_types_of_parquet_columns_are_taken_at_their_word(series, stores):
    assert find_type(series).stores == stores
    assert find_type(convert(series, find_type(series))).stores == stores


def test_missing_cells_become_missing_values_of_every_type():
    for cells, stores in (
        (["1", "?", "2"], "numbers"),
        (["yes", " ", "no"], "booleans"),
        (["2024-01-31", "NA", "2024-02-01"], "dates"),
        (["x", "null", "y"], "labels"),
    ):
        converted = convert(column(*cells), ColumnType(stores))
        assert converted.isna().tolist() == [False, True, False]
        assert find_type(converted).stores == stores


def test_truth_values_are_numbers_where_numbers_are_wanted():
    assert convert(column("yes", "no"), ColumnType("numbers")).tolist() == [1.0, 0.0]
    assert convert(pd.Series([True, False]), ColumnType("numbers")).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["No", "Yes", "NA", "No"], ["No", "Yes", None, "No"]),
        (["FALSE", "TRUE", "", "TRUE"], ["FALSE", "TRUE", None, "TRUE"]),
        (["n", "n", "y", "N"], ["n", "n", "y", "n"]),
    ],
)
@pytest.mark.parametrize("stores", ["booleans", "numbers"])
def test_truth_values_are_shown_in_the_words_of_the_file(cells, words, stores):
    source = column(*cells).to_frame()
    typed = convert(source["c"], ColumnType(stores)).to_frame()
    shown = in_own_words(typed, source)["c"]
    assert [None if pd.isna(word) else word for word in shown] == words


@pytest.mark.parametrize("values", [["a", "b"], [0.0, 0.5]])
def test_columns_that_hold_no_truth_values_are_shown_as_they_are(values):
    typed = pd.DataFrame({"c": values})
    assert in_own_words(typed, column("No", "Yes").to_frame()) is typed


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["31.12.2024", "1.2.2025"], ["2024-12-31", "2025-02-01"]),
        (["01.02.2024", "03.04.2024"], ["2024-02-01", "2024-04-03"]),
        (["31/12/2024", "01/02/2024"], ["2024-12-31", "2024-02-01"]),
        (["12/31/2024", "01/02/2024"], ["2024-12-31", "2024-01-02"]),
        (["05-05-2024", "06-06-2024"], ["2024-05-05", "2024-06-06"]),
        (["2024/12/31", "2024/02/01"], ["2024-12-31", "2024-02-01"]),
        (["31.12.2024 14:30", "1.2.2025 09:00:30"], ["2024-12-31 14:30", "2025-02-01 09:00:30"]),
    ],
)
def test_dates_are_read_where_day_and_month_are_clear(cells, days):
    assert find_type(column(*cells)).stores == "dates"
    read = convert(column(*cells), ColumnType("dates"))
    assert read.tolist() == pd.to_datetime(days, format="ISO8601").tolist()


@pytest.mark.parametrize("cells", [["01/02/2024", "03/04/2024"], ["1-2-2024", "2-1-2024"]])
def test_dates_in_which_day_and_month_may_be_swapped_are_refused(cells):
    assert find_type(column(*cells)).stores == "labels"
    with pytest.raises(CommandError, match=rf"{cells[0]}.* could be day.* or month.*2024-12-31"):
        convert(column(*cells), ColumnType("dates"))


@pytest.mark.parametrize("wrong", ["31.02.2024", "2024-12-31", "soon"])
def test_the_date_that_differs_from_the_others_is_named(wrong):
    with pytest.raises(
        CommandError, match=rf"day\.month\.year, in every row, got '{wrong}' in row 3"
    ):
        convert(column("31.12.2024", "1.2.2025", wrong), ColumnType("dates"))


def test_times_are_compared_in_one_zone():
    times = convert(column("2024-01-01T12:00+02:00", "2024-01-01T10:00Z"), ColumnType("dates"))
    assert times[0] == times[1]


@pytest.mark.parametrize(
    ("cells", "kind", "wrong"),
    [
        (["1", "one"], ColumnType("numbers"), "one"),
        (["1", "1e999"], ColumnType("numbers"), "1e999"),
        (["2024-01-01", "2024-13-01"], ColumnType("dates"), "2024-13-01"),
        (["yes", "perhaps"], ColumnType("booleans"), "perhaps"),
        (["low", "lower"], ColumnType("ranks", ("low", "high")), "lower"),
    ],
)
def test_a_cell_of_another_type_is_named_with_its_column_and_row(cells, kind, wrong):
    with pytest.raises(CommandError, match=rf"column 'c' .* got '{wrong}' in row 2"):
        convert(column(*cells), kind)


def test_only_what_is_written_as_missing_is_missing():
    np.testing.assert_array_equal(
        is_missing(column("", " NA ", "none", "0", "-")), [True, True, False, False, False]
    )
