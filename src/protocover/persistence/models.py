"""The estimators that can be saved, in a closed table: what to write, and how to read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..data.fields import (
    check_array,
    check_list,
    check_number,
    check_record,
    check_text,
    check_whole,
    refuse,
)
from ..estimators import BallCover, PVMClassifier, PVMClassifierCV, PVMSelector
from ..selection.parameters import is_count
from .classifiers import (
    UNSAID,
    decode_classifier,
    encode_classifier,
    read_features,
    write_features,
    write_parameters,
)
from .covers import decode_cover, encode_cover
from .encoding import argument_names, construct, decode, decode_record, encode_attributes
from .values import Arrays, Loaded

__all__ = ["decode_model", "encode_model", "needed_version"]

_SCALERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "StandardScaler": (StandardScaler, ("mean_", "var_", "scale_")),
    "MinMaxScaler": (MinMaxScaler, ("min_", "scale_", "data_min_", "data_max_", "data_range_")),
}
_RENAMED = {"max_prototypes": "n_prototypes"}
_SEARCH = (
    "best_index_",
    "best_params_",
    "best_score_",
    "eps_",
    "prototype_cost_",
    "n_splits_",
    "classes_",
    "cv_results_",
)


def encode_model(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Return the JSON of a fitted estimator."""
    name = type(model).__name__
    kind, write, _ = _KINDS.get(name, (None, None, None))
    if kind is not type(model):
        refuse(
            f"a model file holds a {', '.join(_KINDS)}, got {name}; save the fitted classifier "
            "alone, or keep the model with joblib.dump or skops.io.dump"
        )
    check_is_fitted(model)
    return {"model": name, "content": write(model, arrays)}


def decode_model(record: dict[str, Any], arrays: Loaded) -> Any:
    """Return the fitted estimator that a JSON of `encode_model` stands for."""
    check_record(record, "the model", ("model", "content"))
    name = check_text(record["model"], "the name of a model", _KINDS)
    return _KINDS[name][2](record["content"], arrays)


def needed_version(record: Any) -> int:
    """Return the lowest version of the format that has words for all that a record says.

    Version 1 knows one radius for all prototypes and has no word for the choice; version 2
    says `radii` where each has its own. Version 3 says `budget` where a bound is one on so
    many prototypes, and version 4 knows a `BallCover`. Version 5 says `leaves` where a branch
    and bound left them. Version 6 has the parameters `cross_class`, `min_per_class` and
    `class_weight`, says `at_least` where a class must have a prototype, and `search_rows_`
    where a search was done on a sample.
    """
    if not isinstance(record, dict):
        return 1
    return max(_own_version(record), *map(needed_version, record.values()), 1)


def _own_version(record: dict[str, Any]) -> int:
    """Return the version that a record needs for its own words."""
    selection = record.get("selection")
    selection = selection if isinstance(selection, dict) else {}
    solutions = [record.get("solution"), *_listed(selection.get("solutions"))]
    given = record.get("parameters")
    given = given if isinstance(given, dict) else {}
    later = ("cross_class", "min_per_class", "class_weight", "max_search_samples")
    fitted = record.get("fitted")
    is_sampled = isinstance(fitted, dict) and "search_rows_" in fitted
    said = {word for one in solutions if isinstance(one, dict) for word in one}
    if is_sampled or "at_least" in said or any(name in given for name in later):
        return 6
    if "leaves" in said:
        return 5
    if record.get("model") == "BallCover":
        return 4
    # Said of all classes together, or of a class.
    if any(isinstance(one, dict) and "budget" in one for one in (selection, *solutions[1:])):
        return 3
    return 2 if "radii" in given else 1


def _listed(value: Any) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def _write_search(model: PVMClassifierCV, arrays: Arrays) -> dict[str, Any]:
    """Encode a cross-validated classifier."""
    # The default number of samples to search on is left out, so that earlier versions can read
    # the file.
    default = model.max_search_samples == PVMClassifierCV().max_search_samples
    without = ["max_search_samples"] if default else []
    return {
        "parameters": write_parameters(model, arrays, without=without),
        "features": write_features(model, arrays),
        "best_estimator": encode_classifier(model.best_estimator_, arrays),
        "fitted": encode_attributes(model, _search_attributes(model.search_rows_), arrays),
    }


def _read_search(content: Any, arrays: Loaded) -> PVMClassifierCV:
    """Decode a cross-validated classifier."""
    keys = ("parameters", "features", "best_estimator", "fitted")
    record = check_record(content, "a cross-validated classifier", keys)
    given = _in_words_of_today(record["parameters"], arrays)
    known = set(argument_names(PVMClassifierCV))
    unsaid = {name: value for name, value in UNSAID.items() if name in known}
    given = {**unsaid, **given} if isinstance(given, dict) else given
    model: PVMClassifierCV = construct(PVMClassifierCV, given, arrays)
    read_features(model, record["features"], arrays)
    model.best_estimator_ = decode_classifier(record["best_estimator"], arrays)
    kept = record["fitted"]
    names = _search_attributes(kept.get("search_rows_") if isinstance(kept, dict) else None)
    model.search_rows_ = None
    for name, value in decode_record(kept, "the search", names, arrays).items():
        setattr(model, name, value)
    _check_search(model)
    return model


def _search_attributes(search_rows: Any) -> tuple[str, ...]:
    """Return what is kept of a search: the rows that it was done on only if they are a sample."""
    return _SEARCH if search_rows is None else (*_SEARCH, "search_rows_")


