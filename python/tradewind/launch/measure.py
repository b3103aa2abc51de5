"""Functions that the ranks of a benchmark run."""

from __future__ import annotations

import platform
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core, mpi
from tradewind.base.collective import attempt
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, VerificationError
from tradewind.launch import recorded
from tradewind.launch.energy import EnergyMeter, measured
from tradewind.launch.quiet import QuietWatch, cores_here
from tradewind.launch.samples import rates
from tradewind.launch.worker import report_progress
from tradewind.method.memories import PRIVATE
from tradewind.method.method import DEFAULT_PACKING, NATIVE
from tradewind.mpi.arrays import shared_zeros
from tradewind.mpi.library import MPI, _mpi
from tradewind.timeline import save
from tradewind.workload.arrays import UNTOUCHED, Array, Arrays
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    from tradewind.device import Device

_COPY_BYTES = 64 * 2**20  # well beyond the caches
_COPY_THREADS = 8  # that have as many each
_COPY_SAMPLES = 7
_MAX_IN_A_ROW = 1000


class ExchangeArrays:
    """The arrays of an exchange on one rank: by step its source and target fields.

    The target of a transposition is the source of the next one. `memory`: "private", or "shared" as `mpi.empty` gives.
    """

    def __init__(self, exchange: Exchange, rank: int, memory: str = PRIVATE) -> None:
        exchange.require_arrays()
        self.exchange = exchange
        self.known = exchange.arrays() or Arrays
        self.rank = rank
        self.memory = memory
        self.patterns: dict[str, _core.Pattern] = {
            name: schedule.pattern for name, schedule in exchange.schedules().items()
        }
        self.arrays: dict[str, tuple[list[Array], list[Array] | None]] = {}
        last: list[Array] | None = None
        for name, pattern in self.patterns.items():
            source = last or [self._placed(self._source(pattern, f)) for f in range(exchange.fields)]
            targets = [self.known.target(pattern, rank, exchange.dtype) for _ in range(exchange.fields)]
            last = None if pattern.in_place else [self._placed(t) for t in targets if t is not None]
            self.arrays[name] = (source, last)

    def _source(self, pattern: _core.Pattern, field: int) -> Array:
        return self.known.source(pattern, self.rank, field, self.exchange.dtype)

    def _placed(self, array: Array) -> Array:
        """The array in the memory that was asked for."""
        if self.memory == PRIVATE:
            return array
        shared = shared_zeros(array.shape, self.exchange.dtype)
        shared[...] = array
        return shared

    def refill(self) -> None:
        """Puts back what the arrays hold before the exchange."""
        first = True
        for name, pattern in self.patterns.items():
            source, target = self.arrays[name]
            if first or pattern.in_place:
                for field, array in enumerate(source):
                    array[...] = self._source(pattern, field).reshape(array.shape)
            for array in target or []:
                array[...] = UNTOUCHED
            first = False

    def wrong(self) -> str:
        """Return the first difference from the reference result; "" if there is none."""
        for name, pattern in self.patterns.items():
            source, target = self.arrays[name]
            for field, array in enumerate(target or source):
                wanted = self.known.expected(pattern, self.rank, field, array.dtype.str[1:])
                different = np.argwhere(array != wanted)
                if len(different):
                    place = tuple(int(i) for i in different[0])
                    return (
                        f"rank {self.rank}, {name}, field {field}: {len(different)} of {array.size} elements differ "
                        f"from the expected result, first {array[place]} for {wanted[place]} at {place}"
                    )
        return ""

    def payload_bytes(self) -> int:
        """Bytes that one whole exchange writes on this rank."""
        points = {name: self.known.expected_points(pattern, self.rank) for name, pattern in self.patterns.items()}
        elements = sum(points[step.name] * step.repeat for step in self.exchange.steps())
        return elements * self.exchange.fields * DTYPES[self.exchange.dtype]


