"""The side of the model: fields dealt among shares, blocks on their way, servers that are lost and taken over."""

from __future__ import annotations

import time
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import PlanError
from tradewind.fieldserver.dealing import Dealing
from tradewind.fieldserver.news import News
from tradewind.fieldserver.opening import Opened
from tradewind.fieldserver.plan_file import OutputPlan, Request
from tradewind.fieldserver.share import Defined, Entry, Share
from tradewind.fieldserver.talk import ANSWER, NEWS
from tradewind.fieldserver.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradewind.fieldserver.handover import Array
    from tradewind.mpi.library import MPI

_PAUSE_S = 1e-4


class ModelSide:
    """The shares of an output, as a rank of the model has them. All methods are collective.

    `fields`: those that are defined. `bytes_of`: bytes of a file, by its path and step.
    """

    def __init__(
        self, plan: OutputPlan, opened: Opened, fields: Mapping[str, Defined], bytes_of: Callable[[str, int], int]
    ) -> None:
        assert opened.comm is not None
        self.comm: MPI.Intracomm = opened.comm
        self.shares, self.writers = opened.shares, opened.writers
        self.dropped = 0
        """Fields that were given up."""
        self.lost: list[tuple[Share, str]] = []
        """Shares whose servers were lost, and why."""
        self._plan, self._fields = plan, fields
        self._dealing = Dealing(plan, len(self.shares), bytes_of)
        self._news = News(self.comm, self.shares, self.writers, plan.table.patience)

    def write(self, what: Defined, step: int, places: tuple[int, ...], values: Array) -> None:
        """Put a field, or levels of it, into blocks of all shares that write it."""
        name = what.field.name
        by_share: dict[int, list[Request]] = {}
        for request in self._plan.requests(name, step):
            by_share.setdefault(self._dealing.share_of(request, name, step), []).append(request)
        for number, requests in by_share.items():
            self._give(self.shares[number], what, Entry(what.field, step, places, requests), values)

    def end_step(self, step: int) -> None:
        """Let all blocks go; nothing more comes of a step."""
        for share in self.shares:
            share.end_step(step)
        self._exchange_news()

    def finish(self) -> None:
        """Wait until all steps that have ended are in the manifest, or cannot be."""
        for share in self.shares:
            share.flush()
        while any(share.finished < len(share.ended) for share in self.shares):
            self._exchange_news(wait=True)
            time.sleep(_PAUSE_S)

    def raise_errors(self) -> None:
        """Raise what a writer has met, as WriteError."""
        self._news.raise_errors()

    def close(self) -> list[dict[str, Any]]:
        """Let writers and servers end; returns figures of the servers, on the first rank."""
        for share in self.shares:
            share.arrive()
        answers = self._close_servers()
        for _, writer in self.writers:
            writer.close()
        self._exchange_news(wait=True)
        return answers

    def part_from_lost(self) -> None:
        """Give servers that were lost the time to end; raise PlanError where one does not, so that the job ends."""
        if not self.lost:
            return
        end = perf_counter() + self._plan.table.patience
        missing = [share for share, _ in self.lost if share.talk is not None]
        while missing and perf_counter() < end:
            missing = [share for share in missing if share.talk is not None and share.talk.hear(ANSWER) is None]
            time.sleep(_PAUSE_S)
        numbers = self.comm.bcast([share.number for share in missing])
        if numbers:
            raise PlanError(
                f"server {numbers[0]} does not answer: the model has written its fields, and all steps that were ended "
                "are in the manifest, but a job does not end without it"
            )

    def _give(self, share: Share, what: Defined, entry: Entry, values: Array) -> None:
        """Put a field into a block of a share, as soon as there is room, or as the plan says."""
        if share.add(what, entry, values, grows=False):
            return
        self._exchange_news(wait=True)  # to hear of memory that is free costs less than new memory
        share = self.shares[share.number]
        if share.add(what, entry, values):
            return
        if share.lost:
            self._take_over(share.number, share.lost)
            self._give(self.shares[share.number], what, entry, values)
            return
        if self._plan.table.when_full == "drop":
            self._exchange_news(wait=True)
            if share.add(what, entry, values):
                return
            self.dropped += 1
            for request in entry.requests:
                share.drop(entry.step, request.path)
            return
        share.hurry()
        while not (share := self.shares[share.number]).add(what, entry, values):
            time.sleep(_PAUSE_S)
            self._exchange_news(wait=True)
        share.hurried = False

    def _exchange_news(self, *, wait: bool = False) -> None:
        """Learn what is new, and take over from servers that are lost."""
        self._news.exchange(wait=wait)
        for number in self._news.lost:
            self._take_over(number, self._news.reason(number))
        for share in list(self.shares):
            if share.lost:
                self._take_over(share.number, share.lost)

    def _take_over(self, number: int, reason: str) -> None:
        """Let the model itself write what a server was to write, from what has not been released."""
        self._news.complete()
        old = self.shares[number]
        if not old.remote:
            return  # it has been done meanwhile
        writer, receiver = None, number % self.comm.Get_size()
        if self.comm.Get_rank() == receiver:
            writer = Writer(self._plan, share=number, shares=len(self.shares))
            self.writers.append((number, writer))
        new = Share(self._plan, number, self.comm, receiver, writer=writer)
        self.shares[number] = new
        self._news.start_again(number)
        self.lost.append((old, reason))
        old.say({"op": "leave"})
        self._write_again(old, new)

    def _write_again(self, old: Share, new: Share) -> None:
        """Write what a server had, and has not finished."""
        done = set(old.ended[: old.finished])
        entries = sorted(old.kept(done), key=lambda each: each[0].step)
        for step in sorted({*old.ended, *(entry.step for entry, _ in entries)} - done):
            if step in old.reused:
                said = f"step {step} is not whole: server {new.number} was lost with fields of it"
                self._news.note_errors(new.number, [said])
                continue
            for entry, values in entries:
                if entry.step == step:
                    self._give(new, self._fields[entry.field.name], entry, values)
            if step in old.ended:
                new.end_step(step)

    def _close_servers(self) -> list[dict[str, Any]]:
        remote = [share for share in self.shares if share.talk is not None]
        for share in [*remote, *(lost for lost, _ in self.lost)]:
            share.say({"op": "close"})
        answers = []
        for share in remote:
            assert share.talk is not None
            answers.append(share.talk.wait_for(ANSWER))
            while (news := share.talk.hear(NEWS)) is not None:
                self._news.take_in(share.number, news)
            share.talk.finish()
        return answers
