"""Status of the channels of an output: memory that is free, steps that are finished, errors, servers that are lost.

Each rank of a model has the status of its own writers, and the first one receives that of all servers. The ranks
combine them by a reduction that they do not wait for, so that all of them decide alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from tradewind.base.errors import WriteError
from tradewind.fieldserver.model.channel import MAX_SLOTS, Channel, in_use
from tradewind.fieldserver.server.messages import STATUS, ServerStatus
from tradewind.fieldserver.server.writer import Writer
from tradewind.mpi.library import MPI

_FINISHED, _ERRORS, _LOST = MAX_SLOTS, MAX_SLOTS + 1, MAX_SLOTS + 2
_LENGTH = MAX_SLOTS + 3


class Status:
    """Status of the `channels` of all shares, some of which go to the `writers` of this rank; both lists may change.

    `patience`: seconds without a sign of life after which a server counts as lost.
    """

    def __init__(
        self, comm: MPI.Intracomm, channels: list[Channel], writers: list[tuple[int, Writer]], patience: float
    ) -> None:
        self.lost: list[int] = []
        """Numbers of the channels whose servers are lost, as all ranks know."""
        self._comm, self._channels, self._writers, self._patience = comm, channels, writers, patience
        self._mine = np.zeros((len(channels), _LENGTH), np.int64)
        self._received_at = [perf_counter()] * len(channels)
        self._owing_since: dict[int, float] = {}
        self._agreed_errors = np.zeros(len(channels), np.int64)
        self._errors: list[str] = []
        self._known_errors = 0
        self._raised = 0
        self._coming: tuple[MPI.Request, Any, Any] | None = None

    def exchange(self, *, wait: bool) -> None:
        """Combine the status of all ranks. Without `wait`: as of the last time. Collective."""
        self._receive()
        self.complete()
        sent, found = self._mine.copy(), np.empty_like(self._mine)
        request = self._comm.Iallreduce(sent, found, MPI.MAX)
        if wait:
            request.Wait()
            self._apply(found)
        else:
            self._coming = (request, sent, found)

    def complete(self) -> None:
        """Finish the exchange that is under way. Collective."""
        if self._coming is not None:
            request, _, found = self._coming
            request.Wait()
            self._coming = None
            self._apply(found)

    def reason(self, channel: Channel) -> str:
        """Why a server is lost, on the first rank."""
        return channel.gone or f"it gave no sign of life for {self._patience:g} s"

    def start_again(self, number: int) -> None:
        """Another writer has that channel now. Errors go on counting: else its first ones would not be raised."""
        self._mine[number, :_ERRORS] = self._mine[number, _LOST] = 0

    def update(self, channel: Channel, status: ServerStatus) -> None:
        """Take in a message of a server."""
        number = channel.number
        self._received_at[number] = perf_counter()
        for slot, block in status.released:
            self._mine[number, slot] = max(self._mine[number, slot], block)
        self._mine[number, _FINISHED] = max(self._mine[number, _FINISHED], status.finished)
        self.note_errors(number, status.errors)
        if status.lost:
            self._mine[number, _LOST] = 1
            channel.gone = status.lost

    def note_errors(self, number: int, errors: Sequence[str]) -> None:
        """Keep errors of a writer for `raise_errors`."""
        self._errors += errors
        self._mine[number, _ERRORS] = max(self._mine[number, _ERRORS], self._agreed_errors[number]) + len(errors)

    def raise_errors(self) -> None:
        """Raise what a writer has met, as WriteError, on all ranks of the model. Collective."""
        if self._known_errors <= self._raised:
            return
        self._raised = self._known_errors
        everyone = self._comm.allgather(self._errors)
        self._errors = []
        texts = [text for each in everyone for text in each]
        if texts:  # else all have been raised already, with others
            raise WriteError(*dict.fromkeys(texts))

    def unraised_errors(self) -> list[str]:
        """Return the errors of writers of this rank that no rank has raised."""
        for number, writer in self._writers:
            self.note_errors(number, [writer.errors.popleft() for _ in range(len(writer.errors))])
        found, self._errors = list(dict.fromkeys(self._errors)), []
        return found

    def _apply(self, found: Any) -> None:
        channels = in_use(self._channels)
        for channel in channels:
            row = found[channel.number]
            channel.released = row[:MAX_SLOTS].copy()
            channel.parts.note_finished(int(row[_FINISHED]))
        self._agreed_errors = np.maximum(self._agreed_errors, found[:, _ERRORS])
        self._known_errors = int(self._agreed_errors.sum())
        self.lost = [channel.number for channel in channels if channel.remote and found[channel.number, _LOST]]

    def _receive(self) -> None:
        """Take in the status of the writers of this rank, and on the first rank that of the servers."""
        for number, writer in self._writers:
            for slot, block in [writer.released.popleft() for _ in range(len(writer.released))]:
                if slot >= 0:
                    self._mine[number, slot] = max(self._mine[number, slot], block)
            self._mine[number, _FINISHED] = writer.finished_steps
            self.note_errors(number, [writer.errors.popleft() for _ in range(len(writer.errors))])
        for channel in in_use(self._channels):
            if channel.control is not None:
                while (data := channel.control.receive(STATUS)) is not None:
                    channel.unread.append(ServerStatus.unpack(data))
                while channel.unread:
                    self.update(channel, channel.unread.pop(0))
                if self._is_silent(channel):
                    self._mine[channel.number, _LOST] = 1
            if channel.gone and channel.remote:
                self._mine[channel.number, _LOST] = 1

    def _is_silent(self, channel: Channel) -> bool:
        """Whether a server that has work has been silent for too long: since it has work, or since its last message."""
        finished, parts = int(self._mine[channel.number, _FINISHED]), channel.parts
        if finished >= parts.finished + len(parts.ended) and not channel.awaited:
            self._owing_since.pop(channel.number, None)
            return False
        now = perf_counter()
        since = self._owing_since.setdefault(channel.number, now)
        return now - max(since, self._received_at[channel.number]) > self._patience
