import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocover._cli import main
from protocover._cli.console import CommandError
from protocover._cli.writing import check_file, fresh_folder, write_file
from protocover.data import _files as files


def write_ours(folder, word):
    with fresh_folder(folder, force=True) as unfinished:
        (unfinished / "a.txt").write_text(word)
        summary = {"written_by": "protocover", "files": ["a.txt", "summary.json"]}
        (unfinished / "summary.json").write_text(json.dumps(summary))


def test_a_folder_appears_only_when_it_is_complete(tmp_path):
    with fresh_folder(tmp_path / "deep" / "out", force=False) as unfinished:
        (unfinished / "a.txt").write_text("all")
        assert not (tmp_path / "deep" / "out").exists()
    assert (tmp_path / "deep" / "out" / "a.txt").read_text() == "all"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_there_is_neither_a_folder_nor_a_leftover(tmp_path, error):
    def write_half():
        with fresh_folder(tmp_path / "out", force=False) as unfinished:
            (unfinished / "a.txt").write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_kept_unless_told(tmp_path):
    write_ours(tmp_path / "out", "old")
    with pytest.raises(CommandError, match="--force"), fresh_folder(tmp_path / "out", force=False):
        pass
    write_ours(tmp_path / "out", "new")
    assert (tmp_path / "out" / "a.txt").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_old_folder_survives_until_the_new_one_is_complete(tmp_path):
    write_ours(tmp_path / "out", "old")
    with pytest.raises(ValueError, match="late"), fresh_folder(tmp_path / "out", force=True):
        raise ValueError("late")
    assert (tmp_path / "out" / "a.txt").read_text() == "old"


def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    write_ours(tmp_path / "out", "old")
    rename, calls = Path.rename, []

    def fail_second(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError("disk gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_second)
    with pytest.raises(OSError, match="disk gone"):
        write_ours(tmp_path / "out", "new")
    assert (tmp_path / "out" / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["notes.txt", "summary.json"])
def test_a_folder_with_files_of_others_is_never_replaced(tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text('{"written_by": "someone", "files": ["summary.json"]}')
    with pytest.raises(CommandError, match=f"{name}, not written by"):
        write_ours(tmp_path / "out", "new")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]


def test_our_own_folder_to_which_a_file_was_added_is_not_replaced(tmp_path):
    write_ours(tmp_path / "out", "old")
    (tmp_path / "out" / "thesis.doc").write_text("years of work")
    with pytest.raises(CommandError, match=r"thesis\.doc"):
        write_ours(tmp_path / "out", "new")
    assert (tmp_path / "out" / "thesis.doc").exists()


def test_an_empty_folder_is_as_good_as_none(tmp_path):
    (tmp_path / "out").mkdir()
    with fresh_folder(tmp_path / "out", force=False) as unfinished:
        (unfinished / "a.txt").write_text("all")
    assert (tmp_path / "out" / "a.txt").exists()


def test_a_file_or_a_link_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with (
            pytest.raises(CommandError, match="not a folder"),
            fresh_folder(tmp_path / name, force=True),
        ):
            pass


def test_a_file_is_written_whole_and_not_over_another_unless_told(tmp_path):
    write_file(tmp_path / "deep" / "a.csv", b"one")
    assert (tmp_path / "deep" / "a.csv").read_bytes() == b"one"
    assert len(list((tmp_path / "deep").iterdir())) == 1
    with pytest.raises(CommandError, match="--force"):
        check_file(tmp_path / "deep" / "a.csv", force=False)
    check_file(tmp_path / "deep" / "a.csv", force=True)
    with pytest.raises(CommandError, match="is a folder"):
        check_file(tmp_path / "deep", force=True)


def test_what_a_command_reads_is_never_written_over(flowers, fit, capsys):
    flowers.to_csv("in.csv", index=False)
    before = Path("in.csv").read_bytes()
    assert fit("in.csv", "--target", "kind", "--eps", "auto", "-o", "out") == 0
    Path("link.csv").symlink_to("in.csv")
    for command, *words in (
        ("predict", "--output", "in.csv"),
        ("predict", "--output", "link.csv"),
        ("predict", "--report", "in.csv"),
        ("predict", "--output", "out/model.protocover"),
        ("report", "--output", "in.csv"),
    ):
        capsys.readouterr()
        assert main([command, "out", "in.csv", *words, "--force"]) == 1
        assert f"{words[1]} is the input of this command" in capsys.readouterr().err
    assert main(["predict", "out", "in.csv", "--output", "a", "--report", "./a"]) == 2
    Path("out/predictions.csv").write_bytes(before)
    words = ["--target", "kind", "-o", "out", "--force"]
    assert fit("out/predictions.csv", *words) == 1
    assert "contains the input out/predictions.csv" in capsys.readouterr().err
    assert Path("in.csv").read_bytes() == Path("out/predictions.csv").read_bytes() == before


@pytest.fixture
def abandoned(tmp_path, monkeypatch):
    """What a process that was killed has left of `out`."""
    monkeypatch.setattr(files, "_SECONDS_TO_LOCK", 0.0)
    draft = tmp_path / f".out.{'0a' * 8}.part"
    draft.mkdir()
    (draft / "half.txt").write_text("hal")
    return draft


def test_what_a_killed_run_has_left_is_gone_after_the_next(tmp_path, abandoned):
    write_ours(tmp_path / "out", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_that_is_killed_is_tidied_up_after(tmp_path, monkeypatch):
    code = f"""
import os
from pathlib import Path
from protocover.data._files import whole_file, whole_folder
with whole_folder(Path({str(tmp_path / "out")!r})), whole_file({str(tmp_path / "m")!r}):
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code])
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(files, "_SECONDS_TO_LOCK", 0.0)
    write_ours(tmp_path / "out", "new")
    write_file(tmp_path / "m", b"model")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "m"}


def test_a_run_under_way_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_SECONDS_TO_LOCK", 0.0)
    with fresh_folder(tmp_path / "out", force=True) as first:
        with fresh_folder(tmp_path / "out", force=True) as second:
            assert first.is_dir()
            assert second.is_dir()
        assert first.is_dir()


def test_a_draft_just_made_is_left_alone(tmp_path, abandoned, monkeypatch):
    monkeypatch.setattr(files, "_SECONDS_TO_LOCK", 60.0)
    write_ours(tmp_path / "out", "new")
    assert abandoned.is_dir()


@pytest.mark.parametrize(
    "name",
    [".out.part", ".out2.0a0a0a0a0a0a0a0a.part", "out.0a0a0a0a0a0a0a0a.part", ".out.old.part"],
)
def test_what_others_have_named_alike_is_left_alone(tmp_path, monkeypatch, name):
    monkeypatch.setattr(files, "_SECONDS_TO_LOCK", 0.0)
    (tmp_path / name).mkdir()
    write_ours(tmp_path / "out", "new")
    assert (tmp_path / name).is_dir()


def test_an_earlier_folder_without_a_later_one_is_never_removed(tmp_path, abandoned):
    """Killed between two renames: the earlier output is all that there is."""
    earlier = abandoned.rename(tmp_path / f".out.{'0b' * 8}.earlier")
    write_ours(tmp_path / "out", "new")
    assert earlier.is_dir()
    write_ours(tmp_path / "out", "newer")  # there is a later one by now
    assert not earlier.exists()


def test_folders_made_on_the_way_go_again_where_nothing_was_written(tmp_path):
    with pytest.raises(ZeroDivisionError), fresh_folder(tmp_path / "a" / "b" / "out", force=False):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
