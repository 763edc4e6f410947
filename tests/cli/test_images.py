import struct
import zlib

import numpy as np
import pytest

from protocover.cli.cases import ImageLayout
from protocover.cli.console import CommandError, Console
from protocover.cli.images import find_images, flatten, layout_of, read_labelled_images


def read(folder, **how):
    how = {"size": None, "colour": None, "skip": False, **how}
    return read_labelled_images(folder, console=Console(), **how)


def huge_png(path, side=60_000):
    """Write a PNG file of a few bytes that claims to be so many pixels wide and high."""

    def chunk(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts))


def test_folders_are_classes_and_pixels_go_from_black_0_to_white_1(tmp_path, save_images):
    cases = read(save_images(tmp_path / "pictures"))
    assert cases.layout == ImageLayout(8, 8, False)
    assert cases.X.shape == (12, 64)
    assert cases.names[:2].tolist() == ["dark/0.png", "dark/1.png"]
    means = np.asarray(cases.X).mean(axis=1)
    assert (means[cases.y == "light"] > 0.6).all()
    assert (means[cases.y == "dark"] < 0.3).all()


def test_colour_is_kept_where_there_is_any(tmp_path, save_images):
    from PIL import Image

    folder = save_images(tmp_path / "pictures", mode="RGB")
    assert read(folder).layout.colour is False
    Image.new("RGB", (8, 8), "red").save(folder / "dark" / "red.png")
    cases = read(folder)
    assert cases.layout == ImageLayout(8, 8, True)
    red = np.asarray(cases.X)[cases.names == "dark/red.png"].reshape(8, 8, 3)
    assert red[3, 4].tolist() == [1.0, 0.0, 0.0]
    assert read(folder, colour=False).X.shape == (13, 64)


def test_images_are_brought_to_one_size(tmp_path, save_images):
    folder = save_images(tmp_path / "pictures", size=(100, 50))
    assert read(folder).layout == ImageLayout(16, 32, False)
    assert read(folder, size=(5, 7)).layout == ImageLayout(7, 5, False)


@pytest.mark.parametrize(
    ("mode", "level", "value"), [("I;16", 32768, 0.5), ("RGBA", (0, 0, 0, 0), 1.0), ("1", 1, 1.0)]
)
def test_deep_transparent_and_two_level_images_are_read(tmp_path, save_images, mode, level, value):
    from PIL import Image

    folder = save_images(tmp_path / "pictures")
    Image.new(mode, (8, 8), level).save(folder / "light" / "even.png")
    cases = read(folder)
    values = np.asarray(cases.X)[cases.names == "light/even.png"]
    np.testing.assert_allclose(values, value, atol=0.01)


@pytest.mark.parametrize("break_it", ["cut", "text", "huge"])
def test_a_broken_image_is_named_and_can_be_skipped(tmp_path, save_images, break_it, capsys):
    folder = save_images(tmp_path / "pictures")
    broken = folder / "dark" / "3.png"
    if break_it == "cut":
        broken.write_bytes(broken.read_bytes()[:60])
    elif break_it == "text":
        broken.write_text("not an image")
    else:
        huge_png(broken)
    with pytest.raises(CommandError, match=r"3\.png .*--skip-broken"):
        read(folder)
    assert len(read(folder, skip=True)) == 11
    assert "3.png" in capsys.readouterr().err


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_a_decompression_bomb_is_refused_before_it_goes_off(tmp_path, save_images, side):
    folder = save_images(tmp_path / "pictures")
    huge_png(folder / "dark" / "bomb.png", side)
    with pytest.raises(CommandError, match=f"{side} x {side} pixels|{side * side} pixels"):
        read(folder, size=(8, 8))


def test_links_out_of_the_folder_are_not_followed(tmp_path, save_images, capsys):
    folder = save_images(tmp_path / "pictures")
    outside = save_images(tmp_path / "private")
    (folder / "secret").symlink_to(outside / "dark")
    (folder / "dark" / "secret.png").symlink_to(outside / "dark" / "0.png")
    (folder / "dark" / "own.png").symlink_to(folder / "dark" / "0.png")
    names = [file.name for file in find_images(folder, Console())]
    assert "dark/own.png" in names
    assert not any("secret" in name for name in names)
    assert "not followed" in capsys.readouterr().err


def test_a_folder_without_two_classes_of_images_is_an_error(tmp_path, save_images):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match="no images"):
        read(tmp_path / "empty")
    folder = save_images(tmp_path / "pictures")
    with pytest.raises(CommandError, match="two or more classes"):
        read(folder / "dark")


@pytest.mark.parametrize("layout", [ImageLayout(3, 5, False), ImageLayout(2, 2, True)])
def test_names_of_columns_tell_the_layout(layout):
    pixels = np.zeros((1, layout.height, layout.width, 3), dtype=np.uint8)
    names = list(flatten(pixels, layout).columns)
    assert layout_of(names) == layout
    assert layout_of(names[1:]) is None
    assert layout_of(["age", "sex"]) is None
