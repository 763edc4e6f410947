"""Files and folders appear whole, or not at all."""

import pytest

from protocover.data._files import whole_file, whole_folder, write_whole


def write_half(writing):
    with writing as draft:
        if hasattr(draft, "write"):
            draft.write(b"half")
        else:
            (draft / "a.txt").write_text("half")
        raise ValueError("midway")


def fail_in(writing):
    with pytest.raises(ValueError, match="midway"):
        write_half(writing)


@pytest.mark.parametrize("make", [whole_file, whole_folder])
def test_after_an_error_what_was_there_is_there_and_nothing_else(tmp_path, make):
    fail_in(make(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []
    with make(tmp_path / "out"):
        pass
    fail_in(make(tmp_path / "out"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_link_is_followed_not_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", [b"n", b"ew"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_long_name_leaves_room_for_that_of_the_draft(tmp_path):
    name = "x" * 250
    with whole_folder(tmp_path / name) as draft:
        (draft / "a.txt").write_text("all")
    write_whole(tmp_path / f"y{name[1:]}", [b"all"])
    assert (tmp_path / name / "a.txt").read_text() == "all"
