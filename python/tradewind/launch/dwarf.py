"""Running a dwarf on MPI ranks, and what each of them does."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError, VerificationError
from tradewind.dwarfs import from_plain
from tradewind.fieldserver.server.time_line import first_part
from tradewind.launch import job, worker
from tradewind.timeline import gather, save
from tradewind.timeline.files import PICTURES
from tradewind.timeline.files import check as check_time_line

if TYPE_CHECKING:
    from mpi4py import MPI

    from tradewind.dwarfs.frame.dwarf import Dwarf
    from tradewind.dwarfs.frame.running import Running
    from tradewind.fieldserver.model.field_server import FieldServer

MAPS = "maps"
"""Key of the map before and after, where a picture is wanted."""
_MAX_STEPS = 2**31 - 1
_ROUNDS = 3
"""Rounds of a time line: exchanges, each with the steps that follow it."""


def run(
    dwarf: Dwarf,
    steps: int,
    *,
    repeat: int = 1,
    picture: bool = False,
    timeline: str | Path | None = None,
    output: str | Path | None = None,
    servers: int | str = 0,
    watch: job.Watch | None = None,
) -> dict[str, Any]:
    """Take `steps` steps on real MPI ranks, and return the parts of their time.

    It takes and times them `repeat` times, one after another, on one field; the times that it returns are those of the
    median (the lower one of two). `repeat` and `steps` together are how far the field has come.

    Starts the ranks, or where this process is one of them, is one. Where the dwarf asks for a check, rank 0 then takes
    the same steps of the whole state by `Dwarf.reference`, or the last of them (`Dwarf.checked_steps`), and compares as
    `Dwarf.difference` does. `picture`: also returns the map, before and after, coarse enough to be drawn. `timeline`: a
    file for what ranks do when in a few steps more (see `tradewind.timeline`). `output`: a plan file, by which the
    fields are written, the first before the first step; `servers`: ranks beside those of the dwarf that write them, or
    "threads" (see `tradewind.FieldServer`).
    `watch` is called now and then with what the ranks do, in words. Returns the values of docs/reference/json.md.

    Raises InputError; NotFiniteError; VerificationError where the check finds a difference; PlanError.
    """
    if picture and not dwarf.has_map:
        raise InputError(f"picture: {dwarf.kind} has no map to draw")
    for name, count in (("steps", steps), ("repeat", repeat)):
        if not 1 <= count <= _MAX_STEPS:
            raise InputError(f"{name} {count}: 1..{_MAX_STEPS} are allowed")
    if timeline is not None:
        check_time_line(Path(timeline))
    beside = servers if output is not None and isinstance(servers, int) else 0
    payload = {
        "name": dwarf.kind,
        "dwarf": asdict(dwarf),
        "steps": steps,
        "repeat": repeat,
        "picture": picture,
        "timeline": None if timeline is None else str(timeline),
        "output": None if output is None else str(Path(output).absolute()),
        "servers": servers,
        "report": watch is not None and not job.is_rank(),
    }
    if not job.is_rank():
        result: dict[str, Any] = job.run(dwarf.ranks + beside, f"{__name__}:take_part", payload, watch=watch)
        return result
    from tradewind.mpi.library import MPI

    return take_part(MPI.COMM_WORLD, payload)


def take_part(comm: MPI.Intracomm, payload: dict[str, Any]) -> dict[str, Any]:
    """Run on each rank. Collective; rank 0 returns the result."""
    from tradewind.base.memory import peak_rss_bytes
    from tradewind.launch.energy import EnergyMeter, measured
    from tradewind.launch.measure import measure_copy, measure_device_copy, provenance
    from tradewind.launch.quiet import QuietWatch
    from tradewind.mpi.library import MPI

    dwarf = from_plain(payload["name"], payload["dwarf"])
    steps, repeat = payload["steps"], payload["repeat"]
    report = worker.report_progress if payload.get("report") and comm.Get_rank() == 0 else lambda _: None
    report("set-up")
    watch = QuietWatch(comm)
    server = None
    if payload["output"] is not None:
        from tradewind.fieldserver.model.field_server import FieldServer

        server = FieldServer(payload["output"], comm, servers=payload["servers"], steps=steps * repeat)
        if server.comm is None:
            server.close()
            _save_output_line(server, dwarf, payload["timeline"])
            return {}
        comm = server.comm
    running = dwarf.on(comm)
    initial = running.diagnose()
    check = _Check(dwarf, running, steps, repeat) if dwarf.check else None
    before = _map(running) if payload["picture"] else None
    on_host = running.device.is_host
    copy_bytes_per_s = measure_copy(comm, dwarf.threads) if on_host else measure_device_copy(comm, running.device)
    writing = None if server is None else _Writing(server, running, dwarf)
    report(f"time loop of {steps} steps")
    with EnergyMeter(comm) as meter:
        timed = [_timed(comm, running, steps, writing) for _ in range(repeat - 1)]
        timed.append(_timed(comm, running, steps, writing, check))
    copies = comm.allreduce(running.copies)
    energy = measured([meter.result()])
    if server is not None and writing is not None:
        server.close()
        _save_output_line(server, dwarf, payload["timeline"], writing.events)
    samples_s = [comm.allreduce(total_s, MPI.MAX) for _, total_s in timed]
    seconds, total_s = timed[samples_s.index(statistics.median_low(samples_s))]
    quiet = watch.result(comm)
    final = running.diagnose()
    peak = comm.allreduce(peak_rss_bytes())
    if check is not None:
        report(f"the reference takes {check.steps} steps in one process")
        check.compare(comm)
    if payload["timeline"] is not None and server is None:
        _save_time_line(comm, dwarf, payload["timeline"])
    methods = [{"transport": plan.transport, "packing": plan.packing} for plan in running.plans.values()]
    result = {
        **dwarf.as_dict(),
        **methods[0],
        "plans": [{"plan": name} | method for name, method in zip(running.plans, methods, strict=True)],
        "steps": steps,
        "samples_s": samples_s,
        **energy,
        **_speed(comm, dwarf, running, steps, total_s, copy_bytes_per_s),
        "parts": _parts(comm, seconds, total_s),
        "packing_overlap": _spread(comm.allgather(packing_overlap(seconds))),
        "setup_s": _longest(comm, running.setup_s) or None,
        **_numbers(dwarf, final),
        "initial": _numbers(dwarf, initial),
        "agreement": None if check is None else check.agreement,
        "peak_rss_bytes": peak,
        **_circumstances(comm, dwarf, quiet, samples_s),
        "timeline": payload["timeline"],
        **({} if server is None else {"output": server.figures}),
        **({} if on_host else {"device_name": running.device.description, "device_copies": asdict(copies)}),
        "provenance": provenance(),
    }
    return result | ({MAPS: [before, _map(running)]} if payload["picture"] else {})


def _numbers(dwarf: Dwarf, diagnosis: Any) -> dict[str, float]:
    """The dwarf's diagnostics by name."""
    return {name: getattr(diagnosis, name) for name in dwarf.diagnostics}


