"""A fitted dissimilarity as JSON and arrays, and back after it has checked itself.

Which attributes `fit` has set, beside the constructor's arguments, and what must hold of them
stands with each dissimilarity, in its `saved_state` and `check_state`. Shapes and ranges are
checked, so that what was read cannot lead outside of an array later.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ..data.fields import check_record, check_text, refuse
from .encoding import DISSIMILARITIES, construct, decode, encode, parameters
from .values import Arrays

__all__ = ["decode_dissimilarity", "encode_dissimilarity"]


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
        for key in dissimilarity.saved_state
    }
    return {"name": name, "parameters": given, "state": state}


def decode_dissimilarity(
    content: Any, arrays: tuple[NDArray[Any], ...], *, n_prototypes: int, n_features: int | None
) -> Any:
    """Return the fitted dissimilarity that a JSON of `encode_dissimilarity` stands for."""
    record = check_record(content, "a dissimilarity", ("name", "parameters", "state"))
    name = check_text(record["name"], "the name of a dissimilarity", DISSIMILARITIES)
    made = construct(DISSIMILARITIES[name], record["parameters"], lambda v: decode(v, arrays))
    sizes: dict[str, Any] = {"n_prototypes": n_prototypes, "n_features": n_features}
    state = check_record(record["state"], f"the state of {name}", made.saved_state)
    for key, value in state.items():
        fitted = key == "base_"
        setattr(
            made,
            key,
            decode_dissimilarity(value, arrays, **sizes) if fitted else decode(value, arrays),
        )
    made.check_state(**sizes)
    return made


def _encode_attribute(value: Any, arrays: Arrays) -> Any:
    """Encode one attribute of the state, which may be a fitted dissimilarity itself."""
    if type(value).__name__ in DISSIMILARITIES:
        return encode_dissimilarity(value, arrays)
    return encode(value, arrays, "metric")
