"""The entry to the command line: the commands, and how each ends.

What a command does is in the module of its name, which is imported when it is to run: help, the
version and wrong usage are told without waiting for scientific packages.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import __version__
from .console import CommandError, Console, UsageError, check_packages, discard
from .cover_options import add_cover
from .options import (
    add_columns,
    add_features,
    add_images,
    add_method,
    add_reading,
    add_search,
    add_skipping,
    add_vectors,
)

_FINE = 0
_BAD_INPUT = 1
_USAGE = 2  # argparse's, too
_INTERRUPTED = 130  # as shells report a process that ended by Ctrl-C
# What the library and the system raise with a message meant for the user.
_EXPECTED = (ValueError, OSError, ImportError, MemoryError)

_EXAMPLES = """\
examples:
  protocover check patients.csv --target diagnosis
  protocover fit patients.csv --target diagnosis --id patient
  protocover fit photos/                  (a folder of images for each class)
  protocover cover texts.csv --max-representatives 50
  protocover predict patients-protocover new.csv > answers.csv
  protocover predict patients-protocover new.csv --report why.html
  protocover report patients-protocover patients.csv
"""
_FIT_EXAMPLES = """\
examples:
  protocover fit wine.csv --target class
  protocover fit heart.csv --target class --feature-type chest_pain=categorical
  protocover fit heart.csv --target class --max-prototypes 10 --solver exact
  protocover fit digits/ --image-size 16 --metric tangent

The folder that is written holds report.html to look at, prototypes.csv,
predictions.csv, suspects.csv, summary.json and the model for `predict`.
"""
_COVER_EXAMPLES = """\
examples:
  protocover cover products.csv --max-representatives 50
  protocover cover tests.csv --coverage 0.95 --candidate-cost seconds --id test
  protocover cover photos/ --eps 4

