"""One of the exchanges of a dwarf on MPI ranks: its plans, and how often they have been carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.mpi.library import Array, Plan
    from tradewind.timeline.measured import Event


class Exchanges:
    """One of the exchanges of a dwarf, with a plan for each array that it can be about."""

    def __init__(self) -> None:
        self._plans: dict[int, Plan] = {}
        self.counts = Counter[Any]()
        """Exchanges of each array since `Running.reset`; the same goes for pokes."""
        self.pokes = 0
        self._uncounted_s = Counter[str]()
        self._uncounted: list[tuple[float, float]] = []
        """Beginnings and ends of what is not counted."""

    def __call__(self, array: Array) -> None:
        """Exchange an array. Collective."""
        self._plans[id(array)]()
        self.counts[id(array)] += 1

    def start(self, array: Array) -> None:
        """Start to exchange an array. Collective."""
        self._plans[id(array)].start()
        self.counts[id(array)] += 1

    def wait(self, array: Array) -> None:
        """Wait until the exchange that was started has ended. Collective."""
        self._plans[id(array)].wait()

    def poke(self, array: Array) -> None:
        """Let the exchange that was started go on, as far as it can without waiting."""
        self._plans[id(array)].poke()
        self.pokes += 1

    def add(self, plans: Mapping[int, Plan]) -> None:
        """Add plans, each by the id of its array."""
        self._plans |= plans

    def count(self, array: Array) -> None:
        """Count an exchange of an array that something else has carried out."""
        self.counts[id(array)] += 1

    @property
    def calls(self) -> int:
        """Exchanges since `Running.reset`."""
        return self.counts.total()

    @property
    def messages(self) -> int:
        """Messages that this rank has sent since `Running.reset`."""
        return sum(count * self._plans[array].messages for array, count in self.counts.items())

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank has sent since `Running.reset`."""
        return sum(count * self._plans[array].bytes_sent for array, count in self.counts.items())

    @property
    def plans(self) -> list[Plan]:
        """Plans of all arrays."""
        return list(self._plans.values())

    def seconds(self) -> dict[str, float]:
        """Return the seconds of this rank since `Running.reset` by what plans do."""
        return {part: seconds - self._uncounted_s[part] for part, seconds in self._seconds_of_plans().items()}

    def _seconds_of_plans(self) -> Counter[str]:
        found = Counter[str]()
        for plan in self.plans:
            found.update(plan.seconds)
        return found

    def events(self) -> list[Event]:
        """Return the events of this rank since `Running.reset`."""
        events, uncounted = self._events_of_plans(), self._uncounted
        return [event for event in events if not any(begin <= event[4] <= end for begin, end in uncounted)]

    def _events_of_plans(self) -> list[Event]:
        return [event for plan in self.plans for event in plan.events]

    def clear(self) -> None:
        """Forget seconds, events and numbers of exchanges."""
        self.counts.clear()
        self.pokes = 0
        self._uncounted_s.clear()
        self._uncounted.clear()
        for plan in self.plans:
            plan.clear()

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave what is exchanged inside out of seconds, events and numbers."""
        counts, pokes, seconds, begin = self.counts.copy(), self.pokes, self._seconds_of_plans(), perf_counter()
        yield
        self.counts, self.pokes = counts, pokes
        self._uncounted.append((begin, perf_counter()))
        for part, now in self._seconds_of_plans().items():
            self._uncounted_s[part] += now - seconds[part]