def measure(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Measures as `tradewind.launch.bench` asks. Collective; the result counts on rank 0."""
    watch = QuietWatch(comm)
    return _measured(comm, payload, measure_copy(comm)) | circumstances(comm, watch, checked=payload["check"])


def measure_sizes(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Measures as `tradewind.launch.bench_sizes` asks. Collective; the result counts on rank 0."""
    watch = QuietWatch(comm)
    copy_bytes_per_s = measure_copy(comm)
    sizes = [
        {"message_bytes": each["message_bytes"], **_measured(comm, payload | each | {"part": part}, copy_bytes_per_s)}
        for part, each in enumerate(payload["sizes"])
    ]
    return {"sizes": sizes, **circumstances(comm, watch, checked=payload["check"])}


def _measured(comm: MPI.Intracomm, payload: dict[str, Any], copy_bytes_per_s: float) -> dict[str, Any]:
    """Return the measurement of one exchange by all methods. Collective."""
    exchange = Exchange.from_plain(payload["exchange"])
    check_ranks(comm, exchange)
    data = ExchangeArrays(exchange, comm.Get_rank())
    size = comm.allreduce(data.payload_bytes(), MPI.MAX)
    floor = _plans(comm, data, payload["floor_algorithm"], payload["floor_transport"], DEFAULT_PACKING)
    floor_s = statistics.median(_samples(comm, data, floor, payload, copy_only=True)[0])
    results, skipped = _interleaved(comm, data, payload)
    for row in results:
        row |= rates(row["median_s"], size, copy_bytes_per_s, floor_s)
    if not results:
        raise InputError(*dict.fromkeys(item["reason"] for item in skipped))
    if payload["timeline"] is not None:
        _save_time_line(comm, data, results, payload)
    return {
        "exchange": exchange.as_dict() | {"algorithm": None},
        "results": results,
        "skipped": skipped,
        "bytes": size,
        "floor_s": floor_s,
        "floor_algorithm": payload["floor_algorithm"],
        "copy_bytes_per_s": copy_bytes_per_s,
    }


def circumstances(comm: MPI.Intracomm, watch: QuietWatch, *, checked: bool) -> dict[str, Any]:
    """Return where, and on how quiet a machine, something was measured. Collective."""
    cores = cores_here(comm)
    per_core = mpi.ranks_per_core(comm, cores)
    return {
        "ranks": comm.Get_size(),
        "cores": cores,
        "ranks_per_core": per_core,
        "oversubscribed": per_core > 1,
        "checked": checked,
        "quiet": watch.result(),
        "provenance": provenance(),
    }


def check_ranks(comm: MPI.Intracomm, exchange: Exchange) -> None:
    """Raises InputError where an exchange is for another number of ranks."""
    if comm.Get_size() != exchange.ranks:
        raise InputError(f"{comm.Get_size()} ranks were started for an exchange of {exchange.ranks}")


def _save_time_line(
    comm: MPI.Intracomm, data: ExchangeArrays, results: list[dict[str, Any]], payload: dict[str, Any]
) -> None:
    """Save the time line of the fastest method."""
    best = comm.bcast(min(results, key=lambda row: float(row["median_s"])))
    method = [best[name] for name in ("algorithm", "transport", "packing")]
    title = f"{data.exchange.pattern} on {data.exchange.ranks} ranks, {', '.join(dict.fromkeys(method))}"
    plans = _plans(comm, data, *method, record="events", watchdog_s=payload["watchdog_s"])
    line = recorded.time_line(comm, data.exchange, plans, payload["warmup"], title)
    if line is not None:
        save(line, Path(payload["timeline"]))


def _interleaved(
    comm: MPI.Intracomm, data: ExchangeArrays, payload: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the times of all methods, and the skipped ones with the reason. One plan at a time: each needs memory."""
    measured = [Measured(method) for method in payload["methods"]]
    skipped: list[dict[str, Any]] = []
    part, parts = payload.get("part", 0), len(payload.get("sizes", [0]))
    done, total = 0, payload["rounds"] * max(1, len(measured))
    for round_ in range(payload["rounds"]):
        repeat = payload["repeat"] // payload["rounds"] + (round_ < payload["repeat"] % payload["rounds"])
        for method in list(measured):
            if payload["report"] and comm.Get_rank() == 0:
                named = ", ".join(method.method.values())
                report_progress({"method": named, "fraction": (part + done / total) / parts})
            done += 1
            reason = method.take(comm, data, payload | {"repeat": repeat}, check=payload["check"] and not round_)
            if reason:
                measured.remove(method)
                skipped.append({**method.method, "reason": reason})
    return [method.row(data) for method in measured], skipped


class Measured:
    """Samples of one method so far."""

    def __init__(self, method: dict[str, str]) -> None:
        self.method = method
        self.samples_s: list[float] = []
        self.by_step_s: list[list[float]] = []
        self.sent: dict[str, int | None] = {}
        self.energies: list[dict[str, Any]] = []
        """Measured energy of each round, warm-up included."""
        self.exchanges = 0
        """Number of exchanges in all of them."""
        self.in_a_row = 0
        """Exchanges in a sample; 0: not chosen yet."""

    def take(self, comm: MPI.Intracomm, data: ExchangeArrays, payload: dict[str, Any], *, check: bool) -> str:
        """Takes some samples more, with new plans. Returns why it cannot; else "". Collective."""
        algorithm, native = self.method["algorithm"], self.method["algorithm"] == NATIVE
        watched = {"watchdog_s": payload["watchdog_s"]}
        plans, reason = attempt(
            comm, lambda: _plans(comm, data, algorithm, self.method["transport"], self.method["packing"], **watched)
        )
        if plans is None:
            return reason
        if check:
            check_results(comm, data, plans, algorithm)
        self.in_a_row = self.in_a_row or _in_a_row(comm, data, plans, payload["sample_s"])
        with EnergyMeter(comm) as meter:
            total, by_step = _samples(comm, data, plans, payload, in_a_row=self.in_a_row)
        self.samples_s += total
        self.energies.append(meter.result())
        self.exchanges += (payload["warmup"] + payload["repeat"]) * self.in_a_row
        self.by_step_s = [old + new for old, new in zip(self.by_step_s or [[] for _ in by_step], by_step, strict=True)]
        # The messages of the library's collective are not known.
        self.sent = {"messages": None, "bytes_sent": None} if native else _sent(comm, data, plans)
        return ""

    def row(self, data: ExchangeArrays) -> dict[str, Any]:
        """Return the row of `tradewind.launch.bench`."""
        steps = zip(data.exchange.steps(), self.by_step_s, strict=True)
        # The library's collective has no transport of ours, and packs by the types of MPI or not at all.
        native = {"transport": NATIVE, "packing": DEFAULT_PACKING} if self.method["algorithm"] == NATIVE else {}
        return {
            "median_s": statistics.median(self.samples_s),
            "min_s": min(self.samples_s),
            "samples_s": self.samples_s,
            "exchanges_per_sample": self.in_a_row,
            **self._energy(),
            "steps": [
                {"name": step.name, "repeat": step.repeat, "median_s": statistics.median(taken), "min_s": min(taken)}
                for step, taken in steps
            ],
            **self.sent,
            **self.method,
            **native,
        }

    def _energy(self) -> dict[str, Any]:
        """Return the measured joules of an exchange, or the reason why there are none."""
        found = measured(self.energies)
        return found if found["no_energy"] else {**found, "energy_j": found["energy_j"] / self.exchanges}


def _plans(
    comm: MPI.Intracomm, data: ExchangeArrays, algorithm: str, transport: str, packing: str, **options: Any
) -> dict[str, mpi.Plan]:
    """Return a plan per step; `options` of `tradewind.mpi.plan`."""
    native = algorithm == NATIVE
    exchange = data.exchange if native else replace(data.exchange, algorithm=algorithm)
    plans = {}
    for name, schedule in exchange.schedules().items():
        source, target = data.arrays[name]
        if native:
            plans[name] = mpi.plan(schedule.pattern, comm, source, target, algorithm=NATIVE, **options)
        else:
            plans[name] = mpi.plan(schedule, comm, source, target, transport=transport, packing=packing, **options)
    return plans


def check_results(comm: MPI.Intracomm, data: ExchangeArrays, plans: dict[str, mpi.Plan], method: str) -> None:
    """Carries out the exchange once. Raises VerificationError where something else arrives than the expected result."""
    data.refill()
    for plan in plans.values():
        plan()
    found = [text for text in comm.allgather(data.wrong()) if text]
    if found:
        raise VerificationError(f"{data.exchange.pattern} {method}: {found[0]} ({len(found)} ranks are wrong)")


def _in_a_row(comm: MPI.Intracomm, data: ExchangeArrays, plans: dict[str, mpi.Plan], sample_s: float) -> int:
    """Return how many exchanges in a row take `sample_s` seconds: one alone may be shorter than a tick of the clock."""
    if not sample_s:
        return 1
    first_s = min(_samples(comm, data, plans, {"warmup": 2, "repeat": 3})[0])
    return int(min(max(sample_s / max(first_s, 1e-9), 1), _MAX_IN_A_ROW))


def _samples(
    comm: MPI.Intracomm,
    data: ExchangeArrays,
    plans: dict[str, mpi.Plan],
    payload: dict[str, Any],
    *,
    copy_only: bool = False,
    in_a_row: int = 1,
) -> tuple[list[float], list[list[float]]]:
    """Return the seconds of an exchange, and those by step; `in_a_row`: exchanges of each step in a sample."""
    steps = [(plans[step.name], step.repeat * in_a_row) for step in data.exchange.steps()]
    total, by_step = _mpi.measure(comm.py2f(), steps, payload["warmup"], payload["repeat"], copy_only)
    return [each / in_a_row for each in total], [[each / in_a_row for each in step] for step in by_step]


def _sent(comm: MPI.Intracomm, data: ExchangeArrays, plans: dict[str, mpi.Plan]) -> dict[str, int | None]:
    """Messages and bytes of the rank that sends most. Collective."""
    steps = data.exchange.steps()
    messages = sum(plans[step.name].messages * step.repeat for step in steps)
    sent = sum(plans[step.name].bytes_sent * step.repeat for step in steps)
    return {"messages": comm.allreduce(messages, MPI.MAX), "bytes_sent": comm.allreduce(sent, MPI.MAX)}


def measure_copy(comm: MPI.Intracomm, threads: int = 1) -> float:
    """Bytes per second that a rank copies from memory to memory on `threads` threads, while all others do so too.

    Collective.
    """
    size = copy_size(threads)
    arrays = [(np.zeros(size, np.uint8), np.ones(size, np.uint8)) for _ in range(threads)]
    seconds = []
    with ThreadPoolExecutor(threads) as team:
        for _ in range(_COPY_SAMPLES):
            comm.Barrier()
            begin = MPI.Wtime()
            for _ in team.map(np.copyto, *zip(*arrays, strict=True)):
                pass
            seconds.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return float(threads * size / statistics.median(seconds[1:]))


def measure_device_copy(comm: MPI.Intracomm, device: Device) -> float:
    """Bytes per second that a rank copies within the memory of its device, while all others do so too. Collective."""
    size = device.copy_bytes
    source, target = device.full((size,), np.uint8, 1), device.full((size,), np.uint8, 0)
    seconds = []
    for _ in range(_COPY_SAMPLES):
        device.synchronize()
        comm.Barrier()
        begin = MPI.Wtime()
        device.copy_within(source, target)
        device.synchronize()
        seconds.append(comm.allreduce(MPI.Wtime() - begin, MPI.MAX))
    return float(size / statistics.median(seconds[1:]))


def copy_size(threads: int) -> int:
    """Bytes that each of `threads` threads copies; the total is limited, so that the memory of a rank holds it."""
    return _COPY_BYTES * min(threads, _COPY_THREADS) // threads


def provenance() -> dict[str, str]:
    """Return the host and the software of a measurement."""
    import importlib.metadata

    return {
        "host": platform.node(),
        "cpu": _core.cpu_name(),
        "mpi": mpi.library_name(),
        "mpi_at_build": _mpi.build_mpi,
        "compiler": _mpi.build_compiler,
        "tradewind": importlib.metadata.version("tradewind"),
        "python": platform.python_version(),
    }
