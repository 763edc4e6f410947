"""Prototype selection by set cover: the prototype vector machine for scikit-learn."""

from .estimators import Explanation, PVMClassifier, PVMSelector
from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
from .radius import suggest_eps

__version__ = "0.1.0.dev0"

__all__ = [
    "CoverMemoryWarning",
    "DissimilarityError",
    "Explanation",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMSelector",
    "suggest_eps",
]
