"""Costs of transports within a node: the tables of a machine file that `tradewind calibrate` writes.

A message takes latency + overhead + its bytes at a rate, when two ranks exchange one each. Rates depend on the bytes of
the message and on the runs of memory in which they lie at either end: of one run there is nothing to pack.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from tradewind import _core
from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.tables import Table
from tradewind.method.method import packing_names, transport_names


def _listed(parse: Any, minimum: str, maximum: str) -> BeforeValidator:
    lowest, highest = parse(minimum), parse(maximum)

    def check(value: object) -> list[float]:
        if not isinstance(value, list) or not value:
            raise InputError(f"{value!r}: a list of 1 or more is allowed, each {minimum} to {maximum}")
        for text in value:
            if not lowest <= parse(text) <= highest:
                raise InputError(f"{text!r}: {minimum} to {maximum} are allowed")
        return [parse(text) for text in value]

    return BeforeValidator(check)


def _time(text: object) -> float:
    value = units.seconds(text)
    if value > 1:
        raise InputError(f"{text!r}: 0s to 1s are allowed")
    return value


def _name(what: str, known: Sequence[str]) -> BeforeValidator:
    def check(value: object) -> object:
        if value not in known:
            raise InputError(unknown(what, str(value), known))
        return value

    return BeforeValidator(check)


Sizes = Annotated[list[float], _listed(units.byte_count, "1B", "1TiB")]
Rates = Annotated[list[float], _listed(units.bytes_per_second, "1kB/s", "1000TB/s")]
Time = Annotated[float, BeforeValidator(_time)]


class RateTable(Table):
    """Rates by bytes, of what is one run of memory (`whole`), and of what lies in `runs` (bytes of each).

    The first rate of a list belongs to the first size, and so on; where there are fewer, the last one holds for more.
    """

    sizes: Sizes
    whole: Rates
    runs: dict[str, Rates] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        lists = {"whole": self.whole, **{f"runs.{run}": rates for run, rates in self.runs.items()}}
        problems = self._problems(lists)
        if problems:
            raise InputError(*problems)
        return self

    def _problems(self, lists: dict[str, list[float]]) -> list[str]:
        problems = [
            f"{name} has {len(rates)} rates for {len(self.sizes)} sizes"
            for name, rates in lists.items()
            if len(rates) > len(self.sizes)
        ]
        if any(run < 1 for run in self.run_bytes):
            problems.append("runs of less than 1 B")
        for name, values in (("sizes", self.sizes), ("runs", self.run_bytes)):
            if any(a >= b for a, b in pairwise(values)):
                problems.append(f"{name} are not in ascending order")
        return problems

    @property
    def run_bytes(self) -> list[int]:
        """Bytes of each run."""
        return [units.byte_count(run) for run in self.runs]

    def build(self) -> _core.RateTable:
        """The table as the simulator takes it."""
        runs = [float(run) for run in self.run_bytes]
        return _core.RateTable(self.sizes, runs, list(self.runs.values()), self.whole)


class IntranodeTransport(RateTable):
    """Costs of one transport with one packing between ranks of a node."""

    transport: Annotated[str, _name("transport", transport_names())]
    packing: Annotated[str, _name("packing", packing_names())]
    latency: Time
    """Seconds per stage, in addition to the cost of its messages on the CPUs."""
    overhead: Time
    """Seconds per message, on the CPUs of both ends together."""
    scattered: dict[str, Rates] = Field(default_factory=dict)
    """As `runs`, of messages that are one run at their sender; left out: both ends cost the same."""

    @model_validator(mode="after")
    def _scattered_fits(self) -> Self:
        lists = {f"scattered.{run}": rates for run, rates in self.scattered.items()}
        if scattered := self._scattered():
            problems = scattered._problems(lists)
            if problems:
                raise InputError(*problems)
        return self

    def _scattered(self) -> RateTable | None:
        if not self.scattered:
            return None
        return RateTable.model_construct(sizes=self.sizes, whole=self.whole, runs=self.scattered)

    def core(
        self, copies: RateTable, element_bytes: int, gathered: RateTable | None = None
    ) -> _core.IntranodeTransport:
        """Return the table in the form of the simulator.

        `copies`: rates of copies within a rank; `gathered`: of the same transport with messages that are gathered.
        """
        return _core.IntranodeTransport(
            latency=self.latency,
            overhead=self.overhead,
            rates=self.build(),
            copies=copies.build(),
            element_bytes=element_bytes,
            scattered=None if (scattered := self._scattered()) is None else scattered.build(),
            gathered=None if gathered is None else gathered.build(),
        )


def find_intranode(transports: Sequence[IntranodeTransport], transport: str, packing: str) -> IntranodeTransport:
    """The table of a transport and a packing. Raises InputError, which lists the known ones, where there is none."""
    for each in transports:
        if (each.transport, each.packing) == (transport, packing):
            return each
    known = ", ".join(f"{each.transport} {each.packing}" for each in transports)
    raise InputError(
        f"transport {transport}, packing {packing}: the machine has no intranode table of them "
        f"(it has those of: {known or 'none; tradewind calibrate measures them'})"
    )
