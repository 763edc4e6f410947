"""cleanlab, asked in an environment of its own.

That is .venv-cleanlab, which `make evidence` makes, or the one whose interpreter the environment
variable PROTOCOVER_CLEANLAB names.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..trust_measures import Doubt

PEER = Path(__file__).with_name("rank_cleanlab.py")
DEFAULT = Path(__file__).parents[2] / ".venv-cleanlab" / "bin" / "python"


def cleanlab_version() -> str | None:
    """Return cleanlab's version, None where it is not at hand."""
    ask = "from importlib.metadata import version; print(version('cleanlab'))"
    try:
        told = subprocess.run([_python(), "-c", ask], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return told.stdout.strip()


def ask_cleanlab(
    labels: NDArray[Any], probabilities: dict[str, NDArray[np.float64]]
) -> list[dict[str, Doubt]]:
    """Return the doubts of each labelling.

    Parameters
    ----------
    labels : ndarray of int, shape (n_labellings, n_points)
        Classes from 0.
    probabilities : dict of str to ndarray, shape (n_labellings, n_points, n_classes)
        Of several models.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        np.savez(given, labels=labels, **probabilities)
        subprocess.run([_python(), "-W", "ignore", PEER, given, answer], check=True)
        with np.load(answer) as found:
            scores, issues = found["scores"], found["issues"]
            kinds = [str(kind) for kind in found["kinds"]]
    names = [f"cleanlab {model}{kind}" for model in probabilities for kind in kinds]
    flagged = np.repeat(issues, len(kinds), axis=1)
    return [
        {name: Doubt(*pair) for name, *pair in zip(names, some, flags, strict=True)}
        for some, flags in zip(scores.reshape(len(labels), len(names), -1), flagged, strict=True)
    ]


def _python() -> str:
    """Return the interpreter that has cleanlab."""
    return os.environ.get("PROTOCOVER_CLEANLAB", str(DEFAULT))
