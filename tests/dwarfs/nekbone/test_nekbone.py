"""The dwarf nekbone: its truths, on any ranks; its program; and what cannot be."""

from __future__ import annotations

import itertools
import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import nekbone_cases as cases
from mpi4py import MPI
from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import ConvergenceError, InputError, NotFiniteError
from tradewind.dwarfs import from_plain
from tradewind.dwarfs.nekbone import Nekbone
from tradewind.dwarfs.nekbone.reference import ReferenceNekbone, wave
from tradewind.dwarfs.nekbone.spectral_elements import basis
from tradewind.verification import verify

RANKS = [1, 2, *slow(4)]
MACHINE: dict[str, Any] = {"settings": {"topology.shape": "[2,2,2]", "node.flops": "1TFlop/s"}}


@cache
def outcomes(ranks: int) -> list[dict[str, Any]]:
    return launch.run(ranks, "nekbone_cases:outcomes", cases.CHOICES, timeout_s=240)


@pytest.mark.parametrize("ranks", RANKS)
def test_every_strategy_is_the_reference(ranks):
    for choice, found in zip(cases.CHOICES, outcomes(ranks), strict=True):
        dwarf = cases.request(ranks, choice)
        wanted = dwarf.reference(np.array(found["before"]), cases.ITERATIONS)
        assert not dwarf.difference(np.array(found["after"]), wanted), choice
        assert found["diagnosis"]["gap"] < (1e-4 if dwarf.precision == "f4" else 1e-9)
        assert found["diagnosis"]["iterations"] == cases.ITERATIONS


def test_single_precision_halves_the_messages_of_fields_and_its_error_is_that_of_its_rounding():
    """Sums over ranks stay double: of one number each, 8 bytes."""
    size, number = {}, {}
    for precision in ("f4", "f8"):
        found = cases.request(2, {"precision": precision}).simulate("torus-M", **MACHINE)
        size[precision], number[precision] = found["bytes"], found["messages"]
    assert number["f4"] == number["f8"]
    sums = 3 * 2 * 8  # three sums of a number, which each of two ranks sends
    assert 2 * (size["f4"] - sums) == size["f8"] - sums
    run = Nekbone(1, elements=(3, 3, 3), nx1=8, precision="f4").on(MPI.COMM_SELF)
    before = run.gathered()
    run.advance(100)
    assert before.dtype == run.gathered().dtype == np.float32
    wanted = run.dwarf.reference(before, 100)
    assert 1e-8 < np.abs(run.gathered() - wanted).max() / np.abs(wanted).max() < 3e-6


@pytest.mark.parametrize("ranks", RANKS)
def test_shared_points_of_a_program_are_those_of_a_run(ranks):
    """A program has them in closed form, a run by lists of points."""
    for choice, found in zip(cases.CHOICES, outcomes(ranks), strict=True):
        dwarf = cases.request(ranks, choice)
        program, rounds = dwarf.simulate("torus-M", **MACHINE), cases.ITERATIONS // dwarf.steps_per_round
        assert program["messages"] * rounds == sum(messages for messages, _ in found["sent"])
        assert program["bytes"] * rounds == sum(size for _, size in found["sent"])


@pytest.mark.parametrize(
    ("nx1", "elements", "first", "last"),
    [(10, (1, 1, 1), 16.117, None), (8, (2, 2, 2), 31.474, 9.8759e-9), (10, (5, 5, 2), 120.64, 1.0789e-8)],
)
@pytest.mark.parametrize("strategy", ["pairwise", "overlap"])
def test_nekbones_own_residuals(nx1, elements, first, last, strategy):
    """As Nekbone prints them on one rank: the first one, and that of its iteration 100, with its mask."""
    run = Nekbone(1, elements=elements, nx1=nx1, mask="nekbone", strategy=strategy).on(MPI.COMM_SELF)
    assert cases.norm(run) == pytest.approx(first, rel=4e-5)
    run.advance(100)
    if last is not None:
        assert run.diagnose().residual == pytest.approx(last, rel=1e-4)


