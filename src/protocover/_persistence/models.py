"""The estimators that can be saved, in a closed table, and checks of what was read of them.

Every estimator is a record of its class, the arguments of its constructor and its fitted
attributes, by their names. Shapes and ranges are checked, so no index read from a file can
lead outside of an array later.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._balls import traits_of
from .._cover import CoverSolution, Limit, ProofTree, SharedBound
from .._cover.proof import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR
from .._estimators import BallCover, PVMClassifier, PVMClassifierCV, PVMSelector
from .._estimators.fitted_decision import check_decision
from .._estimators.model import ONE_CLASS, Assignment, CoverModel, one_class
from .._exceptions import ModelFileError
from .._prototypes.fitted_rule import FittedRule
from .._resources import row_count
from .._selection.parameters import check_adaptive_radii
from .._selection.selection import Selection
from ..data._fields import (
    check_array,
    check_indices,
    check_list,
    check_number,
    check_record,
    check_text,
    check_whole,
    refuse,
)
from .encoding import (
    Arrays,
    Loaded,
    argument_names,
    construct,
    decode,
    decode_dissimilarity,
    encode,
    encode_attributes,
    encode_dissimilarity,
)

_ESTIMATORS: dict[str, Any] = {
    kind.__name__: kind for kind in (PVMClassifier, PVMClassifierCV, PVMSelector, BallCover)
}
_SCALERS: dict[str, Any] = {kind.__name__: kind for kind in (StandardScaler, MinMaxScaler)}
_FEATURES = ("n_features_in_", "feature_names_in_")
_FITTED: dict[str, tuple[str, ...]] = {
    "PVMClassifier": (
        "eps_",
        "prototype_cost_",
        "outlier_label_",
        "classes_",
        "class_count_",
        "prototypes_",
        "prototype_indices_",
        "prototype_sources_",
        "solution_",
        "dissimilarity_",
        "decision_rule_",
    ),
    "PVMClassifierCV": (
        "best_index_",
        "best_params_",
        "best_score_",
        "eps_",
        "prototype_cost_",
        "n_splits_",
        "classes_",
        "cv_results_",
        "search_rows_",
        "best_estimator_",
    ),
    "PVMSelector": ("classifier_",),
    "BallCover": (
        "eps_",
        "representatives_",
        "candidate_indices_",
        "representative_indices_",
        "representative_sources_",
        "labels_",
        "counts_",
        "coverage_",
        "objective_",
        "lower_bound_",
        "solution_",
        "dissimilarity_",
    ),
    "StandardScaler": ("mean_", "var_", "scale_", "n_samples_seen_"),
    "MinMaxScaler": (
        "min_",
        "scale_",
        "data_min_",
        "data_max_",
        "data_range_",
        "n_samples_seen_",
    ),
}
_CLASSIFIERS = ("best_estimator_", "classifier_")  # attributes that are one
_MOST = 2**62


def encode_model(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Return the JSON of a fitted estimator."""
    if type(model) is Pipeline:
        return {"model": "Pipeline", "steps": _encode_steps(model, arrays)}
    name = type(model).__name__
    if _ESTIMATORS.get(name) is not type(model):
        refuse(
            f"a model file holds a {', '.join(_ESTIMATORS)} or Pipeline, got {name}; save the "
            "fitted classifier alone, or keep the model with joblib.dump or skops.io.dump"
        )
    return _encode_estimator(model, arrays)


def decode_model(record: Any, arrays: Loaded) -> Any:
    """Return the fitted estimator of a JSON of `encode_model`."""
    if isinstance(record, dict) and record.get("model") == "Pipeline":
        check_record(record, "a pipeline", ("model", "steps"))
        return Pipeline(_decode_steps(record["steps"], arrays))
    return _decode_estimator(record, arrays, _ESTIMATORS)


def _encode_estimator(model: Any, arrays: Arrays) -> dict[str, Any]:
    """Encode an estimator of ours, or a scaler."""
    check_is_fitted(model)
    name = type(model).__name__
    fitted = {key: _encode_fitted(getattr(model, key), key, arrays) for key in _FITTED[name]}
    features = [key for key in _FEATURES if hasattr(model, key)]
    return {
        "model": name,
        "parameters": encode_attributes(model, argument_names(type(model)), arrays),
        "fitted": fitted | encode_attributes(model, features, arrays),
    }


