"""Which share writes which file: each file has one writer, and a store of all steps always the same."""

from __future__ import annotations

from collections.abc import Callable

from tradewind.fieldserver.plan_file import OutputPlan, Request


class Dealing:
    """Deals files among so many shares, the same on all ranks that ask in the same order.

    ``size``: to the share with the fewest bytes so far; ``names``: fields of one name to one share; ``steps``: all
    files of a step to one share, in turn.
    """

    def __init__(self, plan: OutputPlan, shares: int, bytes_of: Callable[[str, int], int]) -> None:
        """`bytes_of`: bytes of a file, by its path and step."""
        self._way, self._shares, self._bytes_of = plan.table.deal, shares, bytes_of
        self._load = [0] * shares
        self._owner: dict[tuple[int, str], int] = {}
        self._names: dict[str, int] = {}
        self._steps: dict[int, int] = {}

    def share_of(self, request: Request, name: str, step: int) -> int:
        """The share that writes a file."""
        key = (-1 if request.sink.format == "zarr" else step, request.path)
        if key not in self._owner:
            self._owner[key] = self._deal(request, name, step)
        return self._owner[key]

    def _deal(self, request: Request, name: str, step: int) -> int:
        if self._way == "names":
            return self._names.setdefault(name, len(self._names)) % self._shares
        if self._way == "steps":
            return self._steps.setdefault(step, len(self._steps)) % self._shares
        share = min(range(self._shares), key=lambda number: self._load[number])
        self._load[share] += self._bytes_of(request.path, step)
        return share
