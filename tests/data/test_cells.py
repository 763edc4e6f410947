"""What the text of cells is taken for: never a guess where it can be read in two ways."""

import pytest

from protocover.data._cells import (
    Reading,
    decimal_mark,
    fitting_notations,
    read_cells,
    split_unit,
)


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (["1.5", "-2", "3e4", ".5"], None, [1.5, -2.0, 3e4, 0.5]),
        (["1,5", "2"], None, [1.5, 2.0]),
        (["0,125", "1,675"], None, [0.125, 1.675]),
        (["1,675", "750.5"], None, [1675.0, 750.5]),
        (["1,675,000", "750"], None, [1675000.0, 750.0]),
        (["1.675,5", "750"], None, [1675.5, 750.0]),
        (["1.675.000", "750"], None, [1675000.0, 750.0]),
        (["1 675", "12 345,5"], None, [1675.0, 12345.5]),
        (["1\u00a0675", "2\u202f000"], None, [1675.0, 2000.0]),
        (["1'675", "750"], None, [1675.0, 750.0]),
        (["1,675", "750"], ".", [1675.0, 750.0]),
        (["1,675", "750"], ",", [1.675, 750.0]),
        (["1.675", "750"], ",", [1675.0, 750.0]),
        (["1.675", "750"], None, [1.675, 750.0]),
    ],
)
def test_numbers_are_read_in_the_one_notation_that_fits(cells, decimal, numbers):
    (notation,) = fitting_notations(cells, decimal)
    assert [float(notation.plain(cell)) for cell in cells] == numbers


def test_commas_that_may_be_either_are_unclear():
    assert len(fitting_notations(["1,675", "750"])) == 2
    reading = read_cells(["1,675", "750"])
    assert reading.stores == "numbers"
    assert reading.unclear
    assert not read_cells(["1,675", "750"], decimal=".").unclear


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1.5", "2"], "."),
        (["1,5", "2"], ","),
        (["1,675", "750"], None),
        (["1.675", "2.000"], None),
        (["1", "2"], None),
        (["1,675.5", "2"], "."),
        (["a.b", "c"], None),
    ],
)
def test_only_what_leaves_no_doubt_tells_the_decimal_mark(cells, mark):
    assert decimal_mark(cells) == mark


@pytest.mark.parametrize(
    ("cells", "stores", "why"),
    [
        ([], "labels", "no values"),
        (["00713", "80331"], "labels", "codes such as 00713"),
        (["yes", "No"], "booleans", "all cells are No or yes"),
        (["2024-01-31"], "dates", "dates"),
        (["31.12.2024", "1.1.2025"], "dates", "day.month.year"),
        (["31/12/2024", "1/1/25"], "labels", "dates not written as"),
        (["11/12/2024", "1/1/2025"], "labels", "ambiguous day and month"),
        (["1,290", "1,000.5"], "numbers", "thousands separators (1,290 is 1290)"),
        (["1 290", "750"], "numbers", "thousands separators (1 290 is 1290)"),
        (["1,5", "2"], "numbers", "decimal commas (1,5 is 1.5)"),
        (["1.5", "2"], "numbers", "all cells are numbers"),
        (["1. Yes", "2. No"], "labels", "cells are text"),
        (["1 Yes", "2 No"], "labels", "cells are text"),
        (["a", "b"], "labels", "cells are text"),
        (["1.5", "2,5"], "labels", "more than one notation"),
    ],
)
def test_every_reading_says_why(cells, stores, why):
    reading = read_cells(cells)
    assert reading.stores == stores
    assert why in reading.why


@pytest.mark.parametrize("odd", ["-", "<3000", "unknown", "inf", "#DIV/0!", "3000?"])
def test_one_odd_cell_among_numbers_is_named(odd):
    assert read_cells(["3750", "3800", "4000", odd]).odd == (odd,)


def test_half_text_is_text():
    assert read_cells(["1", "a", "b"]).odd == ()


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [("3750 g", "3750", "g"), ("12%", "12", "%"), ("1,5 km/h", "1,5", "km/h"), ("7", "7", "")],
)
def test_units_come_after_numbers(cell, number, unit):
    assert split_unit(cell) == (number, unit)


def test_one_unit_is_a_unit_and_two_are_none():
    assert read_cells(["3750 g", "3800 g"]).unit == "g"
    assert read_cells(["3750 g", "4000"]).unit == "g"
    assert read_cells(["3750 g", "4 kg"]).unit == ""


@pytest.mark.parametrize(
    "cells",
    [
        ["83", "(25)", "(60)", "21"],
        ["$7.50", "$50.50"],
        ["7,50 €", "12,00 €"],
        ["$1,671", "$1,326"],
        ["11 kg", "300 g"],
        ["1,00,563", "7"],
        ["0.94", "\u22121.02", "\u22123"],
        ["25-", "12-", "3"],
        ["3k", "37k", "8k", "2895"],
        ["50%", "12%", "0.5"],
    ],
)
def test_numbers_in_a_form_that_is_not_read_are_no_mere_text(cells):
    reading = read_cells(cells)
    assert (reading.stores, reading.why) == ("labels", "numbers in a form that cannot be read")
    assert reading.odd


@pytest.mark.parametrize(
    "cells", [["1a", "1b", "2a"], ["12 Main", "3 High", "4 Low", "9 New"], ["18:41", "9:30"]]
)
def test_codes_and_addresses_are_text(cells):
    assert read_cells(cells) == Reading("labels", "cells are text")


def test_dates_in_two_ways_to_write_them_are_named():
    reading = read_cells(["2024-01-04", "02/01/2024"])
    assert reading.why.startswith("dates")
    assert reading.odd == ("02/01/2024",)


@pytest.mark.parametrize("cell", ["3k", "50%", "3 M"])
def test_a_unit_that_multiplies_is_none_where_it_is_left_out(cell):
    assert read_cells([cell, "2895"]).unit == ""
    assert read_cells([cell, cell.replace("3", "4").replace("5", "6")]).unit


def test_points_that_may_set_thousands_apart_are_named_until_the_mark_is_known():
    assert read_cells(["902", "1.763", "-2.956"]).odd == ("1.763", "-2.956")
    assert read_cells(["902", "1.763"], decimal=".").odd == ()
    assert read_cells(["902", "1.763"], decimal=",").notation.plain("1.763") == "1763"


@pytest.mark.parametrize(
    "cells", [["1.763", "2.956"], ["902", "0.763"], ["902", "1.76"], ["1902", "1.763"], ["7", "8"]]
)
def test_points_that_cannot_set_thousands_apart_are_decimal(cells):
    assert read_cells(cells).odd == ()
