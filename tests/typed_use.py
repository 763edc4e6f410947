"""Use of the public names as a typed program would; mypy checks it, nothing runs it."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from protocover import (
    Explanation,
    LabelIssues,
    PVMClassifier,
    PVMClassifierCV,
    PVMPath,
    PVMSelector,
    find_label_issues,
    load_model,
    pvm_path,
    save_model,
    suggest_eps,
)
from protocover._cover import CoverProblem, CoverSolution, verify
from protocover._prototypes.coverage import Coverage
from protocover.dissimilarity import Gower, KernelDistance, MismatchDistance, TangentDistance


def use() -> None:
    """Call what users call, and say what it returns."""
    X: NDArray[np.float64] = np.zeros((4, 2))
    y: NDArray[np.intp] = np.array([0, 0, 1, 1])

    model = PVMClassifier(eps=1.0, metric="euclidean", solver="exact", max_prototypes=3).fit(X, y)
    assert_type(model, PVMClassifier)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.decision_function(X), NDArray[np.float64])
    assert_type(model.explain(X), Explanation)
    assert_type(model.coverage(X, y), Coverage)
    assert_type(model.eps_, float)
    assert_type(model.gap_, float)
    own = PVMClassifier(eps=None, radii="adaptive").fit(X, y)
    assert_type(own.prototype_radii_, NDArray[np.float64])
    assert_type(PVMClassifierCV(n_eps=20, rule="1se").fit(X, y).explain(X), Explanation)
    assert_type(PVMSelector(eps=1.0).fit(X, y), PVMSelector)
    assert_type(suggest_eps(X, y, 5), NDArray[np.float64])
    assert_type(pvm_path(X, y, n_eps=5), PVMPath)
    assert_type(find_label_issues(model, X, y), LabelIssues)
    assert_type(TangentDistance((16, 16)).fit(X), TangentDistance)
    assert_type(Gower().fit(X), Gower)
    assert_type(KernelDistance("rbf").fit(X), KernelDistance)
    assert_type(MismatchDistance(4, 1).fit(["ACGT"]), MismatchDistance)
    save_model(model, "model.protocover")
    load_model("model.protocover")


def solve(problem: CoverProblem) -> CoverSolution:
    """Write a solver of one's own."""
    solution = CoverSolution.of(problem, [0])
    verify(problem, solution)
    return solution
