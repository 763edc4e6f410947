"""What the page in the browser asks of the package: the columns of a table, and its report.

It runs under Pyodide, where there are files in memory and no threads, and anywhere else.
"""

import contextlib
import io
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_iris

from protocover.cli import main

FOLDER = Path(tempfile.mkdtemp())
TABLE, OUTPUT = FOLDER / "table.csv", FOLDER / "output"


def take_table(data: bytes) -> list[str]:
    """Keep a table and return the names of its columns."""
    TABLE.write_bytes(data)
    head = pd.read_csv(TABLE, sep=None, engine="python", nrows=20, encoding_errors="replace")
    return [str(name) for name in head.columns]


def take_example() -> list[str]:
    """Keep a table of iris flowers, which comes with scikit-learn."""
    flowers = load_iris(as_frame=True)
    species = flowers.target_names[flowers.target]
    return take_table(flowers.data.assign(species=species).to_csv(index=False).encode())


def choose_prototypes(target: str) -> dict:
    """Fit as `protocover fit` does; return what it says, its report and its prototypes."""
    said = io.StringIO()
    words = ["fit", str(TABLE), f"--target={target}", "--output", str(OUTPUT), "--force"]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code
    # Of the folders there is nothing to be seen in a browser.
    text = said.getvalue().partition("\nWrote ")[0].replace(f"{FOLDER}/", "").strip()
    if code:
        return {"said": text, "report": None, "prototypes": None}
    report = (OUTPUT / "report.html").read_text(encoding="utf-8")
    prototypes = (OUTPUT / "prototypes.csv").read_text(encoding="utf-8")
    return {"said": text, "report": report, "prototypes": prototypes}
