"""The dwarf of spherical harmonics: one result on any ranks, its program, and what it refuses."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")

import dwarf_states  # noqa: F401
from slow_tests import slow

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.spherical_harmonics import STRATEGIES, SphericalHarmonics
from tradewind.dwarfs.spherical_harmonics.request import LATER

SMALL = {"truncation": 15, "levels": 4}
ASKED = {
    **{name: {**SMALL, "strategy": name} for name in STRATEGIES},
    "native": {**SMALL, "algorithm": "native", "wavenumbers_method": "bruck,sendrecv", "columns_method": "pairwise"},
    "snake": {**SMALL, "dealt": "snake", "on_the_fly": True, "threads": 2, "gaussian_grid": "F16"},
    "shared": {**SMALL, "transport": "shared", "packing": "direct"},
    "uneven": {**SMALL, "levels": 5, "strategy": "levels", "levels_per_message": 2},
    "winds": {**SMALL, "winds": True},
    "single": {**SMALL, "winds": True, "precision": "f4", "strategy": "passes"},
    "split": {"truncation": 2, "gaussian_grid": "F8", "levels": 4, "dealt": "split", "level_sets": 1, "winds": True},
}
OF_THEIR_OWN = ("snake", "uneven", "winds", "single", "split")
"""Those that have another state than the rest."""


@cache
def states(ranks: int):
    return launch.run(ranks, "dwarf_states:states", ("spherical_harmonics", ASKED), timeout_s=240)


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", [3, *slow(2, 4)])
def test_every_strategy_and_method_has_the_result_of_one_process(ranks):
    for name, options in ASKED.items():
        dwarf = SphericalHarmonics(ranks=1, **options)
        start = states(1)[name if name in OF_THEIR_OWN else "exchange"]["state"]
        found = np.array(states(ranks)[name]["state"])
        assert np.abs(found - np.array(start)).max() <= 1000 * dwarf.unit_roundoff * np.abs(start).max(), name
        assert states(ranks)[name]["error"] < 1e8 * dwarf.unit_roundoff, name
        assert dwarf.points == dwarf.truncated().grid.points * dwarf.levels
    split = SphericalHarmonics(ranks=ranks, **ASKED["split"])
    assert split.distribution().pieces.is_split == (ranks > 2)


@pytest.mark.parametrize("options", [{}, {"dealt": "split", "level_sets": 1, "ranks": 24}, {"strategy": "levels"}])
def test_its_program_is_proved(options):
    from tradewind.verification import verify

    program = SphericalHarmonics(**({"ranks": 6, **SMALL} | options)).program()
    assert verify(program)["ok"]
    assert ("sums" in program.schedules()) == ("dealt" in options)


def test_a_request_is_stored_as_before_where_nothing_new_is_asked():
    assert not set(LATER) & set(SphericalHarmonics(ranks=2, **SMALL).as_dict())
    assert SphericalHarmonics(ranks=2, **SMALL, winds=True).as_dict()["winds"] is True


def test_a_study_of_many_truncations_comes_back_to_the_first():
    for truncation in (15, 17, 19, 21, 23, 25):
        SphericalHarmonics(ranks=4, levels=4, truncation=truncation, level_sets=2)
    assert SphericalHarmonics(ranks=8, levels=4, truncation=15, level_sets=4).simulation_problems() == []


@pytest.mark.parametrize(("levels", "level_sets", "size"), [(5, 2, 2), (7, 3, 1), (4, 1, 3), (3, 3, 9)])
def test_each_level_is_in_one_message(levels, level_sets, size):
    options = {"strategy": "levels", "level_sets": level_sets, "levels_per_message": size}
    dwarf = SphericalHarmonics(ranks=6, truncation=15, levels=levels, **options)
    batches = [batch for _, batch in dwarf.batches]
    assert sorted(dwarf.level_order().tolist()) == list(range(levels))
    assert sum(batch.levels for batch in batches) == levels
    alike = len({id(batch) for batch in batches})
    assert [name for name in dwarf.program().schedules() if name.startswith("rows-back")] == [
        "rows-back" + (f" of batch {number}" if number > 1 else "") for number in range(1, alike + 1)
    ]
    assert max(max(np.diff(batch.level_cuts)) for batch in batches) == min(size, -(-levels // level_sets))


def test_winds_after_a_step_are_those_of_the_reference():
    from mpi4py import MPI

    run = SphericalHarmonics(ranks=1, winds=True, truncation=21, levels=2).on(MPI.COMM_SELF)
    whole = run.gathered()
    run.advance(2)
    wanted = run.dwarf.reference(whole, 2)
    assert run.dwarf.difference(run.gathered(), wanted) == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step_s": 0.0}, "step 0.0 s: more than 0 is allowed"),
        ({"truncation": 31, "gaussian_grid": "O8"}, "truncation T31 on grid O8"),
        ({"gaussian_grid": "N80"}, "unknown grid 'N80'"),
        ({"ranks": 34, "level_sets": 2}, "up to 16 sets are allowed; the most ranks that work are 33, with up to 4"),
        ({"ranks": 4, "level_sets": 3}, "3 level sets on 4 ranks: a divisor of the ranks is allowed"),
        ({"levels": 2, "level_sets": 4, "ranks": 4}, r"4 level sets of 2 levels: 1\.\.2 are allowed"),
        ({"dealt": "evenly"}, "unknown dealt"),
        ({"algorithm": "bruck", "ranks": 3}, "senders of each group must be its receivers"),
        ({"strategy": "overlap"}, "unknown strategy"),
        ({"levels_per_message": 2}, "levels per message 2: the strategy levels has them; leave it out"),
        ({"dealt": "split", "ranks": 33, "level_sets": 1}, "up to 32 sets are allowed"),
        ({"sums_method": "bruck"}, "sums method bruck: there are sums where wavenumbers are dealt split"),
        ({"dealt": "split", "sums_method": "brock"}, "unknown transpose algorithm 'brock'"),
    ],
)
def test_invalid_requests_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        SphericalHarmonics(**({"ranks": 2, **SMALL} | options))


def test_strategies_that_wait_for_all_are_not_simulated():
    with pytest.raises(InputError, match="strategy barrier: what it adds is not simulated"):
        SphericalHarmonics(ranks=2, strategy="barrier", **SMALL).program()


def test_the_command_line_offers_a_truncation():
    from tradewind.workload.options import options_of, read

    values, problems = read(SphericalHarmonics, {"truncation": options_of(SphericalHarmonics)["truncation"].offered})
    assert (values, problems) == ({"truncation": 79}, [])
    assert SphericalHarmonics(ranks=2, **values).gaussian_grid == "O80"


@pytest.mark.parametrize("key", ["levels", "level_sets", "levels_per_message", "truncation"])
def test_a_number_that_64_bits_do_not_hold_is_refused(key: str) -> None:
    options = {"ranks": 2, "truncation": 15, "strategy": "levels", key: 2**63}
    with pytest.raises(InputError, match=f"{key.replace('_', ' ')}"):
        SphericalHarmonics(**options)
