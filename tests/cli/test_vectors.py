"""``protocover cover`` for embeddings and lists of pairs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from protocover import BallCover
from protocover._cli import main

RECHECK = Path(__file__).parents[2] / "examples" / "recheck_cover.py"
X = np.random.default_rng(0).normal(size=(80, 3))
D = cdist(X, X, "cosine")


@pytest.fixture
def recheck():
    return runpy.run_path(str(RECHECK))["main"]


def write_pairs(names):
    rows, columns = np.nonzero(np.triu(D < 0.4, 1))
    pairs = pd.DataFrame({"i": names[rows], "j": names[columns], "distance": D[rows, columns]})
    pairs.to_parquet("pairs.parquet")


def read(folder):
    tables = [
        pd.read_parquet(f"{folder}/{name}.parquet") for name in ("representatives", "assignment")
    ]
    return *tables, json.loads(Path(folder, "summary.json").read_text())


def test_embeddings_are_covered_and_the_proof_can_be_rechecked(recheck, capsys):
    np.save("embeddings.npy", X)
    options = ["--metric", "cosine", "--eps", "0.2", "-q"]
    assert main(["cover", "embeddings.npy", *options]) == 0
    kept, assignment, summary = read("embeddings-protocover")
    cover = BallCover(eps=0.2, metric="cosine").fit(X)
    assert kept["row"].tolist() == cover.representative_indices_.tolist()
    assert kept["covers"].tolist() == cover.counts_.tolist()
    chosen = cover.representative_indices_[cover.labels_]
    assert assignment["representative"].tolist() == chosen.tolist()
    np.testing.assert_allclose(assignment["distance"], D[np.arange(80), chosen], atol=1e-12)
    assert (summary["representatives"], summary["coverage"]) == (len(kept), 1.0)
    assert recheck("embeddings-protocover", "embeddings.npy", "cosine") == 0
    assert "0 violations" in capsys.readouterr().out
    assignment.loc[5, "representative"] = assignment["representative"][D[5, chosen].argmax()]
    assignment.to_parquet("embeddings-protocover/assignment.parquet")
    assert recheck("embeddings-protocover", "embeddings.npy", "cosine") == 1


def test_pairs_are_covered_with_their_identifiers(recheck):
    names = np.array([f"doc-{k:02}" for k in range(80)])
    write_pairs(names)
    options = ["--pairs", "--eps", "0.2", "--coverage", "0.95", "-q", "--must-include", "doc-07"]
    assert main(["cover", "pairs.parquet", *options]) == 0
    kept, assignment, summary = read("pairs-protocover")
    cover = BallCover(eps=0.2, metric="cosine", coverage=0.95, must_include=[7]).fit(X)
    assert set(kept["row"]) == set(names[cover.representative_indices_])
    assert assignment["representative"].isna().sum() == (cover.labels_ < 0).sum()
    assert summary["coverage"] == cover.coverage_ >= 0.95
    assert recheck("pairs-protocover", "pairs.parquet") == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pairs"], "--pairs needs --eps"),
        (["--pairs", "--eps", "0.2", "--metric", "cosine"], "--metric is not valid for --pairs"),
        (["--pairs", "--eps", "0.2", "--id", "i"], "--id is only valid for tables"),
        (["--pairs", "--eps", "0.9"], "eps must not be above"),
        (["--pairs", "--eps", "0.2", "--must-include", "x"], "there is no sample"),
        (["--pairs", "--eps", "0.2", "--n-samples", "50"], "samples are those from 0 to 49"),
    ],
)
def test_nothing_is_written_if_something_is_wrong(capsys, options, message):
    write_pairs(np.arange(80))
    assert main(["cover", "pairs.parquet", *options]) != 0
    assert message in capsys.readouterr().err.replace("\n  ", " ")
    assert not Path("pairs-protocover").exists()
