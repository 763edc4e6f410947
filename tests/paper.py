"""The parameters of the machine in the paper, which many tests are about."""

PAPER = {"radii": "shared", "cross_class": True, "min_per_class": 0}
