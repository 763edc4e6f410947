"""Print the size of the package: lines, functions, constants, and what a fit runs through.

Run: python tools/size.py
     python tools/size.py --no-runs   count the sources only
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "protocover"


def lines(file: Path) -> int:
    return len(file.read_text().splitlines())


def is_numeric(node: ast.expr | None) -> bool:
    """Whether an expression is made of numbers only, alone or in tuples."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(is_numeric(one) for one in node.elts)
    if isinstance(node, ast.UnaryOp):
        return is_numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return is_numeric(node.left) and is_numeric(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def tuning_constants(module: ast.Module) -> Iterator[str]:
    """Yield the names in capitals that a module binds to numbers or tuples of numbers."""
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        value = getattr(node, "value", None)
        for target in targets:
            several = isinstance(target, ast.Tuple)
            if is_numeric(value):
                names = target.elts if several else [target]
                yield from (n.id for n in names if isinstance(n, ast.Name) and n.id.isupper())


def definitions(module: ast.Module) -> Counter[str]:
    """Return how many functions, classes, Protocols and tuning constants a module has."""
    found = Counter(constants=sum(1 for _ in tuning_constants(module)))
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found["functions"] += 1
        elif isinstance(node, ast.ClassDef):
            found["classes"] += 1
            found["protocols"] += any("Protocol" in ast.unparse(base) for base in node.bases)
    return found


def traced(run: Callable[[], Any]) -> str:
    """Describe the frames of the package in the second of two runs.

    Comprehensions and lambdas count for the depth only.
    """
    run()
    functions, depth, deepest = set(), 0, 0

    def follow(frame: Any, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(SOURCE)):
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        functions.add(code)

    sys.setprofile(follow)
    try:
        run()
    finally:
        sys.setprofile(None)
    files = {code.co_filename for code in functions}
    named = [code for code in functions if not code.co_name.startswith("<")]
    return f"{len(files)} files, {len(named)} functions, depth {deepest}"


def print_sources() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    found: Counter[str] = Counter()
    for file in files:
        found += definitions(ast.parse(file.read_text()))
    print(f"src: {sum(map(lines, files))} lines, {len(files)} files")
    for package in sorted({file.parent for file in files}):
        inside = [file for file in files if file.parent == package]
        name = package.relative_to(SOURCE.parent).as_posix()
        print(f"  {name:32}{sum(map(lines, inside)):6} lines {len(inside):4} files")
    print(", ".join(f"{found[name]} {name}" for name in ("functions", "classes", "protocols")))
    print(f"{found['constants']} module constants of numbers")
    tests = sorted((ROOT / "tests").rglob("*.py"))
    print(f"tests: {sum(map(lines, tests))} lines, {len(tests)} files")


def print_runs() -> None:
    from sklearn.datasets import load_iris

    from protocover import PVMClassifier
    from protocover._cli import main as protocover

    X, y = load_iris(return_X_y=True)
    print("PVMClassifier().fit on iris:", traced(lambda: PVMClassifier(n_jobs=1).fit(X, y)))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "iris.csv"
        load_iris(as_frame=True).frame.to_csv(table, index=False)
        command = ["fit", str(table), "--target", "target", "-q", "--n-jobs", "1"]
        runs = iter(range(9))

        def fit() -> None:
            with contextlib.redirect_stdout(io.StringIO()):
                protocover([*command, "--output", str(Path(folder) / f"out{next(runs)}")])

        print("protocover fit iris.csv:", traced(fit))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-runs", action="store_true", help="count the sources only")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print_sources()
    if not given.no_runs:
        print_runs()
