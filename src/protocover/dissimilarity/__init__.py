"""Dissimilarities: fitted once, then bound to two sets of samples.

Whatever is passed as ``metric=`` becomes an object with ``fit(X, y)`` and
``pairwise(A, B)``. :mod:`protocover._balls.traits` lists its optional attributes, and
:mod:`protocover._balls.pairs` describes the method ``bind`` that makes searches faster.
"""

from ._bits import Tanimoto
from ._dann import DANN
from ._euclidean import Cosine, Euclidean, SquaredEuclidean
from ._gower import Gower
from ._kernel import KernelDistance, kernel_to_distance
from ._metric import Metric
from ._precomputed import Precomputed
from ._rank import RankDissimilarity
from ._resolve import Function, resolve_metric
from ._sequences import FastaRecord, read_fasta
from ._strings import MismatchDistance, SpectrumDistance, mismatch_kernel, spectrum_kernel
from ._tangent import TangentDistance

__all__ = [
    "DANN",
    "Cosine",
    "Euclidean",
    "FastaRecord",
    "Function",
    "Gower",
    "KernelDistance",
    "Metric",
    "MismatchDistance",
    "Precomputed",
    "RankDissimilarity",
    "SpectrumDistance",
    "SquaredEuclidean",
    "TangentDistance",
    "Tanimoto",
    "kernel_to_distance",
    "mismatch_kernel",
    "read_fasta",
    "resolve_metric",
    "spectrum_kernel",
]