The folder that is written holds report.html to look at, representatives.csv,
assignments.csv, summary.json and the model for `predict`.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The words after ``protocover``; None for those of the process.

    Returns
    -------
    int
        0 if all went well, 1 for data that cannot be used, 2 for wrong usage, 130 after
        Ctrl-C. Wrong usage that the parser finds, ``--help`` and ``--version`` raise
        SystemExit, as usual.

    Examples
    --------
    >>> from protocover._cli import main
    >>> main(["fit", "there/is/no/such.csv", "--target", "class", "--quiet"])
    1
    """
    options = _build_parser().parse_args(arguments)
    console = Console(options.quiet)

    def run() -> None:
        check_packages()
        with console.library_warnings():
            command = import_module(f".{options.command}", __package__)
            getattr(command, f"run_{options.command}")(options, console)

    return run_and_report(run, console, debug=options.debug)


def run_and_report(run: Callable[[], None], console: Console, *, debug: bool) -> int:
    """Run a command and return its exit code, its errors told in one line."""
    try:
        run()
    except KeyboardInterrupt:
        console.fail("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        discard(sys.stdout)  # the reader, such as head, has seen enough
        return _BAD_INPUT
    except Exception as error:
        if debug:
            traceback.print_exc()
        console.fail(_describe(error, debug=debug))
        return _USAGE if isinstance(error, UsageError) else _BAD_INPUT
    return _FINE


def _describe(error: Exception, *, debug: bool) -> str:
    """Return one line about an error."""
    text = " ".join(str(error).split())
    if isinstance(error, CommandError):
        return text
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "out of memory; use fewer rows, or a smaller --eps or --image-size"
    if isinstance(error, _EXPECTED):
        return text or type(error).__name__
    hint = "" if debug else "; --debug shows where"
    return f"unexpected {type(error).__name__}: {text}{hint}"


def _build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="protocover",
        description="Choose a few real cases that sum up labelled data: prototypes, by set cover.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"protocover {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands"
    )
    for add in (_add_check, _add_fit, _add_cover, _add_predict, _add_report, _add_demo):
        group = add(commands).add_argument_group("messages")
        group.add_argument("-q", "--quiet", action="store_true", help="print errors only")
        about = "show where in the code an error arose"
        group.add_argument("--debug", action="store_true", help=about)
    return parser


def _add_demo(commands: Any) -> Any:
    """Add ``protocover demo``."""
    about = "choose prototypes of the handwritten digits bundled with scikit-learn"
    parser = _add_command(commands, "demo", help=about, description=about.capitalize())
    about = "folder to write to (default: %(default)s)"
    folder = Path("demo-output")
    parser.add_argument("--output", type=Path, default=folder, metavar="DIR", help=about)
    return parser


def _add_check(commands: Any) -> Any:
    """Add ``protocover check``."""
    parser = _add_command(
        commands,
        "check",
        usage="protocover check DATA --target NAME [options]",
        help="look at a table before a fit",
        description="Say what each column of a table is and why, and what in it would "
        "change an\nanswer without a word, each with the option of `fit` that settles it.",
    )
    about = "a CSV, TSV, Parquet or Excel file"
    parser.add_argument("data", type=Path, metavar="DATA", help=about)
    add_features(parser.add_argument_group("tables"))
    return parser


def _add_fit(commands: Any) -> Any:
    """Add ``protocover fit``."""
    parser = _add_command(
        commands,
        "fit",
        usage="protocover fit DATA --target NAME [options]\n"
        "       protocover fit FOLDER-OF-IMAGES [options]",
        help="choose prototypes of a table or of a folder of images",
        description="Choose prototypes of a table (CSV, TSV, Parquet, Excel) or of a folder of "
        "images\nand write them, a model and a report into a folder.",
        epilog=_FIT_EXAMPLES,
    )
    about = "a CSV, TSV, Parquet or Excel file, or a folder with a folder of images for each class"
    parser.add_argument("data", type=Path, metavar="DATA", help=about)
    _add_output(parser, "DIR", "folder to write to (default: DATA's name and -protocover)")
    for add in (add_columns, add_images, add_method, add_search):
        add(parser)
    return parser


def _add_cover(commands: Any) -> Any:
    """Add ``protocover cover``."""
    parser = _add_command(
        commands,
        "cover",
        usage="protocover cover DATA [--max-representatives N | --coverage SHARE | --cost CASES]\n"
        "       [options]",
        help="choose a few cases that stand for all, without classes",
        description="Choose a few cases of a table (CSV, TSV, Parquet) or of a folder of images "
        "that\nstand for all, and write them, a model and a report into a folder.",
        epilog=_COVER_EXAMPLES,
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a CSV, TSV or Parquet file, or a folder of images"
    )
    _add_output(parser, "DIR", "folder to write to (default: DATA's name and -protocover)")
    add_cover(parser)
    return parser


def _add_predict(commands: Any) -> Any:
    """Add ``protocover predict``."""
    parser = _add_command(
        commands,
        "predict",
        usage="protocover predict MODEL DATA [options]",
        help="classify new cases, and tell by which prototype",
        description="Classify new cases, and tell which prototype decided and how clearly.",
    )
    _add_model_and_data(
        parser,
        data="new cases: a table with the columns of the model, or images",
        target="column of known classes, to count errors",
        identifier="column that names the rows",
    )
    _add_output(parser, "FILE", "CSV file to write to (default: standard output)")
    about = "also write a page that shows each case beside the prototype that decided"
    parser.add_argument("--report", type=Path, metavar="FILE", help=about)
    _add_reading(parser)
    return parser


def _add_report(commands: Any) -> Any:
    """Add ``protocover report``."""
    parser = _add_command(
        commands,
        "report",
        usage="protocover report MODEL DATA [options]",
        help="make the report of a model anew",
        description="Make the report of a model anew, from the data it was fitted on.",
    )
    _add_model_and_data(
        parser,
        data="what the model was fitted on",
        target="column of the class (default: as in fit)",
        identifier="column that names the rows (default: as in fit)",
    )
    parser.add_argument("--title", help="heading of the report")
    _add_output(parser, "FILE", "file to write to (default: report.html in the output of fit)")
    _add_reading(parser)
    return parser


def _add_command(commands: Any, name: str, **words: Any) -> Any:
    """Add a command whose help keeps its line breaks; ``run_NAME`` of its module runs it."""
    return commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, **words)


def _add_model_and_data(parser: Any, *, data: str, target: str, identifier: str) -> None:
    """Add what commands on a fitted model are about."""
    about = "a model file, or the folder written by fit"
    parser.add_argument("model", type=Path, metavar="MODEL", help=about)
    parser.add_argument("data", type=Path, metavar="DATA", help=data)
    parser.add_argument("--target", metavar="NAME", help=target)
    parser.add_argument("--id", metavar="NAME", help=identifier)


def _add_output(parser: Any, metavar: str, about: str) -> None:
    """Add where to write to."""
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, help=about)
    parser.add_argument("--force", action="store_true", help="replace an earlier output")


def _add_reading(parser: Any) -> None:
    """Add how a table or images for a fitted model are read."""
    group = parser.add_argument_group("reading")
    add_reading(group)
    add_skipping(group)
    add_vectors(group)
