"""Say what stands between this tree and a release: nothing, or every fault with its way out.

Run: make release, which builds and tries sdist and wheel first; or python tools/release.py
`--write` puts the version, the lower bounds, and the checksum of the sdist in dist/ into the conda
recipe.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
RECIPE = Path("packaging/conda/recipe.yaml")
# conda-forge splits off what pip gets in one piece.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
# What people type who look for this package without knowing its name.
SEARCHED = {
    "prototype selection",
    "instance selection",
    "representative samples",
    "coreset",
    "exemplar",
    "label errors",
    "set cover",
}


def faults(root: Path) -> Iterator[str]:
    """Yield all that is wrong with a tree that is to be released."""
    version = read_version(root)
    yield from version_faults(version)
    yield from changelog_faults((root / "CHANGELOG.md").read_text(), version)
    yield from git_faults(root, version)
    yield from keyword_faults(read_project(root))
    yield from recipe_faults(root, version)
    yield from render_faults(root)
    yield from dist_faults(root, version)


def version_faults(version: str) -> Iterator[str]:
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        yield f"__version__ is {version}, no release: set it to one such as 0.1.0 or 0.1.0rc1"


def changelog_faults(text: str, version: str) -> Iterator[str]:
    """Look for the version's section: the first one, with a date and something in it."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    title, _, body = (sections or [""])[0].partition("\n")
    if not re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", title.strip()):
        yield (
            f"CHANGELOG.md begins with {title.strip() or 'no section'!r}: its first section must "
            f"be '## {version} - YYYY-MM-DD'"
        )
    if not body.strip():
        yield "CHANGELOG.md tells nothing of this version"


def git_faults(root: Path, version: str) -> Iterator[str]:
    """Look for what is not committed, and for the tag on this commit."""
    changed = git(root, "status", "--porcelain")
    if changed:
        yield f"not committed: {', '.join(line[3:] for line in changed.splitlines())}"
    tag = f"v{version}"
    if not git(root, "tag", "--list", tag):
        yield f"there is no tag {tag}: git tag -a {tag} -m 'protocover {version}'"
    elif git(root, "rev-list", "-n", "1", tag) != git(root, "rev-parse", "HEAD"):
        yield f"tag {tag} is on another commit than this one"


def keyword_faults(project: dict) -> Iterator[str]:
    missing = SEARCHED - set(project["keywords"])
    if missing:
        yield f"keywords of pyproject.toml lack {', '.join(sorted(missing))}"


def recipe_faults(root: Path, version: str) -> Iterator[str]:
    """Hold the recipe against the version, the sdist and what pyproject.toml asks for."""
    text = (root / RECIPE).read_text()
    if f'version: "{version}"' not in text:
        yield f"{RECIPE} is not of version {version}: python tools/release.py --write"
    sdist = root / "dist" / f"protocover-{version}.tar.gz"
    if sdist.is_file() and checksum(sdist) not in text:
        yield f"{RECIPE} has not the checksum of {sdist.name}: python tools/release.py --write"
    project = read_project(root)
    for title, lines in requirements(project).items():
        for line in lines:
            if f"    - {line}\n" not in text:
                yield f"{RECIPE} lacks {line!r} under {title}: python tools/release.py --write"
    lowest = project["requires-python"].removeprefix(">=")
    if f'python_min: "{lowest}"' not in text:
        yield f"{RECIPE} has another python_min than {lowest}"


def render_faults(root: Path) -> Iterator[str]:
    """Read and render the recipe with conda-forge's tool, where that is installed."""
    try:
        from rattler_build import RattlerBuildError, Stage0Recipe, VariantConfig
    except ImportError:
        return
    try:
        Stage0Recipe.from_file(root / RECIPE).render(VariantConfig())
    except RattlerBuildError as error:
        yield f"{RECIPE} cannot be rendered: {error}"


def dist_faults(root: Path, version: str) -> Iterator[str]:
    """Look for sdist and wheel of this version, and at what the wheel says of itself."""
    stem = f"protocover-{version}"
    for name in (f"{stem}.tar.gz", f"{stem}-py3-none-any.whl"):
        if not (root / "dist" / name).is_file():
            yield f"dist/{name} is not there: make dist"
    wheel = root / "dist" / f"{stem}-py3-none-any.whl"
    if wheel.is_file():
        yield from metadata_faults(wheel, stem, read_project(root))


def metadata_faults(wheel: Path, stem: str, project: dict) -> Iterator[str]:
    with ZipFile(wheel) as packed:
        text = packed.read(f"{stem}.dist-info/METADATA").decode()
    said = message_from_string(text)
    expected = {
        "Summary": project["description"],
        "License-Expression": project["license"],
        "Requires-Python": project["requires-python"],
        "Keywords": ",".join(sorted(project["keywords"])),
    }
    for field, value in expected.items():
        found = said[field] or ""
        found = ",".join(sorted(found.split(","))) if field == "Keywords" else found
        if found != value:
            yield f"the wheel's {field} is {found!r}, not {value!r}: make dist"
    if "pip install protocover" not in str(said.get_payload()):
        yield "the wheel's description is not the README: make dist"


def write_recipe(root: Path) -> None:
    """Put version, requirements, and the checksum of the sdist if it is built, into the recipe."""
    version, path = read_version(root), root / RECIPE
    text = re.sub(r'^  version: ".*"$', f'  version: "{version}"', path.read_text(), flags=re.M)
    sdist = root / "dist" / f"protocover-{version}.tar.gz"
    if sdist.is_file():
        text = re.sub(r'^  sha256: ".*"$', f'  sha256: "{checksum(sdist)}"', text, flags=re.M)
    for title, lines in requirements(read_project(root)).items():
        listed = "".join(f"    - {line}\n" for line in lines)
        text = re.sub(rf"^  {title}:\n(    - .*\n)+", f"  {title}:\n{listed}", text, flags=re.M)
    path.write_text(text)


def requirements(project: dict) -> dict[str, list[str]]:
    """Return what a conda package needs, and what it is held to if it is there."""
    extras = project["optional-dependencies"]
    optional = {one for name in ("plot", "cli") for one in extras[name]}
    return {
        "run": ["python >=${{ python_min }}", *sorted(map(for_conda, project["dependencies"]))],
        "run_constraints": sorted(map(for_conda, optional)),
    }


def for_conda(requirement: str) -> str:
    name, bound = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {bound}"


def read_version(root: Path) -> str:
    text = (root / "src/protocover/__init__.py").read_text()
    return re.search(r'^__version__ = "(.+)"$', text, flags=re.M)[1]


def read_project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(root: Path, *arguments: str) -> str:
    run = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return run.stdout.strip("\n")


def main(arguments: list[str]) -> int:
    if "--write" in arguments:
        write_recipe(ROOT)
    found = list(faults(ROOT))
    for fault in found:
        print(f"- {fault}")
    print(f"{len(found)} faults" if found else f"protocover {read_version(ROOT)} can be released")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
