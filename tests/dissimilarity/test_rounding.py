import numpy as np
import pytest

from protocover.dissimilarity._arithmetic import grain, round_in_place


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
