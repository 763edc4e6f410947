"""What to do about a finding, in the words of the command line or of Python."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

_KINDS = {"numbers": "numeric", "labels": "categorical"}


@dataclass(frozen=True)
class Remedies:
    """The words for each way to settle a finding.

    Each takes the name of a column and, where there is one, a value: the type to keep a column
    as, "numbers" or "labels", or the text of a missing value. `leaves_out` says whether columns
    that cannot help are left out of the distance by themselves.
    """

    drop: Callable[[str], str]
    name_rows: Callable[[str], str]
    keep: Callable[[str, str], str]
    read_numbers: Callable[[str], str]
    take_as_missing: Callable[[str, str], str]
    decimal: Callable[[str], str]
    regroup: str
    given: str
    all_texts_differ: str
    most_texts_differ: Callable[[str], str]
    leaves_out: bool


def _option(option: str, name: str, value: str = "") -> str:
    """Return an option as it is typed in a shell."""
    return f"{option} {shlex.quote(f'{name}={value}' if value else name)}"


COMMAND_LINE = Remedies(
    drop=lambda name: f"use {_option('--drop', name)}",
    name_rows=lambda name: f"use {_option('--id', name)} or {_option('--drop', name)}",
    keep=lambda name, stores: f"keep it with {_option('--feature-type', name, _KINDS[stores])}",
    read_numbers=lambda name: (
        f"read them as numbers with {_option('--feature-type', name, 'numeric')}"
    ),
    take_as_missing=lambda name, value: shlex.quote(f"--missing={name}={value}"),
    decimal=lambda mark: f"--decimal {mark}",
    regroup="group its values into classes, or choose another column with --target",
    given="as --feature-type says",
    all_texts_differ="another text in every row; --id names the rows by it",
    most_texts_differ=lambda name: f"; {_option('--feature-type', name, 'categorical')} keeps it",
    leaves_out=True,
)
PYTHON = Remedies(
    drop=lambda _: "drop the column",
    name_rows=lambda _: "drop the column, or make it the index",
    keep=lambda name, stores: f"keep it with feature_types={{{name!r}: {stores!r}}}",
    read_numbers=lambda _: "convert them to numbers",
    take_as_missing=lambda name, value: f"missing={{{name!r}: [{value!r}]}}",
    decimal=lambda mark: f"decimal={mark!r}",
    regroup="group its values into classes, for example with pandas.cut",
    given="as feature_types says",
    all_texts_differ="another text in every row",
    most_texts_differ=lambda _: "",
    leaves_out=False,
)
