"""``protocover check``: what the columns of a table are, and what to settle before a fit."""

from __future__ import annotations

from argparse import Namespace

from .cases import check_table
from .console import CommandError, Console, count_things

__all__ = ["run_check"]


def run_check(options: Namespace, console: Console) -> None:
    """Read a table, print what was found, and fail if something must be settled."""
    if options.data.is_dir():
        raise CommandError(f"{options.data} is a folder; a check is for tables")
    frame, checked = check_table(options.data, options, console)
    console.say(f"{options.data}: {len(frame)} rows\n")
    console.say(repr(checked))
    n = len(checked.dangers)
    if n:
        raise CommandError(
            f"{count_things(n, 'thing', 'things')} to settle before a fit, marked by ! above"
        )
    console.say("\nReady for `protocover fit`.")
