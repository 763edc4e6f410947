"""Products without rounding, against whole numbers of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from protocover.dissimilarity._arithmetic import multiply, split


def vectors(n, p, seed=0):
    """Vectors with a few large and many small entries, and lengths from 0.001 to 1000."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) ** 3 * 10.0 ** rng.uniform(-3, 3, size=(n, 1))


def exact(left, right):
    """The products of the rows of two arrays in fractions."""
    return [
        [
            sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, z, strict=True))
            for z in right
        ]
        for x in left
    ]


@pytest.mark.parametrize("p", [1, 2, 3, 7, 324, 2000])
def test_products_of_parts_are_not_rounded(p):
    """Of any parts, at any place."""
    left, right = (split(vectors(4, p, seed), 2) for seed in (1, 2))
    for one in left:
        for other in right:
            product = multiply(one.astype(float)[None], other.astype(float)[None])
            assert [[Fraction(entry) for entry in row] for row in product] == exact(one, other)


def test_the_hardest_vectors_are_not_rounded_either():
    """All entries alike, at the end of a power of two, or one entry that is nearly all."""
    alike = np.full((1, 1024), 1 / 32 - 2.0**-31)
    alone = np.concatenate((np.full((1, 1), 1 - 2.0**-26), np.full((1, 1023), 2.0**-20)), axis=1)
    hard = split(np.vstack((alike, alone, -alone[:, ::-1])), 1)
    product = multiply(hard.astype(float), hard.astype(float))
    assert [[Fraction(entry) for entry in row] for row in product] == exact(hard[0], hard[0])


def test_the_order_of_the_pixels_does_not_matter():
    """Which is what another kernel would change."""
    left, right = (split(vectors(50, 324, seed), 2).astype(float) for seed in (1, 2))
    shuffled = np.random.default_rng(0).permutation(324)
    product = multiply(left, right)
    assert (product == multiply(left[..., shuffled], right[..., shuffled])).all()
    assert (product == multiply(right, left).T).all()
    assert (product[3:4, 7:8] == multiply(left[:, 3:4], right[:, 7:8])).all()


@pytest.mark.parametrize(
    ("n_left", "n_right", "error"), [(1, 1, 1e-7), (2, 2, 1e-14), (2, 1, 1e-7)]
)
def test_each_part_adds_some_bits(n_left, n_right, error):
    """The first part is as good as single precision, two are nearly as good as double."""
    x, z = vectors(20, 324, 1), vectors(20, 324, 2)
    product = multiply(split(x, n_left).astype(float), split(z, n_right).astype(float))
    lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1))
    assert (abs(product - x @ z.T) <= error * lengths).all()
