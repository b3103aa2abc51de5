"""The time step of MPDATA as the simulator takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.dwarfs.frame.dwarf import copied
from tradewind.method.method import default_algorithm
from tradewind.workload.program import Compute, Program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tradewind.dwarfs.frame.on_mesh import MeshDwarf

FACES = 3
"""Faces per node, nearly: a node has six, each of which it shares."""
FLOPS = {"divergence": 43, "limits": 126, "tracer": 77, "fused": 57}
"""Per node and level, for six neighbours; a node computes all of its faces, but a sweep each face once."""
VALUES = {"divergence": FACES + 2, "limits": FACES + 4, "tracer": FACES + 3, "fused": FACES + 2}
"""Values read or written per node and level by a loop over all nodes: fluxes, fields in, fields out."""


def staging(dwarf: MeshDwarf, label: str, stage: str, nodes: Iterable[int], host_bandwidth: float | None) -> Compute:
    """A copy of a whole array to the host or back: at the rate of that way, or through the memory of the node."""
    values = 2 if stage == "limits" else 1
    points = [float(values * dwarf.levels * n) for n in nodes]
    if host_bandwidth is None:
        return Compute(label, bytes=float(dwarf.element_bytes), points=points)  # a copy, at a rate of copies
    return Compute(label, point_s=dwarf.element_bytes / host_bandwidth, points=points)


def program(dwarf: MeshDwarf, stages: Sequence[str], host_bandwidth: float | None = None) -> Program:
    """The program of one step of a dwarf, `stages` being what it computes and exchanges one after the other.

    `host_bandwidth`: bytes per second of copies to and from the host; None: those are copies in the node's memory.
    """
    shares = dwarf.shares()
    everything = [len(own) for own in shares.own]
    rim = shares.rim.tolist()
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
        return Compute(label, 0.0, flops, moved, None, during, 1, dwarf.point_s, points, kernel=dwarf.kind)

    if dwarf.strategy == "fused":
        steps += [
            compute("divergence near the rim", "divergence", shares.near_rim),
            compute("interior", "fused", interior, swap("divergence")),
            compute("tracer of the rim", "tracer", rim),
            swap("tracer"),
        ]
        return Program(*steps, dtype=dwarf.precision, name="mpdata, fused")
    staged = [len(own) + len(halo) for own, halo in zip(shares.own, shares.halo, strict=True)]
    for number, stage in enumerate(stages, 1):
        label = f"{number} {stage}"
        if dwarf.strategy == "staged":
            there, back = (
                staging(dwarf, f"{label} {way} the host", stage, staged, host_bandwidth) for way in ("to", "from")
            )
            steps += [compute(label, stage, everything), there, swap(stage), back]
        elif dwarf.strategy in ("exchange", "plain"):
            steps += [compute(label, stage, everything), swap(stage)]
        else:
            steps += [compute(f"{label} of the rim", stage, rim), compute(label, stage, interior, swap(stage))]
    return Program(*steps, dtype=dwarf.precision, name=f"mpdata, {dwarf.strategy}")
