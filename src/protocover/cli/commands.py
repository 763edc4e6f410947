"""The entry to the command line, and the words it understands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .console import Console
from .demo import run_demo
from .errors import check_packages, run_and_report
from .fit import run_fit
from .options import add_columns, add_images, add_method, add_reading, add_search, add_skipping
from .predict import run_predict
from .report import run_report

__all__ = ["main"]

_EXAMPLES = """\
examples:
  protocover fit patients.csv --target diagnosis --id patient
  protocover fit photos/                  (a folder of images for each class)
  protocover predict patients-protocover new.csv > answers.csv
  protocover report patients-protocover patients.csv
"""
_FIT_EXAMPLES = """\
examples:
  protocover fit wine.csv --target class
  protocover fit heart.csv --target class --kind chest_pain=categorical
  protocover fit heart.csv --target class --n-prototypes 10 --solver exact
  protocover fit digits/ --image-size 16 --metric tangent

The folder that is written holds report.html to look at, prototypes.csv,
predictions.csv, suspects.csv, summary.json and the model for `predict`.
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
    >>> from protocover.cli import main
    >>> main(["fit", "there/is/no/such.csv", "--target", "class", "--quiet"])
    1
    """
    options = _build_parser().parse_args(arguments)
    console = Console(options.quiet)

    def run() -> None:
        check_packages()
        with console.library_warnings():
            options.run(options, console)

    return run_and_report(run, console, debug=options.debug)


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
    for add in (_add_fit, _add_predict, _add_report, _add_demo):
        _add_messages(add(commands))
    return parser


def _add_messages(parser: Any) -> None:
    """Add what all commands understand."""
    group = parser.add_argument_group("messages")
    group.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    group.add_argument(
        "--debug", action="store_true", help="show where in the code an error arose"
    )


def _add_command(commands: Any, name: str, **words: Any) -> Any:
    """Add a command whose help keeps its line breaks."""
    return commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, **words)


def _add_demo(commands: Any) -> Any:
    """Add ``protocover demo``."""
    about = "choose prototypes of the handwritten digits bundled with scikit-learn"
    parser = _add_command(commands, "demo", help=about, description=about.capitalize())
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        metavar="DIR",
        help="folder to write to (default: %(default)s)",
    )
    parser.set_defaults(run=run_demo)
    return parser


def _add_fit(commands: Any) -> Any:
    """Add ``protocover fit``."""
    parser = _add_command(
        commands,
        "fit",
        usage="protocover fit DATA --target NAME [options]\n"
        "       protocover fit FOLDER-OF-IMAGES [options]",
        help="choose prototypes of a table or of a folder of images",
        description="Choose prototypes of a table (CSV, TSV, Parquet) or of a folder of images, "
        "and\nwrite them, a model and a report into a folder.",
        epilog=_FIT_EXAMPLES,
    )
    parser.add_argument(
        "data",
        type=Path,
        metavar="DATA",
        help="a CSV, TSV or Parquet file, or a folder with a folder of images for each class",
    )
    _add_output(parser, "DIR", "folder to write to (default: DATA's name and -protocover)")
    add_columns(parser)
    add_images(parser)
    add_method(parser)
    add_search(parser)
    parser.set_defaults(run=run_fit)
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
    _add_model_and_data(parser, "new cases: a table with the columns of the model, or images")
    parser.add_argument(
        "--target", metavar="NAME", help="column of known classes, to count errors"
    )
    parser.add_argument("--id", metavar="NAME", help="column that names the rows")
    _add_output(parser, "FILE", "CSV file to write to (default: standard output)")
    group = parser.add_argument_group("reading")
    add_reading(group)
    add_skipping(group)
    parser.set_defaults(run=run_predict)
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
    _add_model_and_data(parser, "what the model was fitted on")
    parser.add_argument(
        "--target", metavar="NAME", help="column of the class (default: as in fit)"
    )
    parser.add_argument(
        "--id", metavar="NAME", help="column that names the rows (default: as in fit)"
    )
    parser.add_argument("--title", help="heading of the report")
    _add_output(parser, "FILE", "file to write to (default: report.html in the output of fit)")
    group = parser.add_argument_group("reading")
    add_reading(group)
    add_skipping(group)
    parser.set_defaults(run=run_report)
    return parser


def _add_model_and_data(parser: Any, data: str) -> None:
    """Add the two things that commands on a fitted model need."""
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="a model file, or the folder written by fit"
    )
    parser.add_argument("data", type=Path, metavar="DATA", help=data)


def _add_output(parser: Any, metavar: str, about: str) -> None:
    """Add where to write to."""
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, help=about)
    parser.add_argument("--force", action="store_true", help="replace an earlier output")
