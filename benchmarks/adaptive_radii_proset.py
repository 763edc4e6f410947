"""proset on some of the splits of adaptive_radii.py, where it is installed in another environment.

Run: python -m venv .venv-proset && .venv-proset/bin/pip install proset, then
PYTHONPATH=. python benchmarks/adaptive_radii_proset.py --python .venv-proset/bin/python

Results are kept in docs/adaptive-radii/proset.json set by set, and told on the page that
adaptive_radii.py writes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from experiments.parts import write_json

from adaptive_radii import Split, every_set
from adaptive_radii_sets import DataSet

RESULTS = Path(__file__).parents[1] / "docs" / "adaptive-radii" / "proset.json"
N_SPLITS = 5


def ask(python: Path, data: DataSet) -> list[dict[str, Any]]:
    """Fit splits in the other environment, as many as it has time for."""
    splits = [Split.of(data, seed) for seed in range(N_SPLITS)]
    parts = [dict(zip("XyAb", (s.X, s.y, s.X_test, s.y_test), strict=True)) for s in splits]
    arrays = {f"{name}{k}": some for k, part in enumerate(parts) for name, some in part.items()}
    program = Path(__file__).parent / "peers" / "fit_proset.py"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "splits.npz", Path(folder) / "answer.json"
        np.savez(given, n=len(splits), **arrays)
        command = [python, "-W", "ignore", program, given, answer]
        subprocess.run(command, check=False, env=os.environ | one_thread)
        return json.loads(answer.read_text()) if answer.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, required=True, help="of an environment with proset")
    parser.add_argument("--sets", nargs="*", help="these sets only")
    options = parser.parse_args()
    sets = {name: data for name, data in every_set().items() if data.kind != "table"}
    for name in options.sets or sets:
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if name not in kept:
            write_json(RESULTS, kept | {name: ask(options.python, sets[name])})
            print(name, flush=True)


if __name__ == "__main__":
    main()