class _Writing:
    """Steps of a run between which fields are written."""

    def __init__(self, server: FieldServer, running: Running, dwarf: Dwarf) -> None:
        from tradewind.dwarfs.frame import output

        self._write, self._server, self._outputs, self._step = output.write, server, running.outputs(), 0
        self.events: list[tuple[str, float, float]] = []
        """Steps between two writings, and when."""
        output.define(server, self._outputs, dwarf.precision)
        self._write(server, self._outputs, 0)

    def advance(self, running: Running, steps: int) -> float:
        """Take steps, and return the seconds that output took of them."""
        before, last = self._server.blocked_s, self._step + steps
        while self._step < last:
            ahead = self._step + 1
            while ahead < last and not any(self._server.wants(each.name, ahead) for each in self._outputs):
                ahead += 1
            begin, first = perf_counter(), self._step + 1
            running.advance(ahead - self._step)
            name = f"step {ahead}" if ahead == first else f"steps {first}..{ahead}"
            self.events.append((name, begin, perf_counter()))
            self._step = ahead
            self._write(self._server, self._outputs, ahead)
        return self._server.blocked_s - before


class _Check:
    """The comparison of a run with the reference: of all steps, or of the last ones of its last time loop."""

    def __init__(self, dwarf: Dwarf, running: Running, steps: int, repeat: int) -> None:
        self._dwarf, self._running, self._all = dwarf, running, steps * repeat
        self.steps = self._all
        """Steps that the reference takes."""
        self.last = 0
        """The same, where the state is gathered only before these, in the last time loop."""
        if dwarf.checked_steps is not None and dwarf.checked_steps < self._all:
            self.steps = self.last = min(dwarf.checked_steps, steps)
        self._whole = None if self.last else running.gathered()

    def gather(self) -> None:
        """Keep the whole state, on rank 0. Collective."""
        self._whole = self._running.gathered()

    def compare(self, comm: MPI.Intracomm) -> None:
        """Raises VerificationError on all ranks where the state is not that of the reference. Collective."""
        final, problem = self._running.gathered(), ""
        if self._whole is not None and final is not None:
            problem = self._dwarf.difference(final, self._dwarf.reference(self._whole, self.steps))
        if problem := comm.bcast(problem):
            raise VerificationError(f"{self._dwarf.kind}, {self._dwarf.strategy}, after {self._all} steps: {problem}")

    @property
    def agreement(self) -> str:
        """Statement that holds where `compare` finds nothing."""
        over = f", over the last {self.steps} of {self._all} steps" if self.last else ""
        return self._dwarf.agreement + over


