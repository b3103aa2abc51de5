"""Which share writes which file: each file has one writer, and a store of all steps always the same."""

from __future__ import annotations

from collections.abc import Callable

from tradewind.fieldserver.plan.plan_file import OutputPlan, Request


class Dealing:
    """Deals files among so many shares, the same on all ranks that ask in the same order.

    ``size``: to the share with the fewest bytes so far; ``names``: fields of one name to one share; ``steps``: all
    files of a step to one share, in turn; ``levels``: files of one level to one share, others as by size.
    """

    def __init__(self, plan: OutputPlan, shares: int, bytes_of: Callable[[str, int], int]) -> None:
        """`bytes_of`: bytes of a file, by its path, with a star for a level, and step."""
        self._way, self._shares, self._bytes_of = plan.table.deal, shares, bytes_of
        self._load = [0] * shares
        self._owner: dict[tuple[int, str], int] = {}
        self._names: dict[str, int] = {}
        self._steps: dict[int, int] = {}
        self._dealt_steps = 0
        self._levels: dict[float, int] = {}

    def share_of(self, request: Request, name: str, step: int, level: float = 0.0) -> int:
        """The share that writes a file; where it is of one level, of this."""
        key = (-1 if request.sink.form.store_file else step, request.path)
        if key not in self._owner:
            self._owner[key] = self._deal(request, name, step, level)
        return self._owner[key]

    def end_step(self, step: int) -> None:
        """Forget the files of a step, and of those before."""
        self._owner = {key: share for key, share in self._owner.items() if key[0] < 0 or key[0] > step}
        self._steps = {each: share for each, share in self._steps.items() if each > step}

    def _deal(self, request: Request, name: str, step: int, level: float) -> int:
        if self._way == "names":
            return self._names.setdefault(name, len(self._names)) % self._shares
        if self._way == "steps":
            if step not in self._steps:
                self._steps[step] = self._dealt_steps % self._shares
                self._dealt_steps += 1
            return self._steps[step]
        if self._way == "levels" and request.by_level:
            return self._levels.setdefault(level, len(self._levels)) % self._shares
        share = min(range(self._shares), key=lambda number: self._load[number])
        self._load[share] += self._bytes_of(request.files, step)
        return share
