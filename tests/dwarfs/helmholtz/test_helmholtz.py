"""The dwarf helmholtz: its solvers beside each other and SciPy, the bytes of its program, bits, and refusals."""

from __future__ import annotations

import itertools
import math
from functools import cache
from time import process_time

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import helmholtz_cases as cases
from mpi4py import MPI

from tradewind import launch
from tradewind.base.errors import InputError, NotFiniteError, TradewindError
from tradewind.dwarfs.frame.recorder import recorded
from tradewind.dwarfs.helmholtz import Helmholtz
from tradewind.dwarfs.helmholtz import reference as helmholtz_reference
from tradewind.verification import verify

SMALL = {"grid": (14, 12, 6), "iterations": 120}
ASKED = {
    "classic": {**SMALL},
    "pipelined": {**SMALL, "strategy": "pipelined"},
    "replaced": {**SMALL, "strategy": "pipelined", "replace": 3},
    "no pokes": {**SMALL, "strategy": "pipelined", "pokes": 0, "threads": 2},
    "restarted": {**SMALL, "restart": True, "directions": 2},
    "restarted, pipelined": {**SMALL, "restart": True, "directions": 2, "strategy": "pipelined"},
    "no preconditioner": {**SMALL, "preconditioner": "none", "step_s": 0.5},
    "as printed": {**SMALL, "preconditioner": "none", "step_s": 0.5, "printed": True},
    "tall": {**SMALL, "directions": 6, "sigma": 3.0, "hill_m": 4000.0, "work": 2},
    "exact": {**SMALL, "sums": "exact"},
    "exact, pipelined": {**SMALL, "sums": "exact", "strategy": "pipelined", "threads": 3},
    "single": {**SMALL, "precision": "f4", "sums": "exact"},
    "single, pipelined": {**SMALL, "precision": "f4", "strategy": "pipelined", "threads": 2},
    "load": {"grid": (14, 12, 6), "rtol": 0.0, "iterations": 7, "sums": "exact", "sum_method": "recursive-2,sendrecv"},
    "load, pipelined": {
        **{"grid": (14, 12, 6), "rtol": 0.0, "iterations": 7, "strategy": "pipelined"},
        **{"algorithm": "direct", "transport": "shared", "packing": "direct", "sum_method": ",persistent", "pokes": 3},
    },
}
SINGLE = ("single", "single, pipelined")
SOLVED = [name for name in ASKED if not name.startswith("load") and name not in SINGLE]


@cache
def outcomes(ranks: int):
    return launch.run(ranks, "helmholtz_cases:outcomes", ASKED, timeout_s=240)


def largest(array) -> float:
    return float(np.abs(np.asarray(array)).max())


@pytest.mark.ranks
@pytest.mark.parametrize("name", SOLVED)
def test_solutions_are_those_of_scipy(name):
    dwarf = Helmholtz(ranks=2, **ASKED[name])
    first = np.array(outcomes(2)[name]["state"])
    start = launch_initial(name)
    wanted = dwarf.reference(start, cases.STEPS)
    assert largest(first - wanted) <= 1e-8 * largest(wanted)
    assert dwarf.difference(first, wanted) == ""
    assert outcomes(2)[name]["residual"] <= 1.01e-10


@pytest.mark.ranks
@pytest.mark.parametrize("name", SINGLE)
def test_solutions_in_single_precision_are_as_near_to_scipys_as_its_rounding_allows(name):
    """Factors of a row of A are 13 together, so that each iteration rounds residuals by up to 13 roundings of phi."""
    dwarf = Helmholtz(ranks=2, **ASKED[name])
    found = outcomes(2)[name]
    wanted = dwarf.reference(launch_initial(name), cases.STEPS)
    assert largest(np.array(found["state"]) - wanted) <= 100 * dwarf.unit_roundoff * largest(wanted)
    rounding = 13 * dwarf.unit_roundoff * found["iterations"][1]
    assert found["residual"] <= dwarf.residual_bound + rounding
    assert dwarf.difference(np.array(found["state"]), wanted) == ""


