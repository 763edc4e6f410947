"""Distances from prototypes, block by block."""

from __future__ import annotations

import numpy as np
import pytest

from protocover import PVMClassifier
from protocover._inspection import fitted as distances
from protocover.dissimilarity import Gower


@pytest.mark.parametrize("metric", ["gower", "euclidean"])
def test_blocks_are_those_of_the_whole_table(metric, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(6, size=(60, 3)).astype(float), rng.integers(3, size=60)
    model = PVMClassifier(eps=0.2, radii="shared", metric=metric).fit(X, y)
    monkeypatch.setattr(distances, "_ENTRIES", 7 * len(model.prototype_labels_))
    blocks = list(distances.distance_blocks(model, X))
    assert [len(rows) for rows, _ in blocks] == [7] * 8 + [4]
    assert np.array_equal(np.concatenate([rows for rows, _ in blocks]), np.arange(60))
    table = np.concatenate([table for _, table in blocks])
    assert np.array_equal(table, model.transform(X))


def test_mixed_rows_are_read_once(monkeypatch):
    """Reading the prototypes for each block took longer than computing the distances."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(6, size=(60, 3)).astype(float), rng.integers(3, size=60)
    model = PVMClassifier(eps=0.2, radii="shared", metric="gower").fit(X, y)
    monkeypatch.setattr(distances, "_ENTRIES", 1)
    encode, n_read = Gower._encode, []

    def counted(self, rows, *further):
        n_read.append(len(rows))
        return encode(self, rows, *further)

    monkeypatch.setattr(Gower, "_encode", counted)
    assert len(list(distances.distance_blocks(model, X))) == 60
    assert sum(n_read) == 60 + len(model.prototype_labels_)