def _timed(
    comm: MPI.Intracomm, running: Running, steps: int, writing: _Writing | None, check: _Check | None = None
) -> tuple[dict[str, float], float]:
    """Seconds of this rank, by part and of the whole loop. `check`: of the last loop, which may gather the state."""
    from tradewind.mpi.library import MPI

    parts = [steps] if check is None or not check.last else [steps - check.last, check.last]
    running.reset()
    output_s = total_s = 0.0
    for number, some in enumerate(parts):
        if check is not None and number + 1 == len(parts) > 1:
            check.gather()
        comm.Barrier()
        begin = MPI.Wtime()
        if writing is None:
            running.advance(some)
        else:
            output_s += writing.advance(running, some)
        total_s += MPI.Wtime() - begin
    return {**running.seconds(), **({} if writing is None else {"output": output_s})}, total_s


def _save_output_line(
    server: FieldServer, dwarf: Dwarf, path: str | None, steps: Sequence[tuple[str, float, float]] = ()
) -> None:
    """Write the time line of the whole run, with its servers. Collective with these."""
    if path is None:
        return
    line = server.time_line(f"{dwarf.kind}, {dwarf.strategy}, {dwarf.ranks} ranks and what writes for them", steps)
    if line is not None:
        save(first_part(line) if Path(path).suffix in PICTURES else line, Path(path))


def _save_time_line(comm: MPI.Intracomm, dwarf: Dwarf, path: str) -> None:
    """Make the time line of a few rounds from the first step on, with recording."""
    running, events = dwarf.on(comm, record="events"), []
    running.reset()
    comm.Barrier()
    for number in range(_ROUNDS):
        begin = perf_counter()
        running.advance(dwarf.steps_per_round)
        name = f"step {number}" if dwarf.steps_per_round == 1 else f"{dwarf.steps_per_round} steps"
        events.append((name, -1, -1, 0, begin, perf_counter()))
    title = f"{dwarf.kind}, {dwarf.strategy}, {dwarf.ranks} ranks"
    line = gather(comm, [*events, *running.events()], title)
    if line is not None:
        save(line, Path(path))


