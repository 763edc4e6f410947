"""Prototype selection by set cover: the prototype vector machine for scikit-learn.

Names are imported from their rooms when they are first asked for: scikit-learn alone takes ten
times as long to import as the command line to answer ``--help``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from ._persistence import ModelFileError, load_model, save_model
    from ._selection.grid import suggest_eps

__version__ = "0.1.0.dev0"

__all__ = [
    "BallCover",
    "CoverMemoryWarning",
    "DissimilarityError",
    "Evaluation",
    "Explanation",
    "LabelIssues",
    "ModelFileError",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "evaluate",
    "find_label_issues",
    "load_model",
    "pvm_path",
    "save_model",
    "suggest_eps",
]

# Where each name is at home, as type checkers read it above.
_HOMES = {
    "CoverMemoryWarning": "_exceptions",
    "DissimilarityError": "_exceptions",
    "Evaluation": "_inspection.evaluation",
    "ModelFileError": "_exceptions",
    "NoPrototypesError": "_exceptions",
    "LabelIssues": "_inspection.label_issues",
    "evaluate": "_inspection.evaluation",
    "load_model": "_persistence",
    "save_model": "_persistence",
    "suggest_eps": "_selection.grid",
    "find_label_issues": "_inspection.label_issues",
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
