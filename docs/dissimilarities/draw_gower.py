"""Draw the picture of gower.md: what each column adds to the dissimilarity of two rows."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from protocover.dissimilarity import Gower


def make_guests():
    """Six guests of a hotel, some of whom did not tell everything."""
    return pd.DataFrame(
        {
            "age": [24.0, 31.0, 38.0, 45.0, 52.0, np.nan],
            "room": pd.Categorical(
                ["single", "single", "double", "suite", "suite", "double"],
                categories=["single", "double", "suite"],
                ordered=True,
            ),
            "town": ["Rome", "Oslo", "Rome", "Bern", None, "Rome"],
            "member": [False, False, True, True, True, False],
        },
        index=["Ada", "Ben", "Cleo", "Dov", "Eve", "Finn"],
    )


def main():
    """Draw for each guest the parts that make up the dissimilarity from the first."""
    guests = make_guests()
    whole = Gower().fit(guests).pairwise(guests[:1], guests)[0]
    figure, ax = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    left = np.zeros(len(guests))
    known = guests.notna() & guests.iloc[0].notna()
    for name in guests:
        alone = Gower().fit(guests[[name]]).pairwise(guests[[name]][:1], guests[[name]])[0]
        part = np.where(known[name], alone, 0.0) / known.sum(axis=1)
        ax.barh(guests.index, part, left=left, label=name)
        left += part.to_numpy()
    ax.plot(whole, guests.index, "kd", label="Gower")
    ax.set(xlabel="dissimilarity from Ada", xlim=(-0.02, 1.03))
    ax.invert_yaxis()
    ax.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("gower.png"), dpi=90)


if __name__ == "__main__":
    main()
