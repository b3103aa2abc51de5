"""Messages of a channel: orders to a server, and its replies."""

from __future__ import annotations

import time
from time import perf_counter
from typing import Any

from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.control_channel import ControlChannel
from tradewind.fieldserver.server.messages import ORDER, STATUS, ServerStatus, decoded
from tradewind.mpi.library import MPI

_PAUSE_S = 1e-4


class ServerMessages:
    """Messages between a server and the ranks of `model`, of which the first has `control`; none of other writers."""

    def __init__(self, plan: OutputPlan, control: ControlChannel | None, model: MPI.Intracomm | None) -> None:
        self.plan, self.control, self._model = plan, control, model
        self.lost = ""
        """Why nothing goes there any more."""
        self.gone = ""
        """Why the server has ended, or takes no part in what was begun, as this rank has found."""
        self.unread: list[ServerStatus] = []
        """Status of the server that came while another message was awaited."""
        self._described: set[str] = set()

    def send_order(self, order: Any) -> None:
        """Send the server an order; the first rank does so for all."""
        if self.control is not None:
            self.control.send_json(ORDER, order)

    def reply(self, tag: int, *, go: bool = False) -> str | None:
        """Return the reply with a tag, an error or ""; None where the server is silent: then it is lost. Collective.

        `go`: reply `go` when the server is ready to do something together with the model, and has met no error.
        """
        assert self._model is not None
        found: tuple[str | None, str] = None, ""
        if self.control is not None:
            found = self._received(self.control, tag)
            if go and found == ("", ""):
                self.send_order({"op": "go"})
        reply: str | None
        reply, self.lost = self._model.bcast(found)
        return reply

    def _received(self, control: ControlChannel, tag: int) -> tuple[str | None, str]:
        """Return the next message, or why none comes any more."""
        if self.gone:
            return None, self.gone
        received_at = perf_counter()
        while (value := control.receive(tag)) is None:
            if (data := control.receive(STATUS)) is not None:
                received_at = perf_counter()
                self.unread.append(ServerStatus.unpack(data))
                if self.unread[-1].lost:
                    return None, self.unread[-1].lost
            if perf_counter() > received_at + self.plan.table.patience:
                return None, f"it did not take part for {self.plan.table.patience:g} s"
            time.sleep(_PAUSE_S)
        return decoded(value), ""

    def describe(self, field: OutputField) -> None:
        """Send the server the attributes of a field, once."""
        if field.name not in self._described:
            self._described.add(field.name)
            if field.geometry.digest not in self._described:  # once: that of a mesh is long
                self._described.add(field.geometry.digest)
                self.send_order(
                    {"op": "geometry", "digest": field.geometry.digest, "geometry": field.geometry.as_dict()}
                )
            self.send_order({"op": "field", "field": field.as_dict()})
