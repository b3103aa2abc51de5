"""The side of the model: fields dealt among shares, their channels to writers, servers that are lost and taken over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import PlanError
from tradewind.fieldserver.model.agreement import Agreement
from tradewind.fieldserver.model.channel import Channel, in_use
from tradewind.fieldserver.model.dealing import Dealing
from tradewind.fieldserver.model.ending import after_all_ends
from tradewind.fieldserver.model.opening import Opened
from tradewind.fieldserver.model.status import Status
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request
from tradewind.fieldserver.server.messages import END, STATUS, ServerStatus, from_json
from tradewind.fieldserver.server.slots import Defined, Entry, Slot
from tradewind.fieldserver.server.writer import Writer
from tradewind.mpi.library import MPI

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradewind.fieldserver.server.handover import Array

_PAUSE_S = 1e-4
_PARTING = 3
"""Times of `patience` that a lost server has to end: one that comes back may have to give up what it was within."""


Sent = tuple[Channel, Slot, int]
"""A block that goes from the model's own array: channel, slot, and number there."""


@dataclass(frozen=True)
class Lost:
    """A channel whose server is lost, why, and the one that has its shares since then."""

    channel: Channel
    reason: str
    taker: Channel

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        by = f"server {self.taker.number}" if self.taker.remote else f"rank {self.taker.receiver} of the model"
        return {"server": self.channel.number, "reason": self.reason, "by": by}


