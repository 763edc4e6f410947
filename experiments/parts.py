"""Finished parts of experiments, kept on disk so that a broken run continues.

A part is a function's result for given parameters, as JSON. It is kept under a key made
of the parameters and of the code that computed it: the function's module and the modules
of its package which that one imports, without their comments and docstrings and without
the functions ``run``, which only say which parts there are. The version of protocover is
part of the key, its code is not: after a change of the package remove the folder of parts.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

import protocover

Result = dict[str, Any]


@dataclass(frozen=True)
class Parts:
    """Where finished parts are kept.

    Parameters
    ----------
    folder : Path
        Made when needed.
    progress : bool
        Whether progress bars are shown.
    """

    folder: Path
    progress: bool = True
    # File and seconds of every part that was asked for.
    _asked: dict[Path, float] = field(default_factory=dict)

    def keep(self, compute: Callable[..., Result], **params: Any) -> Result:
        """Return ``compute(**params)``, computed now or earlier.

        The result has the seconds of processor time it took under ``cpu_seconds``.
        """
        path = self._path(compute, params)
        if not path.exists():
            start = time.process_time()
            result = compute(**params)
            result["cpu_seconds"] = time.process_time() - start
            write_json(path, result)
        kept = json.loads(path.read_text())
        self._asked[path] = kept["cpu_seconds"]
        return kept

    def keep_all(
        self, what: str, compute: Callable[..., Result], settings: Iterable[dict[str, Any]]
    ) -> list[Result]:
        """Return the results for many settings, behind a progress bar."""
        bar = tqdm(list(settings), desc=what, disable=not self.progress, leave=False)
        return [self.keep(compute, **params) for params in bar]

    def seconds(self) -> float:
        """Return the processor time of all parts asked for, whenever it was spent."""
        return sum(self._asked.values())

    def oldest(self) -> str:
        """Return the date of the oldest of them; today's if there are none."""
        times = [path.stat().st_mtime for path in self._asked] or [time.time()]
        return date.fromtimestamp(min(times)).isoformat()

    def _path(self, compute: Callable[..., Result], params: dict[str, Any]) -> Path:
        """Return the file of a part."""
        text = json.dumps(
            [compute.__name__, params, code_version(compute.__module__), protocover.__version__],
            sort_keys=True,
            default=_plain,
        )
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        return self.folder / compute.__module__.rpartition(".")[2] / f"{key}.json"


@cache
def code_version(module: str) -> str:
    """Return a fingerprint of a module and of what it imports from its own package.

    It is taken once, because the code that runs is the code that was loaded.
    """
    sources = {name: _bare_code(name) for name in sorted(_reach(module, set()))}
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(content, default=_plain) + "\n")
    unfinished.replace(path)


def _reach(module: str, seen: set[str]) -> set[str]:
    """Collect the modules of its package that a module imports, and theirs."""
    if module in seen or module == __name__:
        return seen
    seen.add(module)
    package = module.partition(".")[0]
    spec = importlib.util.find_spec(module)
    home = module if spec and spec.submodule_search_locations else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), home)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
            for name in names:
                if name.startswith(f"{package}.") and _is_module(name):
                    _reach(name, seen)
    return seen


def _is_module(name: str) -> bool:
    """Whether there is a module of that name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _source(module: str) -> str:
    """Return the text of a module."""
    if module in sys.modules:
        return inspect.getsource(sys.modules[module])
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).read_text() if spec and spec.origin else ""


def _bare_code(module: str) -> str:
    """Return a module's code without comments, docstrings, layout and ``run``."""
    tree = ast.parse(_source(module))
    tree.body = [node for node in tree.body if getattr(node, "name", None) != "run"]
    for node in ast.walk(tree):
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _plain(value: Any) -> Any:
    """Turn NumPy's numbers and arrays, and paths, into what JSON knows."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"results must be numbers, texts, lists and dicts, got {type(value)}")