def _encode_fitted(value: Any, name: str, arrays: Arrays) -> Any:
    """Encode a fitted attribute."""
    if name in _CLASSIFIERS:
        return _encode_estimator(value, arrays)
    if name == "dissimilarity_":
        return encode_dissimilarity(value, arrays)
    return encode(without_code(value) if name == "solution_" else value, arrays, name)


def _decode_estimator(content: Any, arrays: Loaded, kinds: dict[str, Any]) -> Any:
    """Decode an estimator of one of these classes."""
    record = check_record(content, "the model", ("model", "parameters", "fitted"))
    name = check_text(record["model"], "the name of a model", kinds)
    model = construct(kinds[name], record["parameters"], arrays)
    said = record["fitted"]
    features = [key for key in _FEATURES if isinstance(said, dict) and key in said]
    check_record(said, "the fitted attributes", (*_FITTED[name], *features))
    fitted = {key: _decode_fitted(value, key, arrays) for key, value in said.items()}
    _set_features(model, {key: fitted.pop(key) for key in features})
    _RESTORE[name](model, fitted, arrays)
    return model


def _decode_fitted(value: Any, name: str, arrays: Loaded) -> Any:
    """Decode a fitted attribute; a dissimilarity must wait for the prototypes."""
    if name in _CLASSIFIERS:
        return _decode_estimator(value, arrays, {"PVMClassifier": PVMClassifier})
    return value if name == "dissimilarity_" else decode(value, arrays)


def _set_features(model: Any, features: dict[str, Any]) -> None:
    """Set the number and the names of features, as far as the model has them."""
    for key, value in features.items():
        setattr(model, key, value)
    count = features.get("n_features_in_")
    if count is not None:
        check_whole(count, "n_features_in_")
    if "feature_names_in_" in features:
        names = check_array(features["feature_names_in_"], "feature_names_in_", shape=(count,))
        for name in names.tolist():
            check_text(name, "the name of a feature")


def _restore_classifier(model: PVMClassifier, fitted: dict[str, Any], arrays: Loaded) -> None:
    """Check the fitted attributes of a classifier against one another, and set them."""
    classes = check_array(fitted["classes_"], "classes_", kinds="biufUSOMm", shape=(None,))
    selection = check_selection(fitted["solution_"], n_classes=len(classes))
    cost = fitted["prototype_cost_"]
    if not 0.0 <= check_number(cost, "prototype_cost_") < np.inf:
        refuse(f"prototype_cost_ must be a finite non-negative number, got {cost!r}")
    _check_radii(model.radii, selection.radii, fitted["eps_"])
    _check_places(fitted, "prototype", len(selection.candidates))
    dissimilarity = _decode_for(model, fitted, "prototypes_", arrays)
    model._set_model(
        CoverModel(
            selection=selection,
            prototypes=fitted["prototypes_"],
            rows=fitted["prototype_indices_"],
            sources=fitted["prototype_sources_"],
            classes=classes,
            class_count=check_indices(
                fitted["class_count_"], "class_count_", length=len(classes), below=_MOST
            ),
            eps=fitted["eps_"],
            prototype_cost=cost,
            outlier_label=fitted["outlier_label_"],
            dissimilarity=dissimilarity,
            rule=_check_rule(model, fitted["decision_rule_"], len(selection.candidates)),
        )
    )


def _check_rule(model: PVMClassifier, rule: Any, n: int) -> FittedRule | None:
    """Check that a decision rule suits the parameters and the number of prototypes."""
    if (rule is not None) != (check_decision(model) == "fitted" and n > 0):
        refuse(f"decision is {model.decision!r}, but decision_rule_ is {rule!r:.80}")
    if rule is None:
        return None
    if type(rule) is not FittedRule:
        refuse(f"decision_rule_ must be a FittedRule, got {type(rule).__name__}")
    weights = rule.feature_weights
    if (weights is not None) != (model.feature_weights is not None):
        refuse("decision_rule_ and feature_weights disagree on whether features have weights")
    shapes = {"scale": n, "offset": n}
    if weights is not None:
        shapes["feature_weights"] = getattr(model, "n_features_in_", -1)
    for name, size in shapes.items():
        values = check_array(getattr(rule, name), name, kinds="f", shape=(size,))
        if not (np.isfinite(values).all() and (name == "offset" or (values > 0.0).all())):
            refuse(f"{name} of decision_rule_ must be finite and positive where it is a factor")
    if not 0.0 < check_number(rule.unit, "unit of decision_rule_") < np.inf:
        refuse(f"unit of decision_rule_ must be a finite positive number, got {rule.unit!r}")
    return rule


