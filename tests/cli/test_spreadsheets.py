"""Spreadsheets are read, and what is written opens in them right and is read back the same."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover._cli import main
from protocover._cli.console import CommandError, Console
from protocover._cli.tables import Dialect, csv_bytes, disarm, read_table, rearm


def read(path, **how):
    return read_table(Path(path), console=Console(), **how)


def save_book(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl, to write, is not installed")
    pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_cells_of_a_spreadsheet_are_read_as_text_would_have_them():
    day = datetime.datetime(2024, 12, 31)
    save_book(
        "t.xlsx",
        s=[["a", "b", "c", "d", "e"], [1, 2.5, "x", True, day], [None, -3, "", False, None]],
    )
    frame = read("t.xlsx")
    assert list(frame.columns) == list("abcde")
    assert frame.to_numpy().tolist() == [
        ["1", "2.5", "x", "true", "2024-12-31"],
        ["", "-3", "", "false", ""],
    ]


def test_the_first_sheet_with_cells_is_read_or_the_one_named(capsys):
    save_book("t.xlsx", notes=[], one=[["a"], [1]], two=[["b"], [2]])
    assert list(read("t.xlsx").columns) == ["a"]
    assert "has the sheets 'one', 'two'; reading 'one'" in capsys.readouterr().err
    assert list(read("t.xlsx", sheet="two").columns) == ["b"]
    with pytest.raises(CommandError, match=r"--sheet 'three' is not in t\.xlsx; the sheets"):
        read("t.xlsx", sheet="three")
    Path("t.csv").write_text("a\n1\n")
    with pytest.raises(CommandError, match="--sheet is only valid for spreadsheets"):
        read("t.csv", sheet="one")


def test_a_spreadsheet_is_fitted_and_asked(flowers, fit):
    flowers = flowers.round(3)  # numbers that a spreadsheet has exactly
    rows = [list(flowers.columns), *flowers.to_numpy().tolist()]
    save_book("t.xlsx", data=rows)
    flowers.to_csv("t.csv", index=False)
    for name in ("t.xlsx", "t.csv"):
        assert fit(name, "--target", "kind", "-o", f"of-{name}") == 0
    one, other = (Path(f"of-{name}/prototypes.csv").read_text() for name in ("t.xlsx", "t.csv"))
    assert one == other
    assert main(["predict", "of-t.csv", "t.xlsx", "--target", "kind", "--quiet"]) == 0


@pytest.mark.parametrize(
    "encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-32"]
)
def test_wide_encodings_are_found_with_and_without_a_mark(encoding):
    Path("t.csv").write_bytes("größe,b\ncafé,2\nthé,3\n".encode(encoding))
    assert read("t.csv")["größe"].tolist() == ["café", "thé"]


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_a_line_that_tells_excel_the_separator_is_no_row(mark):
    Path("t.csv").write_text(f"sep={mark}\na,b{mark}c\n1,5{mark}2\n", newline="")
    frame = read("t.csv")
    assert list(frame.columns) == ["a,b", "c"]
    assert frame["a,b"].tolist() == ["1,5"]


HOSTILE = [
    "=1+1",
    "\uff1d1+1",
    "\uff0bcmd",
    "\uff0d2+3",
    "'\uff20sum",
    "=\n1+1",
    "+cmd",
    "-2+3",
    "@sum",
    "'=1",
    "''@x",
    "'quoted'",
    "=",
    "-",
    "-5",
    "+3,5",
    "a=b",
]


@pytest.mark.parametrize("cell", HOSTILE)
def test_reading_undoes_what_makes_cells_harmless(cell):
    assert rearm(disarm(cell)) == cell


def test_what_a_spreadsheet_would_compute_is_text_and_numbers_stay_numbers():
    assert [disarm(cell) for cell in ("=1+1", "-2+3", "@a", "-5", "1e-3", "-", "x")] == [
        "'=1+1",
        "'-2+3",
        "'@a",
        "-5",
        "1e-3",
        "-",
        "x",
    ]


@pytest.mark.parametrize(
    "dialect", [Dialect(), Dialect(";", ","), Dialect("\t", "."), Dialect("|", ",")]
)
def test_tables_are_read_back_as_they_were(dialect):
    table = pd.DataFrame({"größe": HOSTILE, "=x": np.arange(len(HOSTILE)) / 4})
    Path("t.csv").write_bytes(csv_bytes(table, dialect=dialect))
    frame = read("t.csv")
    assert list(frame.columns) == ["größe", "=x"]
    assert frame["größe"].tolist() == HOSTILE
    assert [float(c.replace(",", ".")) for c in frame["=x"]] == table["=x"].tolist()


def test_output_is_written_as_the_input_is(flowers, fit):
    flowers["kind"] = flowers["kind"].replace("rose", "rösé")
    flowers.to_csv("t.csv", index=False, sep=";", decimal=",")
    assert fit("t.csv", "--target", "kind", "-o", "out", "--eps", "auto") == 0
    content = Path("out/predictions.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    answers = pd.read_csv("out/predictions.csv", sep=";", decimal=",")
    assert answers["distance"].dtype == float
    cells = pd.read_csv("out/prototypes.csv", sep=";", decimal=",")
    assert cells["length"].dtype == float
    assert main(["predict", "out", "t.csv", "-o", "new.csv"]) == 0
    again = pd.read_csv("new.csv", sep=";", decimal=",")
    np.testing.assert_array_equal(again["distance"], answers["distance"])


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_return_within_a_cell_neither_ends_a_row_nor_frees_a_formula(separator, tmp_path):
    cells = ["a\r=1+1", "\r=b", "c\r\nd", "e"]
    path = tmp_path / "t.csv"
    table = pd.DataFrame({"x": cells, "n": [1.5] * 4})
    path.write_bytes(csv_bytes(table, dialect=Dialect(separator)))
    assert read_table(path, console=Console())["x"].tolist() == cells
