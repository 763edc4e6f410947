"""Files and folders that are written whole or not at all.

Each is a draft beside its place until it is complete. Drafts are locked for as long as they are
written, and the system takes the lock from a process that ends, however that was: a draft that
nobody holds is of one that was killed, and is removed when the same place is written again.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# A draft, and what a finished folder has taken the place of until that is gone.
_DRAFT, _EARLIER = "part", "earlier"
# Long enough for whoever has made a draft to have locked it.
_SECONDS_TO_LOCK = 60.0


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
    _remove_abandoned(target)
    draft = _name_beside(target, _DRAFT)
    try:
        with draft.open("xb") as file, _locked(draft):
            yield file
        draft.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            draft.unlink()
        raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write to, which becomes `path` when all has gone well.

    A folder that is there is replaced, and stays until then. Folders that it is to lie in are
    made, and go again where nothing has come to lie in them.
    """
    target = path.absolute()
    _remove_abandoned(target)
    draft = _name_beside(target, _DRAFT)
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        draft.mkdir(parents=True)
        with _locked(draft):
            yield draft
            _replace_folder(target, draft)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        for folder in made:
            with suppress(OSError):  # it has got contents
                folder.rmdir()


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Read a file, no more of it than it says it has."""
    with Path(path).open("rb") as file:
        return file.read(os.fstat(file.fileno()).st_size)


def _name_beside(path: Path, ending: str) -> Path:
    """Return a name beside `path` that nothing has."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.{ending}")


def _replace_folder(folder: Path, draft: Path) -> None:
    """Put a finished folder in the place of an earlier one, which comes back if that fails."""
    earlier = _name_beside(folder, _EARLIER) if folder.exists() else None
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


@contextmanager
def _locked(draft: Path) -> Iterator[bool]:
    """Hold a draft, and tell whether nobody else does; where there are no locks, somebody may."""
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    handle = os.open(draft, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # held, or on a disk without locks
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _remove_abandoned(path: Path) -> None:
    """Remove what earlier processes that were killed have left of `path`.

    An earlier folder that no finished one has taken the place of is all that there is of it,
    and stays.
    """
    endings = _DRAFT if not path.exists() else f"{_DRAFT}|{_EARLIER}"
    ours = re.compile(rf"\.{re.escape(path.name[:100])}\.[0-9a-f]{{16}}\.({endings})")
    with suppress(OSError):
        for entry in list(path.parent.iterdir()):
            if ours.fullmatch(entry.name) and not entry.is_symlink():
                with suppress(OSError):
                    _remove_if_abandoned(entry)


def _remove_if_abandoned(draft: Path) -> None:
    """Remove a draft that nobody holds and that was not made just now."""
    if time.time() - draft.stat().st_ctime < _SECONDS_TO_LOCK:
        return
    with _locked(draft) as free:
        if free and draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        elif free:
            draft.unlink()


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