def test_numbers_of_64_bits_are_an_option():
    found = {side: Nekbone(1, elements=(5, 5, 2), side=side).on(MPI.COMM_SELF) for side in ("nekbone", "int64")}
    assert cases.norm(found["nekbone"]) == pytest.approx(120.644, abs=5e-4)
    assert cases.norm(found["int64"]) == pytest.approx(120.665, abs=5e-4)


@pytest.mark.parametrize("strategy", ["cartesian", "overlap", "pipelined"])
def test_residuals_are_those_of_the_reference_all_the_way(strategy):
    """Where only sums are in another order: within 1e-10 of the first one."""
    values = {"elements": (2, 2, 2), "nx1": 6, "strategy": strategy}
    found = launch.run(2, "nekbone_cases:residuals", values, timeout_s=240)
    dwarf = Nekbone(2, **values)
    whole = dwarf.of_rank(0).whole
    solver = ReferenceNekbone(whole, basis(6), 0.0, mass=False, mask=whole.inside().astype(float))
    x, r = np.zeros(whole.shape), np.empty(whole.shape)
    for rank in range(2):
        run = dwarf.of_rank(rank)
        r[run.element_ids] = cases_side(dwarf, rank)
    solution, squares, p, before = x, solver.dot(r, r), 0 * r, 0.0
    wanted = [math.sqrt(squares)]
    for step in range(100):
        p = r + (squares / before if step else 0.0) * p
        w = solver.apply(p)
        alpha = squares / solver.dot(w, p)
        solution, r = solution + alpha * p, r - alpha * w
        before, squares = squares, solver.dot(r, r)
        wanted.append(math.sqrt(squares))
    assert np.abs(np.array(found) - wanted).max() <= 1e-10 * wanted[0]


@cache
def _sides(ranks: int, nx1: int) -> np.ndarray:
    from tradewind.dwarfs.nekbone.reference import gather_scatter, right_hand_side

    dwarf = Nekbone(ranks, elements=(2, 2, 2), nx1=nx1)
    whole = dwarf.of_rank(0).whole
    raw = np.empty(whole.shape)
    for rank in range(ranks):
        brick = dwarf.of_rank(rank)
        raw[brick.element_ids] = right_hand_side("nekbone", brick)
    return np.asarray(gather_scatter(whole.ids(), raw) * whole.shares() * whole.inside())


def cases_side(dwarf: Nekbone, rank: int) -> np.ndarray:
    return _sides(dwarf.ranks, dwarf.nx1)[dwarf.of_rank(rank).element_ids]


def test_the_error_of_a_smooth_solution_falls_exponentially_with_the_degree():
    """On deformed elements, with the true mass matrix: the solution is known."""
    errors = []
    for nx1 in range(4, 11):
        run = Nekbone(1, elements=(2, 2, 2), nx1=nx1, deformation=0.1, mass=True, side="wave", reduction=1e-13)
        solver = run.on(MPI.COMM_SELF)
        solver.advance(400)
        solver.diagnose()
        errors.append(solver.error())
    assert errors[0] < 0.05
    assert errors[-1] < 1e-7
    for before, after in itertools.pairwise(errors):
        assert after < before / 4
    assert wave(np.array([2.0, 2.0, 2.0]), run.of_rank(0)) == pytest.approx(1.0)


def test_pipelined_conjugate_gradients_come_as_far_as_classic_ones():
    found = {}
    for strategy in ("cartesian", "pipelined"):
        run = Nekbone(1, elements=(5, 5, 2), strategy=strategy).on(MPI.COMM_SELF)
        run.advance(100)
        found[strategy] = run.diagnose()
    assert found["pipelined"].true_residual <= 10 * found["cartesian"].true_residual
    assert 0 < found["cartesian"].gap < found["pipelined"].gap < found["pipelined"].residual


