"""Printing: results to standard output, everything else to standard error."""

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
    """Unusable input; the message names it, the reason and how to fix it."""


class UsageError(CommandError):
    """Options that are not valid together, or for the input."""


def check_packages(*further: str) -> None:
    """Raise an error that says how to install a missing optional package."""
    for name in (*_PACKAGES, *further):
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f"this command requires {name}, which is not installed: pip install "
                '"protocover[cli]"'
            ) from error


@dataclass(frozen=True)
class Console:
    """Prints messages; if `quiet`, only errors."""

    quiet: bool = False

    @property
    def verbose(self) -> int:
        """1 if progress bars would be visible, else 0."""
        return int(not self.quiet and _is_terminal(sys.stderr))

    def say(self, text: str = "") -> None:
        """Print a line of the result."""
        if not self.quiet and sys.stdout is not None:
            put_out(_printable(text, sys.stdout) + "\n")

    def note(self, text: str, *, wrap: bool = True) -> None:
        """Print a progress message."""
        if self.quiet:
            return
        if wrap and _is_terminal(sys.stderr):
            width = shutil.get_terminal_size().columns
            text = textwrap.fill(clean(text), width, subsequent_indent="  ")
        _put_note(text)

    def warn(self, text: str) -> None:
        """Print a warning."""
        self.note(f"protocover: warning: {text}")

    def fail(self, text: str) -> None:
        """Print an error."""
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
                # The command prints its own warnings about these.
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
        """Print a Python warning as one line."""
        self.warn(" ".join(str(message).split()))


class _Handler(logging.Handler):
    """Passes log messages from the warning level on to a console."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message as a warning."""
        self.console.warn(record.getMessage())


def clean(text: str) -> str:
    """Replace control characters and those that change the direction of text by codes."""
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def shorten(text: Any, width: int) -> str:
    """Return a clean text of at most `width` characters."""
    shown = clean(str(text))
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def count_things(n: int, one: str, many: str) -> str:
    """Return a number with the singular or plural of a noun."""
    return f"{n} {one if n == 1 else many}"


def list_names(names: Any) -> str:
    """Return names, quoted; of many, the first few and the last."""
    shown = [repr(str(name)) for name in names]
    if len(shown) > 8:
        shown = [*shown[:6], f"{len(shown) - 7} more", shown[-1]]
    return ", ".join(shown)


def _visible(character: str) -> str:
    """Return a printable form of a character."""
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def put_out(text: str) -> None:
    """Write results to standard output; raise an error if it is closed or full."""
    if sys.stdout is None:
        raise CommandError("standard output is closed; open it, or write to a file with --output")
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise CommandError(
            f"standard output cannot be written ({error.strerror or error}); redirect it to "
            "another "
            "file"
        ) from error


def discard(stream: TextIO | None) -> None:
    """Discard further output of a broken stream, also when Python flushes it at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]


def _put_note(text: str) -> None:
    """Print a line to standard error; continue if it is closed or broken."""
    if sys.stderr is None:  # closed, and print would take standard output instead
        return
    try:
        print(_printable(text, sys.stderr), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed one is None."""
    return stream is not None and stream.isatty()


def _printable(text: str, stream: TextIO | None) -> str:
    """Return lines with codes for characters that the terminal cannot show."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    shown = "\n".join(clean(line) for line in text.split("\n"))
    return shown.encode(encoding, "backslashreplace").decode(encoding)