def _in_words_of_today(given: Any, arrays: Loaded) -> Any:
    """Return a search's parameters, those of the first files with their names of today.

    There `eps` was either radii or, as a whole number, how many to propose, by default 20.
    """
    if not isinstance(given, dict) or "n_eps" in given:
        return given
    renamed = {_RENAMED.get(name, name): value for name, value in given.items()}
    # Only looked at: what it is made of stays for the constructor to take.
    if is_count(decode(renamed.get("eps"), Loaded(arrays.arrays))):
        renamed |= {"n_eps": renamed["eps"], "eps": None}
    return {"n_eps": 20, **renamed}


def _check_search(model: PVMClassifierCV) -> None:
    """Check the table of the search."""
    check_array(model.classes_, "classes_", shape=model.best_estimator_.classes_.shape)
    results = model.cv_results_
    if not isinstance(results, dict) or "params" not in results:
        refuse("cv_results_ must have params")
    n = len(check_list(results["params"], "params"))
    for name, column in results.items():
        if check_text(name, "the name of a column of cv_results_") != "params":
            check_array(column, name, shape=(n,))
    for setting in (*results["params"], model.best_params_):
        if not isinstance(setting, dict):
            refuse("a setting of the search must be a dict")
    if model.search_rows_ is not None:
        check_array(model.search_rows_, "search_rows_", kinds="i", shape=(None,))
    check_whole(model.best_index_, "best_index_", below=n)
    check_whole(model.n_splits_, "n_splits_", low=1)
    for name in ("best_score_", "eps_", "prototype_cost_"):
        check_number(getattr(model, name), name)


def _write_selector(model: PVMSelector, arrays: Arrays) -> dict[str, Any]:
    """Encode a selector, whose arguments are among its classifier's."""
    return {"classifier": encode_classifier(model.classifier_, arrays)}


def _read_selector(content: Any, arrays: Loaded) -> PVMSelector:
    """Decode a selector."""
    record = check_record(content, "a selector", ("classifier",))
    classifier = decode_classifier(record["classifier"], arrays)
    own = PVMSelector().get_params(deep=False)
    model = PVMSelector(**{name: getattr(classifier, name) for name in own})
    return model._keep(classifier)


def _write_pipeline(model: Pipeline, arrays: Arrays) -> dict[str, Any]:
    """Encode a pipeline of scalers before one of our estimators."""
    *before, (name, last) = model.steps
    if model.memory is not None or type(last) is Pipeline:
        refuse(
            "a pipeline must have memory=None and one of protocover's estimators as its last "
            "step to be saved; or keep it with joblib.dump or skops.io.dump"
        )
    scalers = [[step, _encode_scaler(scaler, arrays)] for step, scaler in before]
    return {"scalers": scalers, "name": name, "last": encode_model(last, arrays)}


def _read_pipeline(content: Any, arrays: Loaded) -> Pipeline:
    """Decode a pipeline."""
    record = check_record(content, "a pipeline", ("scalers", "name", "last"))
    steps = []
    for pair in check_list(record["scalers"], "the scalers"):
        step, scaler = check_list(pair, "a scaler", 2)
        steps.append((check_text(step, "the name of a step"), _decode_scaler(scaler, arrays)))
    last = decode_model(record["last"], arrays)
    if isinstance(last, Pipeline):
        refuse("a pipeline is the last step of another")
    return Pipeline([*steps, (check_text(record["name"], "the name of a step"), last)])


def _encode_scaler(scaler: Any, arrays: Arrays) -> Any:
    """Encode a step before the last one."""
    name = type(scaler).__name__
    if isinstance(scaler, str) and scaler == "passthrough":
        return scaler
    kind, state = _SCALERS.get(name, (None, ()))
    if kind is not type(scaler):
        refuse(
            f"a pipeline in a model file may have {', '.join(_SCALERS)} before the classifier, "
            f"got {name}; transform the data first and save the classifier alone, or keep the "
            "pipeline with joblib.dump or skops.io.dump"
        )
    return {
        "scaler": name,
        "parameters": encode_attributes(scaler, argument_names(kind), arrays),
        "features": write_features(scaler, arrays),
        "output": getattr(scaler, "_sklearn_output_config", {}).get("transform"),
        "fitted": encode_attributes(scaler, state, arrays),
        **encode_attributes(scaler, ("n_samples_seen_",), arrays),
    }


def _decode_scaler(content: Any, arrays: Loaded) -> Any:
    """Decode a step before the last one."""
    if content == "passthrough":
        return content
    keys = ("scaler", "parameters", "features", "output", "fitted", "n_samples_seen_")
    record = check_record(content, "a scaler", keys)
    kind, names = _SCALERS[check_text(record["scaler"], "the name of a scaler", _SCALERS)]
    scaler = construct(kind, record["parameters"], arrays)
    read_features(scaler, record["features"], arrays)
    state = decode_record(record["fitted"], "a scaler's state", names, arrays)
    for name, value in state.items():
        if value is not None:
            check_array(value, name, kinds="f", shape=(scaler.n_features_in_,))
        setattr(scaler, name, value)
    seen = decode(record["n_samples_seen_"], arrays)
    scaler.n_samples_seen_ = seen if isinstance(seen, np.ndarray) else check_number(seen, "seen")
    if record["output"] is not None:
        output = check_text(record["output"], "output", ("default", "pandas", "polars"))
        scaler.set_output(transform=output)
    return scaler


# The class of an estimator that can be saved, and functions to JSON and back.
_KINDS: dict[str, tuple[Any, Any, Any]] = {
    "PVMClassifier": (PVMClassifier, encode_classifier, decode_classifier),
    "PVMClassifierCV": (PVMClassifierCV, _write_search, _read_search),
    "PVMSelector": (PVMSelector, _write_selector, _read_selector),
    "BallCover": (BallCover, encode_cover, decode_cover),
    "Pipeline": (Pipeline, _write_pipeline, _read_pipeline),
}
