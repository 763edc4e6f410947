"""``protocover check``: what the columns of a table are, and what to settle before a fit."""

from __future__ import annotations

from argparse import Namespace

from .cases import check_table, make_labels
from .columns import NO_COLUMNS
from .console import CommandError, Console, count_things


def run_check(options: Namespace, console: Console) -> None:
    """Read a table, print what was found, and fail if something keeps it from a fit."""
    if options.data.is_dir():
        raise CommandError(f"{options.data} is a folder; a check is for tables")
    frame, checked = check_table(options.data, options, console)
    console.say(f"{options.data}: {count_things(len(frame), 'row', 'rows')}\n")
    console.say(repr(checked))
    make_labels(frame[options.target])
    n = len(checked.dangers)
    if n:
        raise CommandError(
            f"{count_things(n, 'thing', 'things')} to settle before a fit, marked by ! above"
        )
    if all(facts.useless for facts in checked.columns):
        raise CommandError(f"{NO_COLUMNS} that differ between rows")
    console.say("\nReady for `protocover fit`.")
