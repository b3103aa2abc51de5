"""Local servers: processes beside ranks of a model in C or Fortran, which share memory with these.

The library of the model starts them, and src/fieldserver is its side. They are no ranks, and load no MPI.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import struct
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import PlanError, TradewindError
from tradewind.fieldserver.files.output_folder import FolderHold, prepare_folder
from tradewind.fieldserver.plan.plan_file import OutputPlan, load_plan
from tradewind.fieldserver.server.local_control import LocalControl
from tradewind.fieldserver.server.messages import INPUT, JOIN, MAGIC, ORDER, PROTOCOL, from_json, pack
from tradewind.fieldserver.server.ordered_server import OrderedServer
from tradewind.fieldserver.server.orders import Order
from tradewind.fieldserver.server.plan_message import packed_plan
from tradewind.fieldserver.server.shape import Shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_HEADER_BYTES = 4096
"""Bytes before the values in shared memory, which begin with its mark: see src/mpi/shared_memory.cpp."""
_OF_THE_JOB = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that all processes of a job get, from a terminal or a batch system. The model may go on after one, and needs
its server then; where it ends, its socket does, and with that the server."""
_TRANSPORT, _PACKING = "isend-irecv", "buffer"
"""How fields are gathered on the rank of the model that has this server."""


class ProcessServer(OrderedServer):
    """Writes and reads fields in memory that the model shares with it."""

    def __init__(self, plan: OutputPlan, control: LocalControl, shares: int, number: int) -> None:
        super().__init__(plan, control, shares, number)
        self._slots: dict[int, tuple[Shape, list[Array]]] = {}
        """Form of the fields of each slot, and their memory, [level][point]."""
        self._input: dict[str, memoryview] = {}
        """Memory of input, by the form of a field."""

    def _carry_out(self, order: Order) -> None:
        super()._carry_out(order)
        if self.problem:  # the model may end this process at once
            print(f"tradewind: server {self.number}: {self.problem}", file=sys.stderr, flush=True)

    def _do_slot(self, place: int, alike: str, shape: dict[str, Any]) -> None:
        self._slots[place] = Shape(**shape), []

    def _do_memory(self, place: int, memory: list[int]) -> None:
        shape, whole = self._slots[place]
        whole.append(_field_of(mapped(*memory), shape))

    def _do_empty(self, place: int) -> None:
        del self._slots[place]

    def _do_block(self, slot: int, number: int, entries: list[Any]) -> None:
        now = perf_counter()
        shape, whole = self._slots[slot]
        self.received_bytes += len(entries) * shape.bytes
        self.events.append((f"collect {len(entries)}", now, now))
        self.submit(slot, number, entries, whole[: len(entries)])

    def _do_input_memory(self, alike: str, memory: list[int]) -> None:
        self._input[alike] = mapped(*memory)

    def _do_send(self, path: str, name: str, alike: str, shape: dict[str, Any]) -> None:
        made = Shape(**shape)
        values = self._read(path, name, made)
        if values is None:
            return
        begin = perf_counter()
        np.copyto(_field_of(self._input[alike], made), values, casting="same_kind")
        self.events.append((f"send {name} of {path}", begin, perf_counter()))
        self._ready(INPUT)


def mapped(process: int, file: int, size: int, mark: int) -> memoryview:
    """Return memory that a process shares by an open file, without what is before its values.

    `mark`: the number that it begins with. Raises PlanError for other memory.
    """
    path = f"/proc/{process}/fd/{file}"
    try:
        opened = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise PlanError(f"the memory of the model ({path}): {error.strerror}") from None
    try:
        memory = memoryview(mmap.mmap(opened, size))
    finally:
        os.close(opened)
    if struct.unpack_from("=q", memory)[0] != mark:
        raise PlanError(f"the memory of the model ({path}) is that of another process")
    return memory[_HEADER_BYTES:]


def _field_of(memory: memoryview, shape: Shape) -> Array:
    return np.frombuffer(memory, shape.dtype, shape.levels * shape.points).reshape(shape.levels, shape.points)


def serve_locally(channel: int) -> None:
    """Serve the model at the other end of a socket, the open file `channel`, until it ends."""
    for each in _OF_THE_JOB:
        signal.signal(each, signal.SIG_IGN)
    control = LocalControl(socket.socket(fileno=channel))
    control.send(JOIN, pack(MAGIC, PROTOCOL))
    holds: list[FolderHold] = []
    while True:
        order = from_json(control.wait_for(ORDER))
        if order["op"] == "plan":
            control.send(JOIN, _opened(order["path"], holds))
        elif order["op"] == "serve":
            break
        else:  # the model has ended before it was ready
            return
    plan = load_plan(order["path"], order["text"])
    server = ProcessServer(plan, control, order["shares"], order["number"])
    server.holds = holds
    control.send(JOIN, b"")
    server.serve()


def _opened(path: str, holds: list[FolderHold]) -> bytes:
    """Return the message of a plan, whose folder is prepared, or of what is wrong with it."""
    try:
        plan = load_plan(path)
        holds.append(prepare_folder(plan))
    except TradewindError as error:
        return pack(str(error))
    except OSError as error:
        return pack(f"{type(error).__name__}: {error}")
    return pack("", plan.path, plan.text, _TRANSPORT, _PACKING) + packed_plan(plan)
