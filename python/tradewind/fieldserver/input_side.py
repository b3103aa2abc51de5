"""The side of the model of input: files that are read ahead by servers, or on ranks of the model, and handed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.fieldserver.ahead import ReadAhead
from tradewind.fieldserver.delivery import Delivery, whole_field
from tradewind.fieldserver.share import Defined, Share
from tradewind.fieldserver.talk import AVAILABLE, INPUT

if TYPE_CHECKING:
    from tradewind.fieldserver.handover import Array
    from tradewind.fieldserver.opening import Method
    from tradewind.mpi.library import MPI


class InputSide:
    """Input of a model, dealt among its `shares` in turn. `depth`: files that each reads ahead."""

    def __init__(self, comm: MPI.Intracomm, shares: list[Share], depth: int, method: Method | None) -> None:
        self._comm, self._shares, self._depth, self._method = comm, shares, depth, method
        self._readers: dict[str, int] = {}
        self._asked = 0
        self._ahead: ReadAhead | None = None
        self._deliveries: dict[tuple[int, str], Delivery] = {}

    def prefetch(self, paths: Sequence[str]) -> None:
        """Have the next files read; returns when each server has confirmed that it is available. Collective."""
        for path in paths:
            self._readers[path] = self._asked % len(self._shares)
            self._asked += 1
        for share in self._shares:
            mine = [path for path in paths if self._readers[path] == share.number]
            if not mine:
                continue
            if share.talk is not None:
                share.say({"op": "prefetch", "paths": mine})
                share.talk.wait_for(AVAILABLE)
            elif share.writer is not None:
                self._ahead_of(share).ask(mine)
        self._comm.Barrier()

    def check_named(self, path: str) -> None:
        """Raises InputError for a file that was not named."""
        if path not in self._readers:
            raise InputError(f"read of {path}: {unknown('input file', path, self._readers)}")

    def read(self, what: Defined, path: str) -> Array:
        """This rank's part of a field. Collective. Raises InputError."""
        share, name = self._shares[self._readers[path]], what.field.name
        share.say({"op": "send", "path": path, "name": name, "alike": what.alike, "shape": asdict(what.shape)})
        whole = self._whole(share, path, name, what)
        key = (share.number, what.alike)
        if key not in self._deliveries:
            self._deliveries[key] = Delivery(share.comm, share.receiver, what.shape, what.own, self._method)
        return self._deliveries[key].give(whole)

    def _ahead_of(self, share: Share) -> ReadAhead:
        """Reader of files on this rank, which writes, too."""
        if self._ahead is None:
            assert share.writer is not None
            self._ahead = ReadAhead(share.writer.call, self._depth)
        return self._ahead

    def _whole(self, share: Share, path: str, name: str, what: Defined) -> Array | None:
        """Wait until a field is read; its values where a rank of the model has read it."""
        whole, answer = None, None
        if share.talk is not None:
            answer = share.talk.wait_for(INPUT)
        elif share.writer is not None:
            try:
                whole, answer = whole_field(self._ahead_of(share).get(path), name, what.shape), {}
            except InputError as error:
                answer = {"error": str(error)}
        said = self._comm.bcast(answer, root=0 if share.remote else share.receiver)
        if "error" in said:
            raise InputError(said["error"])
        return whole