def test_replaced_residuals_come_as_far_as_classic_ones():
    """Beyond the iterations that it needs: recurrences drift, and what they know is no longer true."""
    found = {}
    for replace in (None, 0, 30):
        asked = {"strategy": "cartesian"} if replace is None else {"strategy": "pipelined", "replace": replace}
        run = Nekbone(1, elements=(3, 3, 3), nx1=8, **asked).on(MPI.COMM_SELF)
        for _ in range(250):
            run.advance(1)
        found[replace] = run.diagnose()
    assert found[0].true_residual > 100 * found[None].true_residual
    assert found[30].true_residual < 10 * found[None].true_residual
    assert found[30].gap < found[0].gap / 100
    assert "replace" not in Nekbone(1, strategy="pipelined").as_dict()


def test_pipelined_residuals_beside_classic_ones_that_are_down_to_rounding():
    """After 100 iterations on 2x2x2 elements: recurrences drift by more than ten times, and replacement mends that."""
    found = {}
    kinds = {"classic": ("cartesian", 0), "drift": ("pipelined", 0), "mended": ("pipelined", 20)}
    for name, (strategy, replace) in kinds.items():
        run = Nekbone(1, elements=(2, 2, 2), nx1=8, strategy=strategy, replace=replace).on(MPI.COMM_SELF)
        run.advance(100)
        found[name] = run.diagnose().true_residual
    assert found["drift"] > 10 * found["classic"]
    assert found["mended"] < 10 * found["classic"]


@pytest.mark.slow
def test_reproducible_sums_have_the_same_bits_on_any_ranks_and_threads():
    strategies = ["cartesian", "overlap", "pipelined"]
    found = []
    for brick, threads in (((1, 1, 1), 1), ((2, 1, 1), 2), ((2, 2, 1), 1), ((1, 2, 2), 2)):
        asked = {"elements": (4, 2, 2), "brick": brick, "strategies": strategies, "threads": threads}
        found.append(launch.run(4, "nekbone_cases:bits", asked, timeout_s=240))
    assert found[0]["cartesian"] == found[0]["overlap"] != found[0]["pipelined"]
    assert found == found[:1] * len(found)


def test_a_solver_stops_where_it_may_and_says_where_it_has_not_converged():
    iterations = launch.run(2, "nekbone_cases:not_converged", 200, timeout_s=240)
    assert 5 < iterations < 200
    message = r"after 5 iterations the residual is [\d.e+-]+, [\d.e+-]+ of the first one, [\d.]+; 1e-06 is asked for"
    with pytest.raises(ConvergenceError, match=message):
        launch.run(2, "nekbone_cases:not_converged", 5, timeout_s=240)


@pytest.mark.slow
def test_a_value_that_is_not_finite_is_found():
    place = r"nan at \[element\]\[k\]\[j\]\[i\] = \[1, 2, 1, 3\] after"
    with pytest.raises(NotFiniteError, match=f"rank 1: the right-hand side is {place} 0 iterations"):
        launch.run(2, "nekbone_cases:not_finite", None, timeout_s=240)
    for sums in ("plain", "reproducible"):
        for strategy in ("pairwise", "overlap", "pipelined"):
            with pytest.raises(NotFiniteError, match=rf"rank 1: the (residual|solution) is {place} \d iterations"):
                launch.run(2, "nekbone_cases:not_finite_later", [strategy, sums], timeout_s=240)


def test_values_whose_squares_no_double_holds_are_found():
    for sums in ("plain", "reproducible"):
        with pytest.raises(NotFiniteError, match=r"a sum over all points is (inf|nan) after 0 iterations"):
            Nekbone(1, elements=(2, 1, 1), nx1=4, sums=sums).on(MPI.COMM_SELF, lambda b: np.full(b.shape, 1e200))


