"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["read_whole", "whole_file", "whole_folder", "write_whole"]


def write_whole(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file beside `path` and put it in its place when all of it is on the disk."""
    with whole_file(path) as file:
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(Path(os.path.realpath(path)).parent)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to, which becomes `path` when all has gone well.

    Links are followed: what they lead to is replaced, not the link.
    """
    target = Path(os.path.realpath(path))
    draft = _draft_name(target)
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            draft.unlink()
        raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write to, which becomes `path` when all has gone well.

    A folder that is there is replaced, and stays until then.
    """
    draft = _draft_name(path.absolute())
    draft.mkdir(parents=True)
    try:
        yield draft
        _replace_folder(path, draft)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Read a file, no more of it than it says it has."""
    with Path(path).open("rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)


def _draft_name(path: Path) -> Path:
    """Return a name beside `path` that nothing has."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")


def _replace_folder(folder: Path, draft: Path) -> None:
    """Put a finished folder in the place of an earlier one, which comes back if that fails."""
    earlier = _draft_name(folder.absolute()) if folder.exists() else None
    if earlier is not None:
        folder.rename(earlier)
    try:
        draft.rename(folder)
    except BaseException:
        if earlier is not None:
            earlier.rename(folder)
        raise
    if earlier is not None:
        shutil.rmtree(earlier, ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
