"""What the ranks of a benchmark do."""

from __future__ import annotations

import os
import platform
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from tradewind import _core, _mpi, mpi
from tradewind.errors import InputError, VerificationError
from tradewind.exchange import DTYPES, Exchange
from tradewind.launch import reference
from tradewind.mpi import MPI

_COPY_BYTES = 64 * 2**20  # well beyond the caches
_COPY_SAMPLES = 7


class Room:
    """The arrays of an exchange on one rank: by step its source and target fields.

    The target of a transposition is the source of the next one.
    """

    def __init__(self, exchange: Exchange, rank: int) -> None:
        self.exchange = exchange
        self.rank = rank
        self.patterns: dict[str, _core.Pattern] = {step.name: step.schedule.pattern for step in exchange.steps()}
        self.arrays: dict[str, tuple[list[reference.Array], list[reference.Array] | None]] = {}
        last: list[reference.Array] | None = None
        for name, pattern in self.patterns.items():
            source = last or [self._source(pattern, f) for f in range(exchange.fields)]
            targets = [reference.target(pattern, rank, exchange.dtype) for _ in range(exchange.fields)]
            last = None if pattern.in_place else [t for t in targets if t is not None]
            self.arrays[name] = (source, last)

    def _source(self, pattern: _core.Pattern, field: int) -> reference.Array:
        return reference.source(pattern, self.rank, field, self.exchange.dtype)

    def refill(self) -> None:
        """Puts back what the arrays hold before the exchange."""
        first = True
        for name, pattern in self.patterns.items():
            source, target = self.arrays[name]
            if first or pattern.in_place:
                for field, array in enumerate(source):
                    array[...] = self._source(pattern, field).reshape(array.shape)
            for array in target or []:
                array[...] = reference.UNTOUCHED
            first = False

    def wrong(self) -> str:
        """What differs from the reference answer; "" where nothing does."""
        for name, pattern in self.patterns.items():
            source, target = self.arrays[name]
            for field, array in enumerate(target or source):
                wanted = reference.answer(pattern, self.rank, field, array.dtype.str[1:], self.exchange.periodic)
                different = np.argwhere(array != wanted)
                if len(different):
                    place = tuple(int(i) for i in different[0])
                    return (
                        f"rank {self.rank}, {name}, field {field}: {len(different)} of {array.size} elements differ "
                        f"from the reference answer, first {array[place]} for {wanted[place]} at {place}"
                    )
        return ""

    def payload_bytes(self) -> int:
        """Bytes that one whole exchange writes on this rank."""
        points = {
            name: reference.answer_points(pattern, self.rank, self.exchange.periodic)
            for name, pattern in self.patterns.items()
        }
        elements = sum(points[step.name] * step.repeat for step in self.exchange.steps())
        return elements * self.exchange.fields * DTYPES[self.exchange.dtype]


