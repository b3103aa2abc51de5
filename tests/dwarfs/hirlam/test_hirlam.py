"""The dwarf HIRLAM: the same bits on any ranks by any method, the bytes of its program, its truths, and refusals."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

pytest.importorskip("mpi4py.MPI")


from tradewind import _core, launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.hirlam import PATHS, STRATEGIES, Hirlam, factors
from tradewind.dwarfs.waves.plane_waves import differences, mode_speeds

SMALL = {"grid": (14, 9, 8)}
CARRIED = [
    (entry.name, packing)
    for entry in _core.transports()
    for packing in entry.packings
    if not entry.on_devices and entry.name != "native"
]
ASKED = {
    **{name: {**SMALL, "strategy": name} for name in STRATEGIES},
    **{f"all {name}": {**SMALL, "strategy": name, "between": "all", "split": None} for name in STRATEGIES},
    "four batches": {**SMALL, "strategy": "overlap", "batches": 4, "threads": 2},
    "single": {**SMALL, "precision": "f4"},
    "methods": {**SMALL, "algorithm": "native", "tri_method": "bruck,sendrecv", "halo_method": "direct"},
}
METHODS = {
    f"{transport} {packing} {between}": {
        **SMALL,
        "algorithm": "burst",  # of one stage, as some transports want it
        "between": between,
        "transport": transport,
        "packing": packing,
        "tri_method": f"burst,{transport},{packing}",
    }
    for transport, packing in CARRIED
    for between in PATHS
}


@cache
def states(ranks: int):
    return launch.run(ranks, "dwarf_states:states", ("hirlam", ASKED), timeout_s=240)


@cache
def states_by_methods(ranks: int):
    return launch.run(ranks, "dwarf_states:states", ("hirlam", METHODS), timeout_s=240)


@pytest.mark.ranks
@pytest.mark.parametrize(
    ("ranks", "carried"), [(2, states), *(pytest.param(n, states_by_methods, marks=pytest.mark.slow) for n in (2, 4))]
)
def test_every_strategy_method_and_packing_has_the_bits_of_one_process(ranks, carried):
    for name, found in carried(ranks).items():
        start = states(1)["single" if name == "single" else "exchange"]
        assert found["state"] == start["state"], name
        assert found["energy"] == start["energy"], name
        assert found["error"] < (1e-5 if name == "single" else 1e-12), name


def test_its_programs_are_proved():
    from tradewind.verification import verify

    for strategy in ("exchange", "overlap"):
        assert verify(Hirlam(ranks=6, strategy=strategy, grid=(14, 9, 6)).program())["ok"]


def test_rows_need_fewer_messages_than_all():
    rows, all_ranks = (
        Hirlam(ranks=60, grid=(602, 568, 60), split=(10, 6), between=between).simulate("barbora") for between in PATHS
    )
    # Boerhout 2004: nx^2 ny pairs for nx^2 ny^2, here both ways, and ny^2 nx to TRI; halos as many in both.
    halos = 3 * 60 * 4
    assert rows["messages"] == 2 * (6 * 10 * 9 + 10 * 6 * 5) + halos
    assert all_ranks["messages"] == 2 * (60 * 59 + 60 * 59) + halos


def test_a_step_solves_the_equations_as_a_sparse_matrix_does():
    dwarf = Hirlam(ranks=1, grid=(10, 7, 3), spacing_m=9000.0)
    whole = np.random.default_rng(3).normal(size=(9, 7, 10))
    found = dwarf.reference_step(whole)
    slope = {n: scipy.sparse.csr_matrix(np.roll(np.eye(n), 1, 1) - np.eye(n)) for n in (7, 10)}
    along_x, along_y = scipy.sparse.kron(np.eye(7), slope[10]), scipy.sparse.kron(slope[7], np.eye(10))
    for mode, speed2 in enumerate(mode_speeds(3)):
        wave = scipy.sparse.bmat(
            [
                [None, None, -along_x],
                [None, None, -along_y],
                [speed2 * along_x.T, speed2 * along_y.T, None],
            ]
        )
        one = scipy.sparse.identity(210)
        before = whole[mode::3].reshape(-1)
        wanted = scipy.sparse.linalg.spsolve((one - dwarf.s * wave).tocsc(), (one + dwarf.s * wave) @ before)
        assert np.abs(found[mode::3].reshape(-1) - wanted).max() < 1e-12 * np.abs(before).max()


@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_stencils_have_the_bits_of_numpy(precision):
    s = np.dtype(precision).type(1.7)
    u, v, phi, after = np.random.default_rng(5).normal(size=(4, 3, 9, 22)).astype(precision)
    speeds = mode_speeds(3)
    right, u_after, v_after = np.empty((3, 7, 20), precision), u.copy(), v.copy()
    _core.wave_right_side(u, v, phi, speeds, 1.7, right, _core.Team(2))
    _core.wave_winds(u, v, phi, after, 1.7, u_after, v_after, _core.Team(2))
    own = np.s_[:, 1:-1, 1:-1]
    winds = (u[own] - u[:, 1:-1, :-2]) + (v[own] - v[:, :-2, 1:-1])
    around = (phi[:, 1:-1, :-2] + phi[:, 1:-1, 2:]) + (phi[:, :-2, 1:-1] + phi[:, 2:, 1:-1])
    gain = (1.7 * speeds).astype(precision)[:, None, None]
    assert (right == phi[own] - gain * (2 * winds - s * (around - 4 * phi[own]))).all()
    both = phi + after
    assert (u_after[own] == u[own] - s * (both[:, 1:-1, 2:] - both[own])).all()
    assert (v_after[own] == v[own] - s * (both[:, 2:, 1:-1] - both[own])).all()


@pytest.mark.parametrize("points", [1, 2, 3, 17, 64])
def test_lines_are_solved_as_scipy_does(points):
    random = np.random.default_rng(points)
    k, a = differences(26, np.arange(14)), np.array([0.0, 1e-8, 0.7, 300.0])
    field = random.normal(size=(4, points, 14)) + 1j * random.normal(size=(4, points, 14))
    solved, again = np.empty_like(field), np.empty_like(field)
    _core.solve_cyclic(field, solved, *factors(k, a), _core.Team(1))
    _core.solve_cyclic(field, again, *factors(k, a), _core.Team(3))
    assert (solved == again).all()
    single = np.empty_like(field, np.complex64)
    _core.solve_cyclic(field.astype(np.complex64), single, *factors(k, a), _core.Team(2))
    assert np.abs(single - solved).max() < 64 * 2.0**-24 * np.abs(solved).max()
    for z, strength in enumerate(a):
        for x, wavenumber in enumerate(k):
            column = np.zeros(points)
            column[0] += 1 + strength * (wavenumber**2 + 2)
            for neighbour in (-1, 1):
                column[neighbour % points] -= strength
            wanted = scipy.linalg.solve_circulant(column, field[z, :, x])
            assert np.abs(solved[z, :, x] - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_single_waves_turn_by_the_angle_of_the_discrete_step():
    """tan(omega dt / 2) = (dt / 2) sqrt(Phi) k, with k as differences see it."""
    nx, ny, s = 16, 12, Hirlam(ranks=1, grid=(16, 12, 1)).s
    y, x = np.arange(ny)[:, None], np.arange(nx)
    for m, n in ((1, 0), (0, 1), (3, 2), (8, 6), (5, -4)):
        phi = np.cos(2 * np.pi * (m * x / nx + n * y / ny) + 0.3)
        after = Hirlam(ranks=1, grid=(nx, ny, 1)).reference_step(np.stack([0 * phi, 0 * phi, phi]))[2]
        size = 2 * math.hypot(math.sin(math.pi * m / nx), math.sin(math.pi * n / ny))
        cosine = (after * phi).sum() / (phi * phi).sum()
        assert abs(math.tan(math.acos(cosine) / 2) - s * size) < 1e-12 * s * size
        assert np.abs(after - cosine * phi).max() < 1e-13


@pytest.mark.parametrize("wrong", [1.0, -1.5, math.nan])
def test_ratios_beyond_one_are_refused(wrong):
    field = np.zeros((1, 4, 2), complex)
    with pytest.raises(InputError, match="values between -1 and 1 are allowed"):
        _core.solve_cyclic(field, field, np.array([[0.5, wrong]]), np.ones((1, 2)), _core.Team(1))
    with pytest.raises(InputError, match=r"1 x 2 values, \[z\]\[x\] of the field, are allowed"):
        _core.solve_cyclic(field, field, np.zeros((1, 3)), np.ones((1, 2)), _core.Team(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step_s": 0.0}, "step 0.0 s: more than 0 is allowed"),
        ({"spacing_m": math.inf}, "spacing inf m: more than 0 is allowed"),
        ({"strategy": "batches", "batches": 4}, r"batches 4 of 6 fields: .* are allowed \(1, 2, 3, 6\)"),
        ({"batches": 2}, "batches 2: the strategies batches and overlap have them"),
        ({"ranks": 60}, r"CX up to 6 levels or points, CY up to 8 lines\); the largest .* does is 48, 6x8"),
        (
            {"ranks": 7, "between": "all"},
            r"up to 6 ranks, as each has a level and a wavenumber\); the largest .* is 6, 1x6",
        ),
        ({"split": (9, 1), "ranks": 9}, r"split 9x1: 9 ranks do not divide 6 levels"),
        ({"split": (1, 9), "ranks": 9}, r"split 1x9: 9 ranks do not divide 8 wavenumbers among them \(1\.\.8"),
        ({"split": (2, 2), "ranks": 2}, "split 2x2: 4 parts, 2 ranks"),
        ({"between": "columns"}, "unknown between 'columns'"),
        ({"strategy": "wide"}, "unknown strategy"),
        ({"halo_method": "swap"}, "unknown"),
    ],
)
def test_invalid_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Hirlam(**({"ranks": 2, "grid": (14, 9, 6)} | options))


def test_a_strategy_that_waits_for_all_is_not_simulated():
    with pytest.raises(InputError, match="strategy barrier: what it adds is not simulated"):
        Hirlam(ranks=2, strategy="barrier", **SMALL).program()
