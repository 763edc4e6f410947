import struct
import zlib

import numpy as np
import pytest

from paper import PAPER
from protocover._cli.cases import ImageLayout
from protocover._cli.console import CommandError, Console
from protocover._cli.images import find_images, flatten, layout_of, read_image_folder


def read(folder, **how):
    how = {"size": None, "color": None, "skip": False, **how}
    return read_image_folder(folder, labeled=True, console=Console(), **how)


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


def test_color_is_kept_where_there_is_any(tmp_path, save_images):
    from PIL import Image

    folder = save_images(tmp_path / "pictures", mode="RGB")
    assert read(folder).layout.color is False
    Image.new("RGB", (8, 8), "red").save(folder / "dark" / "red.png")
    cases = read(folder)
    assert cases.layout == ImageLayout(8, 8, True)
    red = np.asarray(cases.X)[cases.names == "dark/red.png"].reshape(8, 8, 3)
    assert red[3, 4].tolist() == [1.0, 0.0, 0.0]
    assert read(folder, color=False).X.shape == (13, 64)


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
    with pytest.raises(CommandError, match="at least two"):
        read(folder / "dark")


@pytest.mark.parametrize("layout", [ImageLayout(3, 5, False), ImageLayout(2, 2, True)])
def test_names_of_columns_tell_the_layout(layout):
    pixels = np.zeros((1, layout.height, layout.width, 3), dtype=np.uint8)
    names = list(flatten(pixels, layout).columns)
    assert layout_of(names) == layout
    assert layout_of(names[1:]) is None
    assert layout_of(["age", "sex"]) is None


