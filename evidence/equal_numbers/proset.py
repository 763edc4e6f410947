"""proset, which is installed in an environment of its own: `.venv-proset`."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .splits import splits_of

ROOT = Path(__file__).parents[2]
PROSET = ROOT / ".venv-proset" / "bin" / "python"
# Of processor time, for all folds of a repetition.
MOST_SECONDS = 300


def ask_proset(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Fit proset, in its own environment, in the folds of one repetition."""
    splits = splits_of(name, seed, n_folds)
    parts = [dict(zip("XyAb", (s.X, s.y, s.X_test, s.y_test), strict=True)) for s in splits]
    arrays = {f"{key}{k}": some for k, part in enumerate(parts) for key, some in part.items()}
    program = ROOT / "benchmarks" / "peers" / "fit_proset.py"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "splits.npz", Path(folder) / "answer.json"
        np.savez(given, n=len(splits), **arrays)
        command = [PROSET, "-W", "ignore", program, given, answer, str(MOST_SECONDS)]
        subprocess.run(command, check=False, env=os.environ | one_thread)
        return {"folds": json.loads(answer.read_text()) if answer.exists() else []}
