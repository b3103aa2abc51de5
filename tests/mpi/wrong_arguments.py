"""Every collective call with every argument wrong on one rank; run by the tests."""

from __future__ import annotations

import inspect
import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from collective_functions import documented

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
    *(None, "wrong", 1.5, -7, 2**61, 2**70, object(), [object()], [2**63 - 1], "no UTF-8: \udcb0"),
    *(Raises(MemoryError), Raises(KeyboardInterrupt)),
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


DWARFS: dict[str, dict[str, Any]] = {
    "diffusion": {"grid": (16, 12, 2)},
    "spherical_harmonics": {"truncation": 15, "levels": 2},
    "mpdata": {"grid": "O4", "levels": 2},
    "bifourier": {"grid": (16, 12, 2)},
    "hirlam": {"grid": (16, 12, 2)},
    "helmholtz": {"grid": (16, 12, 6)},
    "semi_lagrangian": {"grid": (16, 12, 2)},
    "nekbone": {"elements": (2, 1, 1), "nx1": 4, "mass": True, "side": "wave"},
}
OF_RUNS = {"advance": (1,), "diagnose": (), "gathered": (), "map": (), "reset": (), "error": (), "outputs": ()}
PLAN = """
folder = "written"
existing = "continue"
[[sink]]
name = "s"
format = "netcdf"
path = "{step}.nc"
[[rule]]
sink = "s"
every = 1
"""


def of_dwarfs(comm: Any) -> dict[str, Call]:
    from tradewind.base.collective import is_collective
    from tradewind.dwarfs import find

    found = {}
    for name, options in DWARFS.items():
        dwarf = find(name)(ranks=comm.size, **options)
        others = {"initial": None} if "initial" in inspect.signature(dwarf.on).parameters else {}
        found[f"{name}: on"] = Call(dwarf.on, (comm,), others | {"record": "totals"})
        run = dwarf.on(comm)
        for method, needed in OF_RUNS.items():
            if is_collective(getattr(run, method, None)):
                found[f"{name}: {method}"] = Call(getattr(run, method), needed)
    return found


def of_transforms(comm: Any) -> dict[str, Call]:
    from tradewind.spectral import Distribution, Truncation

    distribution = Distribution(Truncation("O4"), comm.size, levels=2, variables=2)
    few = {"methods": None, "tables": True, "threads": 1, "winds": False, "radius": 1.0, "transport": "sendrecv"}
    one = tw.DistributedTransform(distribution, comm)
    of_winds = tw.DistributedTransform(distribution, comm, winds=True)
    return {
        "transform": Call(tw.DistributedTransform, (distribution, comm), few),
        **{name: Call(getattr(one, name)) for name in ("to_spectral", "to_grid", "to_columns", "from_columns")},
        "to_spectral_adjoint": Call(one.to_spectral_adjoint, (), {"product": "plain"}),
        "to_grid_adjoint": Call(one.to_grid_adjoint, (), {"product": "plain"}),
        "gradient": Call(of_winds.gradient),
        "gradient_adjoint": Call(of_winds.gradient_adjoint, (), {"product": "plain"}),
    }


def field_server(*args: Any, **options: Any) -> None:
    tw.FieldServer(*args, **options).close()


def closed_server(comm: Any) -> Any:
    server = tw.FieldServer("plan.toml", comm)
    server.close()
    return server


def calls(comm: Any) -> dict[str, Call]:
    from tradewind import mpi, points, timeline
    from tradewind.mpi.choice import choose_collectively

    if comm.rank == 0:
        Path("plan.toml").write_text(PLAN)
    comm.Barrier()

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
        "halo of a mesh": Call(tw.MeshHalo("R2B1x4", comm.size).on, (comm,)),
        "renumbered": Call(tw.renumbered, (comm, [2 * rank, 2 * rank + 1], [there])),
        "gathered": Call(points.gathered, (comm, fetch)),
        "known to all": Call(points.allgather_lists, (comm, fetch)),
        "tune": Call(tw.tune, (halo, comm, array), few | {"dims": "zyx", "operation": "sum", "tuning": None}),
        "choose together": Call(choose_collectively, (comm, halo, "f8", 1), {"tuning": "", "memory": "private"}),
        "time line": Call(timeline.gather, (comm, [], "title")),
        "gather-scatter": Call(tw.GatherScatter, ([1, 2 + rank], "add", comm)),
        "redistribution": Call(points.redistribution, (comm, [2 * rank, 2 * rank + 1], [there])),
        "record": Call(tw.record, (comm,)),
        "ranks here": Call(mpi.ranks_here, (comm,)),
        "ranks per core": Call(mpi.ranks_per_core, (comm, 2)),
        "field server": Call(field_server, ("plan.toml", comm), {"servers": 0, "method": None, "steps": 3}),
        "its time line": Call(closed_server(comm).time_line, ("title",), {"steps": ()}),
        **of_transforms(comm),
        **of_dwarfs(comm),
    }


def run(comm: Any, stride: int) -> tuple[dict[str, list[tuple[str, int, list[str]]]], list[str]]:
    """Return for each call: mistake, rank at fault, and the error on each rank, "" where the call returned.

    Returns also the documented collective functions that are not among the calls.
    """
    known = calls(comm)
    return {name: _outcomes(comm, name, call, stride) for name, call in known.items()}, _not_called(known)


def _not_called(known: dict[str, Call]) -> list[str]:
    from tradewind.base.collective import is_collective

    called = {tw.FieldServer.__init__, tw.FieldServer.time_line}  # by functions above
    for call in known.values():
        function = call.function
        called.add(function.__init__ if inspect.isclass(function) else getattr(function, "__func__", function))
    wanted = {name: function for name, function in documented() if is_collective(function)}
    inner = "tradewind.mpi.points."  # those of tradewind.points call them
    return [name for name, function in wanted.items() if function not in called and not name.startswith(inner)]


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
    """Return the error per rank where rank 0 may open only a few files: it gets no memory that others can read."""
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
