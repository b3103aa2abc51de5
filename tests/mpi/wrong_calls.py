"""Every collective call with every argument wrong on one rank; run by the tests."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tradewind as tw


class Raises:
    """An argument that raises when it is used."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def _raise(self, *_: Any, **__: Any) -> Any:
        raise self._error("of its own")

    __iter__ = __len__ = __index__ = __int__ = __float__ = __bool__ = __str__ = __array__ = __call__ = __eq__ = _raise
    __hash__ = None  # type: ignore[assignment]
    __class_getitem__ = None

    def __repr__(self) -> str:
        return f"Raises({self._error.__name__})"


WRONG = (
    *(None, "wrong", 1.5, -7, 2**61, 2**70, object(), [object()], [2**63 - 1]),
    *(Raises(KeyError), Raises(KeyboardInterrupt)),
)


@dataclass
class Call:
    """A function and arguments that suit it; `optional`: those that stand under their names."""

    function: Callable[..., Any]
    needed: tuple[Any, ...] = ()
    optional: dict[str, Any] = field(default_factory=dict)

    def wrong(self, stride: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        """Arguments on the rank at fault, with a name: every `stride`-th wrong value of each argument."""
        yield "an unknown keyword", self.needed, {**self.optional, "nonsense": 1}
        yield "too many arguments", (*self.needed, *[None] * 30), self.optional
        comm = tuple(each for each in self.needed if _is_comm(each))
        if len(self.needed) > len(comm):
            yield "no other arguments", comm, self.optional
        for place, suits in enumerate(self.needed):
            for value in WRONG[place % stride :: stride] if not _is_comm(suits) else ():
                wrong = (*self.needed[:place], value, *self.needed[place + 1 :])
                yield f"argument {place} = {value!r}", wrong, self.optional
        for place, name in enumerate(self.optional):
            for value in WRONG[place % stride :: stride]:
                yield f"{name} = {value!r}", self.needed, {**self.optional, name: value}


def _is_comm(value: Any) -> bool:
    from mpi4py import MPI

    return isinstance(value, MPI.Intracomm)


def calls(comm: Any) -> dict[str, Call]:
    from tradewind import points, trace
    from tradewind.mpi.choice import choose_collectively

    rank = comm.Get_rank()
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 6, 2), (comm.size, 1)), 1, "xy")
    swap = tw.Transpose(tw.Blocks(tw.Grid(8, 6, 2), (comm.size, 1)), tw.Blocks(tw.Grid(8, 6, 2), (comm.size, 1), "zy"))
    array = np.zeros(halo.source_shape(rank))
    source, target = np.zeros(swap.source_shape(rank)), np.zeros(swap.target_shape(rank))
    methods = {"algorithm": "direct", "transport": "persistent", "packing": "buffer"}
    rest = {"dims": "zyx", "operation": "sum", "largest_message": 1000, "pack_ahead": True, "synchronous": False}
    rest |= {"check": False, "watchdog_s": 0.0, "record": "", "ranks_per_node": 0, "tuning": ""}
    mesh = points.Points(comm, [2 * rank, 2 * rank + 1])
    there = 2 * (1 - rank)
    fetch = mesh.fetch([there])
    owners = {"owner": [1 - rank], "index": [0], "places": [0], "peers": [1 - rank]}
    few = {"include": ["direct,isend-irecv,buffer"], "exclude": [], "warmup": 0, "trials": 1, "give_up": 9.0}
    return {
        "plan": Call(tw.plan, (swap, comm, source, target), methods | {"algorithm": "burst"} | rest),
        "plan of a halo": Call(halo.plan, (comm, array), methods | rest),
        "plan of a schedule": Call(halo.schedule("sweep").plan, (comm, array), {"transport": "shared"}),
        "plan of a fetch": Call(fetch.plan, (comm, np.zeros(2), np.zeros(1)), {"axis": -1}),
        "empty": Call(tw.empty, (halo, comm), {"dtype": "f4", "fields": 2, "of": "source", "dims": "xyz"}),
        "points of ids": Call(tw.Points, (comm, [2 * rank, 2 * rank + 1])),
        "points of a count": Call(tw.Points, (comm, 5)),
        "points of a layout": Call(tw.Points, (comm, halo.layout)),
        "locate": Call(mesh.locate, ([there],)),
        "fetch of ids": Call(mesh.fetch, ([there],), {"peers": [1 - rank]}),
        "fetch of owners": Call(mesh.fetch, (), owners),
        "halo of ids": Call(mesh.halo, ([there],), {"peers": None}),
        "halo of owners": Call(mesh.halo, (), owners | {"places": None}),
        "renumbered": Call(tw.renumbered, (comm, [2 * rank, 2 * rank + 1], [there])),
        "gathered": Call(points.gathered, (comm, fetch)),
        "known to all": Call(points.allgather_lists, (comm, fetch)),
        "tune": Call(tw.tune, (halo, comm, array), few | {"dims": "zyx", "operation": "sum", "tuning": None}),
        "choose together": Call(choose_collectively, (comm, halo, "f8", 1), {"tuning": "", "memory": "private"}),
        "time line": Call(trace.gather, (comm, [], "title")),
    }


def run(comm: Any, stride: int) -> dict[str, list[tuple[str, int, list[str]]]]:
    """Return for each call: mistake, rank at fault, and the error on each rank, "" where the call returned."""
    return {name: _outcomes(comm, name, calls(comm)[name], stride) for name in NAMES}


def _outcomes(comm: Any, name: str, call: Call, stride: int) -> list[tuple[str, int, list[str]]]:
    outcome = []
    for at_fault in range(comm.Get_size()):
        for what, args, options in call.wrong(stride):
            if comm.Get_rank() != at_fault:
                args, options = call.needed, call.optional
            else:
                print(f"{name}: {what} on rank {at_fault}", flush=True)  # the last line, where it hangs
            try:
                call.function(*args, **options)
                met = ""
            except BaseException as error:
                met = f"{type(error).__name__}: {error}"
            outcome.append((what, at_fault, comm.allgather(met)))
    return outcome


def starved(comm: Any, allowed: list[int]) -> list[list[str]]:
    """Return the error per rank where rank 0 may open only so many files: it gets no memory that others can read."""
    rank = comm.Get_rank()
    halo = tw.Halo(tw.Blocks(tw.Grid(8, 6, 2), (comm.size, 1)), 1, "xy")
    array = np.zeros(halo.source_shape(rank))
    halo.plan(comm, array, transport="shared")()  # what is set up once
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = []
    for files in allowed:
        with open(os.devnull) as next_file:
            number = next_file.fileno()
        if rank == 0:
            resource.setrlimit(resource.RLIMIT_NOFILE, (number + files, limits[1]))
        try:
            halo.plan(comm, array, transport="shared")()
            met = ""
        except BaseException as error:
            met = f"{type(error).__name__}: {error}"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        found.append(comm.allgather(met))
        array[...] = rank
        halo.plan(comm, array, transport="shared")()
        assert array.max() == comm.size - 1
    return found


NAMES = (
    *("plan", "plan of a halo", "plan of a schedule", "plan of a fetch", "empty", "points of ids"),
    *("points of a count", "points of a layout", "locate", "fetch of ids", "fetch of owners", "halo of ids"),
    *("halo of owners", "renumbered", "gathered", "known to all", "tune", "choose together", "time line"),
)
