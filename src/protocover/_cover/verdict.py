"""What a recheck found, of one class's solution and of a whole model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verification:
    """What a recheck of a solution found.

    Parameters
    ----------
    objective : float
        Objective of the selection, recomputed; nan if it is no selection.
    lower_bound : float
        What the dual vector proves, -inf if there is none.
    certificate : str
        ``"verified"`` if there is a bound, otherwise ``"none"``. A solver's claim cannot be
        rechecked and does not count.
    faults : tuple of str
        What the solution says that is not so; empty if it tells the truth.
    unchecked : str
        What could not be rechecked and why; empty if all could.
    """

    objective: float
    lower_bound: float
    certificate: str
    faults: tuple[str, ...]
    unchecked: str = field(default="", repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that can be rechecked is as the solution says."""
        return not self.faults


@dataclass(frozen=True, repr=False)
class ModelVerification:
    """What a recheck of a fitted model found.

    Parameters
    ----------
    by_class : mapping from label to Verification
        What was found of each class.
    faults : tuple of str
        What the model says as a whole that is not so, or not of these data.
    unchecked : str
        What could not be rechecked and why; empty if all could.
    together : Verification or None
        What was found of all classes together where they share a budget.

    See Also
    --------
    protocover.PVMClassifier.verify : Rechecks a model against its training data.
    """

    by_class: Mapping[Any, Verification]
    faults: tuple[str, ...] = ()
    unchecked: str = ""
    together: Verification | None = None

    @property
    def ok(self) -> bool:
        """Whether everything that can be rechecked is as the model says."""
        found = [*self.by_class.values(), *([self.together] if self.together else [])]
        return not self.faults and all(one.ok for one in found)

    @property
    def objective(self) -> float:
        """Objective of all classes, recomputed."""
        return math.fsum(found.objective for found in self.by_class.values())

    @property
    def lower_bound(self) -> float:
        """What the dual vectors prove, -inf if one is missing."""
        if self.together is not None:
            return self.together.lower_bound
        return math.fsum(found.lower_bound for found in self.by_class.values())

    @property
    def certificate(self) -> str:
        """``"verified"`` if there is a bound, otherwise ``"none"``."""
        if self.together is not None:
            return self.together.certificate
        return min(found.certificate for found in self.by_class.values())

    def __repr__(self) -> str:
        lines = [
            f"{'Verified' if self.ok else 'Not verified'}: objective {self.objective:g}, "
            f"lower bound {self.lower_bound:g}"
        ]
        joint = self.together.faults if self.together else ()
        lines += [f"  fault: {fault}" for fault in (*self.faults, *joint)]
        for label, found in self.by_class.items():
            lines += [
                f"  class {label!r}: objective {found.objective:g}, "
                f"lower bound {found.lower_bound:g}"
            ]
            lines += [f"    fault: {fault}" for fault in found.faults]
        return "\n".join(
            [*lines, *([f"  not rechecked: {self.unchecked}"] * bool(self.unchecked))]
        )
