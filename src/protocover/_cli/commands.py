"""The entry point of the command line: the commands and their exit codes.

Each command is in a module that is imported when it runs, so that ``--help``, ``--version`` and
usage errors do not wait for scientific packages.
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
from .options import (
    add_cover_options,
    add_features,
    add_fit_options,
    add_image_reading,
    add_reading,
)

_SUCCESS = 0
_BAD_INPUT = 1
_USAGE = 2  # as argparse
_INTERRUPTED = 130  # as shells report a process that ended by Ctrl-C
# Raised by the library and the system with a message for the user.
_EXPECTED = (ValueError, OSError, ImportError, MemoryError)
_MODULES = {"cover": "fit", "demo": "fit"}

_EXAMPLES = """\
examples:
  protocover check patients.csv --target diagnosis
  protocover fit patients.csv --target diagnosis --id patient
  protocover fit photos/                  (with one folder of images per class)
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

The output folder contains report.html, prototypes.csv, predictions.csv,
suspects.csv, summary.json and the model for `protocover predict`.
"""
_COVER_EXAMPLES = """\
examples:
  protocover cover products.csv --max-representatives 50
  protocover cover tests.csv --coverage 0.95 --candidate-cost seconds --id test
  protocover cover photos/ --eps 4
  protocover cover embeddings.npy --metric cosine --eps 0.2
  protocover cover pairs.parquet --pairs --eps 0.2 --coverage 0.95

The output folder contains report.html, representatives.csv, assignments.csv,
summary.json and the model for `protocover predict`. For embeddings and pairs it
contains representatives.parquet, assignment.parquet and summary.json.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The arguments after ``protocover``; None for those of the process.

    Returns
    -------
    int
        0 on success, 1 for unusable data, 2 for wrong usage, 130 after Ctrl-C. Usage errors
        found by the parser, ``--help`` and ``--version`` raise SystemExit, as usual.

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
            name = _MODULES.get(options.command, options.command)
            getattr(import_module(f".{name}", __package__), f"run_{options.command}")(
                options, console
            )

    return run_and_report(run, console, debug=options.debug)


