"""Names that the public API no longer has are nowhere in the repository."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = [
    "prototype_rows_",
    "prototype_covered_",
    "prototype_newly_covered_",
    "prototype_miscovered_",
    "representative_rows_",
    "solver-proved",
    "solver-bounded",
    "suspect_labels",
    "SuspectLabels",
    "least_known",
    "can_stand",
    "takes_narrow",
    "takes_graph",
    "learns_nothing",
    "accepts_anything",
    "adds_up_to",
    "goes_by_rows",
    "verify_together",
    "verify_enough",
    "from_predictor",
    "distances_to_prototypes",
    "find_eps",
    "find_cost",
    "draw_rows",
    "fit_sample",
    "propose_candidates",
    "NeighbourGraph",
    "centre_",
    "own_radii",
]
PATTERNS = [
    r"\bn_representatives\b(?!,?\))",  # but in shapes
    r"\bpath\.prototype_rows\b",
    r"radii=[\"']own[\"']",
    r"--radii[ =]own\b",
    r"PVM\w*\([^()]*\bn_prototypes=",
    r"Gower\([^()]*\b(?:kinds|gap)=",
    r"Precomputed\([^()]*\breach=",
    r"\.cross\(",
    r"(?<![\w-])--(?:about|stream|rule|kind|price|gap|yes|colour|n-prototypes)(?![\w-])",
    r"\bprotocover\.(?:balls|cover|selection|estimators|prototypes|inspection|persistence|maps|cli"
    r"|resources|exceptions|datasets)\b",
]
OLD = re.compile("|".join([rf"(?<!\w){name}(?!\w)" for name in NAMES] + PATTERNS))
TEXT = {".py", ".md", ".rst", ".toml", ".j2", ".js", ".ipynb", ".sh", ".cff", ""}


def texts():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: the files of the repository are not known")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path in (Path(__file__), ROOT / ".ci" / "run"):  # the latter calls other programs
            continue
        if path.suffix in TEXT and path.is_file():
            yield name, path.read_text(encoding="utf-8")


def test_no_old_name_is_left():
    found = [f"{name}: {match.group()}" for name, text in texts() for match in OLD.finditer(text)]
    assert not found, "\n".join(found)
