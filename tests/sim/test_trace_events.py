"""Trace events of ranks, as a table."""

from __future__ import annotations

from dataclasses import replace

from small import NS, TORUS, core, machine, pair
from validation.forms import BYTE, placed

from tradewind import _core
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

KINDS = list(_core.trace_event_kinds)
EXCHANGE = Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2")


def showing(simulation, *ranks):
    """All ranks unless some are named."""
    return replace(simulation, shown=ranks or tuple(range(simulation.exchange.ranks)))


def trace_events(result):
    """[(rank, stage, begin, end, kind, peer, NIC, bytes)]"""
    return [(*row[:4], KINDS[row[4]], *row[5:]) for row in result.trace_events.tolist()]


def test_nothing_is_kept_unasked():
    assert core(prepare(EXCHANGE, machine(TORUS))).trace_events.shape == (0, 8)


def test_one_message_computed_by_hand():
    file = machine(TORUS, send_overhead="7ns", receive_overhead="9ns")
    simulation = prepare(pair(1000), file, packet="1KiB", buffers="unbounded", **placed(file, (3, 0)))
    left, arrives = 7 * NS + 8000 * BYTE, (7 + 5 * 100) * NS + 8000 * BYTE
    for rank in (0, 1):
        assert [event for event in trace_events(core(showing(simulation))) if event[0] == rank] == [
            (rank, 0, 0, arrives + 9 * NS, "stage", -1, 0, 0),
            (rank, 0, 0, 7 * NS, "post", -1, 0, 0),
            (rank, 0, 7 * NS, left, "send", 1 - rank, 0, 8000),
            (rank, 0, arrives, arrives + 9 * NS, "match", -1, 0, 0),
            (rank, 0, arrives, arrives, "arrival", 1 - rank, 0, 8000),
        ]
