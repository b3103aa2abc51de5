"""A time step is written once: a run and a recorder do the same, in the same order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("mpi4py.MPI")

from dwarf_sizes import SIZES
from mpi4py import MPI
from toy_dwarf import Heat, add_up, relax

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs import find
from tradewind.dwarfs.frame.recorder import Recorder, recorded
from tradewind.dwarfs.frame.step import kernel

MORE: list[tuple[str, dict[str, Any]]] = [
    ("helmholtz", {"strategy": "classic", "preconditioner": "none", "printed": True}),
    ("helmholtz", {"strategy": "pipelined", "replace": 2, "directions": 2, "restart": True}),
    ("mpdata", {"strategy": "mask", "limiter": True, "form": "basic", "passes": 4}),
    ("nekbone", {"strategy": "overlap", "sums": "reproducible"}),
    ("nekbone", {"strategy": "pipelined", "replace": 3}),
    ("spherical_harmonics", {"strategy": "passes", "truncation": 2, "gaussian_grid": "F8", "dealt": "split"}),
]


def test_plans_do_what_the_program_says():
    """Exchanges, starts, pokes and waits of a round of steps, as `tw.record` finds them, in one order."""
    asked = [
        (kind, {**sizes, "strategy": strategy})
        for kind, sizes in SIZES.items()
        for strategy in find(kind).strategies
        if strategy not in find(kind).not_simulated
    ]
    asked += [(kind, {**SIZES[kind], **values}) for kind, values in MORE]
    for request, (program, plans) in zip(asked, launch.run(2, "step_cases:orders", asked, timeout_s=240), strict=True):
        if request[1]["strategy"] == "on-demand":
            program = program[1::2]  # lists of columns are sent without a plan
        assert program == plans != [], request


def test_a_recorder_asks_for_each_loop_that_a_run_calls():
    """The same loops for the same points, in the same order; those without costs are left out of programs."""
    called: list[tuple[Any, Any]] = []

    class Watched(type(Heat(1, (8, 8, 2)).on(MPI.COMM_SELF))):  # type: ignore[misc]
        def compute(self, kernel: Any, *arguments: Any, points: Any = "own", label: str = "") -> None:
            called.append((kernel, points))
            super().compute(kernel, *arguments, points=points, label=label)

    dwarf = Heat(1, (8, 8, 2), strategy="overlap")
    Watched(dwarf, MPI.COMM_SELF, lambda z, y, x: z + y + x, "totals").advance(1)
    assert called == [(relax, "interior"), (relax, "rim"), (add_up, "own")]
    asked = [(call.kernel, call.points) for each in recorded(dwarf)._operations for call in each.calls]
    assert asked == called


def test_costs_stand_at_the_loop():
    """Flops and values per point, or functions of the request and the arguments; `work` leaves alone what is once."""
    loop = kernel(lambda dwarf, terms: 2 * len(terms), 3, weight=1.5, once=True)(print)
    recorder = Recorder(SimpleNamespace(numbered=False, element_bytes=4, work=5, point_s=0.5))  # type: ignore[arg-type]
    recorder.compute(loop, "abc", label="sum")
    recorder.compute(kernel(None)(print))
    (operation,) = recorder._operations
    (call,) = operation.calls
    assert (call.cost(recorder.dwarf), call.times(recorder.dwarf)) == ((6.0, 12.0), 1)
    assert call.point_s(recorder.dwarf) == 0.75


@pytest.mark.parametrize(
    "operations",
    [
        lambda step: (step.start("halo"), step.wait("halo")),
        lambda step: (step.start("halo"), step.compute(relax, label="a"), step.compute(relax, label="b")),
        lambda step: step.start("halo"),
    ],
)
def test_what_no_program_has_is_refused(operations):
    recorder = Recorder(Heat(4, (8, 8, 1)))
    operations(recorder)
    with pytest.raises(InputError, match="exchange 'halo' of strategy exchange: a program takes a start, one comp"):
        recorder.program()


def test_computations_without_labels_are_one_step():
    loop = kernel(1, 1)(print)
    recorder = Recorder(SimpleNamespace(numbered=False))  # type: ignore[arg-type]
    for label in ("", "", "named", "", ""):
        recorder.compute(loop, label=label)
    assert [(each.label, len(each.calls)) for each in recorder._operations] == [
        ("1 compute", 2),
        ("named", 1),
        ("3 compute", 2),
    ]