def test_a_check_of_the_default_size_takes_seconds():
    """It takes a few steps again; SciPy's iterations, which solve columns, need no factors of the whole matrix."""
    assert Helmholtz(ranks=1, grid=(128, 128, 64)).checked_steps == 4
    air = Helmholtz(ranks=1, grid=(32, 24, 16)).air
    begin, right = process_time(), np.random.default_rng(1).random((16, 24, 32))
    found = helmholtz_reference.solve(air, right)
    assert process_time() - begin < 3, "a second is far more than it takes"
    problem = helmholtz_reference.matrix(air)
    assert np.linalg.norm(problem @ found.ravel() - right.ravel()) < 1e-11 * np.linalg.norm(right)


@cache
def launch_initial(name: str):
    return np.array(launch.run(1, "helmholtz_cases:initial", ASKED[name], timeout_s=240))


def test_replaced_residuals_come_as_far_as_classic_ones():
    """Beyond the iterations that it needs: recurrences drift, and what they know is no longer true."""
    found = []
    for asked in ({}, {"strategy": "pipelined"}, {"strategy": "pipelined", "replace": 10}):
        run = Helmholtz(ranks=1, grid=(32, 24, 8), rtol=0.0, iterations=300, **asked).on(MPI.COMM_SELF)
        run.advance(1)
        found.append(run.diagnose().residual)
    classic, pipelined, replaced = found
    assert replaced < 2 * classic < pipelined


@pytest.mark.ranks
def test_pipelined_and_classic_end_alike():
    found = outcomes(2)
    for one, other in (
        ("classic", "pipelined"),
        ("classic", "no pokes"),
        ("restarted", "restarted, pipelined"),
        ("no preconditioner", "as printed"),
    ):
        a, b = (np.array(found[name]["state"]) for name in (one, other))
        assert largest(a - b) <= 1e-8 * largest(a)
        assert abs(found[one]["iterations"][1] - found[other]["iterations"][1]) <= 1
        shorter = min(len(found[one]["history"]), len(found[other]["history"]))
        ratio = np.array(found[one]["history"][:shorter]) / np.array(found[other]["history"][:shorter])
        assert largest(np.log(ratio)) < 0.05
    assert found["restarted"]["iterations"][1] > found["classic"]["iterations"][1]


@pytest.mark.ranks
@pytest.mark.parametrize("name", SOLVED)
def test_the_residual_never_grows(name):
    history = outcomes(2)[name]["history"]
    assert len(history) == outcomes(2)[name]["iterations"][1] + 1
    assert all(later <= before * (1 + 1e-9) for before, later in itertools.pairwise(history))
    assert history[-1] <= 1e-10 < history[-2]


@pytest.mark.ranks
def test_the_first_iterations_have_the_smallest_residual_of_their_space():
    """Until a direction is dropped, GCR is as good as any solver can be: that of least squares in Krylov's space."""
    options = {"grid": (6, 5, 5), "directions": 5}
    found = launch.run(1, "helmholtz_cases:krylov", options, timeout_s=240)
    start, *space = (np.array(vector) for vector in found["vectors"])
    for count in range(1, options["directions"] + 2):
        basis, _ = np.linalg.qr(np.stack(space[:count], 1))
        least = np.linalg.norm(start - basis @ (basis.T @ start)) / found["norm"]
        assert found["history"][count] == pytest.approx(least, rel=1e-6)


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ASKED)
def test_the_program_sends_and_pokes_as_a_run_does(ranks, name):
    found = outcomes(ranks)[name]
    total, last = found["iterations"]
    wanted, pokes = np.zeros(2), 0
    for iterations in (total - last, last):
        dwarf = Helmholtz(ranks=ranks, **{**ASKED[name], "iterations": iterations})
        simulated = dwarf.simulate("barbora")
        wanted += simulated["messages"], simulated["bytes"]
        pokes += recorded(dwarf).pokes
    assert found["sent"] == [*wanted]
    assert found["pokes"] == pokes


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_exact_sums_have_the_bits_of_one_process(ranks):
    for name in ("exact", "exact, pipelined", "load", "single"):
        assert outcomes(ranks)[name]["digest"] == outcomes(1)[name]["digest"], name
        assert outcomes(ranks)[name]["history"] == outcomes(1)[name]["history"], name


