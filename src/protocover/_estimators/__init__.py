"""The estimators: thin wiring from validated input to fitted attributes."""

from .._prototypes.explanation import Explanation
from .ball_cover import BallCover
from .classifier import PVMClassifier
from .classifier_cv import PVMClassifierCV
from .path import PVMPath, pvm_path
from .selector import PVMSelector

__all__ = [
    "BallCover",
    "Explanation",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "pvm_path",
]
