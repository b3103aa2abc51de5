"""The side of the model of input: files that are read ahead by servers, or on ranks of the model, and handed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tradewind.base.errors import InputError, PlanError
from tradewind.base.names import unknown
from tradewind.fieldserver.model.channel import Channel, in_use
from tradewind.fieldserver.model.model_side import ModelSide
from tradewind.fieldserver.server.ahead import ReadAhead
from tradewind.fieldserver.server.delivery import Delivery
from tradewind.fieldserver.server.input_field import whole_field
from tradewind.fieldserver.server.messages import AVAILABLE, INPUT
from tradewind.fieldserver.server.slots import Defined

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array, HandoverMethod


class InputSide:
    """Input of a model, dealt among the shares of `side` in turn. `depth`: files that each reads ahead."""

    def __init__(self, side: ModelSide, depth: int, method: HandoverMethod | None) -> None:
        self._side, self._depth, self._method = side, depth, method
        self._share_of: dict[str, int] = {}
        self._wanted: list[str] = []
        """Files that were named, from the one on that was read last."""
        self._asked = 0
        self._ahead: ReadAhead | None = None
        self._deliveries: dict[tuple[Channel, str], Delivery] = {}
        side.on_take_over = self._ask_again

    def prefetch(self, paths: Sequence[str]) -> None:
        """Have the next files read; returns when each server has confirmed that it is available. Collective."""
        self._side.agreement.note(f"prefetch {' '.join(paths)}")
        self._side.agreement.check()
        channels = self._side.channels
        for path in paths:
            self._share_of[path] = self._asked % len(channels)
            self._asked += 1
        self._wanted += paths
        for channel, mine in [(each, self._of(each, paths)) for each in in_use(channels)]:
            if channel in channels:  # else what it was to read has been asked of another
                self._ask(channel, mine)
        self._side.comm.Barrier()

    @property
    def reads(self) -> list[tuple[str, float, float]]:
        """Files that were read on this rank, and when."""
        return [] if self._ahead is None else self._ahead.events

    def check_named(self, path: str) -> None:
        """Raises InputError for a file that was not named."""
        if path not in self._share_of:
            raise InputError(f"read of {path}: {unknown('input file', path, self._share_of)}")

    def read(self, what: Defined, path: str) -> Array:
        """This rank's part of a field. Collective. Raises InputError."""
        self._side.agreement.note(f"read {what.field.name} of {path}")
        self._side.agreement.check()
        if path in self._wanted:
            del self._wanted[: self._wanted.index(path)]
        while True:
            channel = self._side.channels[self._share_of[path]]
            whole, problem = self._whole(channel, path, what)
            if problem is not None:
                if problem:
                    raise InputError(problem)
                part = self._delivered(channel, what, whole)
                if part is not None:
                    return part
            self._side.take_over(channel, channel.lost)

    def _delivered(self, channel: Channel, what: Defined, whole: Array | None) -> Array | None:
        """This rank's part of a field; None where the server takes no part any more."""
        part, problem = None, ""
        try:
            part = self._delivery(channel, what).give(whole)
        except PlanError as error:
            if not channel.remote:
                raise
            problem = str(error)
        if channel.remote:
            channel.lost = next(filter(None, self._side.comm.allgather(problem)), "")
        return None if channel.lost else part

    def _delivery(self, channel: Channel, what: Defined) -> Delivery:
        key = (channel, what.alike)
        if key not in self._deliveries:
            watchdog_s = channel.plan.table.patience if channel.remote else 0.0
            self._deliveries[key] = Delivery(
                channel.comm, channel.receiver, what.shape, what.own, self._method, watchdog_s
            )
        return self._deliveries[key]

    def _of(self, channel: Channel, paths: Sequence[str]) -> list[str]:
        """Those of some files that are read there."""
        return [path for path in paths if self._side.channels[self._share_of[path]] is channel]

    def _ask(self, channel: Channel, paths: Sequence[str]) -> None:
        if not paths:
            return
        if not channel.remote:
            if channel.writer is not None:
                self._ahead_of(channel).ask(paths)
            return
        channel.send_order({"op": "prefetch", "paths": paths})
        if channel.reply(AVAILABLE) is None:
            self._side.take_over(channel, channel.lost)

    def _ask_again(self, shares: Sequence[int], taker: Channel) -> None:
        """Have the files of shares, whose server is lost, read by the one that has them now."""
        self._ask(taker, [path for path in self._wanted if self._share_of[path] in shares])

    def _ahead_of(self, channel: Channel) -> ReadAhead:
        """Reader of files on this rank, which writes, too."""
        if self._ahead is None:
            assert channel.writer is not None
            self._ahead = ReadAhead(channel.writer.call, self._depth)
        return self._ahead

    def _whole(self, channel: Channel, path: str, what: Defined) -> tuple[Array | None, str | None]:
        """Return the values, where a rank of the model has read them, and an error or "": None of a lost server."""
        field, name = what.field, what.field.name
        if channel.remote:
            channel.describe(field)
            channel.send_order(
                {"op": "send", "path": path, "name": name, "alike": what.alike, "shape": asdict(what.shape)}
            )
            return None, channel.reply(INPUT, go=True)
        whole, problem = None, ""
        if channel.writer is not None:
            try:
                file = self._ahead_of(channel).get(path)
                whole = whole_field(file, name, what.shape, field.geometry, field.units)
            except InputError as error:
                problem = str(error)
        return whole, self._side.comm.bcast(problem, root=channel.receiver)
