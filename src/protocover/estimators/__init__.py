"""The estimators: thin wiring from validated input to fitted attributes."""

from .classifier import PVMClassifier
from .classifier_cv import PVMClassifierCV
from .explanation import Explanation
from .path import PVMPath, pvm_path
from .selector import PVMSelector

__all__ = [
    "Explanation",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "pvm_path",
]
