"""What can go wrong, and how the command then ends: an exit code, and one clear line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module

from .console import Console

__all__ = [
    "BAD_INPUT",
    "FINE",
    "INTERRUPTED",
    "USAGE",
    "CommandError",
    "UsageError",
    "check_packages",
    "run_and_report",
]

FINE = 0
BAD_INPUT = 1
USAGE = 2  # argparse's, too
INTERRUPTED = 130  # as shells report a process that ended by Ctrl-C

_PACKAGES = ("pandas", "jinja2")
# What the library and the system raise with a message meant for the user.
_EXPECTED = (ValueError, OSError, ImportError, MemoryError)


class CommandError(Exception):
    """Input that the command cannot use; the message says which, why, and the way out."""


class UsageError(CommandError):
    """Options that do not go together, or with the input."""


def check_packages(*further: str) -> None:
    """Say what to install if an optional package that the command needs is missing."""
    for name in (*_PACKAGES, *further):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f'the command needs {name}, which is not installed: pip install "protocover[cli]"'
            ) from error


def run_and_report(run: Callable[[], None], console: Console, *, debug: bool) -> int:
    """Run a command and return its exit code, its errors told in one line.

    Parameters
    ----------
    run : callable
        The command.
    console : Console
        Where to tell them.
    debug : bool
        Whether to print the traceback, too.
    """
    try:
        run()
    except KeyboardInterrupt:
        console.fail("interrupted; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as head, has seen enough; what Python still flushes goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except Exception as error:
        if debug:
            traceback.print_exc()
        console.fail(_describe(error, debug=debug))
        return USAGE if isinstance(error, UsageError) else BAD_INPUT
    return FINE


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
