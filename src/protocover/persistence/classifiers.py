"""A fitted PVMClassifier as JSON and arrays, and back after checking that all of it fits.

Which attributes of a dissimilarity `fit` has set, beside the constructor's arguments, and what
must hold of them stands with each, in its `saved_state` and `_check_state`. Shapes and ranges
are checked, so that what was read cannot lead outside of an array later.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..balls import traits_of
from ..data.fields import (
    check_array,
    check_indices,
    check_number,
    check_record,
    check_text,
    check_whole,
    refuse,
)
from ..estimators import PVMClassifier
from ..estimators.fitted import Fitted
from ..prototypes import column_order
from ..resources import row_count
from ..selection.parameters import check_own_radii
from ..selection.selected import Selection
from .encoding import (
    DISSIMILARITIES,
    argument_names,
    construct,
    decode,
    decode_record,
    encode,
    encode_attributes,
)
from .selections import decode_selection, encode_selection
from .values import Arrays, Loaded

__all__ = [
    "UNSAID",
    "check_places",
    "decode_classifier",
    "decode_dissimilarity",
    "encode_classifier",
    "encode_dissimilarity",
    "read_features",
    "row_width",
    "with_unsaid",
    "write_features",
    "write_parameters",
]

_FEATURES = ("n_features_in_", "feature_names_in_")
# The paper's machine, which the first files held without saying so.
UNSAID = {"radii": "shared", "cross_class": True, "min_per_class": 0, "class_weight": None}
_PLAIN = (
    "eps_",
    "prototype_cost_",
    "outlier_label_",
    "classes_",
    "class_count_",
    "prototypes_",
    "prototype_indices_",
    "prototype_rows_",
    "prototype_sources_",
)


def encode_classifier(model: PVMClassifier, arrays: Arrays) -> dict[str, Any]:
    """Return the JSON of a fitted classifier."""
    return {
        "parameters": write_parameters(model, arrays),
        "fitted": encode_attributes(model, _PLAIN, arrays),
        "features": write_features(model, arrays),
        "selection": encode_selection(model.solution_, arrays),
        "dissimilarity": encode_dissimilarity(model.dissimilarity_, arrays),
    }


def decode_classifier(content: dict[str, Any], arrays: Loaded) -> PVMClassifier:
    """Return the classifier that a JSON of `encode_classifier` stands for."""
    keys = ("parameters", "fitted", "features", "selection", "dissimilarity")
    record = check_record(content, "a classifier", keys)
    model: PVMClassifier = construct(PVMClassifier, with_unsaid(record["parameters"]), arrays)
    read_features(model, record["features"], arrays)
    fitted = decode_record(record["fitted"], "the fitted attributes", _PLAIN, arrays)
    classes = check_array(fitted["classes_"], "classes_", kinds="biufUSOMm", shape=(None,))
    selection = decode_selection(record["selection"], arrays, n_classes=len(classes))
    n_prototypes = len(selection.candidates)
    _check_fitted(fitted, n_prototypes=n_prototypes, n_classes=len(classes))
    _check_radii(model.radii, selection.radii, fitted["eps_"])
    width = row_width(fitted["prototypes_"])
    if width is not None and width != getattr(model, "n_features_in_", None):
        refuse(f"prototypes with {width} features do not fit the model")
    # The dissimilarity was cut down to these prototypes, in this order, before it was saved.
    dissimilarity = decode_dissimilarity(
        record["dissimilarity"], arrays, n_prototypes=n_prototypes, n_features=width
    )
    if traits_of(dissimilarity).pairwise:
        below = dissimilarity.n_candidates_
        fitted["prototypes_"] = check_indices(fitted["prototypes_"], "prototypes_", below=below)
        selection = _by_column(fitted, selection, model.n_features_in_)
    model._keep(_as_fitted(fitted, selection, dissimilarity))
    return model


def write_parameters(
    model: Any, arrays: Arrays, *, without: Collection[str] = ()
) -> dict[str, Any]:
    """Return the JSON of a constructor's arguments, as far as they are to be kept.

    Values in :data:`UNSAID` are left out, so that earlier versions can read the file.
    """
    given = [name for name in argument_names(type(model)) if name not in without]
    said = [
        name
        for name in given
        if name not in UNSAID or not _is_plain(getattr(model, name), UNSAID[name])
    ]
    return encode_attributes(model, said, arrays)


def with_unsaid(given: Any) -> Any:
    """Return a classifier's parameters with what a file leaves out."""
    return {**UNSAID, **given} if isinstance(given, dict) else given


def _is_plain(value: Any, unsaid: Any) -> bool:
    """Whether a parameter is exactly what a file need not say."""
    return type(value) is type(unsaid) and bool(value == unsaid)


