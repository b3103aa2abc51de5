"""The time step of MPDATA as the simulator takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.dwarfs.dwarf import copied
from tradewind.method.method import default_algorithm
from tradewind.workload.program import Compute, Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tradewind.dwarfs.on_mesh import MeshDwarf

FACES = 3
"""Faces per node, nearly: a node has six, each of which it shares."""
FLOPS = {"divergence": 43, "limits": 126, "tracer": 77, "fused": 57}
"""Per node and level, for six neighbours; a node computes all of its faces, but a sweep each face once."""
VALUES = {"divergence": FACES + 2, "limits": FACES + 4, "tracer": FACES + 3, "fused": FACES + 2}
"""Values read or written per node and level by a loop over all nodes: fluxes, fields in, fields out."""


def program(dwarf: MeshDwarf, stages: Sequence[str]) -> Program:
    """The program of one step of a dwarf, `stages` being what it computes and exchanges one after the other."""
    parts = dwarf.all_parts()
    everything = [len(part.own) for part in parts]
    rim = [len(part.rim()) for part in parts]
    interior = [own - edge for own, edge in zip(everything, rim, strict=True)]
    halo = dwarf.halo()
    steps: list[Compute | _core.Schedule] = []

    def swap(name: str) -> _core.Schedule:
        algorithm = dwarf.method(name).algorithm or default_algorithm(halo.name)
        return _core.make_schedule(halo.with_levels((dwarf.levels, 2 if name == "limits" else 1)), algorithm)

    def compute(label: str, kind: str, nodes: Iterable[int], during: _core.Schedule | None = None) -> Compute:
        flops = 0.0 if dwarf.point_s else FLOPS[kind]
        moved = copied(VALUES[kind] * dwarf.element_bytes)
        points = [float(dwarf.work * dwarf.levels * n) for n in nodes]
        return Compute(label, flops=flops, bytes=moved, point_s=dwarf.point_s, points=points, during=during)

    if dwarf.strategy == "fused":
        steps += [
            compute("divergence near the rim", "divergence", [len(part.near_rim()) for part in parts]),
            compute("interior", "fused", interior, swap("divergence")),
            compute("tracer of the rim", "tracer", rim),
            swap("tracer"),
        ]
        return Program(*steps, dtype=dwarf.precision, name="mpdata, fused")
    for number, stage in enumerate(stages, 1):
        label = f"{number} {stage}"
        if dwarf.strategy in ("exchange", "plain"):
            steps += [compute(label, stage, everything), swap(stage)]
        else:
            steps += [compute(f"{label} of the rim", stage, rim), compute(label, stage, interior, swap(stage))]
    return Program(*steps, dtype=dwarf.precision, name=f"mpdata, {dwarf.strategy}")
