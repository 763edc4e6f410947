"""Images: found in folders, decoded safely, resized, or compared by given vectors."""

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

# Only these formats are decoded, whatever the file name.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
SUFFIXES = frozenset(
    (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm")
)
# A small file can claim to be an image larger than the memory.
_MOST_PIXELS = 50_000_000
# Larger images are reduced to _SIDE pixels along the longer side.
_LARGEST_KEPT = 64
_SIDE = 32
# Pixels along the longer side of pictures in a report.
_THUMBNAIL = 128
_ORIENTATION = 0x0112
_PIXEL = re.compile(r"r(\d+)c(\d+)(?:\.(?:red|green|(blue)))?")


@dataclass(frozen=True)
class ImageFile:
    """An image in a folder: its path, its name relative to the folder, and its class."""

    path: Path
    name: str
    label: str | None


def read_image_folder(
    folder: Path,
    *,
    labeled: bool,
    size: tuple[int, int] | None,
    color: bool | None,
    skip: bool,
    console: Console,
    features: Path | None = None,
) -> Cases:
    """Read a folder of images, if `labeled` with one folder per class.

    `size` (width, height) and `color` are None to be chosen from the images; with `skip` images
    that cannot be read are left out. A file of `features` has a vector for each image, which
    replaces the pixels in distances.
    """
    files = find_images(folder, console)
    if labeled:
        strays = [file for file in files if file.label is None]
        files = [file for file in files if file.label is not None]
        n_classes = len({file.label for file in files})
        if n_classes < 2:
            raise CommandError(
                f"{folder} must contain one folder of images per class, at least two, got "
                f"{n_classes}; sort the images into {folder}/CLASS/"
            )
        _warn_of_strays(strays, folder, console)
        _warn_of_nested(files, folder, console)
    if features is not None:
        cases = _as_vectors(folder, files, features, _suitable_size(files, skip))
    else:
        size = _suitable_size(files, skip) if size is None else size
        files, pixels = _read_pixels(files, size, skip, console)
        if color is None:
            color = bool((pixels != pixels[..., :1]).any())
        cases = _as_cases(folder, files, pixels, ImageLayout(size[1], size[0], color))
    return replace(cases, y=np.asarray(cases.y).astype(str) if labeled else None)


def read_images(
    path: Path, layout: ImageLayout | None, *, features: Path | None, skip: bool, console: Console
) -> Cases:
    """Read one image or a folder of images, at a layout or with vectors; labels may be None."""
    files = find_images(path, console) if path.is_dir() else [ImageFile(path, path.name, None)]
    if layout is None:
        assert features is not None
        return _as_vectors(path, files, features, _suitable_size(files, skip))
    files, pixels = _read_pixels(files, (layout.width, layout.height), skip, console)
    return _as_cases(path, files, pixels, layout)


def find_images(folder: Path, console: Console) -> list[ImageFile]:
    """Return the images in a folder and its subfolders by name, those directly in it last.

    The class of an image is the first folder of its path. Links to outside of the folder are not
    followed.
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
        console.warn(f"{count_things(links, 'link', 'links')} to outside of {folder} not followed")
    if ignored:
        things = count_things(ignored, "file", "files")
        console.note(f"Ignored: {things} in {folder} that are not images.")
    if not found:
        raise CommandError(
            f"{folder} contains no images ({', '.join(sorted(SUFFIXES))}); give a folder with one "
            "folder of images per class"
        )
    return found


def enlarge(pixels: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return an image of values from 0 to 1, gray or in color, as RGB of a given size."""
    from PIL import Image

    values = np.rint(np.clip(pixels, 0.0, 1.0) * 255.0).astype(np.uint8)
    picture = Image.fromarray(values).convert("RGB").resize(size, Image.Resampling.NEAREST)
    return np.asarray(picture, dtype=np.uint8)


def resize(picture: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a picture at a size (width, height), padded to keep its shape."""
    from PIL import Image

    return _fit_into(Image.fromarray(picture), size)


def _walk(folder: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, except hidden ones."""
    root = folder.resolve()
    files: list[Path] = []
    folders, seen = [folder], {root}
    while folders:
        inside = sorted(p for p in folders.pop(0).iterdir() if not p.name.startswith("."))
        for path in inside:
            if not path.is_dir() or not path.resolve().is_relative_to(root):
                files.append(path)
            elif path.resolve() not in seen:  # links may form a cycle
                seen.add(path.resolve())
                folders.append(path)
    # Those without a class come last, so that they do not change the row numbers of others.
    return sorted(files, key=lambda path: (path.parent == folder, path))


def _warn_of_strays(strays: Sequence[ImageFile], folder: Path, console: Console) -> None:
    """Warn of images that are in no folder of a class."""
    if strays:
        which = list_names([file.name for file in strays])
        console.warn(
            f"left out {count_things(len(strays), 'image', 'images')} directly in {folder}, "
            f"without a class: {which}; move them into {folder}/CLASS/"
        )


def _warn_of_nested(files: Sequence[ImageFile], folder: Path, console: Console) -> None:
    """Print the class of images in nested folders, and warn if another level may be the classes.

    Folders with the same name in several classes look like classes, as in train/cat and test/cat.
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
            f"several classes contain folders with the same name: {list_names(sorted(shared))}; "
            f"if these are the classes, give {folder}/{first} instead of {folder}"
        )
    names = sorted(f"{c}/{name}" for name, classes in homes.items() for c in classes)
    console.note(f"Images in subfolders belong to the class of the folder: {list_names(names)}.")


def flatten(pixels: NDArray[np.uint8], layout: ImageLayout) -> Any:
    """Return images as a frame with one row of numbers from 0 to 1 per image.

    The column names contain the layout, so that it is part of a model file.
    """
    import pandas as pd

    values = pixels.astype(np.float32) / np.float32(255.0)
    if not layout.color:
        # The weights that Pillow uses to convert to gray.
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
    """Return the layout of images given by column names, None for those of a table."""
    last = _PIXEL.fullmatch(str(names[-1])) if len(names) else None
    if last is None or not _PIXEL.fullmatch(str(names[0])):
        return None
    layout = ImageLayout(int(last[1]) + 1, int(last[2]) + 1, last[3] is not None)
    return layout if int(np.prod(layout.shape)) == len(names) else None


def _read_pixels(
    files: Sequence[ImageFile], size: tuple[int, int], skip: bool, console: Console
) -> tuple[list[ImageFile], NDArray[np.uint8]]:
    """Read images at one size; return those that could be read (all, unless `skip`).

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
            console.warn(f"skipped: {error}")
        else:
            read.append(file)
    if not read:
        raise CommandError("none of the images could be read")
    return read, pixels[: len(read)]


def _as_cases(
    path: Path, files: list[ImageFile], pixels: NDArray[np.uint8], layout: ImageLayout
) -> Cases:
    """Return images as cases, named after their files."""
    y = np.array([file.label for file in files], dtype=object)
    names = np.array([file.name for file in files], dtype=object)
    rows = np.arange(1, len(files) + 1)
    cases = Cases(flatten(pixels, layout), y, rows, path.name, names, None, layout)
    return replace(cases, pictures=_thumbnails([file.path for file in files], layout))


def _as_vectors(
    path: Path, files: Sequence[ImageFile], features: Path, size: tuple[int, int]
) -> Cases:
    """Return images as cases that are compared by vectors and shown as images."""
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
    """Return pictures for display: of the shape of the layout, larger if the files are."""
    scale = max(1.0, _THUMBNAIL / max(layout.width, layout.height))
    if _largest_side(paths) <= max(layout.width, layout.height):
        scale = 1.0
    return Thumbnails(paths, (round(scale * layout.width), round(scale * layout.height)))


def _largest_side(paths: Sequence[Path]) -> int:
    """Return the largest side of the first few images."""
    sides = [1]
    for path in paths[:20]:
        with _open(path) as image:
            sides.append(max(image.size))
    return max(sides)


def _suitable_size(files: Sequence[ImageFile], skip: bool) -> tuple[int, int]:
    """Return the common size of small images, otherwise the reduced median shape."""
    sizes = []
    for file in files:
        try:
            with _open(file.path) as image:
                sizes.append(_upright_size(image))
        except CommandError:
            if not skip:
                raise
    if not sizes:
        raise CommandError("none of the images could be read")
    if len(set(sizes)) == 1 and max(sizes[0]) <= _LARGEST_KEPT:
        return sizes[0]
    width, height = np.median(sizes, axis=0).tolist()
    scale = min(1.0, _SIDE / max(width, height))
    return max(1, round(scale * width)), max(1, round(scale * height))


def _upright_size(image: Any) -> tuple[int, int]:
    """Return width and height of an image after EXIF rotation."""
    width, height = image.size
    # In a PNG file the orientation may follow the pixels, which are not read here.
    turned = image.format != "PNG" and image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


def _decode(path: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return an image of the given size, upright, with white for transparent pixels.

    An image of another shape is padded.
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
        except Exception as error:  # decoders raise all kinds of errors
            raise _broken(path, error) from error
        if upright.mode.startswith(("I", "F")):
            upright = _to_eight_bits(upright)
        if upright.has_transparency_data:
            layer = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        plain = upright.convert("RGB")
        return _fit_into(plain, size)


def _fit_into(image: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Resize an image in its own shape, padded with the mean color of its edges."""
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
    """Convert gray levels beyond 255 to 8 bits; of 16 bits, the upper half is kept."""
    from PIL import Image

    levels = np.asarray(image, dtype=np.float64)
    top = 65535.0 if image.mode.startswith("I") else float(np.nanmax(levels, initial=1.0))
    return Image.fromarray(np.nan_to_num(np.clip(levels / top, 0.0, 1.0) * 255.0).astype(np.uint8))


def _open(path: Path) -> Any:
    """Open an image without decoding it; raise an error if it is too large."""
    check_packages("PIL")
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(path, formats=_FORMATS)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise all kinds of errors
        raise _broken(path, error) from error
    width, height = image.size
    if width * height > _MOST_PIXELS:
        image.close()
        raise CommandError(
            f"{path} has {width} x {height} pixels, and at most {_MOST_PIXELS:,} are allowed; "
            "reduce it, or skip it with --skip-broken"
        )
    return image


def _broken(path: Path, error: Exception) -> CommandError:
    """Return the error for an image that cannot be read."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if "cannot identify" in reason:
        reason = "not an image of a known format"
    return CommandError(
        f"{path} cannot be read ({reason}); replace it, or skip such images with --skip-broken"
    )


class Thumbnails:
    """Image files as a lazy array of shape (n_images, height, width, 3).

    Only indexed rows are decoded, so that a report reads only the images it shows.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    size : tuple (width, height)
        Common size of the pictures.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, paths: Sequence[Path], size: tuple[int, int]) -> None:
        self.paths, self.size = list(paths), size
        self.shape = (len(self.paths), size[1], size[0], 3)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        chosen = np.atleast_1d(np.arange(len(self))[index])
        pictures = np.empty((len(chosen), *self.shape[1:]), dtype=np.uint8)
        for place, i in enumerate(chosen):
            pictures[place] = _decode(self.paths[i], self.size)
        return pictures

    def take(self, index: Any) -> Thumbnails:
        """Return some of the pictures without reading them."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        return Thumbnails([self.paths[i] for i in chosen], self.size)


# Columns of a table that may contain the file names.
_NAMES = ("file", "filename", "name", "path")


def read_vectors(path: Path, names: Sequence[str], folder: Path) -> Any:
    """Read one vector for each of the files `names` in a folder, as a frame.

    A NumPy file has the vectors in the order of the names. A Parquet file has a column of names,
    or the same order.
    """
    import pandas as pd

    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    vectors = _read_parquet(path, names) if path.suffix == ".parquet" else _read_numpy(path)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise CommandError(
            f"--features {path} must contain one row of numbers per image, got {vectors.dtype} "
            f"of shape {vectors.shape}"
        )
    if len(vectors) != len(names):
        raise CommandError(
            f"--features {path} has {len(vectors)} rows and {folder} has {len(names)} images; "
            "give one row per image, in order of the file names, or a Parquet file with a column "
            "'file'"
        )
    if not np.isfinite(vectors).all():
        row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise CommandError(
            f"--features {path} must contain finite numbers only, got NaN or infinity for "
            f"{names[row]!r}; encode it again, or remove the image"
        )
    columns = [f"v{j}" for j in range(vectors.shape[1])]
    return pd.DataFrame(vectors.astype(np.float32), columns=columns)


def _read_numpy(path: Path) -> NDArray[Any]:
    """Read an array without unpickling."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise CommandError(
            f"--features {path} cannot be read as a NumPy array ({error}); write it with "
            "np.save, or as Parquet"
        ) from error


def _read_parquet(path: Path, names: Sequence[str]) -> NDArray[Any]:
    """Read a table, with its rows in the order of the file names if it contains them."""
    import pandas as pd

    table = pd.read_parquet(path)
    column = next((name for name in _NAMES if name in table.columns), None)
    if column is None:
        return _stack(table)
    keys = table[column].astype(str)
    if keys.duplicated().any():
        raise CommandError(
            f"--features {path} has {keys[keys.duplicated()].iloc[0]!r} twice in column "
            f"{column!r}; remove one of the rows"
        )
    places = {name: row for row, name in enumerate(keys)}
    absent = [name for name in names if name not in places]
    if absent:
        raise CommandError(
            f"--features {path} has no row for {len(absent)} of {len(names)} images: "
            f"{list_names(absent)}; column {column!r} must contain names such as {names[0]!r}"
        )
    return _stack(table.drop(columns=column).iloc[[places[name] for name in names]])


def _stack(table: Any) -> NDArray[Any]:
    """Return the vectors of a table: one column per entry, or one column of lists."""
    if table.shape[1] == 1 and table.dtypes.iloc[0].kind == "O":
        return np.stack([np.asarray(vector) for vector in table.iloc[:, 0]])
    return np.asarray(table.to_numpy())
