"""The field server as a model meets it: fields written, read and looked ahead for without stopping the time loop."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, go_on, on_root, telling
from tradewind.base.errors import InputError, PlanError, WriteError
from tradewind.base.files import remove, remove_parts
from tradewind.base.names import unknown
from tradewind.fieldserver.ahead import ReadAhead
from tradewind.fieldserver.dealing import Dealing
from tradewind.fieldserver.delivery import Delivery, whole_field
from tradewind.fieldserver.field import OutputField
from tradewind.fieldserver.handover import Shape, describe_layout, ids_of, layout_of
from tradewind.fieldserver.manifest import Manifest
from tradewind.fieldserver.plan_file import OutputPlan, Request, load_plan
from tradewind.fieldserver.serving import Server
from tradewind.fieldserver.share import MAX_SLOTS, Defined, Entry, Share
from tradewind.fieldserver.sinks import form_of
from tradewind.fieldserver.space import check_space
from tradewind.fieldserver.talk import ANSWER, AVAILABLE, INPUT, NEWS, Talk
from tradewind.fieldserver.writer import Writer
from tradewind.mpi.library import MPI

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tradewind.fieldserver.geometry import Geometry
    from tradewind.fieldserver.handover import Array

THREADS = "threads"
"""Value of `servers`: threads of the ranks of the model write."""
_FINISHED, _ERRORS, _LOST = MAX_SLOTS, MAX_SLOTS + 1, MAX_SLOTS + 2
_NEWS_LENGTH = MAX_SLOTS + 3
_PAUSE_S = 1e-4


class FieldServer:
    """Output and input of a model. Made by all ranks of `comm` together.

    `plan`: a plan file, or what `load_plan` made of one. `servers`: so many of the last ranks are servers; 0: ranks of
    the model write before `write` and `end_step` return; ``"threads"``: threads of theirs write. `method`: algorithm,
    transport and packing of the hand-over, as of `tradewind.mpi.plan`. `steps`: the number of steps of the run, where
    it is known: then disks that are too small are refused at the first step.

    `comm` is that of the model's ranks then, and None on servers, which serve in `close`. Raises InputError for plans
    that differ between ranks, too many servers, and a folder with a manifest where the plan refuses that.
    """

    @collective
    def __init__(
        self,
        plan: OutputPlan | Path | str,
        comm: MPI.Intracomm,
        *,
        servers: int | str = 0,
        method: Mapping[str, str | None] | None = None,
        steps: int | None = None,
    ) -> None:
        check_communicator(comm)
        with telling(comm):
            self.plan = plan if isinstance(plan, OutputPlan) else load_plan(plan)
        go_on(comm)
        _check_alike(comm, self.plan, servers)
        _check_servers(servers, comm.Get_size())
        on_root(comm, lambda: _check_folder(self.plan))
        self.servers = 0 if isinstance(servers, str) else servers
        self.blocked_s = 0.0
        self.events: list[tuple[str, float, float]] = []
        """Calls of this rank, and when: for a time line."""
        self.figures: dict[str, Any] = {}
        """Figures of the whole run, on the first rank, after `close`."""
        self._begin = perf_counter()
        self._steps, self._method = steps, method
        self._fields: dict[str, Defined] = {}
        self._written: dict[int, set[tuple[str, int]]] = {}
        self._ended: set[int] = set()
        self._last = -1
        self._dropped = 0
        self._sizes: dict[str, int] = {}
        self._raised = 0
        self._closed = self._checked = False
        self._readers: dict[str, int] = {}
        self._asked = 0
        self._ahead: ReadAhead | None = None
        self._deliveries: dict[tuple[int, str], Delivery] = {}
        self._server: Server | None = None
        self._shares: list[Share] = []
        self._lost: list[tuple[Share, str]] = []
        self._to_take_over: list[int] = []
        self._reasons: dict[int, str] = {}
        self._writers: list[tuple[int, Writer]] = []
        self.comm: MPI.Intracomm | None = comm
        self._split(comm, threads=servers == THREADS)

    def _split(self, comm: MPI.Intracomm, *, threads: bool) -> None:
        ranks, rank = comm.Get_size(), comm.Get_rank()
        models = ranks - self.servers
        if not self.servers:
            self.comm = comm.Dup()
            for number in range(ranks):
                writer = None
                if number == rank:
                    writer = Writer(self.plan, share=number, shares=ranks, asynchronous=threads)
                    self._writers.append((number, writer))
                options: Any = {"writer": writer, "method": self._method, "waits": not threads}
                self._shares.append(Share(self.plan, number, self.comm, number, **options))
        else:
            model: Any = comm.Split(0 if rank < models else MPI.UNDEFINED, rank)
            self.comm = model if rank < models else None
            for number in range(self.servers):
                takes_part = rank < models or rank == models + number
                pair: Any = comm.Split(0 if takes_part else MPI.UNDEFINED, rank)
                if rank == models + number:
                    self._server = Server(self.plan, pair, number, self.servers, self._method)
                elif rank < models:
                    options = {"talk": Talk(pair, models) if rank == 0 else None, "method": self._method}
                    self._shares.append(Share(self.plan, number, pair, models, model=model, **options))
        shares = max(1, len(self._shares))
        self._dealing = Dealing(self.plan, shares, self._bytes_of)
        self._mine = np.zeros((shares, _NEWS_LENGTH), np.int64)
        self._heard_at = [perf_counter()] * shares
        self._errors: list[str] = []
        self._told = 0
        self._coming: tuple[MPI.Request, Any, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()

    # Methods of the model.

    def define(
        self,
        name: str,
        where: _core.Layout | ArrayLike,
        geometry: Geometry,
        *,
        levels: Sequence[float] | None = None,
        dtype: str = "f8",
        axis: int = -1,
        **said: Any,
    ) -> None:
        """Say what a field is, before it is written. Each rank of the model does, alike.

        `where`: the layout of its levels; or the numbers of this rank's points, whose arrays are [level][point], with
        `axis` 0 [point][level]. `levels`: their numbers, of all levels; 1, 2, ... unless given. Other keywords are
        those of `OutputField`. Raises InputError.
        """
        comm = self._model()
        closed = describe_layout(where) if isinstance(where, _core.Blocks | _core.Product) else None
        if closed is not None:
            nx, ny, nz = closed["grid"]
            points = nx * ny
        else:
            own = ids_of(where, comm.Get_rank())
            points, nz = geometry.points, 1 if levels is None else len(levels)
        if points != geometry.points:
            raise InputError(f"field {name}: the layout has {points} points per level, its grid {geometry.points}")
        numbers = tuple(float(n) for n in (levels if levels is not None else range(1, nz + 1)))
        if nz not in (1, len(numbers)):
            raise InputError(f"field {name}: {len(numbers)} levels are named, and the layout has {nz}")
        field = OutputField(name, geometry, numbers, dtype, **said).described(self.plan.table.field.get(name))
        if name in self._fields:
            raise InputError(f"field {name} is defined twice")
        layout = None if closed is None else json.dumps(closed)
        shape = Shape(nz, points, dtype, layout, axis)
        key = json.dumps([asdict(shape), None if closed is not None else _digest(comm, own)])
        for request in self.plan.requests(name, 0):
            form_of(request.sink.format).check(field, request)
        alike = hashlib.sha256(key.encode()).hexdigest()[:16]
        self._fields[name] = Defined(field, shape, None if closed is not None else own, alike)

    def wants(self, name: str, step: int) -> bool:
        """Whether the plan has a field written at a step."""
        return bool(self.plan.requests(name, step))

    def write(self, name: str, values: Array, step: int, *, level: int | None = None) -> None:
        """Write a field of a step, of which this rank has a part; the array is the model's again at once.

        `level`: the place of one level among those of the field. What the plan does not want is left out without a
        word. Raises InputError for an unknown field, another shape, a step that has ended, and a second writing.
        """
        with self._blocking(f"write {name} {step}"):
            what = self._checked_field(name, step)
            entry = self._entry(what, values, step, level)
            by_share: dict[int, list[Request]] = {}
            for request in self.plan.requests(name, step):
                by_share.setdefault(self._dealing.share_of(request, name, step), []).append(request)
            if not self._checked:
                self._check_once()
            for number, requests in by_share.items():
                self._give(self._shares[number], what, Entry(what.field, step, entry, requests), values)

    def end_step(self, step: int) -> None:
        """Nothing more comes of a step. Raises WriteError where a server could not write an earlier one."""
        with self._blocking(f"end step {step}"):
            self._model()
            if step in self._ended or step < self._last:
                raise InputError(f"step {step} has ended: steps end once, in ascending order")
            self._ended.add(step)
            self._last = step
            if not any(self.plan.requests(name, step) for name in self._fields):
                return
            for share in self._shares:
                share.end_step(step)
            self._written.pop(step, None)
            self._exchange_news()
        self._raise_errors()

    def prefetch(self, paths: Sequence[str | Path]) -> None:
        """Name the next input files in their order: `look_ahead` of the plan are read before the model asks for them.

        Returns when each server has confirmed that it is available; it reads then. Raises InputError.
        """
        listed = [str(path) for path in paths]
        if not listed or any("\0" in path for path in listed):
            raise InputError(f"prefetch {listed!r}: names of files are allowed")
        with self._blocking("prefetch"):
            comm = self._model()
            for path in listed:
                self._readers[path] = self._asked % len(self._shares)
                self._asked += 1
            for share in self._shares:
                mine = [path for path in listed if self._readers[path] == share.number]
                if not mine:
                    continue
                if share.talk is not None:
                    share.say({"op": "prefetch", "paths": mine})
                    share.talk.wait_for(AVAILABLE)
                elif share.writer is not None:
                    self._ahead_of(share).ask(mine)
            comm.Barrier()

    def read(self, name: str, values: Array, path: str | Path) -> None:
        """Fill this rank's part of a field from a file that `prefetch` named. Files before it are not wanted any more.

        Waits where the file is late. Raises InputError for a file that was not named or is not what its name says, for
        a field that it does not have, and for another size.
        """
        with self._blocking(f"read {name} of {path}"):
            what, path = self._defined(name), str(path)
            if path not in self._readers:
                raise InputError(f"read of {path}: {unknown('input file', path, self._readers)}")
            share = self._shares[self._readers[path]]
            if not isinstance(values, np.ndarray) or values.size != self._local_points(what) * what.shape.levels:
                raise InputError(f"field {name}: an array of this rank's part is allowed")
            share.say({"op": "send", "path": path, "name": name, "alike": what.alike, "shape": asdict(what.shape)})
            whole = self._whole_input(share, path, name, what)
            key = (share.number, what.alike)
            if key not in self._deliveries:
                self._deliveries[key] = Delivery(share.comm, share.receiver, what.shape, what.own, self._method)
            found = self._deliveries[key].give(whole)
            np.copyto(values, found.reshape(values.shape), casting="same_kind")

    def _ahead_of(self, share: Share) -> ReadAhead:
        """Reader of files on this rank, which writes, too."""
        if self._ahead is None:
            assert share.writer is not None
            self._ahead = ReadAhead(share.writer.call, self.plan.table.look_ahead)
        return self._ahead

    def _whole_input(self, share: Share, path: str, name: str, what: Defined) -> Array | None:
        """Wait until a field is read; its values where a rank of the model has read it."""
        whole, answer = None, None
        if share.talk is not None:
            answer = share.talk.wait_for(INPUT)
        elif share.writer is not None:
            try:
                whole, answer = whole_field(self._ahead_of(share).get(path), name, what.shape), {}
            except InputError as error:
                answer = {"error": str(error)}
        said = self._model().bcast(answer, root=0 if share.remote else share.receiver)
        if "error" in said:
            raise InputError(said["error"])
        return whole

    def finish(self) -> None:
        """Wait until all steps that have ended are in the manifest. Raises WriteError where one cannot be."""
        with self._blocking("finish"):
            for share in self._shares:
                share.flush()
            while any(share.finished < len(share.ended) for share in self._shares):
                self._exchange_news(wait=True)
                time.sleep(_PAUSE_S)
        self._raise_errors()

    def close(self) -> None:
        """Finish: all steps that have ended are in the manifest when this returns. On a server: serve until then."""
        if self._closed:
            return
        self._closed = True
        if self._server is not None:
            self._server.serve()
            return
        with self._blocking("close"):
            comm = self._model()
            self.finish()
            for share in self._shares:
                share.arrive()
            answers = self._close_servers()
            for _, writer in self._writers:
                writer.close()
            self._exchange_news(last=True)
            self._collect(comm, answers)
        self._raise_errors()
        if self._lost:
            self._part_from_lost()

    # Parts of these.

    def _model(self) -> MPI.Intracomm:
        if self.comm is None:
            raise PlanError("this rank is a server: it calls close, and serves there until the model does")
        return self.comm

    @contextmanager
    def _blocking(self, what: str) -> Any:
        begin = perf_counter()
        try:
            yield
        finally:
            end = perf_counter()
            self.blocked_s += end - begin
            self.events.append((what, begin, end))

    def _checked_field(self, name: str, step: int) -> Defined:
        self._model()
        if self._closed:
            raise PlanError("the field server is closed")
        what = self._defined(name)
        if isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0:
            raise InputError(f"step {step!r}: a whole number, 0 or more, is allowed")
        if step in self._ended or step < self._last:
            raise InputError(f"field {name}: step {step} has ended: step {self._last + 1} or later is allowed")
        return what

    def _defined(self, name: str) -> Defined:
        if name not in self._fields:
            raise InputError(unknown("field", name, self._fields))
        return self._fields[name]

    def _entry(self, what: Defined, values: Array, step: int, level: int | None) -> tuple[int, ...]:
        """The places of the levels that are written."""
        name, levels, lying = what.field.name, len(what.field.levels), what.shape.levels
        if level is None and lying != levels:
            raise InputError(f"field {name} has {levels} levels, and its layout 1: say level=0..{levels - 1}")
        if level is not None and (lying != 1 or not 0 <= level < levels):
            raise InputError(f"field {name}: level {level}: 0..{levels - 1} of a layout of 1 level is allowed")
        places = (level,) if level is not None else tuple(range(levels))
        wanted = self._local_points(what) * lying
        if not isinstance(values, np.ndarray) or values.size != wanted or values.dtype != what.field.dtype:
            said = f"{values.shape} of {values.dtype}" if isinstance(values, np.ndarray) else repr(type(values))
            raise InputError(f"field {name}: {said}: {wanted} values of {what.field.dtype} are this rank's part")
        seen = self._written.setdefault(step, set())
        again = [place for place in places if (what.field.name, place) in seen]
        if again:
            raise InputError(f"field {what.field.name}, step {step}, level {again[0]}: it is written twice")
        seen |= {(what.field.name, place) for place in places}
        return places

    def _local_points(self, what: Defined) -> int:
        """Points of a level on this rank."""
        if what.own is not None:
            return len(what.own)
        if what.alike not in self._sizes:
            assert what.shape.layout is not None
            comm = self._model()
            shape = layout_of(json.loads(what.shape.layout), comm.Get_size()).shape(comm.Get_rank())
            self._sizes[what.alike] = int(np.prod(shape)) // max(1, what.shape.levels)
        return self._sizes[what.alike]

    def _give(self, share: Share, what: Defined, entry: Entry, values: Array) -> None:
        """Put a field into a block of a share, as soon as there is room, or as the plan says."""
        if share.add(what, entry, values, grows=False):
            return
        self._exchange_news(wait=True)  # to hear of memory that is free costs less than new memory
        share = self._shares[share.number]
        if share.add(what, entry, values):
            return
        if share.lost:
            self._take_over(share.number, share.lost)
            self._give(self._shares[share.number], what, entry, values)
            return
        if self.plan.table.when_full == "drop":
            self._exchange_news(wait=True)
            if share.add(what, entry, values):
                return
            self._dropped += 1
            for request in entry.requests:
                share.drop(entry.step, request.path)
            return
        share.hurry()
        while not (share := self._shares[share.number]).add(what, entry, values):
            time.sleep(_PAUSE_S)
            self._exchange_news(wait=True)

    def _exchange_news(self, *, wait: bool = False, last: bool = False) -> None:
        """Learn, as all ranks of the model do, what is released and finished. Without `wait`: as of the last time."""
        comm = self._model()
        self._hear()
        self._complete_news()
        sent, found = self._mine.copy(), np.empty_like(self._mine)
        request = comm.Iallreduce(sent, found, MPI.MAX)
        if wait or last:
            request.Wait()
            self._apply(found)
        else:
            self._coming = (request, sent, found)
        for number in self._to_take_over:
            silent = f"it gave no sign of life for {self.plan.table.patience:g} s"
            self._take_over(number, self._reasons.get(number, silent))
        for share in list(self._shares):
            if share.lost:
                self._take_over(share.number, share.lost)

    def _complete_news(self) -> None:
        if self._coming is not None:
            request, _, found = self._coming
            request.Wait()
            self._coming = None
            self._apply(found)

    def _apply(self, found: Any) -> None:
        for share, row in zip(self._shares, found, strict=True):
            share.released = row[:MAX_SLOTS].copy()
            share.finished = max(share.finished, int(row[_FINISHED]))
        self._told = max(self._told, int(found[:, _ERRORS].sum()))
        self._to_take_over = [
            share.number for share, row in zip(self._shares, found, strict=True) if row[_LOST] and share.remote
        ]

    def _hear(self) -> None:
        """Take in what this rank can know: of its own writer, and on the first rank of the servers."""
        for number, writer in self._writers:
            for slot, block in [writer.released.popleft() for _ in range(len(writer.released))]:
                if slot >= 0:
                    self._mine[number, slot] = max(self._mine[number, slot], block)
            self._mine[number, _FINISHED] = writer.finished_steps
            self._note_errors(number, [writer.errors.popleft() for _ in range(len(writer.errors))])
        for share in self._shares:
            if share.talk is not None:
                while share.news or (news := share.talk.hear(NEWS)) is not None:
                    self._take_in(share.number, share.news.pop(0) if share.news else news)
                if self._finished_of(share) >= len(share.ended):
                    self._heard_at[share.number] = perf_counter()
                elif perf_counter() - self._heard_at[share.number] > self.plan.table.patience:
                    self._mine[share.number, _LOST] = 1

    def _finished_of(self, share: Share) -> int:
        return int(self._mine[share.number, _FINISHED])

    def _take_over(self, number: int, reason: str) -> None:
        """Let the model itself write what a server was to write, from what has not been released. Collective."""
        self._complete_news()
        comm, old = self._model(), self._shares[number]
        if not old.remote:
            return  # it has been done meanwhile
        writer, receiver = None, number % comm.Get_size()
        if comm.Get_rank() == receiver:
            writer = Writer(self.plan, share=number, shares=len(self._shares))
            self._writers.append((number, writer))
        new = Share(self.plan, number, comm, receiver, writer=writer)
        self._shares[number] = new
        self._mine[number] = 0
        self._lost.append((old, reason))
        old.say({"op": "leave"})
        done = set(old.ended[: old.finished])
        entries = sorted(old.kept(done), key=lambda each: each[0].step)
        for step in sorted({*old.ended, *(entry.step for entry, _ in entries)} - done):
            if step in old.reused:
                self._note_errors(number, [f"step {step} is not whole: server {number} was lost with fields of it"])
                continue
            for entry, values in entries:
                if entry.step == step:
                    self._give(new, self._fields[entry.field.name], entry, values)
            if step in old.ended:
                new.end_step(step)

    def _take_in(self, number: int, news: Mapping[str, Any]) -> None:
        self._heard_at[number] = perf_counter()
        for slot, block in news["released"]:
            self._mine[number, slot] = max(self._mine[number, slot], block)
        self._mine[number, _FINISHED] = max(self._mine[number, _FINISHED], news["finished"])
        self._note_errors(number, news["errors"])
        if "lost" in news:
            self._mine[number, _LOST] = 1
            self._reasons[number] = news["lost"]

    def _note_errors(self, number: int, errors: Sequence[str]) -> None:
        self._errors += errors
        self._mine[number, _ERRORS] += len(errors)

    def _raise_errors(self) -> None:
        """Raise on all ranks of the model what a writer has met."""
        if self._told <= self._raised:
            return
        self._raised = self._told
        everyone = self._model().allgather(self._errors)
        self._errors = []
        texts = [text for each in everyone for text in each]
        raise WriteError(*dict.fromkeys(texts))

    def _close_servers(self) -> list[dict[str, Any]]:
        """Let servers finish; their figures, on the first rank."""
        remote = [share for share in self._shares if share.talk is not None]
        for share in [*remote, *(lost for lost, _ in self._lost)]:
            share.say({"op": "close"})
        answers = []
        for share in remote:
            assert share.talk is not None
            answers.append(share.talk.wait_for(ANSWER))
            while (news := share.talk.hear(NEWS)) is not None:
                self._take_in(share.number, news)
            share.talk.finish()
        return answers

    def _part_from_lost(self) -> None:
        """Give servers that were lost the time to end; raise where one does not, so that the job ends."""
        end = perf_counter() + self.plan.table.patience
        missing = [share for share, _ in self._lost if share.talk is not None]
        while missing and perf_counter() < end:
            missing = [share for share in missing if share.talk is not None and share.talk.hear(ANSWER) is None]
            time.sleep(_PAUSE_S)
        numbers = self._model().bcast([share.number for share in missing])
        if numbers:
            raise PlanError(
                f"server {numbers[0]} does not answer: the model has written its fields, and all steps that were ended "
                "are in the manifest, but a job does not end without it"
            )

    def _collect(self, comm: MPI.Intracomm, answers: list[dict[str, Any]]) -> None:
        """Figures of the whole run on the first rank."""
        own = [asdict(writer.figures) for _, writer in self._writers]
        blocked = comm.gather(self.blocked_s)
        writers = comm.gather(own)
        total_s = perf_counter() - self._begin
        if blocked is None or writers is None:
            return
        self.figures = {
            "servers": self.servers,
            "total_s": total_s,
            "blocked_s": max(blocked),
            "blocked_share": max(blocked) / total_s,
            "dropped_fields": self._dropped,
            "taken_over": [{"server": share.number, "reason": reason} for share, reason in self._lost],
            "writers": answers or [each for some in writers for each in some],
        }

    def _bytes_of(self, path: str, step: int) -> int:
        """Bytes of the fields that go into a file."""
        return sum(
            what.field.bytes
            for name, what in self._fields.items()
            if any(request.path == path for request in self.plan.requests(name, step))
        )

    def _check_once(self) -> None:
        """Compare fields and plan, and the disk with what the run will need, before the first is written."""
        self._checked = True
        comm = self._model()

        def check() -> None:
            self.plan.check_fields(self._fields)
            check_space(self.plan, [what.field for what in self._fields.values()], self._steps)

        on_root(comm, check)


def _digest(comm: MPI.Intracomm, own: Any) -> list[str]:
    """Digests that tell lists of points apart, alike on all ranks. Collective."""
    return list(comm.allgather(hashlib.sha256(own.tobytes()).hexdigest()))


def _check_alike(comm: MPI.Intracomm, plan: OutputPlan, servers: int | str) -> None:
    said = comm.allgather((hashlib.sha256(plan.text.encode()).hexdigest(), str(servers)))
    for what, each in (("plan file", 0), ("number of servers", 1)):
        others = [rank for rank, one in enumerate(said) if one[each] != said[0][each]]
        if others:
            raise InputError(f"rank {others[0]} has another {what} than rank 0: the same on all ranks is allowed")


def _check_servers(servers: int | str, ranks: int) -> None:
    if isinstance(servers, str) and servers != THREADS:
        raise InputError(f"servers {servers!r}: a number, or {THREADS!r}, is allowed")
    if isinstance(servers, int) and not 0 <= servers < ranks:
        raise InputError(f"{servers} servers of {ranks} ranks: 0..{ranks - 1} are allowed")


def _check_folder(plan: OutputPlan) -> None:
    """Refuse, keep or take back what earlier runs have left."""
    manifest = Manifest(plan.folder, durable=plan.table.durable)
    steps = manifest.steps()
    if steps and plan.table.existing == "refuse":
        raise InputError(
            f"folder {plan.folder} holds steps {steps[0]}..{steps[-1]} of a run: name another one, or say "
            "existing = 'continue' (with what is there) or 'replace'"
        )
    if steps and plan.table.existing == "replace":
        manifest.clear()
    for folder in [plan.folder, *(path for path in plan.folder.rglob("*") if path.is_dir())]:
        remove_parts(folder)
    for part in manifest.folder.glob(".step-*"):
        remove(part)


def committed_steps(folder: Path | str) -> list[int]:
    """Return the steps of a folder that are whole, ascending."""
    return Manifest(Path(folder)).steps()