def _parts(comm: MPI.Intracomm, seconds: dict[str, float], total_s: float) -> list[dict[str, Any]]:
    """Return the time of each part: minimum, median and maximum over the ranks. Counts on rank 0."""
    mine = {**seconds, "loop": max(0.0, total_s - sum(seconds.values())), "all": total_s}
    by_rank = comm.gather(mine) or []
    return [{"part": part, **_spread(each[part] for each in by_rank)} for part in (by_rank[0] if by_rank else ())]


def packing_overlap(seconds: Mapping[str, float]) -> float:
    """Return the upper bound of the time that packing while messages travel could save, from the seconds of each part.

    Of each exchange it can hide no more than is packed and unpacked, and no more than is waited.
    """
    saved = 0.0
    for part, waited in seconds.items():
        if part == "wait" or part.endswith("-wait"):
            before = part.removesuffix("wait")
            saved += min(waited, seconds.get(f"{before}pack", 0.0) + seconds.get(f"{before}unpack", 0.0))
    return saved


def _longest(comm: MPI.Intracomm, seconds: dict[str, float]) -> dict[str, float]:
    """Seconds by part of the rank that took longest."""
    from tradewind.mpi.library import MPI

    return {part: comm.allreduce(taken, MPI.MAX) for part, taken in seconds.items()}


def _spread(values: Iterable[float]) -> dict[str, float]:
    values = list(values)
    return {"min_s": min(values), "median_s": statistics.median(values), "max_s": max(values)}


def _speed(
    comm: MPI.Intracomm, dwarf: Dwarf, running: Running, steps: int, total_s: float, copy_bytes_per_s: float
) -> dict[str, Any]:
    from tradewind.mpi.library import MPI

    wall_s = comm.allreduce(total_s, MPI.MAX)
    minimum_bytes = steps * comm.allreduce(running.minimum_bytes, MPI.MAX)
    limit_s = minimum_bytes / copy_bytes_per_s
    return {
        "wall_s": wall_s,
        "points": dwarf.points,
        "points_per_s": float(dwarf.points) * steps / wall_s,
        "minimum_bytes": minimum_bytes,
        "copy_bytes_per_s": copy_bytes_per_s,
        "limit_s": limit_s,
        "ratio_to_copy": wall_s / limit_s,
        "messages": comm.allreduce(running.messages, MPI.MAX),
        "bytes_sent": comm.allreduce(running.bytes_sent, MPI.MAX),
        "pokes": comm.allreduce(running.pokes, MPI.MAX),
    }


def _circumstances(
    comm: MPI.Intracomm, dwarf: Dwarf, quiet: dict[str, float], samples_s: Sequence[float]
) -> dict[str, Any]:
    """Return on which cores it was measured, how quiet they were, and why the times should not be trusted."""
    from tradewind.launch.quiet import cores_here, warnings_of
    from tradewind.mpi.library import ranks_per_core

    cores = cores_here(comm)
    per_core = ranks_per_core(comm, cores) * dwarf.threads
    measured = {"cores": cores, "ranks_per_core": per_core, "quiet": quiet}
    return {
        "cores": cores,
        "threads_per_core": per_core,
        "oversubscribed": per_core > 1,
        "binding": "threads are not bound: each runs on any of the cores that its rank may use",
        "quiet": quiet,
        "warnings": warnings_of(measured, [samples_s], "--repeat 20"),
    }


def _map(running: Running) -> dict[str, Any] | None:
    """The map of the state, made small for a picture, its points, and what it shows; on rank 0. Collective."""
    from tradewind.dwarfs.frame.output import NAMED
    from tradewind.plot.field import coarse

    level = running.map()
    if level is None:
        return None
    named = NAMED[running.map_variable]
    shown = {"name": named["long_name"], "units": named["units"], **running.map_place}
    return {"values": coarse(level).tolist(), "points": level.shape[::-1], "shown": shown}