def write_features(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Return the JSON of the number and the names of features, as far as a model has them."""
    return encode_attributes(model, [name for name in _FEATURES if hasattr(model, name)], arrays)


def read_features(model: Any, content: Any, arrays: Loaded) -> None:
    """Set the number and the names of features."""
    if not isinstance(content, dict) or not set(content) <= set(_FEATURES):
        refuse("the features must be a number and names")
    for key, value in content.items():
        setattr(model, key, decode(value, arrays))
    count = getattr(model, "n_features_in_", None)
    if count is not None:
        check_whole(count, "n_features_in_")
    if "feature_names_in_" in content:
        names = check_array(model.feature_names_in_, "feature_names_in_", shape=(count,))
        for name in names.tolist():
            check_text(name, "the name of a feature")


def _check_fitted(fitted: dict[str, Any], *, n_prototypes: int, n_classes: int) -> None:
    """Check the fitted attributes against one another."""
    cost = fitted["prototype_cost_"]
    if not 0.0 <= check_number(cost, "prototype_cost_") < np.inf:
        refuse(f"prototype_cost_ must be a finite number not below 0, got {cost!r}")
    check_indices(fitted["class_count_"], "class_count_", length=n_classes, below=2**62)
    check_places(fitted, "prototype", n_prototypes)


def check_places(fitted: dict[str, Any], name: str, n: int) -> None:
    """Check prototypes, or what else has that name, and where each of them is from."""
    if row_count(fitted[f"{name}s_"]) != n:
        refuse(f"there must be {n} {name}s, got {row_count(fitted[f'{name}s_'])}")
    check_indices(fitted[f"{name}_indices_"], f"{name}_indices_", length=n, below=2**62)
    rows = check_array(fitted[f"{name}_rows_"], f"{name}_rows_", kinds="i")
    check_indices(rows + 1, f"{name}_rows_", length=n, below=2**62)
    check_array(fitted[f"{name}_sources_"], f"{name}_sources_", kinds="U", shape=(n,))


def _check_radii(radii: Any, own: NDArray[np.float64] | None, eps: Any) -> None:
    """Check the radius that all prototypes share, or the limit to those of their `own`."""
    limit = check_number(eps, "eps_")
    if check_own_radii(radii) != (own is not None):
        has = "share one radius" if own is None else "have radii of their own"
        refuse(f"radii is {radii!r}, but the prototypes {has}; fit the model again")
    if own is not None:
        _check_own(own, limit)
    elif not 0.0 <= limit < np.inf:
        refuse(f"eps_ must be a finite number not below 0, got {limit!r}")


def _check_own(radii: NDArray[np.float64], limit: float) -> None:
    """Check radii of their own, and the limit to them."""
    if not limit > 0.0:
        refuse(f"eps_ must be a number above 0, or infinite for no limit, got {limit!r}")
    fits = np.isfinite(radii) & (radii >= 0.0) & (radii <= limit)
    if not fits.all():
        refuse(
            f"the prototypes' radii must be finite numbers from 0 to eps_, which is {limit:g}, "
            f"got {radii[~fits][0]:g}"
        )


def row_width(prototypes: Any) -> int | None:
    """Return the number of features of prototypes that are rows of a table of numbers."""
    dense = isinstance(prototypes, np.ndarray) and prototypes.ndim == 2
    return int(prototypes.shape[1]) if dense or issparse(prototypes) else None


def _by_column(fitted: dict[str, Any], selection: Selection, n_columns: int) -> Selection:
    """Put prototypes that are all columns of a table in the order of the columns, as fit does."""
    order = column_order(fitted["prototypes_"], n_columns)
    if order is None:
        return selection
    for name in ("prototypes_", "prototype_indices_", "prototype_rows_", "prototype_sources_"):
        fitted[name] = fitted[name][order]
    return selection._rearranged(order)


def _as_fitted(fitted: dict[str, Any], selection: Selection, dissimilarity: Any) -> Fitted:
    """Put together what a classifier keeps from the attributes of a file."""
    return Fitted(
        # Files from before candidates had the user's numbers there have columns of the cover.
        selection=selection.renumbered(fitted["prototype_indices_"]),
        prototypes=fitted["prototypes_"],
        rows=fitted["prototype_rows_"],
        sources=fitted["prototype_sources_"],
        classes=fitted["classes_"],
        class_count=fitted["class_count_"],
        eps=fitted["eps_"],
        prototype_cost=fitted["prototype_cost_"],
        outlier_label=fitted["outlier_label_"],
        dissimilarity=dissimilarity,
    )


def encode_dissimilarity(dissimilarity: Any, arrays: Arrays) -> Any:
    """Return the JSON of a fitted dissimilarity."""
    name = type(dissimilarity).__name__
    if DISSIMILARITIES.get(name) is not type(dissimilarity):
        encode(dissimilarity, arrays, "metric")  # raises, with the way out
        refuse(f"metric {name} is not one of protocover's own dissimilarities")
    # What is None goes without saying: so who knows fewer arguments can read the file.
    names = argument_names(type(dissimilarity))
    told = [one for one in names if getattr(dissimilarity, one) is not None]
    given = encode_attributes(dissimilarity, told, arrays, where="metric")
    state = {}
    for key in dissimilarity.saved_state:
        value = getattr(dissimilarity, key)
        fitted = key == "base_"
        state[key] = (
            encode_dissimilarity(value, arrays) if fitted else encode(value, arrays, "metric")
        )
    return {"name": name, "parameters": given, "state": state}


def decode_dissimilarity(content: Any, arrays: Loaded, **sizes: Any) -> Any:
    """Return the fitted dissimilarity of a classifier with so many prototypes and features."""
    record = check_record(content, "a dissimilarity", ("name", "parameters", "state"))
    name = check_text(record["name"], "the name of a dissimilarity", DISSIMILARITIES)
    made = construct(DISSIMILARITIES[name], record["parameters"], arrays)
    state = check_record(record["state"], f"the state of {name}", made.saved_state)
    for key, value in state.items():
        fitted = key == "base_"
        item = decode_dissimilarity(value, arrays, **sizes) if fitted else decode(value, arrays)
        setattr(made, key, item)
    made._check_state(**sizes)
    return made
