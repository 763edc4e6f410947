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
from .console import CommandError, Console, check_packages

__all__ = [
    "find_images",
    "flatten",
    "layout_of",
    "read_folder",
    "read_images",
    "read_labelled_images",
]

# Only these are ever decoded, whatever a file says it is.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
_SUFFIXES = frozenset(
    (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm")
)
# A small file can claim to be an image that no memory holds.
_MOST_PIXELS = 50_000_000
# Images larger than that are brought down to _SIDE pixels along the longer side.
_LARGEST_KEPT = 64
_SIDE = 32
_PIXEL = re.compile(r"r(\d+)c(\d+)(?:\.(?:red|green|(blue)))?")


@dataclass(frozen=True)
class ImageFile:
    """An image in a folder: where it is, its name below that folder, and its class."""

    path: Path
    name: str
    label: str | None


def read_labelled_images(
    folder: Path,
    *,
    size: tuple[int, int] | None,
    colour: bool | None,
    skip: bool,
    console: Console,
) -> Cases:
    """Read a folder with a folder of images for each class.

    `size` (width, height) and `colour` are None for what suits the images; with `skip`
    those that cannot be read are left out.
    """
    files = [file for file in find_images(folder, console) if file.label is not None]
    labels = sorted({str(file.label) for file in files})
    if len(labels) < 2:
        raise CommandError(
            f"{folder} must have a folder of images for each of two or more classes, got "
            f"{len(labels)}; sort the images into {folder}/CLASS/"
        )
    cases = read_folder(folder, files, size=size, colour=colour, skip=skip, console=console)
    return replace(cases, y=np.asarray(cases.y).astype(str))


def read_folder(
    folder: Path,
    files: Sequence[ImageFile],
    *,
    size: tuple[int, int] | None,
    colour: bool | None,
    skip: bool,
    console: Console,
) -> Cases:
    """Read the images found in a folder, all brought to one size; labels may be None."""
    if size is None:
        size = _suitable_size(files, skip)
    files, pixels = _read_pixels(files, size, skip, console)
    if colour is None:
        colour = bool((pixels != pixels[..., :1]).any())
    return _as_cases(folder, files, pixels, ImageLayout(size[1], size[0], colour))


def read_images(path: Path, layout: ImageLayout, *, skip: bool, console: Console) -> Cases:
    """Read one image, or those in a folder, as a layout asks for; labels may be None."""
    files = find_images(path, console) if path.is_dir() else [ImageFile(path, path.name, None)]
    files, pixels = _read_pixels(files, (layout.width, layout.height), skip, console)
    return _as_cases(path, files, pixels, layout)


def find_images(folder: Path, console: Console) -> list[ImageFile]:
    """Find the images in a folder and in the folders in it, in order of their names.

    Links that lead out of the folder are not followed.
    """
    root = folder.resolve()
    found, ignored, links = [], 0, 0
    for path in sorted(folder.glob("*")) + sorted(folder.glob("*/*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if not path.resolve().is_relative_to(root):
            links += 1
        elif path.is_file():
            if path.suffix.lower() in _SUFFIXES:
                label = path.parent.name if path.parent != folder else None
                found.append(ImageFile(path, path.relative_to(folder).as_posix(), label))
            else:
                ignored += 1
    if links:
        console.warn(f"{links} links that lead out of {folder} are not followed")
    if ignored:
        console.note(f"Ignored: {ignored} files in {folder} that are no images.")
    if not found:
        raise CommandError(
            f"{folder} holds no images ({', '.join(sorted(_SUFFIXES))}); give a folder with a "
            "folder of images for each class"
        )
    return found


def flatten(pixels: NDArray[np.uint8], layout: ImageLayout) -> Any:
    """Return images as a frame with a row of numbers from 0 to 1 for each.

    The columns' names tell the layout, so that a model file does.
    """
    import pandas as pd

    values = pixels.astype(np.float32) / np.float32(255.0)
    if not layout.colour:
        # The weights by which Pillow, too, makes colours grey.
        values = values @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    parts = (".red", ".green", ".blue") if layout.colour else ("",)
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
    return Cases(flatten(pixels, layout), y, rows, path.name, names, None, layout)


def _suitable_size(files: Sequence[ImageFile], skip: bool) -> tuple[int, int]:
    """Return the common size of small images, or that of the first brought down."""
    sizes = set()
    first: tuple[int, int] | None = None
    for file in files:
        try:
            with _open(file.path) as image:
                sizes.add(image.size)
                first = first or image.size
        except CommandError:
            if not skip:
                raise
    if first is None:
        raise CommandError("none of the images can be read")
    if len(sizes) == 1 and max(first) <= _LARGEST_KEPT:
        return first
    scale = min(1.0, _SIDE / max(first))
    return max(1, round(scale * first[0])), max(1, round(scale * first[1]))


def _decode(path: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return an image of the given size, upright, on white where it is transparent."""
    from PIL import Image, ImageOps

    with _open(path) as image:
        try:
            # JPEG files can be decoded at a fraction of their size.
            image.draft("RGB", (2 * size[0], 2 * size[1]))
            image.load()
            upright = ImageOps.exif_transpose(image)
        except Exception as error:  # decoders raise whatever they stumble over
            raise _broken(path, error) from error
        if upright.mode.startswith(("I", "F")):
            upright = _to_eight_bits(upright)
        if upright.has_transparency_data:
            layer = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        plain = upright.convert("RGB")
        if plain.size != size:
            plain = plain.resize(size, Image.Resampling.LANCZOS)
        return np.asarray(plain, dtype=np.uint8)


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
