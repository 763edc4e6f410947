"""The mismatch kernel of 4352 proteins: seconds, peak memory, and ratios of this run.

Run: python benchmarks/bench_strings.py

The proteins are SCOP 1.53 where they are at hand (PROTOCOVER_DATA), else made sequences of
the same number and mean length. The matrix is computed in a process of its own, so that
its peak memory is only that. The ratio is to one dense product of the same size in this
run: counts of all pairs of positions, which are as many numbers as words of two letters.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from protocover._balls import build_balls
from protocover.dissimilarity._sequences import read_fasta
from protocover.dissimilarity._strings import MismatchDistance, mismatch_kernel

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWYBXZ"
# Six pairs of the four positions, 23 x 23 pairs of letters.
COMMON_FEATURES = 6 * 23**2
REPEATS = 3


def load():
    path = DATA / "protein" / "scop153.fasta"
    if path.exists():
        return "SCOP 1.53", [record.sequence for record in read_fasta(path)]
    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 250, size=4352)
    return "made sequences", ["".join(rng.choice(list(AMINO_ACIDS[:20]), n)) for n in lengths]


def fastest(*functions):
    """Least seconds of each function, over repetitions taken in turn."""
    least = [np.inf] * len(functions)
    for _ in range(REPEATS):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            least[k] = min(least[k], time.perf_counter() - start)
    return least


def peak_gigabytes():
    program = (
        "import resource, bench_strings as b; from protocover.dissimilarity._strings import *\n"
        "mismatch_kernel(b.load()[1], k=4, m=1, alphabet=b.AMINO_ACIDS)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, check=True
    )
    return float(done.stdout)


def main():
    name, sequences = load()
    counts = np.random.default_rng(0).random((len(sequences), COMMON_FEATURES))
    metric = MismatchDistance(k=4, m=1, alphabet=AMINO_ACIDS).fit(sequences)
    product, kernel, balls = fastest(
        lambda: counts @ counts.T,
        lambda: mismatch_kernel(sequences, k=4, m=1, alphabet=AMINO_ACIDS),
        lambda: build_balls(metric, sequences, sequences, eps=1.0),
    )
    print(f"{name}: {len(sequences)} sequences, {sum(map(len, sequences))} letters, k=4, m=1")
    print(f"kernel matrix   {kernel:6.2f} s  {kernel / product:5.2f} x one dense product")
    print(f"balls, eps=1    {balls:6.2f} s  {balls / product:5.2f} x one dense product")
    print(f"peak memory of the kernel matrix {peak_gigabytes():.2f} GB")


if __name__ == "__main__":
    main()
