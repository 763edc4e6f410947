"""Rank labels by cleanlab, in an environment of its own.

Run by cleanlab_peer.py: python rank_cleanlab.py given.npz answer.npz

Given are `labels` (n_labellings, n_points) and for each model its probabilities. The answer has
`scores` (n_labellings, n_models, n_kinds, n_points), higher for more doubt, and `issues`
(n_labellings, n_models, n_points), what find_label_issues lists; parameters are cleanlab's own.
"""

from __future__ import annotations

import sys

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores

KINDS = {"": "self_confidence", " (normalized margin)": "normalized_margin"}


def main(given: str, answer: str) -> None:
    """Answer for every labelling and model."""
    with np.load(given) as data:
        labels = data["labels"]
        models = [data[name] for name in data.files if name != "labels"]
    scores, issues = [], []
    for k, y in enumerate(labels):
        of_models = [probabilities[k] for probabilities in models]
        scores.append(
            [
                [1.0 - get_label_quality_scores(y, p, method=m) for m in KINDS.values()]
                for p in of_models
            ]
        )
        issues.append([find_label_issues(y, p, n_jobs=1) for p in of_models])
    np.savez(answer, scores=scores, issues=issues, kinds=list(KINDS))


if __name__ == "__main__":
    main(*sys.argv[1:])
