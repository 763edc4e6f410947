import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from protocover import __version__
from protocover._cli import fit as fit_command
from protocover._cli import main
from protocover._cli.commands import run_and_report
from protocover._cli.console import Console, clean, shorten


def run_process(*words, **streams):
    """Run the command in a process of its own."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run([sys.executable, "-m", "protocover", *words], text=True, **streams)


FIT = ("fit", "t.csv", "--target", "kind", "--eps", "auto", "-o", "out")


def test_a_pipe_that_nobody_reads_does_not_discard_a_fit(flowers):
    flowers.to_csv("t.csv", index=False)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run_process(*FIT, stdout=writer)
    finally:
        os.close(writer)
    assert done.returncode == 1
    assert Path("out/report.html").exists()
    assert "rror" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_standard_output_is_an_error_after_the_folder_is_written(
    flowers, monkeypatch, capsys
):
    flowers.to_csv("t.csv", index=False)
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(FIT) == 1
        monkeypatch.undo()
    said = capsys.readouterr().err
    assert "error: standard output cannot be written (No space left on device)" in said


def test_help_and_version_import_no_scientific_package():
    """In one process, with the exit code of each command."""
    code = """
import sys
from protocover._cli import main
for words in ("--version", "--help", "fit --help", "cover --help", "", "fit t.csv --grid x"):
    try:
        main(words.split())
    except SystemExit as ended:
        print("code", ended.code)
print("imported", *sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert f"protocover {__version__}" in lines
    codes = [line.split()[1] for line in lines if line.startswith("code")]
    assert codes == ["0", "0", "0", "0", "2", "2"]
    loaded = {name.partition(".")[0] for name in lines[-1].split()}
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "joblib", "tqdm", "jinja2"}


def test_a_missing_file_is_one_line():
    done = run_process("fit", "nothing.csv", "--target", "kind")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "protocover: error: nothing.csv: No such file or folder\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_no_obstacle_to_a_fit(flowers, stream, monkeypatch, capsys):
    flowers.to_csv("t.csv", index=False)
    monkeypatch.setattr(sys, stream, None)
    assert main(["fit", "t.csv", "--target", "kind", "--eps", "auto", "-o", "out"]) == 0
    assert Path("out/report.html").exists()
    assert "Read t.csv" not in capsys.readouterr().out
    # Answers that nobody could read are an error, and messages are none of them.
    assert main(["predict", "out", "t.csv"]) == int(stream == "stdout")
    said = capsys.readouterr()
    assert said.out.startswith("row,") if stream == "stderr" else "is closed" in said.err


@pytest.mark.parametrize("command", [[], ["check"], ["demo"], ["fit"], ["predict"], ["report"]])
def test_help_is_at_most_80_columns_wide(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    "words",
    [
        "--eps 0",
        "--eps much",
        "--eps -1",
        "--cv 1",
        "--max-prototypes 0",
        "--image-size 9x9x9",
        "--image-size 5000",
        "--test-size 1",
        "--separator ab",
        "--time-limit 0",
        "--metric furlongs",
        "--solver magic",
        "--seed x",
    ],
)
def test_values_that_options_do_not_take_are_wrong_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "t.csv", *words.split()])
    assert ended.value.code == 2
    assert words.split()[0] in capsys.readouterr().err


def test_ctrl_c_ends_with_130_and_leaves_nothing(flowers, tmp_path, monkeypatch, capsys):
    flowers.to_csv("t.csv", index=False)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command, "write_outcome", interrupt)
    assert main(["fit", "t.csv", "--target", "kind", "--eps", "1"]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_debug_shows_the_traceback_and_quiet_only_errors(flowers, capsys):
    flowers.to_csv("t.csv", index=False)
    assert main(["fit", "t.csv", "--target", "q"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert main(["fit", "t.csv", "--target", "q", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main(["fit", "t.csv", "--target", "kind", "--eps", "1", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["fit", "t.csv", "--target", "kind", "--eps", "1", "--quiet"]) == 1
    assert capsys.readouterr().err != ""


@pytest.mark.parametrize("package", ["pandas", "jinja2"])
def test_a_missing_package_is_named_before_any_work(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["demo"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert f"requires {package}" in said.err
    assert 'pip install "protocover[cli]"' in said.err


def test_an_unexpected_error_is_one_line_that_says_so(capsys):
    def fail():
        raise KeyError("some\nkey")

    assert run_and_report(fail, Console(), debug=False) == 1
    said = capsys.readouterr().err
    assert said.startswith("protocover: error: unexpected KeyError")
    assert "--debug" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("place", "name"),
    [("pandas.read_csv", "t.csv"), ("pyarrow.parquet.ParquetFile", "t.parquet")],
)
def test_running_out_of_memory_is_not_blamed_on_the_file(
    flowers, place, name, monkeypatch, capsys
):
    pa = pytest.importorskip("pyarrow")
    flowers.to_csv("t.csv", index=False)
    flowers.to_parquet("t.parquet")

    def fail(*_, **__):
        if name == "t.csv":  # in the words of its parser in C
            raise pd.errors.ParserError("Error tokenizing data. C error: out of memory")
        raise pa.lib.ArrowMemoryError("malloc of size 9999 failed")

    monkeypatch.setattr(place, fail)
    assert main(["fit", name, "--target", "kind"]) == 1
    said = capsys.readouterr().err
    assert "protocover: error: out of memory; use fewer rows" in said
    assert name not in said


def test_text_from_data_cannot_steer_the_terminal():
    assert clean("a\x1b[2Jb\rc") == "a\\x1b[2Jb\\rc"
    assert clean("\u202eevil") == "\\u202eevil"
    assert clean("naïve 漢字 🙂") == "naïve 漢字 🙂"
    assert shorten("x" * 50, 10) == "xxxxxxx..."


def test_a_terminal_without_the_letters_gets_codes(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    Console().say("café")
    stream.seek(0)
    assert stream.read() == "caf\\xe9\n"
