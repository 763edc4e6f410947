"""The page in the browser: its Python where no thread can be started, its scripts in Chromium."""

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


# What the page uses of Pyodide, with a session that answers at once.
PYODIDE = """
const session = {
  take_table: (data) => new TextDecoder().decode(data).split("\\n")[0].split(","),
  take_example: () => ["length", "species"],
  choose_prototypes: (target) => ({
    said: `Chosen by ${target}.`, report: `<h1>${target}</h1>`, prototypes: "row\\n1\\n",
  }),
};
for (const [name, ask] of Object.entries(session))
  session[name] = (given) => ({ toJs: () => ask(given) });
export const loadPyodide = async () => ({
  loadedPackages: {},
  async loadPackage(names) {
    for (const name of names) if (!ABSENT.includes(name)) this.loadedPackages[name] = "here";
  },
  runPythonAsync: async () => {},
  pyimport: (name) => name === "session" ? session : { install: { callKwargs: async () => {} } },
  FS: { writeFile: () => {} },
});
"""


@pytest.fixture
def page(browser):
    """The page as a server would give it, and what stands for Pyodide in place of the network."""
    context = browser.new_context()
    context.absent = []

    def answer(route):
        name = route.request.url.rpartition("/")[2]
        if name == "pyodide.mjs":
            body, kind = PYODIDE.replace("ABSENT", str(context.absent)), "text/javascript"
        elif (PAGE / name).is_file():
            body = (PAGE / name).read_text(encoding="utf-8")
            kind = "text/html" if name.endswith("html") else "text/javascript"
        else:
            return route.fulfill(status=404)
        headers = {"content-type": kind, "access-control-allow-origin": "*"}
        return route.fulfill(body=body, headers=headers)

    context.route("**/*", answer)
    page = context.new_page()
    page.goto("http://localhost/index.html")
    yield page
    context.close()


def wait(page):
    """Wait until the page takes questions again, and return what it says."""
    page.wait_for_function("!document.getElementById('example').disabled")
    return page.inner_text("#status")


def test_from_a_table_to_the_report_in_chromium(page):
    page.set_input_files(
        "#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": b"a,b,kind\n1,2,x\n"}
    )
    assert wait(page) == "The table has 3 columns."
    assert page.input_value("#target") == "kind"
    page.select_option("#target", "b")
    page.click("#choose")
    assert wait(page) == "Chosen by b."
    page.frame_locator("#report").locator("h1", has_text="b").wait_for()
    with page.expect_download() as found:
        page.click("#download")
    assert Path(found.value.path()).read_text() == "row\n1\n"


def test_packages_that_cannot_be_fetched_are_named(page):
    page.context.absent = ["highspy", "tqdm"]
    page.click("#example")
    assert "This did not work: highspy, tqdm could not be fetched from https://" in wait(page)
    assert not page.is_visible("#question")
