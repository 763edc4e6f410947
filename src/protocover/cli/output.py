"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import CommandError

__all__ = ["SUMMARY", "WRITER", "check_file", "check_folder", "fresh_folder", "write_file"]

SUMMARY = "summary.json"
WRITER = "protocover"


def check_folder(folder: Path, *, force: bool, known: tuple[str, ...] = ()) -> None:
    """Refuse a folder that cannot be written, or replaced, without loss to the user.

    Files named in `known` may be replaced, beside those that its summary names.
    """
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
    foreign = _foreign(folder, known)
    if foreign:
        raise CommandError(
            f"--force does not replace {folder}, which holds {foreign}, not written by "
            "protocover; choose another one with --output DIR"
        )


@contextmanager
def fresh_folder(folder: Path, *, force: bool, known: tuple[str, ...] = ()) -> Iterator[Path]:
    """Give a folder to write to, which becomes `folder` when all has gone well.

    With `force` an earlier output of protocover is replaced; it stays until then.
    """
    check_folder(folder, force=force, known=known)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _sibling(folder)
    unfinished.mkdir()
    try:
        yield unfinished
        check_folder(folder, force=force, known=known)
        _move(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


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
    unfinished = _sibling(path)
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _sibling(path: Path) -> Path:
    """Return a name beside `path` that nothing has."""
    return path.absolute().with_name(f".{path.absolute().name}.{secrets.token_hex(4)}")


def _move(unfinished: Path, folder: Path) -> None:
    """Put a finished folder in the place of an empty, an earlier or no folder."""
    old = _sibling(folder) if folder.exists() else None
    if old is not None:
        folder.rename(old)
    try:
        unfinished.rename(folder)
    except BaseException:
        if old is not None:
            old.rename(folder)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _foreign(folder: Path, known: tuple[str, ...]) -> str:
    """Name something in a folder that its summary does not say we have written, if any."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        ours = set(summary["files"]) if summary["written_by"] == WRITER else set()
    except (OSError, ValueError, KeyError, TypeError):
        ours = set()
    names = sorted(entry.name for entry in os.scandir(folder))
    return next((name for name in names if name not in ours and name not in known), "")
