"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["read_whole", "write_whole"]


def write_whole(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file beside `path` and put it in its place when all of it is on the disk."""
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        with draft.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            draft.unlink()
        raise
    _sync_folder(target.parent)


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Read a file, no more of it than it says it has."""
    with Path(path).open("rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
