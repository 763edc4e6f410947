"""Compare the time of `import protocover` with that of scikit-learn, bare and with parts we use.

Run: python tools/import_time.py
"""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
BARE = "import sklearn"
PARTS = "import sklearn.base, sklearn.neighbors, sklearn.model_selection, sklearn.cluster"
OPTIONAL = ("matplotlib", "pandas", "dask", "jinja2")


def seconds(code: str) -> float:
    """Return the least wall time of a fresh interpreter that runs `code`."""
    least = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        least = min(least, time.perf_counter() - start)
    return least


def optional_loaded(code: str) -> set[str]:
    """Return which optional packages a fresh interpreter has loaded after running `code`."""
    ask = f"import sys; {code}; print(*set({OPTIONAL}) & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def main() -> None:
    empty, bare, parts = seconds("pass"), seconds(BARE), seconds(PARTS)
    ours = seconds("import protocover") - empty
    print(f"import protocover / {BARE}: {ours / (bare - empty):.2f}")
    print(f"import protocover / {PARTS}: {ours / (parts - empty):.2f}")
    theirs = optional_loaded(BARE)
    print("optional packages loaded by scikit-learn:", *sorted(theirs) or ["none"])
    print("and by us:", *sorted(optional_loaded("import protocover") - theirs) or ["none"])


if __name__ == "__main__":
    main()
