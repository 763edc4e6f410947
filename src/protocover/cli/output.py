"""Where the command writes to: nothing of the user's is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..data.files import whole_folder, write_whole
from .errors import CommandError

__all__ = ["SUMMARY", "WRITER", "check_file", "check_folder", "fresh_folder", "write_file"]

SUMMARY = "summary.json"
WRITER = "protocover"


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot be written, or replaced, without loss to the user."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CommandError(
            f"{folder} exists and is not a folder; choose another one with --output DIR"
        )
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise CommandError(
            f"the output folder {folder} exists; choose another one with --output DIR, or "
            "replace it with --force"
        )
    foreign = _foreign(folder)
    if foreign:
        raise CommandError(
            f"--force does not replace {folder}, which holds {foreign}, not written by "
            "protocover; choose another one with --output DIR"
        )


@contextmanager
def fresh_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to write to, which becomes `folder` when all has gone well.

    With `force` an earlier output of protocover is replaced; it stays until then.
    """
    check_folder(folder, force=force)
    with whole_folder(folder) as unfinished:
        yield unfinished
        check_folder(folder, force=force)


def check_file(path: Path, *, force: bool) -> None:
    """Refuse a file that exists."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give a file with --output FILE")
    if path.exists() and not force:
        raise CommandError(
            f"{path} exists; choose another file with --output FILE, or replace it with --force"
        )


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, [content])


def _foreign(folder: Path) -> str:
    """Name something in a folder that its summary does not say we have written, if any."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        ours = set(summary["files"]) if summary["written_by"] == WRITER else set()
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    names = sorted(entry.name for entry in os.scandir(folder))
    return next((name for name in names if name not in ours), "")
