import json
from pathlib import Path

import pytest

from protocover.cli.console import CommandError
from protocover.cli.writing import check_file, fresh_folder, write_file


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
