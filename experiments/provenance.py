"""When, from which data and with what a section was made: kept with its results, told with it."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from .datasets import UCI_NAMES
from .datasets.sources import data_folders
from .parts import Parts

PACKAGES = (
    *("protocover", "numpy", "scipy", "scikit-learn"),
    *("highspy", "kmedoids", "imbalanced-learn", "numba"),
)
_USPS = ("usps.npz",)
_UCI = tuple(f"uci/{name}.csv" for name in UCI_NAMES)
# The files that each experiment reads; what is not here draws its data.
FILES: dict[str, tuple[str, ...]] = {
    "usps": _USPS,
    "tangent": _USPS,
    "digits_choice": _USPS,
    "tangent_model": _USPS,
    "proteins": ("protein/leslie1708_kernel.npz", "protein/leslie1708_labels.csv"),
    "proteins_scop": ("protein/scop153.fasta", "protein/scop153_labels.csv"),
    "uci": _UCI,
    "uci_raw": _UCI,
    "rank": _UCI,
    "set_cover": ("uci/wine.csv", "uci/glass.csv"),
    "solvers": (*_UCI, *_USPS),
    "relaxation": _USPS,
    "candidates": _USPS,
    "neighbors": _UCI,
    "beyond": _UCI,
    "uci_exact": _UCI,
    "usps_exact": _USPS,
}


def record_run(name: str, parts: Parts, *, commit: str) -> dict[str, Any]:
    """Return what is to be known of a run that has just ended, and began with a commit."""
    return {
        "date": today(),
        "oldest_part": parts.oldest(),
        "cpu_seconds": round(parts.seconds()),
        "load": round(os.getloadavg()[0], 1),
        "commit": commit,
        "python": platform.python_version(),
        "packages": {one: version(one) for one in PACKAGES},
        "kernels": _kernels(),
        "data": {file: _fingerprint(file) for file in FILES.get(name, ())},
    }


def find_commit() -> str:
    """Return the commit of this checkout, or that it is none or has been changed since."""
    here = Path(__file__).parents[1]

    def ask(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(here), *words], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        code = ("src", "experiments", "evidence")
        changed = ask("status", "--porcelain", "--untracked-files=no", "--", *code)
        return ask("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def today() -> str:
    """Return the date as it stands in results."""
    return date.today().isoformat()


def tell_run(results: dict[str, Any]) -> str:
    """Return the lines that say when and with what a section was made."""
    run, absent = results.get("run"), results.get("absent")
    told = _tell_record(run) if run else "Run before 2026-11-17; versions were not kept then.\n"
    if absent is None:
        return told
    return (
        f"**The data of this section were not found on {absent}: what follows is not of that "
        f"run, but of an earlier one.**\n\n{told}"
    )


def _tell_record(run: dict[str, Any]) -> str:
    """Return a record, folded behind its date."""
    since = f", parts of it since {run['oldest_part']}" if run["oldest_part"] < run["date"] else ""
    packages = ", ".join(f"{name} {number}" for name, number in run["packages"].items())
    files = [
        f"`{name}` ({one['bytes']} bytes, SHA-256 {one['sha256']}...)"
        if one
        else f"`{name}` (not among the local files)"
        for name, one in run["data"].items()
    ]
    return (
        f"<details><summary>Run on {run['date']}{since}</summary>\n\n"
        f"Data: {', '.join(files) if files else 'drawn by the program'}. Code: commit "
        f"{run['commit']}. Python {run['python']}, {packages}; OpenBLAS's kernels: "
        f"{run['kernels']}. {run['cpu_seconds'] / 60:.1f} minutes of processor time, at a load of "
        f"{run['load']} in the end.\n\n</details>\n"
    )


def _fingerprint(name: str) -> dict[str, Any] | None:
    """Return size and beginning of the SHA-256 of a data file, None where there is none."""
    for folder in data_folders():
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"bytes": path.stat().st_size, "sha256": digest[:12]}
    return None


def _kernels() -> str:
    """Return which processor OpenBLAS takes this one for."""
    found = {one["architecture"] for one in threadpool_info() if "architecture" in one}
    return ", ".join(sorted(found)) or "none"