def test_a_side_of_zeros_stays_at_its_solution():
    for strategy in ("cartesian", "pipelined"):
        run = Nekbone(1, elements=(1, 1, 1), nx1=2, strategy=strategy).on(MPI.COMM_SELF)  # all boundary
        run.advance(3)
        found = run.diagnose()
        assert (found.residual, found.largest) == (0, 0)


def test_what_an_iteration_computes():
    """By hand: flops as Nekbone counts them, and the time of a point."""
    machine = {"settings": {**MACHINE["settings"], "node.memory_bandwidth": "1000TB/s"}}
    dwarf = Nekbone(1, elements=(2, 2, 2), nx1=10)
    assert dwarf.flops == 154
    times = dwarf.simulate("torus-M", **machine)["step_time_s"]
    assert times["operator"] + times["update"] == pytest.approx(8000 * 154 / 1e12, rel=1e-3)
    timed = Nekbone(1, elements=(2, 2, 2), nx1=10, point_s=2e-9, work=3).simulate("torus-M", **machine)["step_time_s"]
    assert timed["operator"] == pytest.approx(3 * 8000 * 2e-9, rel=1e-2)
    assert timed["own sums"] == pytest.approx(8 * (10**3 - 8**3) * 2e-9, rel=1e-2)  # points on sides of elements


@pytest.mark.parametrize("strategy", list(Nekbone.strategies))
def test_the_program_is_proved(strategy):
    for sums in ("plain", "reproducible"):
        dwarf = Nekbone(6, elements=(2, 1, 1), nx1=4, strategy=strategy, sums=sums)
        result = dwarf.verify()
        assert result["ok"]
        assert result["deadlock_free"]
        assert result["messages"] == dwarf.simulate("torus-M", **MACHINE)["messages"] > 0
    with pytest.raises(InputError, match="there is no exchange to verify"):
        verify(dwarf)


def test_a_request_goes_through_json():
    dwarf = Nekbone(4, elements=(2, 1, 1), strategy="overlap", deformation=0.5)
    values = json.loads(json.dumps(dwarf.as_dict()))
    assert from_plain(values.pop("dwarf"), values) == dwarf


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        ({"brick": (2, 2, 1)}, ["brick 2x2x1: 2 ranks are asked for"]),
        ({"nx1": 1}, ["nx1 1: 2..32 are allowed"]),
        ({"side": "wave"}, ["side wave: its solution is known with --mass alone"]),
        ({"strategy": "overlap", "algorithm": "cartesian"}, ["algorithm cartesian: the strategy overlap exchanges"]),
        ({"strategy": "pipelined", "mask": "nekbone"}, ["mask nekbone: pipelined needs a symmetric operator"]),
        (
            {"strategy": "overlap", "replace": 5},
            ["replace 5: strategy overlap has few recurrences; pipelined is allowed"],
        ),
        ({"side": "sin"}, ["unknown side 'sin'"]),
        ({"strategy": "pairwize"}, ["unknown strategy 'pairwize'; did you mean 'pairwise'?"]),
        ({"elements": (0, 1, 1), "deformation": 2.0}, ["elements 0x1x1: 1..1024", "deformation 2.0: 0.0..1.0"]),
    ],
)
def test_bad_input(values, messages):
    with pytest.raises(InputError) as error:
        Nekbone(2, **values)
    for problem, message in zip(error.value.problems, messages, strict=True):
        assert problem.startswith(message)


def test_a_request_of_a_million_ranks_is_made_at_once_but_lists_of_all_are_not():
    assert Nekbone(2**20, elements=(8, 8, 4)).brick == (128, 128, 64)
    with pytest.raises(InputError, match="sums reproducible: the lists of 1048576 ranks have"):
        Nekbone(2**20, elements=(8, 8, 4), sums="reproducible").program()


def test_elements_that_are_deformed_too_much_are_refused():
    with pytest.raises(InputError, match=r"element \d+ has no volume, or is inside out"):
        Nekbone(1, elements=(2, 2, 2), nx1=4, deformation=1.0).on(MPI.COMM_SELF)
