"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

from .estimators import (
    BallCover,
    Explanation,
    PVMClassifier,
    PVMClassifierCV,
    PVMPath,
    PVMSelector,
    pvm_path,
)
from .estimators.budget import find_cost, find_eps
from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
from .inspection.suspects import SuspectLabels, suspect_labels
from .persistence import ModelFileError, load_model, save_model
from .selection.grid import suggest_eps

__version__ = "0.1.0.dev0"

__all__ = [
    "BallCover",
    "CoverMemoryWarning",
    "DissimilarityError",
    "Explanation",
    "ModelFileError",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "SuspectLabels",
    "find_cost",
    "find_eps",
    "load_model",
    "pvm_path",
    "save_model",
    "suggest_eps",
    "suspect_labels",
]
