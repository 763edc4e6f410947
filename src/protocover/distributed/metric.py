"""Which dissimilarities can be asked block by block, and what they may learn from a sample."""

from __future__ import annotations

from typing import Any

from ..balls import traits_of
from ..dissimilarity import KernelDistance, Metric, TangentDistance, resolve_metric

__all__ = ["SAMPLE", "resolve_for_blocks"]

# Points from which a dissimilarity learns; where there are fewer it learns from all.
SAMPLE = 20_000

# These learn a few numbers (variances, a covariance, a background) that a sample tells as well.
_FROM_SAMPLE = (KernelDistance, Metric, TangentDistance)


def resolve_for_blocks(metric: Any, params: dict[str, Any] | None) -> Any:
    """Return an unfitted dissimilarity, if a sample of the points is enough to fit it on."""
    dissimilarity = resolve_metric(metric, params)
    if traits_of(dissimilarity).pairwise:
        raise ValueError(
            "a table of values between points is not supported on Dask; pass the points and "
            "a metric, or use PVMClassifier on the table"
        )
    if traits_of(dissimilarity).learns_nothing or isinstance(dissimilarity, _FROM_SAMPLE):
        return dissimilarity
    raise ValueError(
        f"{type(dissimilarity).__name__} needs all training points at once and is not supported "
        "on Dask; use a metric by name, a function of two points, KernelDistance, "
        "TangentDistance or an object whose attribute learns_nothing is true"
    )
