"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

Run: python tools/oldest.py > constraints.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def oldest(project: dict) -> list[str]:
    """Return "name==version" for the lower end of each dependency and extra."""
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(one for extra in extras for one in extra)]
    found = {}
    for requirement in asked:
        match = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml names no oldest version with >=")
        found[match[1]] = f"{match[1]}=={match[2]}"
    return sorted(found.values())


if __name__ == "__main__":
    print("\n".join(oldest(tomllib.loads(PYPROJECT.read_text())["project"])))
