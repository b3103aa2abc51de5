"""Status of servers on the ranks of a model: errors counted over a change of writers, and silence."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind.base.errors import WriteError
from tradewind.fieldserver.model import status as module
from tradewind.fieldserver.model.channel import Channel
from tradewind.fieldserver.model.status import Status
from tradewind.fieldserver.server.messages import ServerStatus

PATIENCE_S = 5.0


class Alone:
    """A communicator of one rank."""

    def Iallreduce(self, sent, found, operation):  # noqa: N802 (as MPI calls it)
        found[:] = sent
        return SimpleNamespace(Wait=lambda: None)

    def allgather(self, value):
        return [value]


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on when a test sets it."""
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    return now


def channel_of(server):
    """A channel whose server has sent nothing yet."""
    control = SimpleNamespace(receive=lambda tag: server.pop(0) if server else None, send_json=lambda tag, order: None)
    return Channel(None, 0, Alone(), 1, control=control, model=Alone())


def message(finished=0, errors=()):
    return ServerStatus(finished, errors=list(errors)).pack()


def test_a_server_that_had_no_work_for_long_is_not_lost(clock):
    server = [message(finished=1)]
    channel = channel_of(server)
    status = Status(Alone(), [channel], [], PATIENCE_S)
    channel.end_step(0, 0)
    status.exchange(wait=True)
    clock[0] += 10 * PATIENCE_S  # the model computes
    channel.end_step(0, 1)
    status.exchange(wait=True)
    assert status.lost == []
    clock[0] += PATIENCE_S + 1
    status.exchange(wait=True)
    assert status.lost == [0]


def test_a_server_that_sends_its_status_is_not_lost(clock):
    server = []
    channel = channel_of(server)
    status = Status(Alone(), [channel], [], PATIENCE_S)
    for step in range(4):
        channel.end_step(0, step)
    for step in range(4):
        clock[0] += PATIENCE_S - 1
        server.append(message(finished=step))
        status.exchange(wait=True)
    assert status.lost == []


def test_a_server_that_makes_no_room_is_lost_before_any_step_has_ended(clock):
    channel = channel_of([])
    status = Status(Alone(), [channel], [], PATIENCE_S)
    channel.awaited = True
    status.exchange(wait=True)
    clock[0] += PATIENCE_S + 1
    status.exchange(wait=True)
    assert status.lost == [0]


def test_the_first_error_of_another_writer_is_raised_too():
    channel = channel_of([message(errors=["no space left"])])
    status = Status(Alone(), [channel], [], PATIENCE_S)
    status.exchange(wait=True)
    with pytest.raises(WriteError, match="no space left"):
        status.raise_errors()
    status.start_again(0)
    status.raise_errors()  # nothing new
    status.note_errors(0, ["read-only"])
    status.exchange(wait=True)
    with pytest.raises(WriteError, match="read-only"):
        status.raise_errors()
