"""A cover seen as a classifier of one class, for all that draws or tells of prototypes."""

from __future__ import annotations

import numpy as np

from .._selection.selection import Selection
from .ball_cover import BallCover
from .classifier import PVMClassifier
from .fitted import Fitted, copy_features

ONE_CLASS = "all cases"


def as_one_class(cover: BallCover) -> PVMClassifier:
    """Return a fitted classifier whose prototypes are the representatives of a cover.

    All cases are of one class, and what a prototype covers are the cases with its label: those
    that are in its ball and nearest to it.
    """
    n = len(cover.candidate_indices_)
    zeros = np.zeros(n, dtype=np.intp)
    selection = Selection(
        candidates=cover.candidate_indices_,
        classes=zeros,
        newly_covered=cover.counts_,
        covered=cover.counts_,
        miscovered=zeros,
        score=cover.counts_.astype(np.float64),
        solutions=(cover.solution_,),
    )
    shared = PVMClassifier().get_params(deep=False).keys() & cover.get_params(deep=False).keys()
    model = PVMClassifier(radii="shared", **{name: getattr(cover, name) for name in shared})
    copy_features(cover, model)
    model._keep(
        Fitted(
            selection=selection,
            prototypes=cover.representatives_,
            rows=cover.representative_indices_,
            sources=cover.representative_sources_,
            classes=np.array([ONE_CLASS]),
            class_count=np.array([len(cover.labels_)]),
            eps=cover.eps_,
            prototype_cost=0.0,
            outlier_label=None,
            dissimilarity=cover.dissimilarity_,
        )
    )
    return model
