"""Print the kernels of OpenBLAS that tests are repeated with: other processors' that work here.

Run: python tools/kernels.py

Not the one that is taken anyway, by itself or because OPENBLAS_CORETYPE says so, nor what this
processor cannot run: a product of matrices is tried with each.
"""

from __future__ import annotations

import os
import subprocess
import sys

KERNELS = ("SkylakeX", "Haswell", "Nehalem")
PROGRAM = """
import numpy as np
from threadpoolctl import threadpool_info
a = np.ones((300, 300))
a @ a, a.astype("f4") @ a.T.astype("f4")
print({one.get("architecture") for one in threadpool_info() if one["user_api"] == "blas"}.pop())
"""


def main() -> None:
    own = kernel_of({})
    asked = {name: kernel_of({"OPENBLAS_CORETYPE": name}) for name in KERNELS if name != own}
    print(" ".join(name for name, taken in asked.items() if taken == name))


def kernel_of(variables: dict[str, str]) -> str:
    """Return the kernels that a process with these variables takes; nothing if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
