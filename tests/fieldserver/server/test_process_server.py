"""Messages and memory of local servers, between two ends in one process."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import struct
from collections.abc import Iterator

import pytest
from output_plans import plan

from tradewind.base.errors import PlanError
from tradewind.fieldserver.server.local_control import LocalControl
from tradewind.fieldserver.server.messages import ORDER, STATUS, from_json, to_json
from tradewind.fieldserver.server.process_server import ProcessServer, mapped


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, LocalControl]]:
    """A model's end of a socket, and the messages of a server at the other one."""
    model, server = socket.socketpair()
    with model, server:
        yield model, LocalControl(server)


def test_messages_come_whole_and_by_tag(ends):
    model, control = ends
    message = struct.pack("=qq", ORDER, 5) + b"order" + struct.pack("=qq", STATUS, 0)
    for byte in message[:20]:
        model.sendall(bytes([byte]))
        assert control.receive(ORDER) is None
    model.sendall(message[20:])
    assert control.receive(ORDER) == b"order"
    assert control.receive(STATUS) == b""
    assert control.receive(STATUS) is None


def test_what_a_socket_has_no_room_for_waits(ends):
    model, control = ends
    sent = [bytes([number]) * 2**20 for number in range(3)]
    for each in sent:
        control.send(STATUS, each)
    received = bytearray()
    while len(received) < 3 * (2**20 + 16):
        received += model.recv(2**16)
        control.receive(ORDER)
    control.finish()
    assert received == b"".join(struct.pack("=qq", STATUS, len(each)) + each for each in sent)


def test_orders_of_a_model_that_has_ended_come_before_its_end(ends):
    model, control = ends
    model.sendall(struct.pack("=qq", ORDER, 2) + b"{}")
    model.close()
    assert control.receive(ORDER) == b"{}"
    end = control.receive(ORDER)
    assert end is not None
    assert from_json(end) == {"op": "close", "awaited": False, "discard": True}
    control.send(STATUS, b"nothing reads it")
    control.finish()


def test_memory_is_that_with_its_mark():
    file = os.memfd_create("test")
    try:
        os.ftruncate(file, 4096 + 8)
        with mmap.mmap(file, 4096 + 8) as memory:
            memory[:8] = struct.pack("=q", 17)
            memory[4096:] = b"a field."
            assert mapped(os.getpid(), file, 4096 + 8, 17).tobytes() == b"a field."
            with pytest.raises(PlanError, match="is that of another process"):
                mapped(os.getpid(), file, 4096 + 8, 18)
    finally:
        os.close(file)
    with pytest.raises(PlanError, match=f"/proc/{os.getpid()}/fd/{file}.: No such file or directory"):
        mapped(os.getpid(), file, 4096 + 8, 17)


@pytest.mark.parametrize("watched", [True, False])
def test_a_server_that_the_model_watches_gives_signs_of_life_while_it_writes(ends, tmp_path, monkeypatch, watched):
    model, control = ends
    server = ProcessServer(plan(tmp_path), control, 1, 0)
    drained = iter([False, False, True])
    monkeypatch.setattr(server.writer, "drained", lambda wait_s: next(drained))
    order = to_json({"op": "close", "awaited": False, "watched": watched})
    model.sendall(struct.pack("=qq", ORDER, len(order)) + order)
    server.serve()
    model.shutdown(socket.SHUT_WR)
    model.setblocking(False)
    tags = []
    with contextlib.suppress(BlockingIOError):
        while head := model.recv(16):
            tag, size = struct.unpack("=qq", head)
            model.recv(size)
            tags.append(tag)
    assert tags == (2 * [STATUS] if watched else [])
