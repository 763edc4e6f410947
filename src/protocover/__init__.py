"""Prototype selection by set cover: the prototype vector machine for scikit-learn.

Names are imported from their rooms when they are first asked for: scikit-learn alone takes ten
times as long to import as the command line to answer ``--help``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        BallCover,
        Explanation,
        PVMClassifier,
        PVMClassifierCV,
        PVMPath,
        PVMSelector,
        pvm_path,
    )
    from .exceptions import CoverMemoryWarning, DissimilarityError, NoPrototypesError
    from .inspection.evaluation import Evaluation, evaluate
    from .inspection.suspects import SuspectLabels, suspect_labels
    from .persistence import ModelFileError, load_model, save_model
    from .selection.grid import suggest_eps

__version__ = "0.1.0.dev0"

__all__ = [
    "BallCover",
    "CoverMemoryWarning",
    "DissimilarityError",
    "Evaluation",
    "Explanation",
    "ModelFileError",
    "NoPrototypesError",
    "PVMClassifier",
    "PVMClassifierCV",
    "PVMPath",
    "PVMSelector",
    "SuspectLabels",
    "evaluate",
    "load_model",
    "pvm_path",
    "save_model",
    "suggest_eps",
    "suspect_labels",
]

# Where each name is at home, as type checkers read it above.
_HOMES = {
    "CoverMemoryWarning": "exceptions",
    "DissimilarityError": "exceptions",
    "Evaluation": "inspection.evaluation",
    "ModelFileError": "exceptions",
    "NoPrototypesError": "exceptions",
    "SuspectLabels": "inspection.suspects",
    "evaluate": "inspection.evaluation",
    "load_model": "persistence",
    "save_model": "persistence",
    "suggest_eps": "selection.grid",
    "suspect_labels": "inspection.suspects",
}


def __getattr__(name: str) -> Any:
    """Import a public name, or a room, that is asked for the first time."""
    if name in __all__:
        home = import_module(f"{__name__}.{_HOMES.get(name, 'estimators')}")
        found = globals()[name] = getattr(home, name)
        return found
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what there is, imported or not."""
    return sorted({*globals(), *__all__})
