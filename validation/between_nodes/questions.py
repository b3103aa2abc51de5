"""The questions of questions.toml, and the cases of which each consists."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLACEMENTS = {"not stated": "linear", "same switch": "linear", "one group": "linear", "different switches": "scattered"}
"""Placement of the simulation by what is published of it."""
SHORT_ALLTOALL, MEDIUM_ALLTOALL, SHORT_ALLREDUCE = 256, 32768, 2048
"""Bytes up to which MPICH takes Bruck's all-to-all (of 8 ranks or more), messages in batches, recursive doubling."""
BATCH = 32
"""Messages in a batch of MPICH's all-to-all of medium size."""


@dataclass(frozen=True)
class Case:
    """A simulation: what is exchanged, where, and by which algorithm."""

    what: str
    machine: str
    nodes: int
    ranks_per_node: int
    size: int
    placement: str
    algorithm: str

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


@dataclass(frozen=True)
class Question:
    """A published measurement."""

    id: str
    test: str
    machine: str
    nodes: list[int]
    ranks_per_node: int
    sizes: list[int]
    placement: str
    grids: tuple[tuple[int, ...], ...] = ()

    def cases(self) -> Iterator[tuple[Case, bool]]:
        """Yield all cases, each with whether it is the one that is bet on."""
        for nodes in self.nodes:
            for size in self.sizes:
                for what in self._parts():
                    names = candidates(what, nodes, self.ranks_per_node, size)
                    for name in names:
                        place = PLACEMENTS[self.placement]
                        case = Case(what, self.machine, nodes, self.ranks_per_node, size, place, name)
                        yield case, name == names[0]

    def _parts(self) -> list[str]:
        if self.test == "halo_cell_exchange":
            return [f"halo {'x'.join(map(str, grid))}" for grid in self.grids]
        parts = {
            "osu_latency_bw": ["pingpong", "bandwidth"],
            "allreduce_alltoall": ["allreduce", "alltoall"],
            "b_eff": ["pingpong", "natural ring", "random ring"],
        }
        return parts.get(self.test, [self.test])


def candidates(what: str, nodes: int, ranks_per_node: int, size: int) -> list[str]:
    """Return the names of the algorithms that are simulated, the one that is bet on first.

    The bet follows MPICH (Thakur, Rabenseifner & Gropp 2005, and the defaults of its releases), whatever the MPI
    library of the measurement.
    """
    ranks = nodes * ranks_per_node
    if what == "alltoall":
        batches = f"ring-{min(BATCH, ranks - 1)}"
        names = ["bruck", batches, "pairwise"] if size <= 1024 else [batches, "pairwise"]
        if ranks_per_node > 1:
            names.append(f"two-level-{ranks_per_node}")
        short = ranks >= 8 and size <= SHORT_ALLTOALL
        return _first("bruck" if short else batches if size <= MEDIUM_ALLTOALL else "pairwise", names)
    if what == "allreduce":
        names = ["recursive-2", "rabenseifner"]
        if size >= 65536 and ranks <= 1024:
            names.append("ring")
        within = "node-" if ranks_per_node > 1 else ""
        if within:
            names += [f"node-{name}" for name in ("recursive-2", "rabenseifner")]
        return _first(within + ("recursive-2" if size <= SHORT_ALLREDUCE else "rabenseifner"), names)
    if what.startswith("halo "):
        return ["all at once", "by dimension"]
    return {
        "pingpong": ["message"],
        "bandwidth": ["window of 64"],
        "sendrecv": ["chain"],
        "natural ring": ["both at once", "sendrecv"],
        "random ring": ["both at once", "sendrecv"],
        "homme": ["all at once"],
    }[what]


def _first(name: str, names: list[str]) -> list[str]:
    return [name, *(each for each in names if each != name)]


@cache
def content() -> dict[str, Any]:
    """Return questions.toml: `sources`, `question` and `not_askable`."""
    return tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))


def questions() -> list[Question]:
    """Return the questions that are predicted."""
    return [
        Question(
            id=entry["id"],
            test=entry["test"],
            machine=entry["machine"],
            nodes=entry["nodes"] if isinstance(entry["nodes"], list) else [entry["nodes"]],
            ranks_per_node=entry["ranks_per_node"],
            sizes=entry["sizes"],
            placement=entry["placement"],
            grids=tuple(map(tuple, entry.get("grids", ()))),
        )
        for entry in content()["question"]
    ]
