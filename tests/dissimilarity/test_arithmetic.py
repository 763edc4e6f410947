"""Rounding to grids and exact products, against integers of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from protocover.dissimilarity._arithmetic import grain, multiply, round_in_place, split


@pytest.mark.parametrize("bits", [32, 40])
def test_the_step_is_a_power_of_two_just_so_many_bits_below_the_scale(bits):
    scale = np.array([1.0, 1.5, 3.999, 4.0, 1e-300, 7e200])
    step = grain(scale, bits=bits)
    assert (np.frexp(step)[0] == 0.5).all()
    assert (scale < step * 2.0**bits).all()
    assert (step * 2.0**bits <= 2.0 * scale).all()


def test_the_last_bits_of_the_scale_do_not_count():
    for power in (2.0**-9, 1.0, 64.0):
        below, above = np.nextafter(power, 0.0), np.nextafter(power, np.inf)
        assert grain(below) == grain(power) == grain(above)
        assert grain(-power) == grain(power)


def test_values_go_to_the_nearest_step_and_zero_steps_round_nothing():
    values = np.array([0.3, -1e-16, 1.0 - 1e-16, 5.74, 0.1])
    rounded = round_in_place(values.copy(), np.array([0.25, 0.25, 0.25, 0.5, 0.0]))
    np.testing.assert_array_equal(rounded, [0.25, 0.0, 1.0, 5.5, 0.1])
    assert not np.signbit(rounded).any()
    assert grain(0.0) == 0.0


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


@pytest.mark.parametrize(
    ("n_left", "n_right", "error"), [(1, 1, 1e-7), (2, 2, 1e-14), (2, 1, 1e-7)]
)
def test_each_part_adds_some_bits(n_left, n_right, error):
    """The first part is as good as single precision, two are nearly as good as double."""
    x, z = vectors(20, 324, 1), vectors(20, 324, 2)
    product = multiply(split(x, n_left).astype(float), split(z, n_right).astype(float))
    lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1))
    assert (abs(product - x @ z.T) <= error * lengths).all()