def save_shapes(folder, shapes, label="wide"):
    """Save images with a red centre and blue edges, of the given (width, height)."""
    from PIL import Image

    (folder / label).mkdir(parents=True, exist_ok=True)
    for i, (width, height) in enumerate(shapes):
        image = Image.new("RGB", (width, height), "blue")
        image.paste("red", (width // 4, height // 4, 3 * width // 4, 3 * height // 4))
        image.save(folder / label / f"{i}.png")


def test_images_of_several_shapes_take_the_median_and_are_padded_not_squashed(tmp_path):
    # The first in order is the odd one out.
    save_shapes(tmp_path / "p", [(320, 40), (100, 80), (100, 80), (110, 80)], "a")
    save_shapes(tmp_path / "p", [(90, 80), (100, 80)], "b")
    cases = read(tmp_path / "p")
    assert cases.layout == ImageLayout(26, 32, True)
    panorama = np.asarray(cases.X)[0].reshape(26, 32, 3)
    red = panorama[:, :, 0] > 0.5
    height, width = np.ptp(np.argwhere(red), axis=0) + 1
    assert (width, height) == (16, 2)  # as 160 x 20 in the file
    assert (panorama[0] == panorama[0, 0]).all()  # padded by the colour of its edges
    np.testing.assert_allclose(panorama[0, 0], [0.0, 0.0, 1.0], atol=0.05)


def test_the_size_is_that_of_upright_images(tmp_path):
    from PIL import Image

    for label in "ab":
        (tmp_path / "p" / label).mkdir(parents=True)
        exif = Image.Exif()
        exif[0x0112] = 6  # the camera was turned
        Image.new("RGB", (120, 60), "red").save(tmp_path / "p" / label / "0.jpg", exif=exif)
    assert read(tmp_path / "p").layout == ImageLayout(32, 16, True)


def test_images_in_folders_within_a_class_count_for_it_and_strays_are_named(
    tmp_path, save_images, capsys
):
    folder = save_images(tmp_path / "pictures")
    deep = folder / "dark" / "more" / "still"
    deep.mkdir(parents=True)
    (folder / "dark" / "0.png").rename(deep / "z.png")
    (folder / "light" / "0.png").rename(folder / "stray.png")
    cases = read(folder)
    assert len(cases) == 11
    assert cases.y[cases.names == "dark/more/still/z.png"].tolist() == ["dark"]
    said = capsys.readouterr().err
    assert "left out 1 image directly in" in said
    assert "'stray.png'" in said
    assert "Images in subfolders belong to the class of the folder: 'dark/more'." in said


def test_folders_that_look_like_the_classes_are_doubted(tmp_path, save_images, capsys):
    for part in ("train", "test"):
        save_images(tmp_path / "pictures" / part)
    read(tmp_path / "pictures")
    said = " ".join(capsys.readouterr().err.split())
    assert "several classes contain folders with the same name: 'dark', 'light'" in said
    assert f"give {tmp_path}/pictures/test instead of" in said


def test_links_in_circles_end(tmp_path, save_images):
    folder = save_images(tmp_path / "pictures")
    (folder / "dark" / "round").symlink_to(folder, target_is_directory=True)
    assert len(read(folder)) == 12


def test_the_report_shows_the_files_and_no_names_of_pixels(tmp_path, monkeypatch):
    import json

    from protocover._cli import main

    monkeypatch.chdir(tmp_path)
    save_shapes(tmp_path / "p", [(200 + 5 * i, 150) for i in range(8)], "a")
    save_shapes(tmp_path / "p", [(150, 200 + 5 * i) for i in range(8)], "b")
    assert main(["fit", "p", "-o", "out", "--eps", "auto", "-q"]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "r0c1" not in page
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    pictures = data["cases"]["pictures"]
    assert max(pictures["width"], pictures["height"]) == 128
    assert data["cases"]["columns"] == []
    assert data["held_out"]["n_cases"] > 0
    assert main(["report", "out", "p", "-q"]) == 0
    assert main(["predict", "out", "p", "--report", "why.html", "-o", "a.csv", "-q"]) == 0
    assert "r0c1" not in (tmp_path / "why.html").read_text(encoding="utf-8")


def encode(folder):
    """Return the names of the images of a folder, and a vector for each: its mean colour."""
    from PIL import Image

    names = [file.name for file in find_images(folder, Console(quiet=True))]
    vectors = [np.asarray(Image.open(folder / name).convert("RGB")).mean((0, 1)) for name in names]
    return names, np.array(vectors, dtype=np.float32)


@pytest.mark.parametrize("kind", ["npy", "parquet", "lists"])
def test_vectors_beside_the_images_are_what_is_compared(tmp_path, monkeypatch, save_images, kind):
    import json

    import pandas as pd

    from protocover._cli import main

    monkeypatch.chdir(tmp_path)
    folder = save_images(tmp_path / "pictures")
    names, vectors = encode(folder)
    if kind == "npy":
        file = "vectors.npy"
        np.save(file, vectors)
    else:
        file = "vectors.parquet"
        frame = pd.DataFrame(vectors, columns=list("rgb"))
        if kind == "lists":
            frame = pd.DataFrame({"vector": list(vectors)})
        # In another order: the names tell.
        frame.assign(file=names).iloc[::-1].to_parquet(file)
    words = ["--features", file, "-q"]
    given = ["--metric", "euclidean", "--eps", "40", "--test-size", "0"]
    assert main(["fit", "pictures", "-o", "out", *given, *words]) == 0
    command = ["predict", "out", "pictures", "-o", "a.csv", "--report", "why.html", *words]
    assert main(command) == 0
    answers = pd.read_csv("a.csv")
    from protocover import PVMClassifier

    labels = [name.split("/")[0] for name in names]
    expected = (
        PVMClassifier(eps=40.0, random_state=0, **PAPER).fit(vectors, labels).predict(vectors)
    )
    assert answers["predicted"].tolist() == expected.tolist()
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    n_shown = len(data["cases"]["names"])
    assert data["cases"]["pictures"]["count"] == n_shown
    assert main(["report", "out", "pictures", *words]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v[1:], "has 11 rows and"),
        (lambda v: v[0], "must contain one row of numbers per image, got float32 of shape (3,)"),
        (lambda v: np.where(v == v[2, 0], np.nan, v), "must contain finite numbers"),
        (lambda v: np.array([object()]), "cannot be read as a NumPy array"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(tmp_path, save_images, change, message):
    folder = save_images(tmp_path / "pictures")
    np.save(tmp_path / "vectors.npy", change(encode(folder)[1]), allow_pickle=True)
    with pytest.raises(CommandError) as caught:
        read(folder, features=tmp_path / "vectors.npy")
    assert message in str(caught.value)


def test_images_without_a_vector_are_named(tmp_path, save_images):
    import pandas as pd

    folder = save_images(tmp_path / "pictures")
    names, vectors = encode(folder)
    frame = pd.DataFrame(vectors, columns=list("rgb")).assign(file=names)
    frame.iloc[2:].to_parquet(tmp_path / "v.parquet")
    with pytest.raises(CommandError, match=r"no row for 2 of 12 images: 'dark/0.png', 'dark/1"):
        read(folder, features=tmp_path / "v.parquet")


def test_a_model_of_vectors_asks_for_those_of_others(tmp_path, monkeypatch, save_images, capsys):
    from protocover._cli import main

    monkeypatch.chdir(tmp_path)
    folder = save_images(tmp_path / "pictures")
    np.save("v.npy", encode(folder)[1])
    main(["fit", "pictures", "-o", "out", "--features", "v.npy", "--eps", "auto", "-q"])
    assert main(["predict", "out", "pictures"]) == 1
    assert "give a table, or the vectors of the images with" in capsys.readouterr().err
    np.save("short.npy", encode(folder)[1][:, :2])
    assert main(["predict", "out", "pictures", "--features", "short.npy"]) == 1
    assert "has vectors of 2 numbers and the model requires 3" in capsys.readouterr().err
