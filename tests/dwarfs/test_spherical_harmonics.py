"""The dwarf of spherical harmonics: one result on any ranks, the bytes of its program, and what it refuses."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import dwarf_states as cases

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.spherical_harmonics import NOT_SIMULATED, STRATEGIES, SphericalHarmonics

SMALL = {"truncation": 15, "levels": 4}
ASKED = {
    **{name: {**SMALL, "strategy": name} for name in STRATEGIES},
    "native": {**SMALL, "algorithm": "native", "wavenumbers_method": "bruck,sendrecv", "columns_method": "pairwise"},
    "snake": {**SMALL, "dealt": "snake", "on_the_fly": True, "threads": 2, "gaussian_grid": "F16"},
    "shared": {**SMALL, "transport": "shared", "packing": "direct"},
}


@cache
def states(ranks: int):
    return launch.run(ranks, "dwarf_states:states", ("spherical_harmonics", ASKED), timeout_s=240)


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_every_strategy_and_method_has_the_result_of_one_process(ranks):
    for name, options in ASKED.items():
        dwarf = SphericalHarmonics(ranks=1, **options)
        start = states(1)["exchange"]["state"] if name != "snake" else states(1)["snake"]["state"]
        found = np.array(states(ranks)[name]["state"])
        assert np.abs(found - np.array(start)).max() <= 1e-13 * np.abs(start).max(), name
        assert states(ranks)[name]["error"] < 1e-8, name
        assert dwarf.points == dwarf.truncated().grid.points * 4


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name in ASKED if name not in NOT_SIMULATED])
def test_the_program_sends_what_a_run_sends(ranks, name):
    program = SphericalHarmonics(ranks=ranks, **ASKED[name]).program()
    simulated = SphericalHarmonics(ranks=ranks, **ASKED[name]).simulate("barbora")
    messages, sent = states(ranks)[name]["sent"]
    assert (messages, sent) == (cases.STEPS * simulated["messages"], cases.STEPS * simulated["bytes"])
    assert program.ranks == ranks


def test_its_program_is_proved():
    from tradewind.verification import verify

    assert verify(SphericalHarmonics(ranks=6, **SMALL).program())["ok"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"precision": "f4"}, "precision f4: the transform has f8 alone"),
        ({"step_s": 0.0}, "step 0.0 s: more than 0 is allowed"),
        ({"truncation": 31, "gaussian_grid": "O8"}, "truncation T31 on grid O8"),
        ({"gaussian_grid": "N80"}, "unknown grid 'N80'"),
        ({"ranks": 34, "level_sets": 2}, "up to 16 sets are allowed; the most ranks that work are 33, with up to 4"),
        ({"ranks": 4, "level_sets": 3}, "3 level sets on 4 ranks: a divisor of the ranks is allowed"),
        ({"levels": 2, "level_sets": 4, "ranks": 4}, r"4 level sets of 2 levels: 1\.\.2 are allowed"),
        ({"dealt": "evenly"}, "unknown dealt"),
        ({"algorithm": "bruck", "ranks": 3}, "senders of each group must be its receivers"),
        ({"strategy": "overlap"}, "unknown strategy"),
    ],
)
def test_what_cannot_be_is_said(options, said):
    with pytest.raises(InputError, match=said):
        SphericalHarmonics(**({"ranks": 2, **SMALL} | options))


def test_strategies_that_wait_for_all_are_not_simulated():
    with pytest.raises(InputError, match="strategy barrier: the simulator does not know"):
        SphericalHarmonics(ranks=2, strategy="barrier", **SMALL).program()


def test_the_command_line_offers_a_truncation():
    from tradewind.workload.options import options_of, read

    values, problems = read(SphericalHarmonics, {"truncation": options_of(SphericalHarmonics)["truncation"].offered})
    assert (values, problems) == ({"truncation": 79}, [])
    assert SphericalHarmonics(ranks=2, **values).gaussian_grid == "O80"
