"""Numbers of ranks, stages, switches, ports, nodes that are not there: an error that says so, never a result or the
end of the process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import places
import pytest

import tradewind as tw
from tradewind import _core

REFUSALS = {"IndexError", "TypeError", "InputError"}


def outcomes() -> dict[str, str]:
    """Return the places of each call, by its name."""
    found: dict[str, str] = {}
    first, roots = 0, [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    while True:
        run = subprocess.run(
            [sys.executable, places.__file__, str(first)],
            capture_output=True,
            timeout=240,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(roots)},
        )
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        names = dict(lines[::2])
        found |= {names[number]: what for number, what in lines[1::2]}
        if run.returncode == 0:
            return found
        assert lines, run.stderr
        number, name = lines[-1]
        found[name] = f"the process ended with {run.returncode}"
        first = number + 1


def test_every_number_that_is_not_there_is_refused():
    found = outcomes()
    assert {name: what for name, what in found.items() if what not in REFUSALS} == {}
    called = {name.split("]")[1].split("(")[0].strip(".") for name in found}
    assert called == {name for _, name, _ in places.functions()}
    assert {"boxes", "sends", "port", "distance", "node", "walk", "stage_text", "delay_lower_edge_s"} <= called
    assert len(found) > 2000


def test_every_number_that_is_there_is_computed():
    """The refusals are not of all numbers."""
    for owner, name, names in places.functions():
        for thing in places.OBJECTS[owner] if owner else places.SCHEDULES:
            if name == "damaged":
                continue
            last = {key: places.COUNTS[key](thing) - 1 for key in names if key in places.COUNTS}
            last |= {key: places.OTHERS[key] for key in names if key in places.OTHERS}
            last |= {"schedule": thing} if "schedule" in names else {}
            last |= {"ranks_per_bin": 1} if "ranks_per_bin" in names else {}
            getattr(thing if owner else _core, name)(**last)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: places.TRANSPOSE.source_shape(99), r"rank 99: 0\.\.5 are allowed"),
        (lambda: places.BLOCKS.box(-1), r"rank -1: 0\.\.5 are allowed"),
        (lambda: places.SCHEDULES[0].sends(0, 99), r"stage 99: 0\.\.1 are allowed"),
        (lambda: places.PLACEMENTS[0].node(6), r"rank 6: 0\.\.5 are allowed"),
        (lambda: tw.AllReduce(1, 1).schedule("ring").core.sends(0, 0), "stage 0: there are none"),
        (lambda: _core.fetch_of_messages([1, 1], [(0, 2, 1)]), r"destination 2: 0\.\.1 are allowed"),
        (lambda: _core.fetch_of_messages([1, 1], [(-1, 0, 1)]), r"source -1: 0\.\.1 are allowed"),
    ],
)
def test_an_index_error_says_what_is_there(call, words):
    with pytest.raises(IndexError, match=words):
        call()


@pytest.mark.parametrize(
    "make",
    [
        lambda n: tw.Grid(n, 1, 1),
        lambda n: tw.Blocks(tw.Grid(4, 4, 4), (n, 1)),
        lambda n: tw.Halo(places.BLOCKS, width=n),
        lambda n: tw.AllReduce(ranks=n, count=1),
        lambda n: tw.AllReduce(ranks=1, count=n),
        lambda n: tw.Fetch.of_owners([1], [([n], [0])]),
        lambda n: tw.Fetch.of_owners([1], [([0], [n])]),
        lambda n: places.FETCH.with_levels((n, 1)),
        lambda n: _core.fetch_of_messages([1, 1], [(0, 1, n)]),
        lambda n: _core.Placement("linear", n, 1, 4, 1),
        lambda n: _core.Placement("blocks", 6, 2, 8, 1, (n, n)),
        lambda n: _core.Crossbar(n),
        lambda n: _core.Torus([n], 1),
        lambda n: _core.Torus([2], n),
        lambda n: _core.FatTree([2, n], [2]),
        lambda n: _core.FatTree([2, 2], [n]),
        lambda n: _core.communication_matrix(places.SCHEDULES[0], n, 0, 1),
        lambda n: next(e for e in _core.algorithms() if e.name == "ring-k").radices(tw.AllReduce(2, n)),
    ],
)
@pytest.mark.parametrize("number", [-1, -(2**31), -(2**63), 2**63, 2**70])
def test_what_cannot_be_made_is_refused(make, number):
    with pytest.raises((tw.InputError, TypeError, OverflowError)):
        make(number)


def test_radices_of_another_pattern():
    entry = next(entry for entry in _core.algorithms() if entry.name == "ring-k")
    with pytest.raises(tw.InputError, match="ring-k is an algorithm of transpose, not of allreduce"):
        entry.radices(tw.AllReduce(2, 1))
