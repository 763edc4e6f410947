"""The fitted state of every built-in dissimilarity, and the checks it must pass when read.

The state is what `fit` has set beside the constructor's arguments. Shapes and ranges are
checked, so that what was read cannot lead outside of an array later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

from ..dissimilarity.gower.coding import KINDS
from ..dissimilarity.metric import METRIC_ALIASES, METRIC_NAMES
from ..dissimilarity.tangent.vectors import TRANSFORMATIONS, ImageMaps
from .container import refuse
from .encoding import DISSIMILARITIES, construct, decode, encode, parameters
from .fields import (
    check_array,
    check_boolean,
    check_indices,
    check_list,
    check_number,
    check_record,
    check_text,
    check_whole,
)
from .values import Arrays

__all__ = ["column_count", "decode_dissimilarity", "encode_dissimilarity"]

_STORES = ("numbers", "dates", "booleans", "labels", "ranks")
# Files of version 1 may have another word for what a column stores.
_FORMER_STORES = {"truths": "booleans"}


@dataclass(frozen=True)
class _State:
    """What belongs to a fitted dissimilarity.

    Parameters
    ----------
    names : tuple of str
        Attributes that are kept.
    check : callable
        Takes the dissimilarity, the number of prototypes and the number of features
        (None where points are no rows), and raises where something does not fit.
    dropped : tuple of str
        Attributes that a model with prototypes no longer needs; None after reading.
    """

    names: tuple[str, ...]
    check: Callable[[Any, int, int | None], None]
    dropped: tuple[str, ...] = ()


def encode_dissimilarity(dissimilarity: Any, arrays: Arrays) -> Any:
    """Return the JSON of a fitted dissimilarity."""
    name = type(dissimilarity).__name__
    if DISSIMILARITIES.get(name) is not type(dissimilarity):
        encode(dissimilarity, arrays, "metric")  # raises, with the way out
        refuse(f"metric {name} is not one of protocover's own dissimilarities")
    given = {
        key: encode(value, arrays, "metric") for key, value in parameters(dissimilarity).items()
    }
    state = {
        key: _encode_attribute(getattr(dissimilarity, key), arrays)
        for key in _STATES[name].names
        if hasattr(dissimilarity, key)
    }
    return {"name": name, "parameters": given, "state": state}


def decode_dissimilarity(
    content: Any, arrays: tuple[NDArray[Any], ...], *, n_prototypes: int, n_features: int | None
) -> Any:
    """Return the fitted dissimilarity that a JSON of `encode_dissimilarity` stands for."""
    record = check_record(content, "a dissimilarity", ("name", "parameters", "state"))
    name = check_text(record["name"], "the name of a dissimilarity", DISSIMILARITIES)
    made = construct(DISSIMILARITIES[name], record["parameters"], lambda v: decode(v, arrays))
    state, kept = _STATES[name], record["state"]
    if not isinstance(kept, dict) or not set(kept) <= set(state.names):
        refuse(f"the state of {name} is not what it has")
    sizes: dict[str, Any] = {"n_prototypes": n_prototypes, "n_features": n_features}
    for key, value in kept.items():
        fitted = key == "base_"
        setattr(
            made,
            key,
            decode_dissimilarity(value, arrays, **sizes) if fitted else decode(value, arrays),
        )
    for key in state.dropped:
        setattr(made, key, None)
    missing = [key for key in _required(made, state) if not hasattr(made, key)]
    if missing:
        refuse(f"the state of {name} lacks {', '.join(missing)}")
    state.check(made, n_prototypes, n_features)
    return made


def column_count(dissimilarity: Any) -> int | None:
    """Return how many columns a table of values must have, None where there is no table."""
    while hasattr(dissimilarity, "base_"):
        dissimilarity = dissimilarity.base_
    return getattr(dissimilarity, "n_candidates_", None)


def _encode_attribute(value: Any, arrays: Arrays) -> Any:
    """Encode one attribute of the state, which may be a fitted dissimilarity itself."""
    if type(value).__name__ in DISSIMILARITIES:
        return encode_dissimilarity(value, arrays)
    return encode(value, arrays, "metric")


def _required(made: Any, state: _State) -> tuple[str, ...]:
    """Return the attributes that must be there; a kernel has some only if precomputed."""
    return () if type(made).__name__ == "KernelDistance" and not made.pairwise else state.names


def _check_nothing(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """There is no state to check."""


def _check_precomputed(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check the number of columns."""
    check_whole(made.n_candidates_, "n_candidates_")