@pytest.mark.ranks
def test_nothing_is_lost_through_ground_and_top():
    for name in SOLVED:
        found = outcomes(2)[name]["mass"]
        start = np.array(launch_initial(name))[6:]
        air = Helmholtz(ranks=1, **ASKED[name]).air
        nx, ny, _ = air.grid
        thickness = air.at(np.arange(nx), np.arange(ny)[:, None], np.zeros((1, 1, 1))).thickness
        assert found == pytest.approx((start * thickness).mean() / thickness.mean(), rel=1e-8)


@pytest.mark.ranks
@pytest.mark.parametrize("hill_m", [0.0, 3000.0])
def test_the_error_of_a_known_solution_falls_with_the_square_of_the_spacing(hill_m):
    asked = {
        "grids": [(12, 12, 12), (24, 24, 24)],
        "length_m": 40000.0,
        "options": {"step_s": 12.0, "hill_m": hill_m, "strategy": "pipelined"},
    }
    errors = launch.run(2, "helmholtz_cases:manufactured", asked, timeout_s=240)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 0.005


def test_its_programs_are_proved():
    for strategy in ("classic", "pipelined"):
        dwarf = Helmholtz(ranks=6, strategy=strategy, grid=(14, 9, 6), iterations=6, rtol=0.0, pokes=2)
        assert verify(dwarf.program())["ok"]


def test_reductions_are_those_of_the_source():
    """25 iterations are 50 reductions, of 2 and of min(i, 3) doubles; the pipelined solver has half as many."""
    counts = {}
    for strategy in ("classic", "pipelined"):
        program = Helmholtz(ranks=4, grid=(8, 8, 4), strategy=strategy, rtol=0.0).program()
        counts[strategy] = {each.name: program.times(each) for each in program.exchanges}
    assert counts["classic"] == {"halo": 26, "sum 2": 25 + 1 + 1, "sum 1": 1, "sum 3": 22}
    assert counts["pipelined"] == {"halo": 27, "sum 2": 2, "sum 3": 1, "sum 4": 1, "sum 5": 22}


def test_pokes_hide_a_reduction_behind_operator_and_preconditioner():
    """Simulated, with messages that take long: what is hidden beyond the first stage needs pokes, or a thread."""
    asked = {"ranks": 16, "grid": (128, 128, 8), "split": (4, 4), "iterations": 6, "rtol": 0.0}
    asked |= {"sum_method": "recursive-2"}
    machine = {"settings": {"nic.latency": "20us", "node.memory_bandwidth": "5GB/s"}}

    def time_s(progress: str, pokes: int) -> float:
        dwarf = Helmholtz(**asked, strategy="pipelined", pokes=pokes)
        return dwarf.simulate("barbora", **machine, mpi_progress=progress)["time_s"]

    none, few, many = (time_s("pokes", pokes) for pokes in (0, 2, 8))
    assert none > 1.05 * few > 1.1 * many
    assert time_s("calls", 8) == pytest.approx(none, rel=1e-6)
    assert time_s("thread", 0) < many
    assert many < 0.85 * Helmholtz(**asked).simulate("barbora", **machine)["time_s"]


@pytest.mark.ranks
@pytest.mark.parametrize("strategy", ["classic", "pipelined"])
@pytest.mark.parametrize("sums", ["ordinary", "exact"])
def test_a_nan_is_found_with_its_rank_place_and_step(strategy, sums):
    asked = {"grid": (8, 6, 4), "strategy": strategy, "sums": sums}
    with pytest.raises(
        TradewindError, match=r"rank 1: the vector phi before is nan at \[z\]\[y\]\[x\] = \[2, 1, 7\], in step 2"
    ):
        launch.run(2, "helmholtz_cases:not_a_number", asked, timeout_s=240)


