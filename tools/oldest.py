"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

Run: python tools/oldest.py > constraints.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Not a dependency, but its frames are read, and older scikit-learns do not know newer ones.
FRAMES = ("polars",)


def oldest(pyproject: dict) -> list[str]:
    """Return "name==version" for the lower end of each dependency and extra."""
    project = pyproject["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(one for extra in extras for one in extra)]
    asked += [one for one in pyproject["dependency-groups"]["test"] if one.startswith(FRAMES)]
    found = {}
    for requirement in asked:
        match = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml names no oldest version with >=")
        found[match[1]] = f"{match[1]}=={match[2]}"
    return sorted(found.values())


if __name__ == "__main__":
    print("\n".join(oldest(tomllib.loads(PYPROJECT.read_text()))))