def _restore_cover(model: BallCover, fitted: dict[str, Any], arrays: Loaded) -> None:
    """Check the fitted attributes of a cover against one another, and set them."""
    solution = check_solution(fitted["solution_"])
    n = len(check_array(fitted["candidate_indices_"], "candidate_indices_"))
    if len(solution.selected) > n:
        refuse(f"there are {n} representatives, but {len(solution.selected)} were chosen")
    check_indices(fitted["candidate_indices_"], "candidate_indices_", length=n, below=_MOST)
    _check_places(fitted, "representative", n)
    if not 0.0 < check_number(fitted["eps_"], "eps_") < np.inf:
        refuse(f"eps_ must be a finite number above 0, got {fitted['eps_']!r}")
    if not 0.0 <= check_number(fitted["coverage_"], "coverage_") <= 1.0:
        refuse(f"coverage_ must be a share from 0 to 1, got {fitted['coverage_']!r}")
    labels = check_array(fitted["labels_"], "labels_", kinds="i", shape=(None,))
    check_indices(labels + 1, "labels_", below=n + 1)
    check_indices(fitted["counts_"], "counts_", length=n, below=len(labels) + 1)
    dissimilarity = _decode_for(model, fitted, "representatives_", arrays)
    kept = CoverModel(
        selection=one_class(fitted["candidate_indices_"], fitted["counts_"], (solution,)),
        prototypes=fitted["representatives_"],
        rows=fitted["representative_indices_"],
        sources=fitted["representative_sources_"],
        classes=np.array([ONE_CLASS]),
        class_count=np.array([len(labels)]),
        eps=fitted["eps_"],
        prototype_cost=0.0,
        outlier_label=None,
        dissimilarity=dissimilarity,
        assignment=Assignment(
            labels=labels,
            coverage=fitted["coverage_"],
            objective=check_number(fitted["objective_"], "objective_"),
            lower_bound=check_number(fitted["lower_bound_"], "lower_bound_"),
        ),
    )
    model._set_model(kept)


def _check_places(fitted: dict[str, Any], name: str, n: int) -> None:
    """Check prototypes, or representatives, and where each of them is from."""
    if row_count(fitted[f"{name}s_"]) != n:
        refuse(f"there must be {n} {name}s, got {row_count(fitted[f'{name}s_'])}")
    rows = check_array(fitted[f"{name}_indices_"], f"{name}_indices_", kinds="i")
    check_indices(rows + 1, f"{name}_indices_", length=n, below=_MOST)
    check_array(fitted[f"{name}_sources_"], f"{name}_sources_", kinds="U", shape=(n,))


def _check_radii(radii: Any, own: NDArray[np.float64] | None, eps: Any) -> None:
    """Check the radius that all prototypes share, or those that each has and their maximum."""
    limit = check_number(eps, "eps_")
    if check_adaptive_radii(radii) != (own is not None):
        has = "share one radius" if own is None else "have radii of their own"
        refuse(f"radii is {radii!r}, but the prototypes {has}; fit the model again")
    if own is None:
        if not 0.0 <= limit < np.inf:
            refuse(f"eps_ must be a finite number not below 0, got {limit!r}")
        return
    if not limit > 0.0:
        refuse(f"eps_ must be a number above 0, or infinite for no limit, got {limit!r}")
    fits = np.isfinite(own) & (own >= 0.0) & (own <= limit)
    if not fits.all():
        refuse(
            f"the prototypes' radii must be finite numbers from 0 to eps_, which is {limit:g}, "
            f"got {own[~fits][0]:g}"
        )


