"""Compare the time of `import protocover` with that of the parts of scikit-learn it stands on.

Run: python tools/import_time.py
"""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
THEIRS = "import sklearn.base, sklearn.neighbors, sklearn.model_selection, sklearn.cluster"


def seconds(code: str) -> float:
    """Return the least wall time of a fresh interpreter that runs `code`."""
    least = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        least = min(least, time.perf_counter() - start)
    return least


def main() -> None:
    empty, theirs, ours = seconds("pass"), seconds(THEIRS), seconds("import protocover")
    print(f"import protocover / import scikit-learn: {(ours - empty) / (theirs - empty):.2f}")
    loaded = "import sys, protocover; print(sorted({'matplotlib', 'pandas', 'dask', 'jinja2'}"
    check = f"{loaded} & set(sys.modules)) or 'none')"
    print("optional packages loaded:", end=" ", flush=True)
    subprocess.run([sys.executable, "-c", check], check=True)


if __name__ == "__main__":
    main()