def measure(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Measures as `tradewind.launch.bench` asks. Collective; the answer counts on rank 0."""
    exchange = Exchange.from_plain(payload["exchange"])
    if comm.Get_size() != exchange.ranks:
        raise InputError(f"{comm.Get_size()} ranks were started for an exchange of {exchange.ranks}")
    room = Room(exchange, comm.Get_rank())
    size = comm.allreduce(room.payload_bytes(), MPI.MAX)
    copy_bytes_per_s = measure_copy(comm)
    floor = _plans(comm, room, payload["floor_algorithm"], mpi.TRANSPORTS[0], mpi.PACKINGS[0])
    floor_s = statistics.median(_samples(comm, room, floor, payload, copy_only=True)[0])
    results = []
    for algorithm in payload["algorithms"]:
        for transport in payload["transports"]:
            for packing in payload["packings"]:
                if algorithm == mpi.NATIVE and (transport, packing) != (
                    payload["transports"][0],
                    payload["packings"][0],
                ):
                    continue  # the library's collective has no transport of ours
                plans = _plans(comm, room, algorithm, transport, packing)
                if payload["check"]:
                    _check(comm, room, plans, algorithm)
                row = _row(comm, room, plans, payload, native=algorithm == mpi.NATIVE)
                row |= {
                    "algorithm": algorithm,
                    "transport": mpi.NATIVE if algorithm == mpi.NATIVE else transport,
                    "packing": packing,
                    "bytes_per_s": size / row["median_s"],
                    "ratio_to_copy": row["median_s"] * copy_bytes_per_s / size if size else None,
                    "ratio_to_floor": row["median_s"] / floor_s if floor_s else None,
                }
                results.append(row)
    cores = len(os.sched_getaffinity(0))
    per_core = mpi.ranks_per_core(comm, cores)
    return {
        "exchange": exchange.as_dict() | {"algorithm": None},
        "results": results,
        "bytes": size,
        "floor_s": floor_s,
        "floor_algorithm": payload["floor_algorithm"],
        "copy_bytes_per_s": copy_bytes_per_s,
        "ranks": exchange.ranks,
        "cores": cores,
        "ranks_per_core": per_core,
        "oversubscribed": per_core > 1,
        "checked": payload["check"],
        "provenance": provenance(),
    }


def _plans(comm: MPI.Intracomm, room: Room, algorithm: str, transport: str, packing: str) -> dict[str, mpi.Plan]:
    native = algorithm == mpi.NATIVE
    exchange = room.exchange if native else replace(room.exchange, algorithm=algorithm)
    plans = {}
    for step in exchange.steps():
        if step.name in plans:
            continue
        source, target = room.arrays[step.name]
        if native:
            plans[step.name] = mpi.plan(step.schedule.pattern, comm, source, target, algorithm=mpi.NATIVE)
        else:
            plans[step.name] = mpi.plan(step.schedule, comm, source, target, transport=transport, packing=packing)
    return plans


def _check(comm: MPI.Intracomm, room: Room, plans: dict[str, mpi.Plan], algorithm: str) -> None:
    room.refill()
    for plan in plans.values():
        plan()
    found = [text for text in comm.allgather(room.wrong()) if text]
    if found:
        raise VerificationError(f"{room.exchange.pattern} {algorithm}: {found[0]} ({len(found)} ranks are wrong)")


def _samples(
    comm: MPI.Intracomm, room: Room, plans: dict[str, mpi.Plan], payload: dict[str, Any], *, copy_only: bool = False
) -> tuple[list[float], list[list[float]]]:
    steps = [(plans[step.name], step.repeat) for step in room.exchange.steps()]
    total, by_step = _mpi.measure(comm.py2f(), steps, payload["warmup"], payload["repeat"], copy_only)
    return total, by_step


def _row(
    comm: MPI.Intracomm, room: Room, plans: dict[str, mpi.Plan], payload: dict[str, Any], *, native: bool
) -> dict[str, Any]:
    total, by_step = _samples(comm, room, plans, payload)
    steps = room.exchange.steps()
    known = not native  # what the library's collective sends is its own affair
    messages = sum(plans[step.name].messages * step.repeat for step in steps)
    sent = sum(plans[step.name].bytes_sent * step.repeat for step in steps)
    return {
        "median_s": statistics.median(total),
        "min_s": min(total),
        "samples_s": total,
        "steps": [
            {"name": step.name, "repeat": step.repeat, "median_s": statistics.median(seconds), "min_s": min(seconds)}
            for step, seconds in zip(steps, by_step, strict=True)
        ],
        "messages": comm.allreduce(messages, MPI.MAX) if known else None,
        "bytes_sent": comm.allreduce(sent, MPI.MAX) if known else None,
    }


def measure_copy(comm: MPI.Intracomm, threads: int = 1) -> float:
    """Bytes per second that a rank copies from memory to memory, with so many threads, while all others do so too.

    Collective.
    """
    arrays = [(np.zeros(_COPY_BYTES, np.uint8), np.ones(_COPY_BYTES, np.uint8)) for _ in range(threads)]
    seconds = []
    with ThreadPoolExecutor(threads) as team:
        for _ in range(_COPY_SAMPLES):
            comm.Barrier()
            begin = MPI.Wtime()
            for _ in team.map(np.copyto, *zip(*arrays, strict=True)):
                pass
            seconds.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return float(threads * _COPY_BYTES / statistics.median(seconds[1:]))


def provenance() -> dict[str, str]:
    """Where and with what something was measured."""
    import importlib.metadata

    return {
        "host": platform.node(),
        "cpu": cpu_name(),
        "mpi": " ".join(MPI.Get_library_version().splitlines()[0].split()),
        "mpi_at_build": _mpi.build_mpi,
        "compiler": _mpi.build_compiler,
        "tradewind": importlib.metadata.version("tradewind"),
        "python": platform.python_version(),
    }


def cpu_name() -> str:
    """The processor's name as the system gives it."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass  # no such file on this system: the next best name
    return platform.processor() or platform.machine()
