"""Folders of images: found, decoded with care, and brought to one size."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Cases, ImageLayout
from .console import CommandError, Console, check_packages, count_things, list_names
from .embeddings import read_vectors
from .thumbnails import Thumbnails

# Only these are ever decoded, whatever a file says it is.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
SUFFIXES = frozenset(
    (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm")
)
# A small file can claim to be an image that no memory holds.
_MOST_PIXELS = 50_000_000
# Images larger than that are brought down to _SIDE pixels along the longer side.
_LARGEST_KEPT = 64
_SIDE = 32
# Pictures in a report are of that many pixels along the longer side.
_THUMBNAIL = 128
_ORIENTATION = 0x0112
_PIXEL = re.compile(r"r(\d+)c(\d+)(?:\.(?:red|green|(blue)))?")


@dataclass(frozen=True)
class ImageFile:
    """An image in a folder: where it is, its name below that folder, and its class."""

    path: Path
    name: str
    label: str | None


def read_labeled_images(
    folder: Path,
    *,
    size: tuple[int, int] | None,
    color: bool | None,
    skip: bool,
    console: Console,
    features: Path | None = None,
) -> Cases:
    """Read a folder with a folder of images for each class.

    `size` (width, height) and `color` are None for what suits the images; with `skip`
    those that cannot be read are left out. A file of `features` has a vector for each image,
    which distances are measured between in place of the pixels.
    """
    found = find_images(folder, console)
    files = [file for file in found if file.label is not None]
    labels = sorted({str(file.label) for file in files})
    if len(labels) < 2:
        raise CommandError(
            f"{folder} must have a folder of images for each of two or more classes, got "
            f"{len(labels)}; sort the images into {folder}/CLASS/"
        )
    _name_strays([file for file in found if file.label is None], folder, console)
    _name_nested(files, folder, console)
    if features is not None:
        cases = _as_vectors(folder, files, features, _suitable_size(files, skip))
        return replace(cases, y=np.asarray(cases.y).astype(str))
    cases = read_folder(folder, files, size=size, color=color, skip=skip, console=console)
    return replace(cases, y=np.asarray(cases.y).astype(str))


def read_folder(
    folder: Path,
    files: list[ImageFile],
    *,
    size: tuple[int, int] | None,
    color: bool | None,
    skip: bool,
    console: Console,
) -> Cases:
    """Read the images found in a folder, all brought to one size; labels may be None."""
    if size is None:
        size = _suitable_size(files, skip)
    files, pixels = _read_pixels(files, size, skip, console)
    if color is None:
        color = bool((pixels != pixels[..., :1]).any())
    return _as_cases(folder, files, pixels, ImageLayout(size[1], size[0], color))


def read_images(path: Path, layout: ImageLayout, *, skip: bool, console: Console) -> Cases:
    """Read one image, or those in a folder, as a layout asks for; labels may be None."""
    files = find_images(path, console) if path.is_dir() else [ImageFile(path, path.name, None)]
    files, pixels = _read_pixels(files, (layout.width, layout.height), skip, console)
    return _as_cases(path, files, pixels, layout)


def read_encoded_images(path: Path, features: Path, *, skip: bool, console: Console) -> Cases:
    """Read one image, or those in a folder, with their vectors; labels may be None."""
    files = find_images(path, console) if path.is_dir() else [ImageFile(path, path.name, None)]
    return _as_vectors(path, files, features, _suitable_size(files, skip))


def find_images(folder: Path, console: Console) -> list[ImageFile]:
    """Find the images in a folder and in all folders in it, by name, those in itself last.

    The class of an image is the first folder on the way to it. Links that lead out of the
    folder are not followed.
    """
    root = folder.resolve()
    found, ignored, links = [], 0, 0
    for path in _walk(folder):
        if not path.resolve().is_relative_to(root):
            links += 1
        elif path.is_file():
            if path.suffix.lower() in SUFFIXES:
                parts = path.relative_to(folder).parts
                label = parts[0] if len(parts) > 1 else None
                found.append(ImageFile(path, "/".join(parts), label))
            else:
                ignored += 1
    if links:
        console.warn(f"{links} links that lead out of {folder} are not followed")
    if ignored:
        console.note(f"Ignored: {ignored} files in {folder} that are no images.")
    if not found:
        raise CommandError(
            f"{folder} holds no images ({', '.join(sorted(SUFFIXES))}); give a folder with a "
            "folder of images for each class"
        )
    return found


def enlarge(pixels: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return an image with values from 0 to 1, grey or in colour, at a size, in colour."""
    from PIL import Image

    values = np.rint(np.clip(pixels, 0.0, 1.0) * 255.0).astype(np.uint8)
    picture = Image.fromarray(values).convert("RGB").resize(size, Image.Resampling.NEAREST)
    return np.asarray(picture, dtype=np.uint8)


