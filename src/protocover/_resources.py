"""How much of the machine there is to use, and the bar that shows it being used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from numbers import Integral
from pathlib import Path, PurePosixPath
from threading import Thread
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import LibController, ThreadpoolController
from tqdm.auto import tqdm

# Where Linux tells of processes and of control groups: in a group of today and of the first
# version, the files of its limit, of what it uses, and what of that can be had back.
_PROC, _GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_GROUP_WORDS = ("memory.max", "memory.current", "inactive_file")
_FIRST_GROUP_WORDS = (
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
)

# Like the built-in `map`, in order and lazy, but perhaps several items at once.
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class _Bar(tqdm):
    """A progress bar that starts no thread to watch over it."""

    monitor_interval = 0


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads or processes that joblib would not understand."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or int(n_jobs) == 0):
        raise ValueError(
            "n_jobs must be a whole number other than 0, -1 for all processors, or None, got "
            f"{n_jobs!r}"
        )


def thread_count(n_jobs: int | None) -> int:
    """Count the threads to use: `n_jobs` in joblib's sense, or what BLAS would use.

    Following BLAS by default keeps the promise of scikit-learn's own kernels: all cores
    on an idle machine, and no oversubscription inside a worker that was told to be modest.
    """
    check_n_jobs(n_jobs)
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    pools = [library.get_num_threads() or 1 for library in _libraries("blas")]
    return max(pools) if pools else int(effective_n_jobs(-1))


def process_count(n_jobs: int | None) -> int | None:
    """Return `n_jobs` for joblib; 1 where no thread can be started to watch over processes."""
    if effective_n_jobs(n_jobs) == 1:
        return n_jobs
    watch = Thread(target=str)
    try:
        watch.start()
    except RuntimeError:
        return 1
    watch.join()
    return n_jobs


def limited_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Keep all libraries that use threads, and `thread_count(None)`, to `n_jobs` for a while."""
    return nullcontext() if n_jobs is None else _limited(_libraries(), thread_count(n_jobs))


@contextmanager
def worker_map(n_jobs: int | None, *, thread_safe: bool = True) -> Iterator[Map]:
    """Yield a `map` that uses threads of its own, the linear algebra library kept to one each.

    With one thread, and where no other can be started, it works in the calling thread.
    What is not `thread_safe` does so too, and leaves the threads to the library.
    """
    n_threads = thread_count(n_jobs)
    with _limited(_libraries("blas"), 1 if thread_safe else n_threads):
        yield partial(_threaded_map, n_threads) if thread_safe and n_threads > 1 else map


def available_memory() -> int | None:
    """Bytes that can still be allocated, or None where the system does not say.

    The least of what the system has left, what is left to the control groups that this process
    is in (of either version), and to the process itself where ``ulimit`` limits it.
    """
    system = _system_memory()
    left = [*_group_memory(), *_process_memory(), *([] if system is None else [system])]
    return max(0, min(left)) if left else None


def progress_bar(items: Iterable[Any], total: int, what: str, verbose: int) -> Any:
    """Return `items` behind a progress bar that is shown when `verbose` is above 0."""
    if verbose <= 0:
        return nullcontext(items)
    # With no thread to watch over it the bar looks at the clock at every item.
    return _Bar(items, total=total, desc=what, leave=False, miniters=1)


@contextmanager
def progress_line(verbose: int) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a text over the last one, and nothing unless asked to."""
    if verbose <= 0:
        yield lambda text: None
        return
    with _Bar(bar_format="{desc}", leave=False) as bar:
        yield bar.set_description_str


def say(line: str, verbose: int) -> None:
    """Write a line where the progress bars are shown, when `verbose` is above 0."""
    if verbose > 0:
        tqdm.write(line, file=sys.stderr)


def batches(n: int, size: int) -> Iterator[slice]:
    """Yield slices of `size` of n rows, none if n is 0, which scikit-learn's version rejects."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def row_count(X: Any) -> int:
    """Count the rows of an array, a sparse table, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


@cache
def _libraries(kind: str | None = None) -> tuple[LibController, ...]:
    """Find the loaded libraries that use threads, once: looking for them takes milliseconds."""
    if kind is None:
        return tuple(ThreadpoolController().lib_controllers)
    return tuple(library for library in _libraries() if library.user_api == kind)


@contextmanager
def _limited(libraries: tuple[LibController, ...], n_threads: int) -> Iterator[None]:
    """Keep libraries to so many threads for a while.

    As threadpoolctl does, which asks for all that is known of them at every turn.
    """
    before = [library.get_num_threads() for library in libraries]
    try:
        for library, number in zip(libraries, before, strict=True):
            if number not in (None, n_threads):
                library.set_num_threads(n_threads)
        yield
    finally:
        for library, number in zip(libraries, before, strict=True):
            if number not in (None, n_threads):  # what tells no number is left as it is
                library.set_num_threads(number)


def _threaded_map(
    n_threads: int, function: Callable[[Any], Any], items: Iterable[Any]
) -> Iterator[Any]:
    """Apply `function` to `items`, in order, in threads if they can be started."""
    work = list(items)
    if len(work) == 1:
        yield function(work[0])
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            found = [pool.submit(function, item) for item in work]
        except RuntimeError:  # no thread can be started here, or no further one
            pool.shutdown(cancel_futures=True)
            yield from map(function, work)
            return
        try:
            found.reverse()
            while found:
                # Taken off the list, so that what was computed is held once.
                yield found.pop().result()
        finally:
            for future in found:
                future.cancel()


def _system_memory() -> int | None:
    """Memory that the kernel calls available, else all that is installed."""
    available = _read_sizes(_PROC / "meminfo").get("MemAvailable:")
    if available is not None:
        return available
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _group_memory() -> Iterator[int]:
    """Memory left to the control groups of this process, and to those that they are part of."""
    try:
        memberships = (_PROC / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return
    for line in memberships:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, words = _GROUPS, _GROUP_WORDS
        elif "memory" in controllers.split(","):
            root, words = _GROUPS / "memory", _FIRST_GROUP_WORDS
        else:
            continue
        inner = PurePosixPath(path.lstrip("/"))
        # In a container the path may be that outside of it, which inside leads nowhere.
        for folder in dict.fromkeys((inner, *inner.parents)):
            yield from _left_to_group(root / folder, *words)


def _left_to_group(folder: Path, limit: str, used: str, reclaimable: str) -> Iterator[int]:
    """Yield what a control group has left, if it has a limit."""
    try:
        most, now = (int((folder / name).read_text()) for name in (limit, used))
    except (OSError, ValueError):
        return
    # Files that were read and can be forgotten are counted as used.
    yield most - now + _read_sizes(folder / "memory.stat", unit=1).get(reclaimable, 0)


def _process_memory() -> Iterator[int]:
    """Memory left to this process by ``ulimit -v`` and ``ulimit -d``."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    used = _read_sizes(_PROC / "self" / "status")
    for limit, now in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            yield most - used.get(now, 0)


def _read_sizes(path: Path, *, unit: int = 1024) -> dict[str, int]:
    """Return the bytes by name that a file of the kernel tells, a line each, if there is one."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {
        line[0]: int(line[1]) * unit for line in lines if len(line) > 1 and line[1].isdecimal()
    }
