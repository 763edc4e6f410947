"""What must work right after `pip install`: run it with the interpreter of an empty environment.

It needs nothing but the package and what it depends on.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import protocover


def main() -> None:
    X, y = load_iris(return_X_y=True)
    model = protocover.PVMClassifier(eps=1.0, solver="exact").fit(X, y)
    assert model.gap_ == 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.protocover"
        protocover.save_model(model, path)
        assert np.array_equal(protocover.load_model(path).predict(X), model.predict(X))
    assert (files(protocover) / "py.typed").is_file()
    assert any(part.name.endswith(".j2") for part in (files(protocover) / "report").iterdir())
    for optional in ("matplotlib", "pandas", "dask", "jinja2"):
        assert optional not in sys.modules, f"importing protocover loaded {optional}"
    subprocess.run([sys.executable, "-m", "protocover", "--version"], check=True)
    print(f"protocover {protocover.__version__} works in {sys.prefix}")


if __name__ == "__main__":
    main()