def run_and_report(run: Callable[[], None], console: Console, *, debug: bool) -> int:
    """Run a command, print an error as one line, and return the exit code."""
    try:
        run()
    except KeyboardInterrupt:
        console.fail("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        discard(sys.stdout)  # the reader, such as head, has closed the pipe
        return _BAD_INPUT
    except Exception as error:
        if debug:
            traceback.print_exc()
        console.fail(_describe(error, debug=debug))
        return _USAGE if isinstance(error, UsageError) else _BAD_INPUT
    return _SUCCESS


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
    hint = "" if debug else "; run again with --debug to see where"
    return f"unexpected {type(error).__name__}: {text}{hint}"


def _build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="protocover",
        description="Choose a few real cases (prototypes) that represent your data.",
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
        about = "show a traceback if an error occurs"
        group.add_argument("--debug", action="store_true", help=about)
    return parser


def _add_check(commands: Any) -> Any:
    """Add ``protocover check``."""
    parser = _add_command(
        commands,
        "check",
        usage="protocover check DATA --target NAME [options]",
        help="check a table before fitting",
        description="Show the type of each column, and problems that could silently change the\n"
        "result, each with the option of `protocover fit` that fixes it.",
    )
    _add_path(parser, "data", "a CSV, TSV, Parquet or Excel file")
    add_features(parser.add_argument_group("tables"))
    return parser


def _add_fit(commands: Any) -> Any:
    """Add ``protocover fit``."""
    parser = _add_command(
        commands,
        "fit",
        usage="protocover fit DATA --target NAME [options]\n"
        "       protocover fit FOLDER-OF-IMAGES [options]",
        help="choose prototypes from a table or a folder of images",
        description="Choose prototypes from a table (CSV, TSV, Parquet, Excel) or a folder of "
        "images,\nand write them, a model and a report to a folder.",
        epilog=_FIT_EXAMPLES,
    )
    _add_path(
        parser, "data", "a CSV, TSV, Parquet or Excel file, or a folder with one folder per class"
    )
    _add_output(parser, "DIR", "output folder (default: the name of DATA with -protocover)")
    add_fit_options(parser)
    return parser


def _add_cover(commands: Any) -> Any:
    """Add ``protocover cover``."""
    parser = _add_command(
        commands,
        "cover",
        usage="protocover cover DATA\n"
        "       [--max-representatives N | --coverage FRACTION | --cost CASES] [options]",
        help="choose representative cases without classes",
        description="Choose a few representative cases from a table (CSV, TSV, Parquet, Excel) "
        "or a\nfolder of images, and write them, a model and a report to a folder.",
        epilog=_COVER_EXAMPLES,
    )
    _add_path(
        parser,
        "data",
        "a CSV, TSV, Parquet or Excel file, embeddings (.npy), pairs, or a folder of images",
    )
    _add_output(parser, "DIR", "output folder (default: the name of DATA with -protocover)")
    add_cover_options(parser)
    return parser


def _add_predict(commands: Any) -> Any:
    """Add ``protocover predict``."""
    parser = _add_command(
        commands,
        "predict",
        usage="protocover predict MODEL DATA [options]",
        help="classify new cases and report the deciding prototype",
        description="Classify new cases, and report the deciding prototype and the margin.",
    )
    _add_model_and_data(
        parser,
        data="new cases: a table with the columns of the model, or images",
        target="column of known classes, to compute the accuracy",
        identifier="column that names the rows",
    )
    _add_output(parser, "FILE", "CSV output file (default: standard output)")
    about = "also write a page that compares each case with the deciding prototype"
    parser.add_argument("--report", type=Path, metavar="FILE", help=about)
    _add_reading(parser)
    return parser


def _add_report(commands: Any) -> Any:
    """Add ``protocover report``."""
    parser = _add_command(
        commands,
        "report",
        usage="protocover report MODEL DATA [options]",
        help="regenerate the report of a saved model",
        description="Regenerate the report of a saved model from the data it was fitted on.",
    )
    _add_model_and_data(
        parser,
        data="the data that the model was fitted on",
        target="column of the class (default: as in fit)",
        identifier="column that names the rows (default: as in fit)",
    )
    parser.add_argument("--title", help="title of the report")
    _add_output(parser, "FILE", "output file (default: report.html in the folder of the model)")
    _add_reading(parser)
    return parser


def _add_demo(commands: Any) -> Any:
    """Add ``protocover demo``."""
    about = "choose prototypes of the handwritten digits included in scikit-learn"
    parser = _add_command(commands, "demo", help=about, description=about.capitalize())
    about = "output folder (default: %(default)s)"
    folder = Path("demo-output")
    parser.add_argument("--output", type=Path, default=folder, metavar="DIR", help=about)
    return parser


def _add_command(commands: Any, name: str, **words: Any) -> Any:
    """Add a command whose help keeps its line breaks."""
    return commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, **words)


def _add_path(parser: Any, name: str, about: str) -> None:
    """Add a file or folder as a positional argument."""
    parser.add_argument(name, type=Path, metavar=name.upper(), help=about)


def _add_model_and_data(parser: Any, *, data: str, target: str, identifier: str) -> None:
    """Add the arguments of commands that use a fitted model."""
    _add_path(parser, "model", "a model file, or the output folder of fit")
    _add_path(parser, "data", data)
    parser.add_argument("--target", metavar="NAME", help=target)
    parser.add_argument("--id", metavar="NAME", help=identifier)


def _add_output(parser: Any, metavar: str, about: str) -> None:
    """Add where to write to."""
    parser.add_argument("-o", "--output", type=Path, metavar=metavar, help=about)
    parser.add_argument("--force", action="store_true", help="replace existing output")


def _add_reading(parser: Any) -> None:
    """Add how a table or images for a fitted model are read."""
    group = parser.add_argument_group("reading")
    add_reading(group)
    add_image_reading(group)
