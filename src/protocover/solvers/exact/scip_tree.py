"""Branch and bound by SCIP, an optional package, for problems that HiGHS leaves open."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..reduced.relaxation import magnitude
from ..reduced.residual import Residual
from .tree import TreeAnswer, checked

__all__ = ["import_scip", "search_scip_tree"]


def search_scip_tree(
    residual: Residual, target: float, *, deadline: float = math.inf, verbose: int = 0
) -> TreeAnswer:
    """Look for the best selection of value at most `target`, both in units.

    The target is SCIP's objective limit: infeasible means that nothing reaches it.
    """
    scip = import_scip()
    scale = magnitude(residual)
    model = scip.Model()
    if verbose <= 1:
        model.hideOutput()
    chosen = [model.addVar(vtype="B", obj=cost / scale) for cost in residual.cost.tolist()]
    missed = [model.addVar(vtype="B", obj=prize / scale) for prize in residual.prize.tolist()]
    rows = residual.cover.tocsr()
    for i, slack in enumerate(missed):
        if time.monotonic() >= deadline:
            return TreeAnswer(None, -math.inf)
        holders = rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist()
        model.addCons(scip.quicksum([slack, *(chosen[j] for j in holders)]) >= 1)
    model.setObjlimit((target - residual.constant + 0.5) / scale)
    if math.isfinite(deadline):
        model.setParam("limits/time", max(deadline - time.monotonic(), 0.0))
    model.optimize()
    if model.getStatus() == "userinterrupt":  # SCIP has caught the signal that meant all of us
        raise KeyboardInterrupt
    if model.getStatus() == "infeasible":
        return TreeAnswer(None, target + 1.0)
    columns = None
    if model.getNSols():
        solution = model.getBestSol()
        columns = checked(residual, np.array([solution[x] for x in chosen]), target)
    stated = model.getDualbound()
    bound = -math.inf
    if math.isfinite(stated) and abs(stated) < model.infinity():
        # Values are whole numbers: what tolerances took from the bound is given back.
        bound = math.ceil((stated - 1e-3) * scale) + residual.constant
    if columns is not None:
        bound = min(bound, residual.value(columns))
    return TreeAnswer(columns, min(bound, target + 1.0))


def import_scip() -> Any:
    """Import PySCIPOpt or say how to get it."""
    try:
        import pyscipopt
    except ImportError as error:
        raise ImportError(
            "backend='scip' needs the package pyscipopt, which is not installed: "
            "pip install pyscipopt, or take backend='highs'"
        ) from error
    return pyscipopt
