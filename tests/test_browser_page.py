"""The Python behind the page in the browser works where no thread can be started."""

import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "_static" / "browser"
WITHOUT_THREADS = """
import sys, threading

def refuse(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refuse
sys.path.insert(0, sys.argv[1])
import session
"""


@pytest.fixture
def run(tmp_path):
    def run(code):
        pytest.importorskip("jinja2", reason="the report needs it")
        words = [sys.executable, "-c", WITHOUT_THREADS + code, str(PAGE)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


def test_from_the_example_to_its_report(run):
    columns, said, report, prototypes = run("""
print(session.take_example()[-1])
found = session.choose_prototypes("species")
print("150 rows" in found["said"] and "Wrote" not in found["said"])
print(found["report"].lstrip()[:15].lower())
print(found["prototypes"].count("\\n") > 3)
found = session.choose_prototypes("species")  # and once more, over what is there
assert found["report"]
""")
    assert (columns, said, report, prototypes) == ("species", "True", "<!doctype html>", "True")


def test_what_cannot_be_fitted_is_told_and_not_raised(run):
    columns, said, report = run("""
print(session.take_table("a;b\\n1;x\\n2;x\\n".encode()))
found = session.choose_prototypes("-b")
print("no column" in found["said"] or "column" in found["said"])
print(found["report"])
""")
    assert (columns, said, report) == ("['a', 'b']", "True", "None")
