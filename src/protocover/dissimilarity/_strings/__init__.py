"""Distances between sequences by the words they share."""

from __future__ import annotations

from .distance import MismatchDistance, SpectrumDistance, mismatch_kernel, spectrum_kernel

__all__ = ["MismatchDistance", "SpectrumDistance", "mismatch_kernel", "spectrum_kernel"]
