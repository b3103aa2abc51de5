"""Calls every function of the core that takes the number of something with numbers that are not there.

Not a pytest module: test_places.py runs it in a process of its own, since a call that reads beyond an array may end the
process. Prints a line of JSON before each call, and one after it that says what came of it.
"""

import ast
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from networks import NETWORKS, build
from recorded_exchange import trace_of
from validation.machines import CROSSBAR, TORUS, machine

import tradewind as tw
from tradewind import _core
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import prepare

STUB = Path(tw.__file__).parent / "_core.pyi"

BLOCKS = tw.Blocks(tw.Grid(8, 6, 5), (3, 2))
HALO = tw.Halo(BLOCKS, width=2, periodic=("x",))
TRANSPOSE = tw.Transpose(BLOCKS, tw.Pencils(BLOCKS.grid, "x", (3, 2)))
BANDS = tw.Bands(BLOCKS.grid, 6, shared=False, level_sets=2)
REDISTRIBUTION = tw.Transpose(tw.Placed(tw.Blocks(BLOCKS.grid, (2, 2)), 1, 6), BANDS)
LISTS = tw.Lists([[0, 3], [], [2, 1]])
FETCH = tw.Fetch([[0, 1, 2], [3, 4]], [[4, 3, 0], [1]])
SHARED = tw.GatherScatter([[1, 2, 3], [3, 0, 1], [2]])
BRICK = tw.BrickGatherScatter((2, 1, 1), 3, (2, 2, 1), "x")
ORDER = tw.Program(tw.Exchanged("sum", tw.AllReduce(4, 8).schedule("recursive-2"))).order
PATTERNS: list[Any] = [HALO, TRANSPOSE, REDISTRIBUTION, FETCH, FETCH.adjoint(), tw.AllReduce(5, 3), SHARED, BRICK]
SCHEDULES = [
    _core.make_schedule(pattern, entry.name.replace("-k", "-2"))
    for pattern in PATTERNS
    for entry in _core.algorithms()
    if entry.pattern == pattern.name
    if pattern is not REDISTRIBUTION or entry.name != "bruck"
    if pattern is not SHARED or entry.name != "cartesian"
]
MACHINE = machine(CROSSBAR).machine.build()
PLACEMENTS = [_core.Placement(kind, 6, 2, 8, 1, (3, 2), (2, 2), (2, 2, 2)) for kind in _core.placements()]
REPLAY = prepare(TraceWorkload(trace_of(SCHEDULES[0], 8)), machine(CROSSBAR), threads=1)
CALLS = REPLAY.exchange.calls
REPLAYED = _core.simulate_calls(MACHINE, CALLS, REPLAY.placement, _core.SimulationOptions(packet_bytes=512))

OBJECTS: dict[str, list[Any]] = {
    "Layout": [BLOCKS, BANDS, LISTS],
    "Parts": [BANDS.parts(axis) for axis in range(3)],
    "Product": [BANDS, REDISTRIBUTION.from_layout],
    "Lists": [LISTS],
    "Blocks": [BLOCKS, TRANSPOSE.to_layout],
    "Pattern": PATTERNS,
    "Halo": [HALO],
    "Fetch": [FETCH],
    "GatherScatter": [SHARED, BRICK],
    "BrickGatherScatter": [BRICK],
    "Schedule": SCHEDULES,
    "Order": [ORDER],
    "Topology": [build(values) for networks in NETWORKS.values() for values in networks],
    "Walker": [_core.Walker(machine(CROSSBAR).machine.build()), _core.Walker(machine(TORUS).machine.build())],
    "Placement": PLACEMENTS,
    "Calls": [CALLS],
    "SimulationResult": [REPLAYED],
}
"""Objects on which the methods of each class are called."""

NODES = {id(OBJECTS["Walker"][0]): CROSSBAR["nodes"], id(OBJECTS["Walker"][1]): 4 * 3 * 2 * 2}
"""Number of nodes of the machines of walkers."""

OTHERS: dict[str, Any] = {"fault": "drop", "by": 0, "random": 0, "queues": 0}
"""Further arguments of functions."""

COUNTS: dict[str, Callable[[Any], int]] = {
    "rank": lambda of: of.ranks,
    "axis": lambda _: 3,
    "part": lambda of: of.parts,
    "stage": lambda of: of.stages,
    "first": lambda of: of.stages + 1,
    "last": lambda of: of.stages + 1,
    "j": lambda of: 100,
    "by": lambda of: of.width + 1,
    "reach": lambda of: of.width + 1,
    "switch": lambda of: of.switches,
    "from_switch": lambda of: of.switches,
    "to_switch": lambda of: of.switches,
    "port": lambda of: of.radix,
    "from_node": lambda of: NODES[id(of)],
    "to_node": lambda of: NODES[id(of)],
    "bin": lambda _: 257,
}
"""Number of things that a parameter with this name counts, by owner."""


def functions() -> Iterator[tuple[str, str, list[str]]]:
    """(class or "", name, parameters) of what takes the number of something, as the stub has it."""
    for node in ast.parse(STUB.read_text()).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in inside:
            if not isinstance(function, ast.FunctionDef) or function.name.startswith("_"):
                continue
            names = [argument.arg for argument in function.args.args if argument.arg != "self"]
            if set(names) & set(COUNTS):
                yield node.name if isinstance(node, ast.ClassDef) else "", function.name, names


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of each call, and the call."""
    for owner, name, names in functions():
        for number, thing in enumerate(OBJECTS[owner] if owner else SCHEDULES):
            function = getattr(thing if owner else _core, name)
            good = {key: 0 for key in names if key in COUNTS}
            good |= {key: OTHERS[key] for key in names if key in OTHERS}
            good |= {"schedule": thing} if "schedule" in names else {}
            good |= {"ranks_per_bin": 1} if "ranks_per_bin" in names else {}
            for key in sorted(set(names) & set(COUNTS)):
                wrong = [-1, COUNTS[key](thing), 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, -(2**31), -(2**63), 2**70]
                for value in (*wrong, 1.5, "0", None, np.float64(1)):
                    text = f"{owner}[{number}].{name}({key}={value!r})"
                    yield text, lambda f=function, a=good | {key: value}: f(**a)


def outcome(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__ if str(error) else f"{type(error).__name__} without words"
    return "a result"


def main(first: int) -> None:
    """From a call on, since the one before may have ended another process."""
    for number, (name, call) in enumerate(calls()):
        if number < first:
            continue
        print(json.dumps([number, name]), flush=True)
        print(json.dumps([number, outcome(call)]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
