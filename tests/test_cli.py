import csv
import sys

import pytest

from protocover import __version__
from protocover.cli import main


def test_the_demo_prints_what_it_found_and_writes_what_there_is_to_see(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out
    for word in ("prototypes", "covered", "objective", "held out", "1-NN"):
        assert word in said
    with (tmp_path / "new" / "prototypes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sorted({row["class"] for row in rows}) == list("0123456789")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "prototypes.csv",
        "prototypes.png",
    }


def test_without_matplotlib_the_demo_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "protocover.plotting", None)
    assert main(["demo", "--output", str(tmp_path)]) == 0
    assert 'pip install "protocover[plot]"' in capsys.readouterr().out


def test_version_and_unknown_commands_have_their_exit_codes(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert __version__ in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])
    assert ended.value.code == 2
