"""The commands and the code of the page on the command line run, in its order."""

import re
import shlex
from pathlib import Path

from protocover._cli import main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_the_page_does_what_it_says(capsys):
    blocks = re.findall(r"```(sh|python|text)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    said, n_commands = "", 0
    for language, block in blocks:
        if language == "python":
            exec(block, {"__name__": "page"})
        elif language == "text":
            assert block in said
        else:
            commands = [line for line in block.splitlines() if line.startswith("protocover ")]
            for command in commands:
                assert main(shlex.split(command)[1:]) == 0, command
            n_commands += len(commands)
            said = capsys.readouterr().err
    assert n_commands >= 8
    for file in re.findall(r"^\| `([a-z.]+)` \|", PAGE.read_text(), flags=re.MULTILINE):
        assert (Path("wine-protocover") / file).exists()


def test_the_page_on_photographs_does_what_it_says():
    page = (PAGE.parent / "photographs.md").read_text()
    names = {"__name__": "page"}
    commands = []
    for language, block in re.findall(r"```(sh|python)\n(.*?)```", page, flags=re.DOTALL):
        if language == "python":
            exec(block, names)
        else:
            commands += block.splitlines()
            for command in block.splitlines():
                assert main([*shlex.split(command)[1:], "--quiet"]) == 0, command
    assert len(commands) == 2
    assert Path("photos-protocover/pictures.npz").exists()
    assert "disc/001.jpg" in Path("why.html").read_text(encoding="utf-8")
