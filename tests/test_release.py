"""`make release` names what is missing, and finds nothing wrong with a tree that is ready."""

import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from tools import release

ROOT = Path(__file__).parents[1]
VERSION = "0.1.0"


@pytest.fixture
def tree(tmp_path):
    """A tree that is ready: version, changelog, wheel, recipe, commit and tag."""
    for name in ("pyproject.toml", "README.md", str(release.RECIPE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    package = tmp_path / "src" / "protocover"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f'__version__ = "{VERSION}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {VERSION} - 2026-11-16\n\n- It.\n")
    (tmp_path / ".gitignore").write_text("dist\n")
    make_dist(tmp_path)
    release.write_recipe(tmp_path)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    commit(tmp_path)
    git(tmp_path, "tag", f"v{VERSION}")
    return tmp_path


def git(tree, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", tree, *who, *arguments], check=True)


def commit(tree):
    git(tree, "commit", "--quiet", "--all", "--message", "x", "--allow-empty", "--no-verify")


def make_dist(tree):
    project = release.read_project(ROOT)
    said = {
        "Name": "protocover",
        "Summary": project["description"],
        "License-Expression": project["license"],
        "Requires-Python": project["requires-python"],
        "Keywords": ",".join(sorted(project["keywords"])),
    }
    head = "".join(f"{field}: {value}\n" for field, value in said.items())
    (tree / "dist").mkdir()
    (tree / "dist" / f"protocover-{VERSION}.tar.gz").write_bytes(b"an sdist")
    with ZipFile(tree / "dist" / f"protocover-{VERSION}-py3-none-any.whl", "w") as wheel:
        text = head + "\n" + (ROOT / "README.md").read_text()
        wheel.writestr(f"protocover-{VERSION}.dist-info/METADATA", text)


def test_a_tree_that_is_ready(tree):
    assert list(release.faults(tree)) == []


def test_a_development_version_cannot_be_released(tree):
    (tree / "src/protocover/__init__.py").write_text('__version__ = "0.2.0.dev0"\n')
    found = "\n".join(release.faults(tree))
    assert "__version__ is 0.2.0.dev0, no release: set it to one such as 0.1.0" in found
    assert "its first section must be '## 0.2.0.dev0 - YYYY-MM-DD'" in found
    assert "there is no tag v0.2.0.dev0" in found
    assert "recipe.yaml is not of version 0.2.0.dev0: python tools/release.py --write" in found
    assert "dist/protocover-0.2.0.dev0.tar.gz is not there: make dist" in found
    assert "not committed: src/protocover/__init__.py" in found


def test_the_tag_is_on_this_commit(tree):
    commit(tree)
    assert list(release.faults(tree)) == ["tag v0.1.0 is on another commit than this one"]


def test_the_recipe_has_the_bounds_and_the_checksum(tree):
    path = tree / release.RECIPE
    path.write_text(path.read_text().replace("- tqdm >=", "- tqdm >=9"))
    (tree / "dist" / f"protocover-{VERSION}.tar.gz").write_bytes(b"another sdist")
    found = "\n".join(release.faults(tree))
    assert "recipe.yaml lacks 'tqdm >=" in found
    assert "recipe.yaml has not the checksum of protocover-0.1.0.tar.gz" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [("${{ version }}", "${{ verison }}"), ("tqdm >=", "tqdm >>"), ("requirements:", "requires:")],
)
def test_a_recipe_that_conda_cannot_read(tree, old, new):
    pytest.importorskip("rattler_build", reason="pip install py-rattler-build to try it")
    assert list(release.render_faults(tree)) == []
    path = tree / release.RECIPE
    path.write_text(path.read_text().replace(old, new))
    (fault,) = release.render_faults(tree)
    assert "recipe.yaml cannot be rendered" in fault


def test_keywords_that_people_search_for(tree):
    path = tree / "pyproject.toml"
    path.write_text(path.read_text().replace('"coreset", ', "").replace('"coreset",', ""))
    found = "\n".join(release.faults(tree))
    assert "keywords of pyproject.toml lack coreset" in found
    assert "the wheel's Keywords is" in found
