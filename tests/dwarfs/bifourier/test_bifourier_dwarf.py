"""The dwarf bifourier: the same bits on any ranks, the bytes of its program, its truths, and refusals."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from time import process_time

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")


from tradewind import _core, launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.bifourier import STRATEGIES, Bifourier
from tradewind.dwarfs.bifourier.spectral_waves import SpectralWaves, slopes
from tradewind.dwarfs.hirlam import Hirlam
from tradewind.dwarfs.waves.linear_step import coupling
from tradewind.spectral.bifourier import BiFourier, EllipticTruncation

SMALL = {"grid": (16, 14, 4)}
ASKED = {
    **{name: {**SMALL, "strategy": name} for name in STRATEGIES},
    "zone": {"grid": (24, 20, 2), "extension": 8, "truncation": (7, 5), "batches": 6, "strategy": "overlap"},
    "methods": {**SMALL, "algorithm": "native", "wavenumbers_method": "bruck,sendrecv", "columns_method": "pairwise"},
    "shared": {**SMALL, "transport": "shared", "packing": "direct", "columns_method": ",put-fence", "threads": 2},
    "single": {**SMALL, "precision": "f4", "strategy": "batches"},
    "column": {**SMALL, "wavenumbers_method": ",alltoallw,datatype", "symbols": "differences"},
}


@cache
def states(ranks: int):
    return launch.run(ranks, "dwarf_states:states", ("bifourier", ASKED), timeout_s=240)


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_every_strategy_and_method_has_the_bits_of_one_process(ranks):
    for name, found in states(ranks).items():
        start = states(1)[name]
        assert found["state"] == start["state"], name
        assert found["energy"] == pytest.approx(start["energy"], rel=1e-14), name
        assert found["error"] < (1e-5 if name == "single" else 1e-13), name
    for name in STRATEGIES:
        assert states(ranks)[name]["state"] == states(ranks)["exchange"]["state"], name


@pytest.mark.parametrize("split", [(6, 1), (2, 3), (3, 2), (1, 5), (5, 1)])
@pytest.mark.parametrize("strategy", ["exchange", "overlap"])
def test_its_programs_are_proved_for_any_split(split, strategy):
    from tradewind.verification import verify

    dwarf = Bifourier(ranks=math.prod(split), split=split, strategy=strategy, grid=(16, 14, 6))
    assert verify(dwarf.program())["ok"]
    pattern = dwarf.patterns()["columns"]
    counts = [math.prod(pattern.target_shape(rank)) for rank in range(dwarf.ranks)]
    assert sum(counts) == dwarf.truncated().coefficients * dwarf.fields // dwarf.batches


def stepped(step: SpectralWaves, columns: np.ndarray, batches: int = 1, threads: int = 1) -> np.ndarray:
    """The fields of coefficients, [m, n][variable, level], a step later: in batches of fields."""
    before = [np.ascontiguousarray(each)[:, None] for each in np.split(columns, batches, axis=1)]
    after = [np.full_like(each, np.nan) for each in before]
    step(before, after, _core.Team(threads))
    return np.concatenate(after, axis=2)[:, 0]


def stepped_by_numpy(grid, m, n, s, symbols, columns):
    """The same step by products of NumPy, in doubles."""
    levels = columns.shape[1] // 3
    speeds, modes = np.linalg.eigh(coupling(levels))
    x, y = slopes(grid[0], m, symbols)[:, None], slopes(grid[1], n, symbols)[:, None]
    k2 = np.abs(x) ** 2 + np.abs(y) ** 2
    u, v, phi = np.moveaxis(columns.reshape(len(m), 3, levels) @ modes, 1, 0)
    after = (phi - s * speeds * (2 * (-np.conj(x) * u - np.conj(y) * v) + s * k2 * phi)) / (1 + s * s * k2 * speeds)
    u, v = u - x * s * (phi + after), v - y * s * (phi + after)
    return (np.stack([u, v, after], 1) @ modes.T).reshape(columns.shape)


@pytest.mark.parametrize("levels", [1, 5, 16, 37])
@pytest.mark.parametrize("symbols", ["derivatives", "differences"])
def test_a_compiled_step_is_that_of_numpy(symbols, levels):
    grid, kept = (16, 12), EllipticTruncation((16, 12))
    random = np.random.default_rng(levels)
    columns = random.normal(size=(kept.coefficients, 3 * levels, 2)).view(complex)[:, :, 0]
    step = SpectralWaves(grid, kept.m, kept.n, levels, 1.7, symbols)
    wanted = stepped_by_numpy(grid, kept.m, kept.n, 1.7, symbols, columns)
    found = stepped(step, columns)
    assert np.abs(found - wanted).max() < 1e-14 * np.abs(wanted).max()
    assert (stepped(step, columns, batches=3, threads=3) == found).all()
    single = stepped(step, columns.astype(np.complex64), batches=3)
    assert single.dtype == np.complex64
    assert np.abs(single - wanted).max() < 64 * 2.0**-24 * np.abs(wanted).max()


def test_coefficients_of_other_shapes_are_refused():
    step = SpectralWaves((16, 12), np.array([0, 1]), np.array([1, 0]), 2, 1.7, "derivatives")
    with pytest.raises(InputError, match="columns: 2 coefficients of 6 fields in all are allowed"):
        stepped(step, np.zeros((2, 7), complex))
    with pytest.raises(InputError, match="as many arrays before and after"):
        step([np.zeros((2, 1, 6), complex)], [np.zeros((2, 1, 3), complex)] * 2, _core.Team())


@pytest.mark.parametrize("symbols", ["derivatives", "differences"])
def test_single_waves_turn_by_the_angle_of_the_discrete_step(symbols):
    """tan(omega dt / 2) = (dt / 2) sqrt(Phi) k."""
    grid, s = (16, 12), 1.7
    m, n = np.array([1, 0, 3, 2, 5]), np.array([0, 1, 2, -4, 1])
    step = SpectralWaves(grid, m, n, 1, s, symbols)
    after = stepped(step, np.stack([0 * m, 0 * m, 0 * m + 1], 1).astype(complex))
    k = 2 * np.pi * np.hypot(m / 16, n / 12)
    if symbols == "differences":
        k = 2 * np.hypot(np.sin(np.pi * m / 16), np.sin(np.pi * n / 12))
    tangent = np.tan(np.arccos(after[:, 2].real) / 2)
    assert np.abs(tangent / (s * k) - 1).max() < 1e-12
    assert np.abs(after[:, 2].imag).max() < 1e-15


def test_a_step_and_its_solution_are_those_of_dense_equations():
    dwarf = Bifourier(ranks=1, grid=(12, 10, 3), extension=0)
    transform, random = BiFourier(EllipticTruncation((12, 10))), np.random.default_rng(2)
    t = transform.truncation
    field = transform.to_grid(transform.to_spectral(random.normal(size=(9, 10, 12))))
    step = dwarf.spectral_waves(t.m, t.n)
    columns = np.ascontiguousarray(transform.to_spectral(field).T)
    after = stepped(step, columns)
    wanted = dwarf.reference(field, 1)
    assert np.abs(transform.to_grid(after.T) - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert np.abs(step.solution(columns, 1) - after).max() < 1e-14
    assert step.energy(after) == pytest.approx(step.energy(columns), rel=1e-13)


def test_a_check_of_the_default_size_takes_seconds():
    dwarf, begin = Bifourier(ranks=1, grid=(128, 128, 64)), process_time()
    dwarf.reference(np.ones((3 * 64, 128, 128)), 1)
    assert process_time() - begin < 10, "a second or two; by dense equations of all fields of a coefficient, a minute"


def both(points: int, symbols: str, steps: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """The geopotential of vertical modes, fastest first, after the same time: of hirlam, and of bifourier."""
    size = {"grid": (points, points, 3), "step_s": 45.0 * 24 / points, "spacing_m": 20000.0 * 24 / points}
    hirlam = Hirlam(ranks=1, **size)
    bifourier = Bifourier(ranks=1, extension=0, symbols=symbols, **size)
    y, x = np.arange(points)[:, None], np.arange(points)
    modes = np.linalg.eigh(coupling(3))[1][:, ::-1]
    waves = hirlam.waves() if symbols == "differences" else bifourier.waves()
    speeds = np.linalg.eigvalsh(coupling(3))[::-1]
    start = np.array([hirlam.waves().at(0, mode, speed, y, x) for mode, speed in enumerate(speeds)]).swapaxes(0, 1)
    assert waves.points == (points, points)
    by_layer = np.einsum("lk,vkyx->vlyx", modes, start)
    ours = hirlam.reference(start.reshape(9, points, points), steps * points // 24)[6:]
    theirs = by_layer.reshape(9, points, points)
    transform = BiFourier(bifourier.truncated())
    step = bifourier.spectral_waves(transform.truncation.m, transform.truncation.n)
    columns = np.ascontiguousarray(transform.to_spectral(theirs).T)
    for _ in range(steps * points // 24):
        columns = stepped(step, columns)
    layers = transform.to_grid(columns.T)[6:]
    return ours, np.einsum("lk,lyx->kyx", modes, layers)


def test_both_solvers_have_one_solution_where_derivatives_are_differences():
    ours, theirs = both(24, "differences")
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(ours).max()


def test_with_exact_derivatives_the_difference_falls_at_order_two():
    errors = [np.std(np.subtract(*both(points, "derivatives"))) for points in (48, 96, 192)]
    orders = [math.log2(coarse / fine) for coarse, fine in pairwise(errors)]
    assert all(1.9 < order < 2.1 for order in orders), (errors, orders)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncation": (8, 3)}, r"truncation 8 along x, with 16 points: 1\.\.7 are allowed"),
        ({"extension": 3}, r"extension 3: two of the shortest waves, 7 points, .* 7\.\.7 are allowed, or 0"),
        ({"extension": 9}, r"extension 9: .* and up to half of the area: 7\.\.7 are allowed"),
        ({"truncation": (2, 2), "extension": 5}, "the grid has 7 or fewer"),
        ({"strategy": "batches", "batches": 5}, r"batches 5 of 12 fields: .* \(1, 2, 3, 4, 6, 12\)"),
        ({"ranks": 97}, r"CX up to 9 fields, points or wavenumbers, CY up to 6 lines .* does is 54, 9x6"),
        ({"ranks": 13, "split": (13, 1)}, "split 13x1: 13 ranks do not divide 12 fields"),
        ({"ranks": 11, "split": (11, 1)}, "split 11x1: 11 ranks do not divide 9 wavenumbers along y"),
        ({"ranks": 7, "split": (1, 7)}, "split 1x7: 7 ranks do not divide 6 wavenumbers along x"),
        ({"symbols": "splines"}, "unknown symbols 'splines'"),
        ({"step_s": math.nan}, "step nan s: more than 0 is allowed"),
    ],
)
def test_invalid_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Bifourier(**({"ranks": 2, **SMALL} | options))
