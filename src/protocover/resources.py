"""How much of the machine there is to use, and the bar that shows it being used."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import threadpool_info
from tqdm.auto import tqdm

__all__ = ["available_memory", "progress_bar", "row_count", "say", "thread_count"]


def thread_count(n_jobs: int | None) -> int:
    """Count the threads to use: `n_jobs` in joblib's sense, or what BLAS would use.

    Following BLAS by default keeps the promise of scikit-learn's own kernels: all cores
    on an idle machine, and no oversubscription inside a worker that was told to be modest.
    """
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    pools = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    return max(pools) if pools else int(effective_n_jobs(-1))


def available_memory() -> int | None:
    """Bytes that can still be allocated, or None where the system does not say."""
    limits = [limit for limit in (_system_memory(), _group_memory()) if limit is not None]
    return min(limits) if limits else None


def progress_bar(items: Iterable[Any], total: int, what: str, verbose: int) -> Any:
    """Return `items` behind a progress bar that is shown when `verbose` is above 0."""
    if verbose <= 0:
        # Even a bar that is not shown would start a thread to watch over it.
        return nullcontext(items)
    return tqdm(items, total=total, desc=what, leave=False)


def say(line: str, verbose: int) -> None:
    """Write a line where the progress bars are shown, when `verbose` is above 0."""
    if verbose > 0:
        tqdm.write(line, file=sys.stderr)


def row_count(X: Any) -> int:
    """Count the rows of an array, a sparse table, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _system_memory() -> int | None:
    """Memory that the kernel calls available, else all that is installed."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _group_memory() -> int | None:
    """Memory left to this process's control group, where it has a limit."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = (group / "memory.current").read_text().strip()
        return int(limit) - int(used)
    except (OSError, ValueError):
        return None