@pytest.mark.ranks
def test_a_solver_that_does_not_converge_says_so():
    asked = {"grid": (14, 12, 6), "iterations": 4}
    message = r"no convergence to 1e-10 after 4 iterations of step 1; relative residuals 1\.32e\+00, .*, 2\.8\de-02"
    with pytest.raises(TradewindError, match=message):
        launch.run(2, "helmholtz_cases:without_end", asked, timeout_s=240)
    printed = {"grid": (14, 12, 6), "iterations": 100, "printed": True, "step_s": 20.0}
    with pytest.raises(TradewindError, match="no convergence to 1e-10 after 100 iterations"):
        launch.run(2, "helmholtz_cases:without_end", printed, timeout_s=240)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": 0.0}, "sigma 0: the problem is singular"),
        ({"sigma": -1.0}, "sigma -1.0: more than 0 is allowed"),
        ({"sigma": math.nan}, "sigma nan: more than 0 is allowed"),
        ({"sigma": 1e-300}, "sigma 1e-300: 1e-50..1e[+]50 are allowed, whose squares doubles hold"),
        ({"sigma": 1e300}, "sigma 1e[+]300: 1e-50..1e[+]50 are allowed"),
        ({"precision": "f4", "sigma": 1e-20}, "sigma 1e-20: 1e-15..1e[+]15 are allowed, whose squares floats hold"),
        (
            {"precision": "f4", "rtol": 1e-8},
            "rtol 1e-08: 0 .a number of iterations. or 1.2e-07..1.0, the digits of a f",
        ),
        ({"hill_m": 20000.0}, "hill 20000.0 m: less than the top, 20000.0 m, is allowed"),
        ({"hill_m": -1.0}, "hill -1.0: 0.0 or more are allowed"),
        ({"hill_m": math.nan}, "hill nan: 0.0 or more are allowed"),
        ({"top_m": 0.0}, "top 0.0 m: more than 0 is allowed"),
        ({"step_s": math.inf}, "step inf s: more than 0 is allowed"),
        ({"spacing_m": 0.0}, "spacing 0.0 m: more than 0 is allowed"),
        ({"grid": (14, 9, 2)}, "grid: 2 levels, 3 or more are needed"),
        ({"printed": True, "strategy": "pipelined"}, "printed: only the strategy classic"),
        ({"replace": 5}, "replace 5: strategy classic has few recurrences; pipelined is allowed"),
        ({"check": True, "rtol": 0.0}, "check: with rtol 0 the solver stops short"),
        ({"directions": 0}, "directions 0: 1..6 are allowed"),
        ({"rtol": math.nan}, "rtol nan: 0.0..1.0 are allowed"),
        ({"rtol": 1e-40}, "rtol 1e-40: 0 .a number of iterations. or 2.2e-16..1.0, the digits of a double"),
        ({"preconditioner": "ilu"}, "unknown preconditioner 'ilu'"),
        ({"sums": "reproducible"}, "unknown sums 'reproducible'"),
        ({"split": (2, 2), "ranks": 2}, "split 2x2 makes 4 ranks"),
        ({"ranks": 200}, "200 ranks: no split"),
        ({"sum_method": "ring-5"}, "unknown"),
        ({"iterations": 0}, "iterations 0: 1..100000 are allowed"),
    ],
)
def test_invalid_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Helmholtz(**({"ranks": 2, "grid": (14, 9, 6)} | options))


def test_a_value_that_is_not_finite_is_found_when_nothing_has_been_solved():
    run = Helmholtz(ranks=1, grid=(14, 9, 6)).on(MPI.COMM_SELF)
    run.vector("b").own[3, 2, 1] = math.nan
    with pytest.raises(NotFiniteError, match=r"rank 0: the field is nan at \[z\]\[y\]\[x\] = \[3, 2, 1\]"):
        run.diagnose()
