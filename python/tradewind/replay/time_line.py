"""The time line of a replay, beside the run that was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.replay.critical_path import path_of
from tradewind.replay.message_tags import AMOUNT, KIND, LABEL, MESSAGE, PEER, RECEIVE, ROW, requests_of
from tradewind.replay.one_sided import accesses_of
from tradewind.replay.row import COMPUTING
from tradewind.replay.rows import events_of_rows
from tradewind.timeline.model import Row, TimeLine, TraceEvent, Track
from tradewind.trace.source_lines import SourceLines
from tradewind.trace.time_line import ShownOperation, rows_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.trace.model import Trace

PS_PER_NS = 1000
_COPY = _core.trace_event_kinds.index("copy")


def time_line(
    trace: Trace, calls: _core.Calls, result: _core.SimulationResult, ranks: Sequence[int], title: str
) -> TimeLine:
    """Return the time line of some ranks of a replay: of each what was recorded, and below it what was replayed.

    Both begin at 0, with the first recorded call of all ranks. Rows of a rank: ``recorded`` (one per thread),
    ``replay`` with the same calls, messages that its NICs send, copies within its node, messages as they arrive, and
    its part of the critical path. Arrows join messages of ranks that are shown.
    """
    replay = _Replay(trace, calls, result, ranks)
    return TimeLine(title, [Track(rank, replay.rows(rank)) for rank in ranks])


class _Messages:
    """The messages that a rank sends and receives, by request and by number."""

    def __init__(self, table: NDArray[np.int64]) -> None:
        begins = requests_of(table)
        self.peer, self.number, self.bytes = (begins[:, column] for column in (PEER, MESSAGE, AMOUNT))
        """[request]"""
        received = begins[begins[:, KIND] == RECEIVE]
        self.received = received[np.argsort(received[:, MESSAGE])]
        """[message] rows of the table."""


class _Replay:
    def __init__(self, trace: Trace, calls: _core.Calls, result: _core.SimulationResult, ranks: Sequence[int]) -> None:
        self.trace, self.calls, self.result = trace, calls, result
        self.lines = SourceLines()
        self.tables = {rank: calls.table(rank) for rank in ranks}
        self.messages = {rank: _Messages(table) for rank, table in self.tables.items()}
        begins = [int(trace.events(rank).begin_ns.min()) for rank in trace.ranks if len(trace.events(rank))]
        self.since_ns = min(begins, default=0)
        self.path = path_of(result)
        self.sent = result.trace_events
        self.arrows: dict[tuple[int, int], int] = {}
        """[receiver, message]: number of the arrow, of those of which both ends are shown."""
        for rank, request in self.sent[:, :2].tolist():
            messages = self.messages[rank]
            if (peer := int(messages.peer[request])) in self.tables:
                self.arrows[peer, int(messages.number[request])] = len(self.arrows) + 1

    def rows(self, rank: int) -> list[Row]:
        """Return the rows of a rank that have events."""
        rows = rows_of(self.trace.events(rank), self.lines, "recorded", self.since_ns)
        rows.append(Row("replay", self._calls(rank)))
        sent = self.sent[self.sent[:, 0] == rank]
        copies = sent[:, 4] == _COPY
        nics = sorted({*sent[~copies, 6].tolist()})
        for nic in nics:
            of_nic = sent[~copies & (sent[:, 6] == nic)]
            rows.append(Row("NIC" if nics == [0] else f"NIC {nic}", self._sent(rank, of_nic, "send")))
        rows.append(Row("memory", self._sent(rank, sent[copies], "copy")))
        rows += [Row("arrivals", self._arrivals(rank)), Row("critical path", self._path(rank))]
        return [row for row in rows if row.events]

    def _calls(self, rank: int) -> list[TraceEvent]:
        """An event per MPI call, and per computation; calls of the core that are of one of MPI's stand together."""
        table, events = self.tables[rank], self.trace.events(rank)
        if not len(table):
            return []
        ends = self.result.call_end_ps(rank)
        of_rows = events_of_rows(events, self.trace.communicators, accesses_of(self.trace))[table[:, ROW]]
        computes = table[:, LABEL] == COMPUTING
        keys = 2 * of_rows + ~computes
        last = np.append(np.flatnonzero(np.diff(keys)), len(keys) - 1)
        first = np.append(0, last[:-1] + 1)
        begin = np.append(0, ends[:-1])[first] // PS_PER_NS
        end = ends[last] // PS_PER_NS
        shown = [ShownOperation(events, number, self.lines) for number in range(len(events.operations))]
        return [
            TraceEvent("compute", "computing", b, e) if computing else shown[operation].at(b, e)
            for b, e, computing, operation in zip(
                begin.tolist(),
                end.tolist(),
                computes[first].tolist(),
                events.order[of_rows[first]].tolist(),
                strict=True,
            )
        ]

    def _sent(self, rank: int, sent: NDArray[np.int64], kind: str) -> list[TraceEvent]:
        messages, made = self.messages[rank], []
        for _, request, begin, end, *_ in sent.tolist():
            peer, number = int(messages.peer[request]), int(messages.number[request])
            arrow = self.arrows.get((peer, number))
            size = int(messages.bytes[request])
            made.append(
                TraceEvent(
                    kind,
                    f"to {peer}",
                    begin // PS_PER_NS,
                    end // PS_PER_NS,
                    peer=peer,
                    bytes=size,
                    starts=() if arrow is None else (arrow,),
                )
            )
        return made

    def _arrivals(self, rank: int) -> list[TraceEvent]:
        made = []
        arrived = (self.result.arrived_ps(rank) // PS_PER_NS).tolist()
        for number, (at, row) in enumerate(zip(arrived, self.messages[rank].received.tolist(), strict=True)):
            peer, size, arrow = row[PEER], row[AMOUNT], self.arrows.get((rank, number))
            ends = () if arrow is None else (arrow,)
            made.append(TraceEvent("arrival", f"from {peer}", at, at, peer=peer, bytes=size, ends=ends))
        return made

    def _path(self, rank: int) -> list[TraceEvent]:
        made = []
        mine = np.flatnonzero(self.path["rank"] == rank)
        columns = (self.path[name][mine].tolist() for name in ("label", "is_message", "begin_ps", "end_ps", "peer"))
        for label, is_message, begin, end, peer in zip(*columns, strict=True):
            name = self.calls.labels[label]
            name = f"message to {peer}, {name}" if is_message else name
            made.append(
                TraceEvent("path", name, begin // PS_PER_NS, end // PS_PER_NS, peer=peer if peer >= 0 else None)
            )
        return made
