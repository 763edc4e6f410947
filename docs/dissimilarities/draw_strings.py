"""Draw the picture of strings.md: what mismatches add to a kernel of made families."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from protocover.dissimilarity import mismatch_kernel

AMINO_ACIDS = list("ACDEFGHIKLMNPQRSTVWY")


def make_families(n_families=3, n_each=20, length=120, mutated=0.4, seed=0):
    """Sequences of families: copies of an ancestor in which a share of the letters changed."""
    rng = np.random.default_rng(seed)
    sequences = []
    for ancestor in rng.choice(AMINO_ACIDS, size=(n_families, length)):
        for _ in range(n_each):
            changed = np.where(
                rng.random(length) < mutated, rng.choice(AMINO_ACIDS, length), ancestor
            )
            sequences.append("".join(changed))
    return sequences


def main():
    """Draw the kernel without mismatches beside that with one."""
    sequences = make_families()
    figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.4), layout="constrained")
    for ax, m in zip(axes, (0, 1), strict=True):
        kernel = mismatch_kernel(sequences, k=4, m=m, alphabet=AMINO_ACIDS)
        shown = ax.imshow(kernel, vmin=0.0, vmax=0.3, cmap="viridis", interpolation="nearest")
        ax.set(title=f"k=4, m={m}", xlabel="sequence", ylabel="sequence")
    figure.colorbar(shown, ax=axes, label="normalised kernel, cut at 0.3")
    figure.savefig(Path(__file__).with_name("strings.png"), dpi=90)


if __name__ == "__main__":
    main()
