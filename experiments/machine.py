"""The machine of the paper, as parameters of the estimators."""

__all__ = ["PAPER"]

PAPER = {"radii": "shared", "cross_class": True, "min_per_class": 0}
