"""Data of the paper's experiments: loaders that check what they load, and a generator.

Files are looked for in the folder that the environment variable ``PROTOCOVER_DATA``
names; where a set is on OpenML it is fetched from there otherwise.
"""

from .images import load_fashion_mnist, load_usps
from .mixture import GaussianMixtures, make_gaussian_mixture
from .proteins import load_proteins, load_scop
from .sources import DataNotFoundError
from .uci import UCI_NAMES, load_uci

__all__ = [
    "UCI_NAMES",
    "DataNotFoundError",
    "GaussianMixtures",
    "load_fashion_mnist",
    "load_proteins",
    "load_scop",
    "load_uci",
    "load_usps",
    "make_gaussian_mixture",
]
