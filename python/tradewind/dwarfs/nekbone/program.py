"""An iteration of Nekbone as the simulator takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tradewind.dwarfs.frame.dwarf import copied
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT
from tradewind.workload.program import Compute, Exchanged, Program, Whole
from tradewind.workload.steps import GroupStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradewind import _core
    from tradewind.dwarfs.nekbone.request import NekboneRequest

SUM_BYTES = {"lists": 47.0, "strides": 8.0}
"""Bytes that a copy of memory reads and writes while a copy of a shared point is summed, by how a rank finds its own
copies: measured, see docs/dwarfs/nekbone.md."""
UPDATE_FLOPS = 19
"""Flops of an iteration per point beside those of the operator, 12 nx1 + 15; as Nekbone counts them."""
PIPELINED_FLOPS = 27


def program(dwarf: NekboneRequest) -> Program:
    """The program of an iteration."""
    return _Maker(dwarf).program()


class _Maker:
    def __init__(self, dwarf: NekboneRequest) -> None:
        self.dwarf = dwarf
        self.points = math.prod(dwarf.elements) * dwarf.nx1**3

    def program(self) -> Program:
        dwarf = self.dwarf
        name = f"nekbone, {dwarf.strategy}"
        swaps = [self.exchanged(name, "exchange", each) for name, each in dwarf.exchange_schedules().items()]
        kind, dtype = dwarf.sum_pattern(), "i8" if dwarf.sums == "reproducible" else "f8"
        total = self.exchanged(f"sum of {kind.count}", "sum", dwarf.sum_schedule(), dtype)
        if dwarf.strategy == "pipelined":
            return Program(*self.pipelined(total, swaps), name=name)
        whole = [Whole(swap, swap.name) for swap in swaps]
        sums = [Whole(total, label) for label in ("sum of r r", "sum of p A p", "sum of r r, again")]
        if dwarf.strategy == "overlap" and dwarf.sums == "plain":
            inside = math.prod(dwarf.elements) - self.rim_elements()
            volume = dwarf.nx1**3
            (swap,) = swaps
            steps: list[GroupStep] = [
                sums[0],
                self.operator("operator of the rim", self.rim_elements() * volume, 4),
                swap.start("start"),
                self.operator("operator", inside * volume, 4),
                self.own_sums(),
                swap.wait("wait"),
            ]
        else:
            steps = [sums[0], self.operator("operator", self.points, 4), self.own_sums(), *whole]
        return Program(*steps, sums[1], self.update("update", UPDATE_FLOPS, 6), sums[2], name=name)

    def pipelined(self, total: Exchanged, swaps: list[Exchanged]) -> list[GroupStep]:
        """An iteration; or those from one replacement to the next, and that one."""

        def product(number: str) -> list[GroupStep]:
            swapped = [Whole(swap, f"{number}{swap.name}") for swap in swaps]
            return [self.operator(f"{number}operator", self.points, 2), self.own_sums(f"{number}own sums"), *swapped]

        steps: list[GroupStep] = []
        for iteration in range(self.dwarf.steps_per_round):
            number = f"{iteration + 1} " if self.dwarf.replace else ""
            wait = total.wait(f"{number}wait" if number else "")
            steps += [total.start(f"{number}start" if number else ""), *product(number), wait]
            steps.append(self.update(f"{number}update", PIPELINED_FLOPS, 13))
        for vector in "rwsz" if self.dwarf.replace else "":
            steps += product(f"replaced {vector}, ")
        return steps

    def exchanged(self, name: str, plan: str, schedule: _core.Schedule, dtype: str = "f8") -> Exchanged:
        method = self.dwarf.method(plan)
        transport = method.transport or DEFAULT_TRANSPORT
        return Exchanged(
            name, schedule, dtype=dtype, transport=transport, packing=method.packing or _packing(transport)
        )

    def rim_elements(self) -> int:
        """Elements of a rank in the middle of the brick that lie on one of its sides."""
        assert self.dwarf.brick is not None
        sides = zip(self.dwarf.elements, self.dwarf.brick, strict=True)
        inner = math.prod(count if ranks == 1 else max(0, count - 2) for count, ranks in sides)
        return math.prod(self.dwarf.elements) - inner

    def operator(self, name: str, points: int, values: int) -> Compute:
        """The operator at some points, each of which reads and writes so many values."""
        moved = values + (6 if self.dwarf.factors == "stored" else 0) + (1 if self.dwarf.mass else 0)
        return self.compute(name, points * self.dwarf.work, 12 * self.dwarf.nx1 + 15, 8 * moved)

    def own_sums(self, name: str = "own sums") -> Compute:
        """The sums over elements of a rank: of all copies of points that they share."""
        each = [(count * self.dwarf.nx1, count * (self.dwarf.nx1 - 2)) for count in self.dwarf.elements]
        shared = math.prod(total for total, _ in each) - math.prod(inner for _, inner in each)
        return self.compute(name, shared, 1, SUM_BYTES[self.dwarf.own or "strides"], "-sums")

    def update(self, name: str, flops: int, values: int) -> Compute:
        return self.compute(name, self.points, flops, 8 * values)

    def compute(self, name: str, points: int, flops: float, moved: float, part: str = "") -> Compute:
        seconds = points * self.dwarf.point_s
        done, kernel = 0.0 if self.dwarf.point_s else flops * points, self.dwarf.kind + part
        return Compute(name, seconds, done, copied(moved * points), kernel=kernel)


def _packing(transport: str) -> str:
    from tradewind import _core

    known: Mapping[str, _core.TransportEntry] = {entry.name: entry for entry in _core.transports()}
    packings = known[transport].packings if transport in known else ()
    return DEFAULT_PACKING if DEFAULT_PACKING in packings or not packings else packings[0]