def _decode_for(model: Any, fitted: dict[str, Any], name: str, arrays: Loaded) -> Any:
    """Decode the dissimilarity of a model with these prototypes or representatives."""
    points = fitted[name]
    is_table = issparse(points) or (isinstance(points, np.ndarray) and points.ndim == 2)
    width = int(points.shape[1]) if is_table else None
    if width is not None and width != getattr(model, "n_features_in_", None):
        refuse(f"{name} with {width} features do not fit the model")
    # It holds no more of the training data than these prototypes need, in their order.
    dissimilarity = decode_dissimilarity(
        fitted["dissimilarity_"], arrays, n_prototypes=row_count(points), n_features=width
    )
    if traits_of(dissimilarity).precomputed:
        fitted[name] = check_indices(points, name, below=dissimilarity.n_candidates_)
    return dissimilarity


def _restore_search(model: PVMClassifierCV, fitted: dict[str, Any], _: Loaded) -> None:
    """Check the results of a search, and set them."""
    model._set_model(fitted["best_estimator_"]._model)
    for name, value in fitted.items():
        setattr(model, name, value)
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


def _restore_selector(model: PVMSelector, fitted: dict[str, Any], _: Loaded) -> None:
    """Set the classifier of a selector."""
    model._set_classifier(fitted["classifier_"])


def _restore_scaler(scaler: Any, fitted: dict[str, Any], _: Loaded) -> None:
    """Check what a scaler has learned, and set it."""
    for name, value in fitted.items():
        if name == "n_samples_seen_":
            if not isinstance(value, np.ndarray):
                check_number(value, name)
        elif value is not None:
            check_array(value, name, kinds="f", shape=(scaler.n_features_in_,))
        setattr(scaler, name, value)


_RESTORE: dict[str, Any] = {
    "PVMClassifier": _restore_classifier,
    "PVMClassifierCV": _restore_search,
    "PVMSelector": _restore_selector,
    "BallCover": _restore_cover,
    "StandardScaler": _restore_scaler,
    "MinMaxScaler": _restore_scaler,
}


def _encode_steps(model: Pipeline, arrays: Arrays) -> list[Any]:
    """Encode scalers before one of our estimators, each step with its name and output."""
    *before, (name, last) = model.steps
    if model.memory is not None or type(last) is Pipeline:
        refuse(
            "a pipeline must have memory=None and one of protocover's estimators as its last "
            "step to be saved; or keep it with joblib.dump or skops.io.dump"
        )
    scalers = [[step, *_encode_scaler(scaler, arrays)] for step, scaler in before]
    return [*scalers, [name, encode_model(last, arrays), None]]


def _encode_scaler(scaler: Any, arrays: Arrays) -> tuple[Any, str | None]:
    """Encode a step before the last one, and its kind of output."""
    name = type(scaler).__name__
    if isinstance(scaler, str) and scaler == "passthrough":
        return scaler, None
    if _SCALERS.get(name) is not type(scaler):
        refuse(
            f"a pipeline in a model file may have {', '.join(_SCALERS)} before the classifier, "
            f"got {name}; transform the data first and save the classifier alone, or keep the "
            "pipeline with joblib.dump or skops.io.dump"
        )
    output = getattr(scaler, "_sklearn_output_config", {}).get("transform")
    return _encode_estimator(scaler, arrays), output


def _decode_steps(content: Any, arrays: Loaded) -> list[tuple[str, Any]]:
    """Decode the steps of a pipeline."""
    steps = [check_list(step, "a step", 3) for step in check_list(content, "the steps")]
    if not steps:
        refuse("a pipeline has no steps")
    made = []
    for name, record, output in steps[:-1]:
        step = record
        if record != "passthrough":
            step = _decode_estimator(record, arrays, _SCALERS)
            if output is not None:
                kinds = ("default", "pandas", "polars")
                step.set_output(transform=check_text(output, "output", kinds))
        made.append((check_text(name, "the name of a step"), step))
    name, record, _ = steps[-1]
    last = _decode_estimator(record, arrays, _ESTIMATORS)
    return [*made, (check_text(name, "the name of a step"), last)]


_CERTIFICATES = ("verified", "solver", "none")


def without_code(found: Selection | CoverSolution) -> Selection | CoverSolution:
    """Return a selection or solution with those details that are data.

    A solver may put anything there, and no prediction needs it.
    """
    if isinstance(found, Selection):
        return replace(found, solutions=tuple(without_code(one) for one in found.solutions))  # type: ignore[misc]
    details = {}
    for name, value in found.details.items():
        try:
            encode(value, [], "details")
        except ModelFileError:
            continue
        details[str(name)] = value
    return replace(found, details=details)


