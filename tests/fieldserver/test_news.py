"""News of servers as ranks of a model hear them: errors counted over a change of writers, and silence."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind.base.errors import WriteError
from tradewind.fieldserver import news as module
from tradewind.fieldserver.channel import Channel
from tradewind.fieldserver.news import News

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
    """A clock that goes on when it is told to."""
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    return now


def channel_of(server):
    """A channel whose server has said nothing yet."""
    talk = SimpleNamespace(hear=lambda tag: server.pop(0) if server else None, say=lambda tag, order: None)
    return Channel(None, 0, Alone(), 1, talk=talk, model=Alone())


def said(finished=0, errors=()):
    return {"released": [], "errors": list(errors), "finished": finished}


def test_a_server_that_had_no_work_for_long_is_not_lost(clock):
    server = [said(finished=1)]
    channel = channel_of(server)
    news = News(Alone(), [channel], [], PATIENCE_S)
    channel.end_step(0, 0)
    news.exchange(wait=True)
    clock[0] += 10 * PATIENCE_S  # the model computes
    channel.end_step(0, 1)
    news.exchange(wait=True)
    assert news.lost == []
    clock[0] += PATIENCE_S + 1
    news.exchange(wait=True)
    assert news.lost == [0]


def test_a_server_that_speaks_is_not_lost(clock):
    server = []
    channel = channel_of(server)
    news = News(Alone(), [channel], [], PATIENCE_S)
    for step in range(4):
        channel.end_step(0, step)
    for step in range(4):
        clock[0] += PATIENCE_S - 1
        server.append(said(finished=step))
        news.exchange(wait=True)
    assert news.lost == []


def test_a_server_that_makes_no_room_is_lost_before_any_step_has_ended(clock):
    channel = channel_of([])
    news = News(Alone(), [channel], [], PATIENCE_S)
    channel.hurried = True
    news.exchange(wait=True)
    clock[0] += PATIENCE_S + 1
    news.exchange(wait=True)
    assert news.lost == [0]


def test_the_first_error_of_another_writer_is_raised_too():
    channel = channel_of([said(errors=["no space left"])])
    news = News(Alone(), [channel], [], PATIENCE_S)
    news.exchange(wait=True)
    with pytest.raises(WriteError, match="no space left"):
        news.raise_errors()
    news.start_again(0)
    news.raise_errors()  # nothing new
    news.note_errors(0, ["read-only"])
    news.exchange(wait=True)
    with pytest.raises(WriteError, match="read-only"):
        news.raise_errors()