def _check_metric(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check the name, and that arrays among the parameters have a value for each feature."""
    check_text(made.name, "the name of a metric", {*METRIC_NAMES, *METRIC_ALIASES})
    shapes = {"V": (n_features,), "w": (n_features,), "VI": (n_features, n_features)}
    for key, value in _check_keywords(made.params_, "params_").items():
        if key in shapes and value is not None:
            check_array(np.asarray(value), key, kinds="biuf", shape=shapes[key])


def _check_kernel(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check the name of the kernel and the diagonal of a precomputed one."""
    check_text(made.kernel, "kernel", {*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"})
    _check_keywords(made.params or {}, "params")
    if made.pairwise:
        check_whole(made.n_candidates_, "n_candidates_", low=1)
        check_array(made.diagonal_, "diagonal_", kinds="f", shape=(made.n_candidates_,))


def _check_rank(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check that there is a sorted column for each prototype."""
    check_array(made._kept.columns, "columns", kinds="f", shape=(None, n_prototypes))
    if made.pairwise:
        below = column_count(made)
        check_indices(made._kept.numbers, "numbers", length=n_prototypes, below=below)


def _check_dann(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check that there is a metric for each prototype, in the space they all have."""
    made._check_parameters()
    for key in ("mean_", "scale_"):
        check_array(getattr(made, key), key, kinds="f", shape=(n_features,))
    g = max(1, int(np.isfinite(made.scale_).sum()))
    if made.rotation_ is not None:
        g = check_array(made.rotation_, "rotation_", kinds="f", shape=(g, None)).shape[1]
    for metric in check_list(made._metrics, "the metrics", n_prototypes):
        r = len(check_array(metric.factors, "factors", kinds="f", shape=(None,)))
        check_array(metric.directions, "directions", kinds="f", shape=(g, r))
        check_number(metric.rest, "rest")


def _check_tangent(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check that the matrices fit the images, and the mean image the matrices."""
    made._check_parameters()
    height, width = made.image_shape
    if height * width != n_features:
        refuse(f"images of {height} x {width} pixels do not have {n_features}")
    if not isinstance(made.maps_, ImageMaps):
        refuse("maps_ must be the maps of images")
    for field in fields(made.maps_)[1:]:
        size = height if field.name.endswith("_y") else width
        shape = (size + 2 * made.pad, size)
        check_array(getattr(made.maps_, field.name), field.name, kinds="f", shape=shape)
    check_number(made.maps_.background, "background")
    check_number(made.background_, "background_")
    check_array(made.centre_, "centre_", kinds="f", shape=(made.maps_.n_pixels,))
    if not isinstance(made.transformations_, tuple):
        refuse("transformations_ must be a tuple of names")
    for name in made.transformations_:
        check_text(name, "a transformation", TRANSFORMATIONS)


def _check_mismatch(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check the alphabet."""
    letters = made.alphabet_
    if not isinstance(letters, tuple) or len(set(letters)) < len(letters):
        refuse("alphabet_ must be a tuple of different letters")


def _check_gower(made: Any, n_prototypes: int, n_features: int | None) -> None:
    """Check that everything has an entry for each column."""
    n = len(check_list(made.names_, "names_"))
    check_boolean(made.named_, "named_")
    stores = check_list(made.stores_, "stores_", n)
    for store in stores:
        check_text(store, "what a column stores", (*_STORES, *_FORMER_STORES))
    made.stores_ = [_FORMER_STORES.get(store, store) for store in stores]
    for kind in check_list(made.kinds_, "kinds_", n):
        check_text(kind, "the kind of a column", KINDS)
    if not all(isinstance(values, tuple) for values in check_list(made.categories_, "", n)):
        refuse("categories_ must be a tuple for each column")
    check_array(made.ranges_, "ranges_", kinds="f", shape=(n, 2))
    weights = check_array(made.weights_, "weights_", kinds="f", shape=(n,))
    if not np.isfinite(weights).all() or (weights < 0.0).any() or not weights.any():
        refuse("weights_ must be finite, not negative and not all zero")


def _check_keywords(value: Any, name: str) -> dict[str, Any]:
    """Check that a value is a dict of arguments by name, numbers and arrays."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse(f"{name} must be arguments by name")
    for key, item in value.items():
        if not (item is None or isinstance(item, bool | str | np.ndarray | list | tuple)):
            check_number(item, key)
    return value


_NOTHING = _State((), _check_nothing)
_STATES = {
    "Cosine": _NOTHING,
    "DANN": _State(
        ("mean_", "scale_", "rotation_", "_metrics"), _check_dann, dropped=("_neighbourhood",)
    ),
    "Euclidean": _NOTHING,
    "Gower": _State(
        ("names_", "named_", "stores_", "kinds_", "ranges_", "categories_", "weights_"),
        _check_gower,
    ),
    "KernelDistance": _State(("diagonal_", "n_candidates_"), _check_kernel),
    "Metric": _State(("params_",), _check_metric),
    "MismatchDistance": _State(("alphabet_",), _check_mismatch),
    "Precomputed": _State(("n_candidates_",), _check_precomputed),
    "RankDissimilarity": _State(("base_", "_kept"), _check_rank, dropped=("_points",)),
    "SpectrumDistance": _NOTHING,
    "SquaredEuclidean": _NOTHING,
    "TangentDistance": _State(
        ("background_", "transformations_", "maps_", "centre_"), _check_tangent
    ),
}