def check_selection(value: Any, *, n_classes: int) -> Selection:
    """Check the selection of a classifier with this number of classes."""
    if not isinstance(value, Selection):
        refuse("solution_ must be a Selection")
    candidates = check_indices(value.candidates, "candidates", below=_MOST)
    n, radii = len(candidates), value.radii
    if not isinstance(value.solutions, tuple) or len(value.solutions) != n_classes:
        refuse(f"solutions must be a tuple of {n_classes}, one for each class")
    selection = Selection(
        candidates=candidates,
        classes=check_indices(value.classes, "classes", length=n, below=n_classes),
        newly_covered=check_indices(value.newly_covered, "newly_covered", length=n, below=_MOST),
        covered=check_indices(value.covered, "covered", length=n, below=_MOST),
        miscovered=check_indices(value.miscovered, "miscovered", length=n, below=_MOST),
        score=check_array(value.score, "score", kinds="f", shape=(n,)),
        solutions=tuple(check_solution(one) for one in value.solutions),
        radii=radii if radii is None else check_array(radii, "radii", kinds="f", shape=(n,)),
        shared=None if value.shared is None else _check_shared(value.shared),
    )
    sizes = [len(solution.selected) for solution in selection.solutions]
    if not np.array_equal(np.bincount(selection.classes, minlength=n_classes), sizes):
        refuse("the solutions of the classes have other prototypes than the selection")
    return selection


def check_solution(value: Any) -> CoverSolution:
    """Check the solution of a class, or of a cover."""
    if not isinstance(value, CoverSolution):
        refuse("a solution must be a CoverSolution")
    selected = check_indices(value.selected, "selected", below=_MOST)
    n = len(selected)
    if value.dual is not None:
        check_array(value.dual, "dual", kinds="f", shape=(None,))
    if not isinstance(value.details, dict) or not all(type(key) is str for key in value.details):
        refuse("details must have names")
    _check_limit(value.limit)
    if value.price is not None:
        check_number(value.price, "price")
    check_array(value.score, "score", kinds="f", shape=(n,))
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    check_text(value.status, "status")
    return replace(
        value,
        selected=selected,
        newly_covered=check_indices(value.newly_covered, "newly_covered", length=n),
        proof=None if value.proof is None else _check_proof(value.proof),
    )


def _check_limit(value: Any) -> None:
    """Check the limit of a solution."""
    if not isinstance(value, Limit):
        refuse("limit must be a Limit")
    if value.at_most is not None:
        check_whole(value.at_most, "at_most")
    check_whole(value.at_least, "at_least", below=2)
    if value.uncovered is not None and not (
        isinstance(value.uncovered, Fraction) and value.uncovered >= 0
    ):
        refuse("uncovered must be a non-negative fraction")


def _check_shared(value: Any) -> SharedBound:
    """Check what is stated about all classes that share a limit."""
    if not isinstance(value, SharedBound):
        refuse("shared must be a SharedBound")
    _check_limit(value.limit)
    check_number(value.objective, "objective")
    check_number(value.lower_bound, "lower_bound")
    check_text(value.certificate, "certificate", _CERTIFICATES)
    return value


def _check_proof(value: Any) -> ProofTree:
    """Check the proof tree of a branch and bound, and that it is not too large."""
    if not isinstance(value, ProofTree):
        refuse("proof must be a ProofTree")
    steps = check_array(value.steps, "steps", kinds="i", shape=(None,))
    vectors = check_array(value.vectors, "vectors", kinds="f", shape=(None, None))
    if len(steps) > MOST_STEPS or vectors.size > MOST_NUMBERS:
        refuse(
            f"a proof tree may have {MOST_STEPS} steps and {MOST_NUMBERS} numbers in its "
            f"vectors, got {len(steps)} and {vectors.size}"
        )
    if steps.min(initial=0) < LEAF or (steps == VECTOR).sum() != len(vectors):
        refuse("a proof tree must have steps from -2 on and a vector for each -1")
    return ProofTree(steps.astype(np.intp, copy=False), vectors)
