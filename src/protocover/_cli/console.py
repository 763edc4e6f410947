"""What the command says: results to standard output, errors and all else to standard error."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TextIO

_PACKAGES = ("pandas", "jinja2")


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


@dataclass(frozen=True)
class Console:
    """Where messages go: nowhere if `quiet`, but for errors."""

    quiet: bool = False

    @property
    def verbose(self) -> int:
        """1 where progress bars would be seen, else 0."""
        return int(not self.quiet and _is_terminal(sys.stderr))

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        if not self.quiet and sys.stdout is not None:
            put_out(_printable(text, sys.stdout) + "\n")

    def note(self, text: str, *, wrap: bool = True) -> None:
        """Print what is being done, or was decided."""
        if self.quiet:
            return
        if wrap and _is_terminal(sys.stderr):
            width = shutil.get_terminal_size().columns
            text = textwrap.fill(clean(text), width, subsequent_indent="  ")
        _put_note(text)

    def warn(self, text: str) -> None:
        """Print what the user should look at."""
        self.note(f"protocover: warning: {text}")

    def fail(self, text: str) -> None:
        """Print why there is no result."""
        _put_note(f"protocover: error: {text}")

    @contextmanager
    def library_warnings(self) -> Iterator[None]:
        """Print the warnings and log messages of the library as warnings of the command."""
        handler = _Handler(self)
        logger = logging.getLogger("protocover")
        logger.addHandler(handler)
        propagates, logger.propagate = logger.propagate, False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                for category in (DeprecationWarning, FutureWarning, ResourceWarning):
                    warnings.simplefilter("ignore", category)
                # The command itself speaks of small classes, of those without a prototype worth
                # its cost and of too many prototypes, and checks columns by name.
                for beginning in (
                    "The least populated class",
                    "no prototype of the classes",
                    "more than a quarter of the samples",
                    "X has feature names, but",
                ):
                    warnings.filterwarnings("ignore", message=beginning)
                warnings.showwarning = self._show_warning
                yield
        finally:
            logger.removeHandler(handler)
            logger.propagate = propagates

    def _show_warning(self, message: Any, *_: Any, **__: Any) -> None:
        """Print a warning of Python's as one line."""
        self.warn(" ".join(str(message).split()))


class _Handler(logging.Handler):
    """Hands log messages of weight to a console."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message as a warning."""
        self.console.warn(record.getMessage())


def clean(text: str) -> str:
    """Show characters that could steer a terminal or turn the direction of text as codes."""
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def shorten(text: Any, width: int) -> str:
    """Return a clean text of at most so many characters."""
    shown = clean(str(text))
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def count_things(n: int, one: str, many: str) -> str:
    """Return a number with the right form of what it counts."""
    return f"{n} {one if n == 1 else many}"


def list_names(names: Any) -> str:
    """Name some columns, of many the first few and the last."""
    shown = [repr(str(name)) for name in names]
    if len(shown) > 8:
        shown = [*shown[:6], f"{len(shown) - 7} more", shown[-1]]
    return ", ".join(shown)


def _visible(character: str) -> str:
    """Return a character that does nothing but stand there."""
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def put_out(text: str) -> None:
    """Write results to standard output, and refuse where it is closed or takes no more."""
    if sys.stdout is None:
        raise CommandError("standard output is closed; open it, or write to a file")
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise CommandError(
            f"standard output cannot be written ({error.strerror or error}); redirect it to "
            "another place"
        ) from error


def discard(stream: TextIO | None) -> None:
    """Send the rest of a broken stream, and what Python flushes at its end, nowhere."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]


def _put_note(text: str) -> None:
    """Print a line to standard error; if nobody reads it, the work goes on all the same."""
    if sys.stderr is None:  # closed, and print would take standard output instead
        return
    try:
        print(_printable(text, sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is shown to a person; a closed one is None."""
    return stream is not None and stream.isatty()


def _printable(text: str, stream: TextIO | None) -> str:
    """Return lines with codes in place of what the terminal has no letters for."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = "\n".join(clean(line) for line in text.split("\n"))
    return shown.encode(encoding, "backslashreplace").decode(encoding)
