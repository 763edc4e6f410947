"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

from .budget import find_eps
from .estimators import Explanation, PVMClassifier, PVMClassifierCV, PVMSelector
from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
from .path import PVMPath, pvm_path
from .persistence import ModelFileError, load_model, save_model
from .radius import suggest_eps
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
