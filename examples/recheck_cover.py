"""Recheck the output of ``protocover cover`` for embeddings or pairs, without protocover.

Usage: python recheck_cover.py FOLDER embeddings.npy [METRIC]
       python recheck_cover.py FOLDER pairs.parquet [--similarity]

Every dropped sample must lie within eps of its representative, which must be a sample that was
kept. The distances are computed again from the embeddings, or looked up in the list of pairs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import paired_distances

ROUNDING = 1e-6  # relative error of distances between single-precision embeddings


def distances_of_pairs(
    pairs: pd.DataFrame, rows: pd.Series, others: pd.Series, similarity: bool
):
    """Return the listed distance of each row from its other row, NaN if it is not listed."""
    value = 1.0 - pairs["distance"] if similarity else pairs["distance"]
    ends = pairs["i"].to_numpy(), pairs["j"].to_numpy()
    both = [
        pd.Series(value.to_numpy(), pd.MultiIndex.from_arrays(e))
        for e in (ends, ends[::-1])
    ]
    listed = pd.concat(both)
    listed = listed[~listed.index.duplicated()]
    found = listed.reindex(pd.MultiIndex.from_arrays((rows, others))).to_numpy()
    return np.where(rows.to_numpy() == others.to_numpy(), np.nan_to_num(found), found)


def main(folder: str, data: str, option: str = "euclidean") -> int:
    """Print the number of violations, and return 1 if there is any."""
    summary = json.loads((Path(folder) / "summary.json").read_text())
    kept = pd.read_parquet(Path(folder) / "representatives.parquet")["row"]
    table = pd.read_parquet(Path(folder) / "assignment.parquet")
    covered = table.dropna(subset="representative")
    row = covered["row"]
    other = covered["representative"].astype(row.dtype)
    if data.endswith(".npy"):
        X = np.load(data)
        distance = paired_distances(X[row], X[other], metric=option)
        complete = len(table) == len(X)
    else:
        pairs = pd.read_parquet(data)
        distance = distances_of_pairs(pairs, row, other, option == "--similarity")
        complete = pd.concat((pairs["i"], pairs["j"])).isin(table["row"]).all()
    limit = summary["eps"] * (1.0 + ROUNDING)
    violations = int((~(distance <= limit)).sum() + (~other.isin(kept)).sum())
    violations += int(table["row"].duplicated().sum()) + int(not complete)
    share = len(covered) / len(table)
    print(
        f"{len(kept)} of {len(table)} samples were kept; {share:.2%} lie within eps of one"
    )
    print(
        f"{violations} violations; largest distance {np.max(distance):.6g}, eps {summary['eps']:g}"
    )
    return int(violations > 0 or not np.isclose(share, summary["covered"] / len(table)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
