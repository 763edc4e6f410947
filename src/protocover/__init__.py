"""Prototype selection by set cover: the prototype vector machine for scikit-learn.

Names are imported from their rooms when they are first asked for: scikit-learn alone takes ten
times as long to import as the command line to answer ``--help``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._cover import ModelVerification
    from ._estimators import (
        BallCover,
        Explanation,
        PVMClassifier,
        PVMClassifierCV,
        PVMPath,
        PVMSelector,
        pvm_path,
    )
    from ._exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
    from ._inspection.evaluation import Evaluation, evaluate
    from ._inspection.label_issues import LabelIssues, find_label_issues
    from ._persistence import ModelFileError, ModelInfo, load_model, model_info, save_model
    from ._prototypes import Coverage, CoverageTotals
    from ._selection.radii import suggest_eps
    from .data._pairs import pairs_to_graph

__version__ = "0.1.0.dev0"

__all__ = [
    "BallCover",
    "CoverMemoryWarning",
    "Coverage",
    "CoverageTotals",
    "DissimilarityError",
    "Evaluation",
    "Explanation",
    "LabelIssues",
    "ModelFileError",
    "ModelInfo",
    "ModelVerification",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "evaluate",
    "find_label_issues",
    "load_model",
    "model_info",
    "pairs_to_graph",
    "pvm_path",
    "save_model",
    "suggest_eps",
]

# Where each name is at home, as type checkers read it above.
_HOMES = {
    "CoverMemoryWarning": "_exceptions",
    "Coverage": "_prototypes",
    "CoverageTotals": "_prototypes",
    "DissimilarityError": "_exceptions",
    "Evaluation": "_inspection.evaluation",
    "LabelIssues": "_inspection.label_issues",
    "ModelFileError": "_exceptions",
    "ModelInfo": "_persistence",
    "ModelVerification": "_cover",
    "NoPrototypesError": "_exceptions",
    "evaluate": "_inspection.evaluation",
    "find_label_issues": "_inspection.label_issues",
    "load_model": "_persistence",
    "model_info": "_persistence",
    "pairs_to_graph": "data._pairs",
    "save_model": "_persistence",
    "suggest_eps": "_selection.radii",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a room, that is asked for the first time."""
    if name in __all__:
        home = import_module(f"{__name__}.{_HOMES.get(name, '_estimators')}")
        found = globals()[name] = getattr(home, name)
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what there is, imported or not."""
    return sorted({*globals(), *__all__})
