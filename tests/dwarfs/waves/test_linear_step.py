"""The waves of the dwarf of spherical harmonics: against the dispersion of the discrete step, and dense equations."""

import numpy as np
import pytest

from tradewind.dwarfs.waves import linear_step
from tradewind.dwarfs.waves.linear_step import LinearStep, coupling, initial

T, LEVELS, DT_S, STEPS = 15, 4, 1800.0, 40
M = np.repeat(np.arange(T + 1), np.arange(T + 1, 0, -1))
N = np.concatenate([np.arange(m, T + 1) for m in range(T + 1)])


def advanced(fields, steps=STEPS, levels=LEVELS):
    step = LinearStep(M, N, levels, DT_S)
    for _ in range(steps):
        after = np.empty_like(fields)
        step(fields, after)
        fields = after
    return fields


def test_a_step_is_that_of_dense_equations():
    fields = initial(M, N, LEVELS)
    wanted = linear_step.reference_step(fields, N, M, LEVELS, DT_S)
    assert np.abs(advanced(fields, 1) - wanted).max() <= 1e-14 * np.abs(fields).max()


def test_many_steps_are_those_of_the_closed_form():
    fields = initial(M, N, LEVELS)
    wanted = LinearStep(M, N, LEVELS, DT_S).solution(fields, STEPS)
    assert np.abs(advanced(fields) - wanted).max() <= 1e-12 * np.abs(fields).max()
    assert np.abs(wanted - fields).max() > 0.1


@pytest.mark.parametrize(("m", "n"), [(0, 1), (3, 7), (15, 15)])
def test_a_gravity_wave_turns_by_the_angle_of_the_trapezoidal_rule(m, n):
    """tan(omega dt / 2) = dt / 2 sqrt(n (n + 1)) c / a for the fastest mode, whose speed is c."""
    fields = np.zeros((len(M), LEVELS * 3), complex)
    own = np.flatnonzero((m == M) & (n == N))[0]
    _, modes = np.linalg.eigh(coupling(LEVELS))
    fields[own, 2::3] = modes[:, -1]
    after = advanced(fields, 1)[own, 2::3] @ modes[:, -1]
    half = DT_S / 2 * np.sqrt(n * (n + 1)) * 300.0 / 6371229.0
    assert after.real == pytest.approx(np.cos(2 * np.arctan(half)), rel=1e-12)
    assert abs(after.imag) < 1e-15


def test_a_rossby_haurwitz_wave_drifts_by_the_angle_of_the_trapezoidal_rule():
    fields = np.zeros((len(M), LEVELS * 3), complex)
    own = np.flatnonzero((M == 4) & (N == 5))[0]
    fields[own, 0::3] = 1
    after = advanced(fields, 1)[own, 0::3]
    angle = 2 * np.arctan(DT_S * 7.292e-5 * 4 / 30)
    assert np.angle(after) == pytest.approx(np.full(LEVELS, angle), rel=1e-12)


def test_energy_and_mean_are_kept():
    fields, step = initial(M, N, LEVELS), LinearStep(M, N, LEVELS, DT_S)
    after = advanced(fields)
    assert step.energy(after, M) == pytest.approx(step.energy(fields, M), rel=1e-12)
    assert after[0] == pytest.approx(fields[0], rel=1e-14)


def test_layers_are_coupled_by_a_symmetric_matrix_whose_fastest_wave_has_speed_1():
    for levels in (1, 2, 137):
        g = coupling(levels)
        assert (g == g.T).all()
        values = np.linalg.eigvalsh(g)
        assert values[0] > 0
        assert values[-1] == pytest.approx(1)
