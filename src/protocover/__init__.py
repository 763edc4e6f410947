"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

from .budget import find_eps
from .estimators import (
    Explanation,
    PVMClassifier,
    PVMClassifierCV,
    PVMPath,
    PVMSelector,
    pvm_path,
)
from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
from .grid import suggest_eps
from .persistence import ModelFileError, load_model, save_model
from .sammon import SammonMap, sammon_map
from .scaling import classical_scaling
from .suspects import SuspectLabels, suspect_labels

__version__ = "0.1.0.dev0"

__all__ = [
    "CoverMemoryWarning",
    "DissimilarityError",
    "Explanation",
    "ModelFileError",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "SammonMap",
    "SuspectLabels",
    "classical_scaling",
    "find_eps",
    "load_model",
    "pvm_path",
    "sammon_map",
    "save_model",
    "suggest_eps",
    "suspect_labels",
]
