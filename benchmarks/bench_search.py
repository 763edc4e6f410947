"""PVMClassifierCV on synthetic data: time as a multiple of one fit, and the most memory at once.

Run: python benchmarks/bench_search.py [n_samples ...]

The search over per-prototype radii, with its defaults otherwise, on 3,000 and 10,000 samples
of five features made by `make_classification`; above 5,000 samples it searches on a sample.
Each size runs in a process of its own, whose memory is measured. At most 30 s and 1.5 GB
are allowed on 10,000 samples.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

from sklearn.datasets import make_classification

from protocover import PVMClassifier, PVMClassifierCV

SIZES = (3_000, 10_000)


def measure(n_samples):
    X, y = make_classification(n_samples, 5, random_state=0)
    start, worked = time.perf_counter(), time.process_time()
    search = PVMClassifierCV(radii="adaptive", random_state=0).fit(X, y)
    seconds, processor = time.perf_counter() - start, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = time.perf_counter()
    PVMClassifier(
        radii="adaptive", eps=search.eps_, prototype_cost=search.prototype_cost_, random_state=0
    ).fit(X, y)
    fit = time.perf_counter() - start
    n_searched = n_samples if search.search_rows_ is None else len(search.search_rows_)
    print(
        f"{n_samples} x 5, searched on {n_searched}: {seconds:.1f} s ({processor:.1f} s of "
        f"processor time), {seconds / fit:.0f} fits of the chosen setting, {memory:.2f} GB, keeps "
        f"{len(search.prototype_indices_)}"
    )


if __name__ == "__main__":
    if len(sys.argv) == 2:
        measure(int(sys.argv[1]))
    else:
        for size in sys.argv[1:] or SIZES:
            subprocess.run([sys.executable, __file__, str(size)], check=True)
