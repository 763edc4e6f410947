"""Classification tables for first_answer.py: scikit-learn's, UCI's and R's, numeric and mixed.

The tables and their targets were listed before anything was fitted. A table is included if it
has a column that names a class and, after the steps below, at least 100 rows, 2 to 40 classes
and at least 2 feature columns:

1. Row numbers, names and columns that determine the class are left out, and so are columns of
   text with more than 30 values. `load` refuses a column of repeated values each of which
   occurs in one class only.
2. Rows with missing values are left out, then classes with fewer than 5 rows.
3. Of more than 2,000 rows, 2,000 are drawn, stratified by class.

Tables that are not installed or not in PROTOCOVER_DATA are left out, with a message.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from evidence.tables import Table
from experiments.datasets import DataNotFoundError, load_uci
from scipy.spatial.distance import cdist
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from protocover.dissimilarity import Gower

MOST_ROWS = 2000
LEAF_SHAPES = ("apex", "base", "shape", "denate_edge", "lobed_edge", "smooth_edge")
LEAF_SHAPES += ("toothed_edge", "undulate_edge", "outlying_contour")
PITCH_RESULTS = ("BatterNumber", "Outcome", "Class", "Result", "Swing", "Time", "Zone", "Nasty")
PITCH_RESULTS += ("Count", "BallCount", "StrikeCount", "Inning", "InningSide", "Outs")
PITCH_RESULTS += ("BatterHand", "ABEvent", "Batter")

TABLES = {
    "ad_data": Table("modeldata", "ad_data", ("Class",)),
    "Aids2": Table("MASS", "Aids2", ("status",), ("death",)),
    "attrition": Table("modeldata", "attrition", ("Attrition",)),
    "BEPS": Table("carData", "BEPS", ("vote",)),
    "biopsy": Table("MASS", "biopsy", ("class",), ("ID",)),
    "birthwt": Table("MASS", "birthwt", ("low",), ("bwt",)),
    "blue jays": Table("Stat2Data", "BlueJays", ("KnownSex",), ("BirdID", "Sex")),
    "Caravan": Table("ISLR", "Caravan", ("Purchase",)),
    "cells": Table("modeldata", "cells", ("class",), ("case",)),
    "Chile": Table("carData", "Chile", ("vote",)),
    "churn": Table("modeldata", "mlc_churn", ("churn",)),
    "College": Table("ISLR", "College", ("Private",)),
    "CPS1985": Table("AER", "CPS1985", ("occupation",)),
    "crabs": Table("MASS", "crabs", ("sp", "sex"), ("index",)),
    "credit": Table("modeldata", "credit_data", ("Status",)),
    "Default": Table("ISLR", "Default", ("default",)),
    "diabetes groups": Table("heplots", "Diabetes", ("group",)),
    "diamonds": Table("ggplot2", "diamonds", ("cut",)),
    "email": Table("openintro", "email", ("spam",), ("time",)),
    "fast food": Table(
        "openintro", "fastfood", ("restaurant",), ("item", "salad", "vit_a", "vit_c", "calcium")
    ),
    "Fishing": Table("Ecdat", "Fishing", ("mode",), ("price", "catch")),
    "Forbes2000": Table("HSAUR", "Forbes2000", ("category",), ("rank", "name")),
    "gapminder": Table("dslabs", "gapminder", ("region",), ("country", "continent")),
    "gene expression": Table("dslabs", "tissue_gene_expression", ("y",)),
    "Hitters": Table("vcd", "Hitters", ("Positions",)),
    "HMDA": Table("AER", "HMDA", ("deny",)),
    "hpc": Table("modeldata", "hpc_data", ("class",)),
    "Kershaw": Table("Stat2Data", "Kershaw", ("PitchType",), PITCH_RESULTS),
    "leaves": Table("modeldata", "leaf_id_flavia", ("species",), LEAF_SHAPES),
    "midwest": Table("ggplot2", "midwest", ("state",), ("PID", "county")),
    "mlbbat10": Table("openintro", "mlbbat10", ("position",), ("name", "team")),
    "Mode": Table("Ecdat", "Mode", ("choice",)),
    "mpg": Table("ggplot2", "mpg", ("class",), ("model",)),
    "nassCDS": Table("DAAG", "nassCDS", ("dead",), ("caseid", "injSeverity", "weight")),
    "ncbirths": Table("openintro", "ncbirths", ("premie",), ("weeks",)),
    "OECDGas": Table("AER", "OECDGas", ("country",)),
    "OJ": Table("ISLR", "OJ", ("Purchase",)),
    "olive": Table("dslabs", "olive", ("area",), ("region",)),
    "Oslo": Table("heplots", "Oslo", ("forest",), ("site", "XC", "YC")),
    "parabola": Table("modeldata", "parabolic", ("class",)),
    "Parity": Table("plm", "Parity", ("country",)),
    "penguins": Table("palmerpenguins", "penguins", ("species",)),
    "pwt_sample": Table("stevedata", "pwt_sample", ("country",), ("isocode",)),
    "Sacramento": Table("modeldata", "Sacramento", ("type",), ("city", "zip")),
    "skulls": Table("heplots", "Skulls", ("epoch",)),
    "spam7": Table("DAAG", "spam7", ("yesno",)),
    "TitanicSurvival": Table("carData", "TitanicSurvival", ("survived",)),
    "two_class_dat": Table("modeldata", "two_class_dat", ("Class",)),
}
BUNDLED = ("breast_cancer", "digits", "iris", "wine")
UCI = ("diabetes", "glass", "heart", "liver", "vowel")


@dataclass(frozen=True, eq=False)
class MixedSet:
    """Columns of numbers or categories, and class numbers."""

    X: pd.DataFrame
    y: np.ndarray

    @property
    def is_numeric(self) -> bool:
        return len(self.X.select_dtypes("number").columns) == self.X.shape[1]

    def distances(self, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Between training samples, and of test samples (rows) from training samples.

        Euclidean after StandardScaler for numbers, Gower's for mixed columns.
        """
        A, B = self.X.iloc[train], self.X.iloc[test]
        if not self.is_numeric:
            gower = Gower().fit(A)
            return gower.pairwise(A, A), gower.pairwise(B, A)
        scaler = StandardScaler().fit(A)
        return cdist(scaler.transform(A), scaler.transform(A)), cdist(
            scaler.transform(B), scaler.transform(A)
        )


