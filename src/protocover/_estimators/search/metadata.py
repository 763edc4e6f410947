"""What `fit` is told beside points and labels: some is for the splitter, some for the scorer."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from ..._exceptions import warn_caller


def route(
    search: Any,
    sample_weight: NDArray[np.float64] | None,
    groups: Any,
    params: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the splitter and what the scorer of a search is told."""
    given = {"sample_weight": sample_weight, "groups": groups}
    given = {name: value for name, value in given.items() if value is not None}
    if _routing_enabled():
        routed = process_routing(search, "fit", **given, **params)
        return routed.splitter.split, routed.scorer.score
    _raise_for_params(params, search, "fit")
    weights = given.pop("sample_weight", None)
    if weights is None:
        return given, {}
    scorer = find_scorer(search)
    if "sample_weight" not in signature(getattr(scorer, "_score_func", scorer)).parameters:
        warn_caller(
            f"scoring={name_scoring(search)!r} takes no sample_weight, so weights count in "
            "fitting and not in scoring"
        )
        return given, {}
    return given, {"sample_weight": weights}


def make_router(search: Any) -> MetadataRouter:
    """Return the router of a search: groups to the splitter, weights to the scorer, too."""
    to_splitter = MethodMapping().add(caller="fit", callee="split")
    to_scorer = MethodMapping().add(caller="fit", callee="score")
    router = MetadataRouter(owner=search).add_self_request(search)
    router.add(splitter=search.cv, method_mapping=to_splitter)
    return router.add(scorer=find_scorer(search), method_mapping=to_scorer)


def name_scoring(search: Any) -> Any:
    """Return what a search scores by: `scoring`, or accuracy, balanced if the classes are."""
    if search.scoring is not None:
        return search.scoring
    balanced = isinstance(search.class_weight, str) and search.class_weight == "balanced"
    return "balanced_accuracy" if balanced else "accuracy"


def find_scorer(search: Any) -> Any:
    """Return the scorer of a search; the default one wants weights wherever there are any."""
    scorer = get_scorer(name_scoring(search))
    if search.scoring is not None:
        return scorer
    return scorer.set_score_request(sample_weight=True) if _routing_enabled() else scorer
