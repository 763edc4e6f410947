"""The command line: ``protocover demo | fit | predict | report``."""

from __future__ import annotations

from collections.abc import Sequence

from .console import Console
from .errors import ending_well
from .packages import check_packages
from .parser import build_parser

__all__ = ["main"]


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
    options = build_parser().parse_args(arguments)
    console = Console(options.quiet)

    def run() -> None:
        check_packages()
        with console.hearing():
            options.run(options, console)

    return ending_well(run, console, debug=options.debug)
