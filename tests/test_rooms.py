"""The drawing, the folder tree and the import contract say the same thing."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import protocover

ROOT = Path(__file__).parents[1]
# The package's own face, its entry point, and a marker for type checkers.
FACE = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}


def rooms() -> set[str]:
    """Return the names of the package's folders and modules."""
    inside = Path(protocover.__file__).parent.iterdir()
    return {path.stem for path in inside if path.name not in FACE}


def layers() -> list[list[str]]:
    """Return the layers of the import contract, from the top down."""
    contract = configparser.ConfigParser()
    contract.read(ROOT / ".importlinter")
    lines = contract["importlinter:contract:layers"]["layers"].split("\n")
    return [line.split(" | ") for line in lines if line]


def drawn() -> list[str]:
    """Return the rooms of the table in docs/inside.md, from the top down."""
    page = (ROOT / "docs" / "inside.md").read_text()
    return re.findall(r"^\| `(\w+)(?:/|\.py)` \|", page, flags=re.MULTILINE)


def test_every_room_is_in_the_drawing_and_in_the_contract():
    assert set(drawn()) == rooms()
    assert {room for layer in layers() for room in layer} == rooms()


def test_the_drawing_has_the_rooms_in_the_order_of_the_layers():
    depth = {room: k for k, layer in enumerate(layers()) for room in layer}
    depths = [depth[room] for room in drawn()]
    assert depths == sorted(depths)


def test_few_modules_lie_loose_at_the_root():
    inside = Path(protocover.__file__).parent
    assert {path.name for path in inside.glob("*.py")} <= FACE | {
        "_exceptions.py",
        "_maps.py",
        "_resources.py",
        "_typing.py",
    }
