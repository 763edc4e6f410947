"""Numbers and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .statistics import corrected_resampled_t, signed_ranks

# Below this p a difference is called clear.
CLEAR = 0.01
# A number first, perhaps with words after it, or nothing.
_NUMBER = re.compile(r"[-+]?\d[\d.]*( ±.*| %.*| \(.*)?$|$")


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; columns of numbers are aligned to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    numeric = [all(_NUMBER.match(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = [list(header), ["---:" if one else "---" for one in numeric], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def proof(found: Any) -> str:
    """Return what is known about an objective: "proved", "bounded", "claimed" or "none".

    `found` is a model or a solution. A bound that only the solver claims is "claimed".
    """
    certificate = getattr(found, "certificate_", None) or found.certificate
    gap = getattr(found, "gap_", None) if hasattr(found, "gap_") else found.gap
    if certificate != "verified":
        return "claimed" if certificate == "solver" else "none"
    return "proved" if gap == 0.0 else "bounded"


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, without the sign."""
    return f"{100.0 * share:.{digits}f}"


def mean_sd(values: Sequence[float], digits: int = 1, scale: float = 1.0) -> str:
    """Return mean and standard deviation, ``12.3 ± 0.4``."""
    array = scale * np.asarray(values, dtype=float)
    spread = array.std(ddof=1) if len(array) > 1 else 0.0
    return f"{array.mean():.{digits}f} ± {spread:.{digits}f}"


def percentile_of(value: float, among: Sequence[float]) -> float:
    """Return where a value falls among others, in per cent; ties count half."""
    array = np.asarray(among, dtype=float)
    # Errors are fractions with small denominators, printed with one decimal in the paper.
    near = np.abs(array - value) < 5.1e-4
    return float(100.0 * (((array < value) & ~near).mean() + 0.5 * near.mean()))


def compare_draws(new: Sequence[float], old: Sequence[float]) -> str:
    """Say whether errors differ over independent draws, by Wilcoxon's signed ranks."""
    gap = _points(new, old)
    return _tell(gap, signed_ranks(gap))


def compare_splits(
    new: Sequence[float], old: Sequence[float], *, n_train: float = 2, n_test: float = 1
) -> str:
    """Say whether errors differ over random splits of one data set, by the corrected t-test.

    Of the numbers of points only the ratio counts; by default two thirds train.
    """
    gap = _points(new, old)
    return _tell(gap, corrected_resampled_t(gap, n_train, n_test))


def tell_p(p: float) -> str:
    """Return a p value, ``p = 0.03``."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def fold_away(summary: str, text: str) -> str:
    """Return a text that is shown when its summary is clicked."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n</details>\n"


def _points(new: Sequence[float], old: Sequence[float]) -> NDArray[np.float64]:
    """Return differences in points of per cent, pair by pair."""
    gap = 100.0 * (np.asarray(new, dtype=float) - np.asarray(old, dtype=float))
    # Equal shares may have been computed in two ways that differ in the last digit.
    return np.round(gap, 9)


def _tell(gap: NDArray[np.float64], p: float) -> str:
    """Return verdict, mean difference, p and wins; clear is p < 0.01."""
    word = "no clear difference" if p >= CLEAR else "better" if gap.mean() < 0 else "worse"
    wins, ties = int(np.sum(gap < 0)), int(np.sum(gap == 0))
    equal = f", equal in {ties}" if ties else ""
    return f"{word} ({gap.mean():+.1f} points, {tell_p(p)}, lower in {wins} of {len(gap)}{equal})"


def ratio(number: float) -> str:
    """Return a ratio with two significant digits."""
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"
