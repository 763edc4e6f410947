"""Draw the pictures of the page on plots by running the code that stands above each.

Run: python docs/draw_plots.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from PIL import Image

PAGE = Path(__file__).with_name("plots.md")
_STEP = re.compile(r"```python\n(?P<code>.*?)```\s*!\[.*?\]\((?P<picture>.*?)\)", re.DOTALL)


def main() -> None:
    names: dict[str, Any] = {}
    for step in _STEP.finditer(PAGE.read_text()):
        exec(step["code"], names)
        save(names["display"].figure_, PAGE.parent / step["picture"])


def save(figure: Any, path: Path) -> None:
    """Write a picture in 128 colours, which are plenty for these and keep it small."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=90)
    path.parent.mkdir(exist_ok=True)
    Image.open(drawn).convert("RGB").quantize(128).save(path, optimize=True)
    plt.close(figure)


if __name__ == "__main__":
    plt.switch_backend("Agg")
    main()
