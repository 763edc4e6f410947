"""Images as PNG, which needs nothing but the standard library."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def encode_png(image: NDArray[np.uint8]) -> bytes:
    """Encode a grey or RGB image, shape (height, width) or (height, width, 3)."""
    height, width = image.shape[:2]
    lines = image.reshape(height, -1)
    # Each line begins with its filter, 0 for none.
    raw = np.concatenate((np.zeros((height, 1), np.uint8), lines), axis=1).tobytes()
    color_type = 2 if image.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG file: length, name, content and checksum."""
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)
