"""Ranks and nodes that a forecast needs: the smallest number that meets a deadline, for one member or an ensemble.

More ranks never make a step cheaper: ranks times seconds do not fall as ranks rise. So a step on N ranks that takes f
times too long rules out all numbers below f N, and the search goes from there. It does so on an unloaded network first,
whose simulation costs little and whose steps are no slower; then with all packets. What is between the last number that
failed and the first that does not is halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.result import Result
from tradewind.base.units import format_duration
from tradewind.machine import MachineFile, load_machine
from tradewind.model.forecast import forecast, forecast_s
from tradewind.model.grid import MAX_RANKS
from tradewind.model.step_program import OnGrid
from tradewind.simulation.causes import simulate_unloaded
from tradewind.simulation.checks import ranks_per_node_on

ELONGATION = 3
"""Ranks along one direction over those along the other, up to which a number of ranks is tried; over the levels, where
transpositions divide these and allow no more ranks."""
TOLERANCE = 1.03
"""The result may be this factor above the smallest number."""
_GROWTH = 1.25
"""Factor between two numbers of ranks that are tried, at least."""
_GAIN = 0.98
"""A step that takes more than this part of the fastest one so far is no gain."""
_ENOUGH_WITHOUT_GAIN = 2
"""Numbers of ranks, one after another, without a gain: more will bring none."""
_LOOKS = 5000
"""Numbers of ranks that are looked at for one that fits the grid."""
_TRIES = 20
"""Numbers that fit the grid and are tried for one on which the step can be: its exchanges may take long to find."""

Report = Callable[[str], None]


@dataclass
class Search:
    """Finds numbers of ranks for deadlines; what was simulated for one serves the next."""

    model: OnGrid
    file: MachineFile
    days: float
    """Days of the forecast."""
    options: dict[str, Any]
    report: Report = lambda text: None
    """Called with a line before each simulation of all packets."""
    quick: dict[int, float] = field(default_factory=dict)
    full: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Seconds of the forecast by ranks, on an unloaded network; results with all packets."""
    refusal: InputError | None = None
    """Why the last number of ranks that the model refused does not fit."""
    unmade: InputError | None = None
    """Why no step could be made on the first number of ranks that fits the model, but is refused."""

    @cached_property
    def each(self) -> int:
        """Ranks per node."""
        return ranks_per_node_on(self.file, self.options.get("ranks_per_node") or 1)

    @cached_property
    def nodes(self) -> int:
        """Nodes of the machine."""
        return self.file.machine.build(self.options.get("routing")).nodes

    @property
    def most(self) -> int:
        """The ranks for which the machine has nodes, and which a model may have."""
        return min(MAX_RANKS, self.nodes * self.each)

    def ranks_within(self, limit_s: float) -> tuple[int | None, str]:
        """Return the smallest number of ranks whose forecast takes at most `limit_s`; None, and why there is none."""
        first = self._fitting(1)
        if first is None:
            if self.unmade:  # more likely a mistake of the model than of the ranks
                raise self.unmade
            return None, f"no number of ranks fits the model{f': {self.refusal}' if self.refusal else ''}"
        start, reason = self._first_within(first, limit_s, self._quick_s)
        if start is None:
            return None, reason
        found, reason = self._first_within(start, limit_s, self._full_s)
        if found is None:
            return None, reason
        return self._halved(found, limit_s), ""

    def _first_within(self, ranks: int, limit_s: float, seconds: Callable[[int], float]) -> tuple[int | None, str]:
        best, without_gain = (math.inf, ranks), 0
        while (time_s := seconds(ranks)) > limit_s:
            without_gain = without_gain + 1 if time_s > _GAIN * best[0] else 0
            best = min(best, (time_s, ranks))
            fastest = f"the fastest forecast takes {format_duration(best[0])}, on {best[1]:,} ranks"
            if without_gain == _ENOUGH_WITHOUT_GAIN:
                return None, f"more ranks do not help; {fastest}"
            wanted = math.ceil(ranks * max(_GROWTH, time_s / limit_s))
            following = self._fitting(wanted) or self._last_between(ranks, wanted)
            if following is None:
                reason = f"more ranks have no nodes, or do not fit the model in parts of at most {ELONGATION}:1"
                return None, f"{reason}; {fastest}"
            ranks = following
        return ranks, ""

    def _halved(self, found: int, limit_s: float) -> int:
        """Return a smaller number that meets the deadline, where one lies between those that were tried."""
        full = {ranks: forecast_s(self.days, result) for ranks, result in self.full.items()}
        failed = [ranks for known in (self.quick, full) for ranks, time_s in known.items() if time_s > limit_s]
        below = max((ranks for ranks in failed if ranks < found), default=0)
        while found > TOLERANCE * below:
            middle = self._fitting(max(below + 1, (below + found) // 2))
            if middle is None or middle >= found:
                break
            if self._full_s(middle) <= limit_s:
                found = middle
            else:
                below = middle
        return found

    def _fitting(self, ranks: int) -> int | None:
        """Return the next number of ranks, of whole nodes, on which the step can be, in parts that are not too long."""
        fitting = (each for each in self._numbers(ranks, self.most) if self._fits(each))
        return next((each for each in islice(fitting, _TRIES) if self._is_made(each)), None)

    def _last_between(self, ranks: int, end: int) -> int | None:
        """Return a large number above `ranks` on which the step can be, where there is none from `end` on."""
        end = min(end, self.most + 1)
        for _ in range(_TRIES):
            found = self._last_fitting(ranks, end)
            if found is None or self._is_made(found):
                return found
            end = found
        return None

    def _last_fitting(self, ranks: int, end: int) -> int | None:
        """Return the largest number above `ranks` that fits the grid, where none from `end` on does."""
        fits, fails = ranks, end
        while fails - fits > self.each:
            middle = (fits + fails) // 2
            found = next((each for each in self._numbers(middle, fails - 1) if self._fits(each)), None)
            fits, fails = (fits, middle) if found is None else (found, fails)
        return fits if fits > ranks else None

    def _numbers(self, first: int, last: int) -> range:
        """Return the numbers of ranks, of whole nodes, that are looked at."""
        return range(math.ceil(first / self.each) * self.each, last + 1, self.each)[:_LOOKS]

    def _is_made(self, ranks: int) -> bool:
        """Whether the step can be on ranks that fit the grid; its exchanges, which may take long to find, are kept."""
        try:
            for every in (1, *self.model.every(ranks)):
                self.model.program(ranks, every=every)
        except InputError as error:
            self.refusal = error
            self.unmade = self.unmade or error
            return False
        return True

    def _fits(self, ranks: int) -> bool:
        """Whether a number of ranks fits the grid. Along levels there may be as few ranks as there are levels."""
        try:
            self.model.check(ranks)
        except InputError as error:
            self.refusal = error
            return False
        if self.model.extents is None:
            return True
        fewer, more = sorted(self.model.split(ranks))
        along_levels = self.model.ranks_along_levels(ranks)
        return min(more, along_levels or more) <= ELONGATION * fewer

    def _quick_s(self, ranks: int) -> float:
        if ranks not in self.quick:
            result = forecast(self.model, self.file, ranks, simulate=simulate_unloaded, **self.options)
            self.quick[ranks] = forecast_s(self.days, result)
        return self.quick[ranks]

    def _full_s(self, ranks: int) -> float:
        if ranks not in self.full:
            self.report(f"simulation {len(self.full) + 1}: {ranks:,} ranks")
            self.full[ranks] = forecast(self.model, self.file, ranks, **self.options)
        return forecast_s(self.days, self.full[ranks])


def ranks_within(
    model: OnGrid,
    machine: str | Path | MachineFile,
    *,
    within_s: float,
    days: float,
    members: int = 1,
    settings: dict[str, str] | None = None,
    report: Report = lambda text: None,
    **options: Any,
) -> dict[str, Any]:
    """Find the smallest number of ranks for a forecast of `days` days in `within_s` seconds, for each of `members`.

    Returns `side_by_side` and `one_after_another`, each with `ranks` and `nodes` of a member, `forecast_s`, its
    seconds, `all_nodes` of those that run at the same time, `enough_nodes`, whether the machine has them, and `step`,
    the result of `tradewind.model.forecast.forecast`; or with `reason`, why no number of ranks will do. Both are the
    same for one member. Beside them the question, `simulations` with all packets and `quick_simulations` on an
    unloaded network. `options`: those of `tradewind.model.forecast.forecast`. Raises InputError.
    """
    problems = [
        f"{name} {value:g}: a number above 0 is allowed"
        for name, value in (("deadline", within_s), ("days of the forecast", days))
        if not value > 0
    ]
    problems += [f"members {members}: 1 or more are allowed"] if members < 1 else []
    if problems:
        raise InputError(*problems)
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
    search = Search(model, file, days, options, report)
    together = _found(search, within_s, members)
    in_turn = together if members == 1 else _found(search, within_s / members, 1)
    return Result(
        {
            "program": model.name,
            "machine": file.name,
            "within_s": within_s,
            "days": days,
            "members": members,
            "ranks_per_node": search.each,
            "side_by_side": together,
            "one_after_another": in_turn,
            "simulations": len(search.full),
            "quick_simulations": len(search.quick),
        }
    )


def _found(search: Search, limit_s: float, at_once: int) -> dict[str, Any]:
    ranks, reason = search.ranks_within(limit_s)
    if ranks is None:
        return {"reason": reason}
    step = search.full[ranks]
    return {
        "ranks": ranks,
        "nodes": step["nodes"],
        "forecast_s": forecast_s(search.days, step),
        "all_nodes": at_once * step["nodes"],
        "enough_nodes": at_once * step["nodes"] <= search.nodes,
        "step": dict(step),
    }