def resize(picture: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a picture at a size (width, height), padded where its shape is another."""
    from PIL import Image

    return _fit_into(Image.fromarray(picture), size)


def _walk(folder: Path) -> list[Path]:
    """Return what lies in a folder and all folders in it, but for what is hidden."""
    root = folder.resolve()
    files: list[Path] = []
    folders, seen = [folder], {root}
    while folders:
        inside = sorted(p for p in folders.pop(0).iterdir() if not p.name.startswith("."))
        for path in inside:
            if not path.is_dir() or not path.resolve().is_relative_to(root):
                files.append(path)
            elif path.resolve() not in seen:  # links may lead in circles
                seen.add(path.resolve())
                folders.append(path)
    # Those of no class last, so that the numbers of the others do not depend on them.
    return sorted(files, key=lambda path: (path.parent == folder, path))


def _name_strays(strays: Sequence[ImageFile], folder: Path, console: Console) -> None:
    """Name the images that lie in no folder, and so belong to no class."""
    if strays:
        which = list_names([file.name for file in strays])
        console.warn(
            f"left out {count_things(len(strays), 'image', 'images')} directly in {folder}, "
            f"which belong to no class: {which}; move them into {folder}/CLASS/"
        )


def _name_nested(files: Sequence[ImageFile], folder: Path, console: Console) -> None:
    """Say which class images in folders within folders count for, and doubt it where they may not.

    Folders of the same name in several classes look like classes, as in train/cat and test/cat.
    """
    homes: dict[str, set[str]] = {}
    for file in files:
        parts = Path(file.name).parts
        if len(parts) > 2:
            homes.setdefault(parts[1], set()).add(parts[0])
    if not homes:
        return
    shared = [name for name, classes in homes.items() if len(classes) > 1]
    if shared:
        first = sorted(homes[shared[0]])[0]
        console.warn(
            f"folders of the same name lie in several classes: {list_names(sorted(shared))}; if "
            f"these are the classes, give {folder}/{first} in place of {folder}"
        )
    names = sorted(f"{c}/{name}" for name, classes in homes.items() for c in classes)
    console.note(f"Images in folders within a class count for it: {list_names(names)}.")


def flatten(pixels: NDArray[np.uint8], layout: ImageLayout) -> Any:
    """Return images as a frame with a row of numbers from 0 to 1 for each.

    The columns' names tell the layout, so that a model file does.
    """
    import pandas as pd

    values = pixels.astype(np.float32) / np.float32(255.0)
    if not layout.color:
        # The weights by which Pillow, too, makes colours grey.
        values = values @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    parts = (".red", ".green", ".blue") if layout.color else ("",)
    names = [
        f"r{row}c{column}{part}"
        for row in range(layout.height)
        for column in range(layout.width)
        for part in parts
    ]
    return pd.DataFrame(values.reshape(len(values), -1), columns=names)


def layout_of(names: Sequence[str]) -> ImageLayout | None:
    """Return the layout of images that the names of columns tell, None for those of a table."""
    last = _PIXEL.fullmatch(str(names[-1])) if len(names) else None
    if last is None or not _PIXEL.fullmatch(str(names[0])):
        return None
    layout = ImageLayout(int(last[1]) + 1, int(last[2]) + 1, last[3] is not None)
    return layout if int(np.prod(layout.shape)) == len(names) else None


def _read_pixels(
    files: Sequence[ImageFile], size: tuple[int, int], skip: bool, console: Console
) -> tuple[list[ImageFile], NDArray[np.uint8]]:
    """Read images at one size; return those that could be read, all unless `skip`.

    Pixels are of shape (n_images, height, width, 3).
    """
    pixels = np.empty((len(files), size[1], size[0], 3), dtype=np.uint8)
    read: list[ImageFile] = []
    for file in files:
        try:
            pixels[len(read)] = _decode(file.path, size)
        except CommandError as error:
            if not skip:
                raise
            console.warn(f"left out: {error}")
        else:
            read.append(file)
    if not read:
        raise CommandError("none of the images can be read")
    return read, pixels[: len(read)]


def _as_cases(
    path: Path, files: list[ImageFile], pixels: NDArray[np.uint8], layout: ImageLayout
) -> Cases:
    """Return images as cases, named for their files."""
    y = np.array([file.label for file in files], dtype=object)
    names = np.array([file.name for file in files], dtype=object)
    rows = np.arange(1, len(files) + 1)
    cases = Cases(flatten(pixels, layout), y, rows, path.name, names, None, layout)
    return replace(cases, pictures=_thumbnails([file.path for file in files], layout))


def _as_vectors(
    path: Path, files: Sequence[ImageFile], features: Path, size: tuple[int, int]
) -> Cases:
    """Return images as cases that are compared by their vectors and shown as they are."""
    names = [file.name for file in files]
    X = read_vectors(features, names, path)
    y = np.array([file.label for file in files], dtype=object)
    shape = ImageLayout(size[1], size[0], color=True)
    return Cases(
        X,
        y,
        np.arange(1, len(files) + 1),
        path.name,
        np.array(names, dtype=object),
        pictures=_thumbnails([file.path for file in files], shape),
    )


def _thumbnails(paths: Sequence[Path], layout: ImageLayout) -> Thumbnails:
    """Return pictures to look at, of the shape of the layout and larger where the files are."""
    scale = max(1.0, _THUMBNAIL / max(layout.width, layout.height))
    if _largest_side(paths) <= max(layout.width, layout.height):
        scale = 1.0
    return Thumbnails(paths, (round(scale * layout.width), round(scale * layout.height)), _decode)


def _largest_side(paths: Sequence[Path]) -> int:
    """Return the largest side of the first few images."""
    sides = [1]
    for path in paths[:20]:
        with _open(path) as image:
            sides.append(max(image.size))
    return max(sides)


def _suitable_size(files: Sequence[ImageFile], skip: bool) -> tuple[int, int]:
    """Return the common size of small images, or the median shape brought down."""
    sizes = []
    for file in files:
        try:
            with _open(file.path) as image:
                sizes.append(_upright_size(image))
        except CommandError:
            if not skip:
                raise
    if not sizes:
        raise CommandError("none of the images can be read")
    if len(set(sizes)) == 1 and max(sizes[0]) <= _LARGEST_KEPT:
        return sizes[0]
    width, height = np.median(sizes, axis=0).tolist()
    scale = min(1.0, _SIDE / max(width, height))
    return max(1, round(scale * width)), max(1, round(scale * height))


def _upright_size(image: Any) -> tuple[int, int]:
    """Return width and height of an image that its camera may have turned."""
    width, height = image.size
    # In a PNG file it may stand behind the pixels, which are not read here.
    turned = image.format != "PNG" and image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


def _decode(path: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return an image of the given size, upright, on white where it is transparent.

    One of another shape keeps its own and is padded.
    """
    from PIL import Image, ImageOps

    with _open(path) as image:
        try:
            # JPEG files can be decoded at a fraction of their size.
            image.draft("RGB", (2 * size[0], 2 * size[1]))
            image.load()
            upright = ImageOps.exif_transpose(image)
        except MemoryError:
            raise
        except Exception as error:  # decoders raise whatever they stumble over
            raise _broken(path, error) from error
        if upright.mode.startswith(("I", "F")):
            upright = _to_eight_bits(upright)
        if upright.has_transparency_data:
            layer = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        plain = upright.convert("RGB")
        return _fit_into(plain, size)


def _fit_into(image: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Bring an image to a size in its own shape; what is left is of the colour of its edges."""
    from PIL import Image

    if image.size == size:
        return np.asarray(image, dtype=np.uint8)
    scale = min(size[0] / image.width, size[1] / image.height)
    width = min(size[0], max(1, round(scale * image.width)))
    height = min(size[1], max(1, round(scale * image.height)))
    inner = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS), dtype=np.uint8)
    edges = np.concatenate((inner[0], inner[-1], inner[:, 0], inner[:, -1]))
    padded = np.empty((size[1], size[0], 3), dtype=np.uint8)
    padded[:] = np.rint(edges.mean(axis=0))
    top, left = (size[1] - height) // 2, (size[0] - width) // 2
    padded[top : top + height, left : left + width] = inner
    return padded


def _to_eight_bits(image: Any) -> Any:
    """Bring grey levels beyond 0 to 255 to that range, of 16 bits by their upper half."""
    from PIL import Image

    levels = np.asarray(image, dtype=np.float64)
    top = 65535.0 if image.mode.startswith("I") else float(np.nanmax(levels, initial=1.0))
    return Image.fromarray(np.nan_to_num(np.clip(levels / top, 0.0, 1.0) * 255.0).astype(np.uint8))


def _open(path: Path) -> Any:
    """Open an image without decoding it, and refuse one that is too large to decode."""
    check_packages("PIL")
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(path, formats=_FORMATS)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise whatever they stumble over
        raise _broken(path, error) from error
    width, height = image.size
    if width * height > _MOST_PIXELS:
        image.close()
        raise CommandError(
            f"{path} has {width} x {height} pixels, more than the {_MOST_PIXELS:,} that are "
            "allowed; make it smaller, or leave it out with --skip-broken"
        )
    return image


def _broken(path: Path, error: Exception) -> CommandError:
    """Return the error for an image that cannot be read."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if "cannot identify" in reason:
        reason = "not an image of a known format"
    return CommandError(
        f"{path} cannot be read ({reason}); replace it, or leave such images out with "
        "--skip-broken"
    )