class ModelSide:
    """The shares of an output, as a rank of the model has them. All methods are collective.

    `fields`: those that are defined.
    """

    def __init__(self, plan: OutputPlan, opened: Opened, fields: Mapping[str, Defined]) -> None:
        assert opened.comm is not None
        self.comm: MPI.Intracomm = opened.comm
        self._opened = opened
        self.channels, self.writers = opened.channels, opened.writers
        """The channel of each share. Several shares have one where a server has taken over."""
        self.dropped = 0
        """Fields that were given up."""
        self.lost: list[Lost] = []
        self._unresponsive: list[int] = []
        """Servers that did not confirm their end."""
        self.on_take_over: Callable[[Sequence[int], Channel], None] = lambda shares, taker: None
        """Called with the shares of a server that is lost, and the channel that has them now."""
        self.agreement = Agreement(self.comm)
        for channel in self.channels:
            channel.agree = self.agreement.check
        self._plan, self._fields = plan, fields
        self._dealing = Dealing(plan, len(self.channels), self._bytes_of)
        self._status = Status(self.comm, self.channels, self.writers, plan.table.patience)

    def write(self, what: Defined, step: int, places: tuple[int, ...], values: Array) -> None:
        """Put a field, or levels of it, into blocks of all shares that write it."""
        for part, entry, own in self._entries("write", what, step, places, values):
            self._give(part, entry, own)

    def start(self, what: Defined, step: int, places: tuple[int, ...], values: Array) -> list[Sent]:
        """Let a field, or levels of it, go to all shares that write it, from the model's own array."""
        sent: list[Sent] = []

        def put(channel: Channel, grows: bool, part: Defined, entry: Entry, own: Array) -> bool:
            slot = channel.start(part, entry, own, grows=grows)
            if slot is not None:
                sent.append((channel, slot, slot.number))
            return slot is not None

        for part, entry, own in self._entries("start", what, step, places, values):
            self._put(entry, partial(put, part=part, entry=entry, own=own))
        return sent

    def wait(self, sent: Sequence[Sent]) -> None:
        """Wait until the arrays of fields that were started are the model's own again."""
        self.agreement.note("wait")
        self.agreement.check()
        waiting = [channel for channel, _, _ in sent if channel.remote]
        while any(channel.lost for channel in self.channels) or not self._have_gone(sent):
            for channel in waiting:
                channel.awaited = True
            self._exchange_status(wait=True)
            time.sleep(_PAUSE_S)
        for channel in waiting:
            channel.awaited = False
        for channel, slot, number in sent:
            if channel in self.channels:
                channel.give_back(slot, number)

    def _have_gone(self, sent: Sequence[Sent]) -> bool:
        """Whether all ranks' parts are with their servers, or another has taken over from copies."""
        on_the_way = [(channel, slot) for channel, slot, n in sent if channel in self.channels and slot.number == n]
        mine = all([channel.has_gone(slot) for channel, slot in on_the_way])
        return bool(self.comm.allreduce(mine, MPI.LAND))

    def end_step(self, step: int) -> None:
        """Let all blocks go; nothing more comes of a step."""
        self.agreement.note(f"end step {step}")
        self.agreement.check()
        for share in range(len(self.channels)):
            self.channels[share].end_step(share, step)
        self._dealing.end_step(step)
        self._exchange_status()

    def finish(self) -> None:
        """Wait until all steps that have ended are in the manifest, or cannot be."""
        self.agreement.note("finish")
        self.agreement.check()
        for channel in in_use(self.channels):
            channel.flush()
        while any(channel.parts.ended for channel in in_use(self.channels)):
            self._exchange_status(wait=True)
            time.sleep(_PAUSE_S)

    def raise_errors(self) -> None:
        """Raise what a writer has met, as WriteError."""
        self._status.raise_errors()

    def end(self) -> list[dict[str, Any]] | None:
        """End, with the other ranks: steps that have ended are in the manifest, or `raise_errors` raises why not.

        Where ranks have met an error alone, what has not been sent is forgotten. Returns figures of the servers, on the
        first rank; None where a rank has left, and nothing is done together any more.
        """
        self.agreement.note("close")
        self.on_take_over = lambda shares, taker: None  # no input is wanted any more
        try:
            if not self.agreement.end() and not self.agreement.deserted:
                for channel in in_use(self.channels):
                    channel.discard()
            answers = None if self.agreement.deserted else self._end_together()
        except BaseException as error:
            self.leave(error)
            raise
        if answers is None:
            self.leave(self.agreement.broken or PlanError("a rank has left"))
        else:
            self._opened.release()
        return answers

    def leave(self, error: BaseException) -> list[str]:
        """End without the other ranks, to which the error is sent; waits for none of them.

        What this rank has to write of steps that have ended is written when this returns. Returns errors of the writers
        of this rank that no rank has raised.
        """
        try:
            if not MPI.Is_finalized():
                self.agreement.leave(error)
                after_all_ends(self._part)
                for channel in in_use(self.channels):
                    channel.arrive()
                for channel in [*in_use(self.channels), *(each.channel for each in self.lost)]:
                    channel.send_order({"op": "close", "awaited": False})
        finally:
            self._close_writers()
            self._opened.release()
        return self._status.unraised_errors()

    def _end_together(self) -> list[dict[str, Any]]:
        self.finish()
        for channel in in_use(self.channels):
            channel.arrive()
        answers = self._close_servers()
        self._unresponsive = self.comm.bcast(self._unresponsive)
        self._close_writers()
        self._status.exchange(wait=True)  # of errors: all that had to be written is, and nobody is there to take over
        return answers

    def _part(self) -> None:
        """Wait until what was sent has arrived: MPI_Finalize does not drive pending reductions."""
        self.agreement.part()
        for channel in in_use(self.channels):
            if channel.control is not None:
                channel.control.finish()

    def _close_writers(self) -> None:
        """Let the writers of this rank finish: a thread that the interpreter ends would keep the locks of libraries."""
        for _, writer in self.writers:
            writer.close()

    def detach_lost(self) -> None:
        """Give servers that were lost the time to end; raise PlanError where one does not, so that the job ends."""
        if not self.lost and not self._unresponsive:
            return
        end = perf_counter() + _PARTING * self._plan.table.patience
        missing = [each.channel for each in self.lost if each.channel.control is not None]
        while missing and perf_counter() < end:
            missing = [
                channel for channel in missing if channel.control is not None and channel.control.receive(END) is None
            ]
            time.sleep(_PAUSE_S)
        numbers = self.comm.bcast([*self._unresponsive, *(channel.number for channel in missing)])
        if numbers:
            raise PlanError(
                f"server {numbers[0]} does not answer: others have written its fields, and all steps that were ended "
                "are in the manifest, but a job does not end without it"
            )

    def take_over(self, old: Channel, reason: str) -> None:
        """Let another writer have the shares of a server that is lost: another server, or the model itself."""
        self._status.complete()
        shares = [share for share, channel in enumerate(self.channels) if channel is old]
        if not shares or not old.remote:
            return  # it has been done meanwhile
        new = self._least_loaded(old) or self._channel_of_the_model(old)
        for share in shares:
            self.channels[share] = new
        self.lost.append(Lost(old, reason, new))
        old.send_order({"op": "leave"})
        self._write_again(old, new)
        if new in self.channels:  # else another one has them already
            self.on_take_over(shares, new)

    def _least_loaded(self, old: Channel) -> Channel | None:
        """The other server with the fewest shares."""
        lost = {old.number, *self._status.lost}
        servers = [each for each in in_use(self.channels) if each.remote and not each.lost and each.number not in lost]
        return min(servers, key=lambda each: (self.channels.count(each), each.number), default=None)

    def _channel_of_the_model(self, old: Channel) -> Channel:
        """A channel to a new writer on a rank of the model, in place of a server's."""
        writer, number, receiver = None, old.number, old.number % self.comm.Get_size()
        if self.comm.Get_rank() == receiver:
            writer = Writer(self._plan, shares=len(self.channels))
            self.writers.append((number, writer))
        self._status.start_again(number)
        channel = Channel(self._plan, number, self.comm, receiver, writer=writer)
        channel.agree = self.agreement.check
        return channel

    def _write_again(self, old: Channel, new: Channel) -> None:
        """Write what a server had, and has not finished."""
        kept = old.kept()
        for part in old.unfinished:
            share, step = part
            if part in old.parts.reused:
                problem = f"step {step} is not whole: server {old.number} was lost with fields of it"
                self._status.note_errors(new.number, [problem])
                self.channels[share].mark_incomplete(part)
            else:
                for path in [path for at, path in old.parts.dropped if at == part]:
                    self.channels[share].drop(part, path)
                for entry, values in kept:
                    if entry.part == part:
                        what = self._fields[entry.field.name]
                        if what.single is not None and len(entry.places) < what.shape.levels:
                            what = what.single
                        self._give(what, entry, values)
            if part in old.parts.ended:
                self.channels[share].end_step(share, step)

    def _bytes_of(self, path: str, step: int) -> int:
        """Bytes of the fields that go into a file."""
        return sum(
            what.field.level_bytes if request.by_level else what.field.bytes
            for name, what in self._fields.items()
            for request in self._plan.requests(name, step)
            if request.files == path
        )

    def _entries(
        self, call: str, what: Defined, step: int, places: tuple[int, ...], values: Array
    ) -> list[tuple[Defined, Entry, Array]]:
        """Return what is handed over of a field: all of it, or level by level where each has a file of its own."""
        name, levels = what.field.name, what.field.levels
        requests = self._plan.requests(name, step)
        if requests:
            self.agreement.note(f"{call} {name} {step} {places}")
        alone = [each for each in requests if each.by_level and len(places) > 1]
        parts = [(what, places, values, [each for each in requests if each not in alone])]
        if alone:
            assert what.single is not None
            parts += [(what.single, (place,), what.level(values, place), alone) for place in places]
        found = []
        for part, at, own, wanted in parts:
            by_share: dict[int, list[Request]] = {}
            for request in (each.at(levels[at[0]]) for each in wanted):
                by_share.setdefault(self._dealing.share_of(request, name, step, levels[at[0]]), []).append(request)
            found += [(part, Entry(what.field, step, at, those, share), own) for share, those in by_share.items()]
        return found

    def _give(self, what: Defined, entry: Entry, values: Array) -> None:
        """Copy a field into a block of its share's channel, as soon as there is room, or as the plan has it."""
        self._put(entry, lambda channel, grows: channel.add(what, entry, values, grows=grows))

    def _put(self, entry: Entry, put: Callable[[Channel, bool], bool]) -> None:
        """Hand a field over, which `put` does where there is room: also in new memory, or not."""
        if put(self._channel(entry), False):
            return
        self._exchange_status(wait=True)  # a look for free memory costs less than new memory
        if put(self._channel(entry), True):
            return
        if self._plan.table.when_full == "drop" and not self._channel(entry).lost:
            self._exchange_status(wait=True)
            if not put(self._channel(entry), True):
                self.dropped += 1
                for request in entry.requests:
                    self._channel(entry).drop(entry.part, request.path)
            return
        while not put(self._channel(entry), True):
            if not self._channel(entry).awaited:
                self._channel(entry).flush_now()
            time.sleep(_PAUSE_S)
            self._exchange_status(wait=True)
        self._channel(entry).awaited = False

    def _channel(self, entry: Entry) -> Channel:
        return self.channels[entry.share]

    def _exchange_status(self, *, wait: bool = False) -> None:
        """Learn what is new, and take over from servers that are lost."""
        self.agreement.check()
        self._status.exchange(wait=wait)
        for channel in in_use(self.channels):
            if channel.lost:
                self.take_over(channel, channel.lost)
            elif channel.remote and channel.number in self._status.lost:
                self.take_over(channel, self._status.reason(channel))

    def _close_servers(self) -> list[dict[str, Any]]:
        remote = [channel for channel in in_use(self.channels) if channel.control is not None]
        for channel in [*remote, *(each.channel for each in self.lost)]:
            channel.send_order({"op": "close"})
        answers = []
        for channel in remote:
            answer = self._last_answer(channel)
            if answer is None:
                self._unresponsive.append(channel.number)
            else:
                answers.append(answer)
        return answers

    def _last_answer(self, channel: Channel) -> dict[str, Any] | None:
        """Figures of a server that ends; None where it gives no sign of life any more."""
        assert channel.control is not None
        received_at = perf_counter()
        while (answer := channel.control.receive(END)) is None:
            if perf_counter() > received_at + self._plan.table.patience:
                return None
            received_at = perf_counter() if self._updates(channel) else received_at
            time.sleep(_PAUSE_S)
        self._updates(channel)
        channel.control.finish()
        found: dict[str, Any] = from_json(answer)
        return found

    def _updates(self, channel: Channel) -> bool:
        """Take in the messages of a server; returns whether there are any."""
        assert channel.control is not None
        found = False
        while (data := channel.control.receive(STATUS)) is not None:
            self._status.update(channel, ServerStatus.unpack(data))
            found = True
        return found