def load(most: int = MOST_ROWS) -> dict[str, MixedSet]:
    """Load all tables at hand, in alphabetical order whatever the case."""
    loaders: dict[str, Callable[[], Any]] = {name: one.load_mixed for name, one in TABLES.items()}
    loaders |= {name: lambda name=name: _bundled(name) for name in BUNDLED}
    loaders |= {f"uci {name}": lambda name=name: _uci(name) for name in UCI}
    found = {}
    for name in sorted(loaders, key=str.lower):
        try:
            found[name] = _included(name, *loaders[name](), most)
        except DataNotFoundError as absent:
            print(f"without {name}: {absent}", file=sys.stderr)
    return found


def _bundled(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    got = getattr(datasets, f"load_{name}")(as_frame=True)
    return got.data, got.target.to_numpy().astype(str)


def _uci(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    got = load_uci(name)
    return pd.DataFrame(got.data, columns=got.feature_names), np.asarray(got.target)


def _included(name: str, X: pd.DataFrame, labels: np.ndarray, most: int) -> MixedSet:
    """Apply the inclusion rule, and refuse a table that does not fulfil it."""
    numbers = set(X.select_dtypes(["number", "bool"]))
    X = X[[column for column in X if column in numbers or X[column].nunique() <= 30]]
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(sizes[codes] >= 5)
    if len(rows) > most:
        rows, _ = train_test_split(rows, train_size=most, stratify=codes[rows], random_state=0)
        rows.sort()
    X, y = X.iloc[rows].reset_index(drop=True), np.unique(codes[rows], return_inverse=True)[1]
    telling = [column for column in X if _determines(X[column], y)]
    if telling or len(y) < 100 or X.shape[1] < 2 or not 2 <= y.max() + 1 <= 40:
        raise ValueError(f"{name} does not fulfil the inclusion rule: {X.shape}, {telling}")
    return MixedSet(X, y)


def _determines(column: pd.Series, y: np.ndarray) -> bool:
    """Whether a column of repeated values has none that occurs in two classes."""
    repeated = column.nunique() < len(column) / 3
    return bool(repeated and pd.Series(y).groupby(column.to_numpy()).nunique().max() == 1)
