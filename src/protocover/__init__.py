"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

from .budget import find_eps
from .estimators import Explanation, PVMClassifier, PVMClassifierCV, PVMSelector
from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
from .path import PVMPath, pvm_path
from .radius import suggest_eps

__version__ = "0.1.0.dev0"

__all__ = [
    "CoverMemoryWarning",
    "DissimilarityError",
    "Explanation",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "find_eps",
    "pvm_path",
    "suggest_eps",
]
