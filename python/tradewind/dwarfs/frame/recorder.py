"""Programs of strategies: the recorded operations of a time step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.frame.step import Call, Kernel
from tradewind.workload.program import Compute, Exchanged, Poke, ProgramWorkload, Start, Wait, WholeExchange


class Recorded(Protocol):
    """The part of a request that a recorder needs, see `tradewind.dwarfs.frame.dwarf.Dwarf`."""

    @property
    def kind(self) -> str:
        """Name of the dwarf."""

    @property
    def precision(self) -> str:
        """Element type of its fields."""

    @property
    def strategy(self) -> str | None:
        """Name of its strategy."""

    @property
    def strategies(self) -> Mapping[str, Callable[[Any, int], int]]:
        """Functions of the strategies, by name: (step, round) -> steps taken."""

    @property
    def not_simulated(self) -> tuple[str, ...]:
        """Names of the strategies that cannot be simulated."""

    def device_problems(self) -> list[str]:
        """Return why it has no program, if its fields lie on a device."""

    @property
    def steps_per_round(self) -> int:
        """Number of steps of a round."""

    @property
    def simulated_iterations(self) -> int | None:
        """Number of iterations of a solver that are simulated; None: there is no solver."""

    @property
    def numbered(self) -> bool:
        """Whether labels of its steps begin with their numbers."""

    def exchange_name(self, name: str, of: Any) -> str:
        """Return the name in programs of an exchange of an array."""

    def exchanged(self, name: str) -> Exchanged | _core.Schedule:
        """Return an exchange by its name in programs. Raises InputError."""

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """Return calls of loops as one computation, which may overlap with an exchange."""


def recorded(dwarf: Recorded) -> Recorder:
    """Run the strategy of a dwarf for `steps_per_round` steps, and return what it does.

    Raises InputError for a strategy that is not simulated, and for fields on a device.
    """
    assert dwarf.strategy is not None
    if dwarf.strategy in dwarf.not_simulated:
        raise InputError(f"strategy {dwarf.strategy}: what it adds is not simulated; simulate exchange")
    if problems := dwarf.device_problems():
        raise InputError(*problems)
    recorder, steps = Recorder(dwarf), dwarf.steps_per_round
    while steps > 0:
        steps -= dwarf.strategies[dwarf.strategy](recorder, steps)
    return recorder


@dataclass
class _Operation:
    kind: str
    name: str
    label: str
    given: bool
    """Whether the strategy has named it."""
    calls: list[Call] = field(default_factory=list)


class Recorder:
    """A `Step` that records the operations of a strategy. Sums are those of vectors of length 1 at right angles."""

    def __init__(self, dwarf: Recorded) -> None:
        self.dwarf: Any = dwarf
        self.arrays: dict[str, list[Any]] = {}
        """By exchange the names of what it is about, in the order in which they first were."""
        self.steps = self.pokes = 0
        self._operations: list[_Operation] = []
        self._open = 0

    # The operations, see `Step`.

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Record an exchange."""
        self._add("exchange", self.dwarf.exchange_name(name, of), label, of)

    def start(self, name: str, of: Any = "field", label: str = "") -> None:
        """Record the start of an exchange."""
        self._add("start", self.dwarf.exchange_name(name, of), label, of)
        self._open += 1

    def wait(self, name: str, label: str = "") -> None:
        """Record the wait for an exchange."""
        self._add("wait", name, label)
        self._open -= 1

    def poke(self) -> None:
        """Record a poke, where an exchange is open."""
        if self._open:
            self._add("poke", "", "")
            self.pokes += 1

    def compute(self, kernel: Kernel, *arguments: Any, points: Any = "own", label: str = "") -> None:
        """Record a call of a loop; calls without labels that follow each other are one step."""
        if kernel.flops is None:
            return
        before = self._operations[-1] if self._operations else None
        if label or before is None or before.kind != "compute" or before.given:
            self._add("compute", "", label)
        self._operations[-1].calls.append(Call(kernel, points, arguments))

    def reduce(self, name: str, of: Any, label: str = "") -> Sequence[float]:
        """Record a reduction, and return the numbers of a program in place of its result."""
        self.exchange(name, of, label)
        return self.values(name, of)

    def values(self, name: str, of: Any) -> Sequence[float]:
        """Return numbers in place of the result of a reduction: 1 for a vector with itself, 0 for others."""
        return [1.0] if isinstance(of, str) else [float(a == b) for a, b in of]

    def ended(self, iterations: int, numbers: Sequence[float]) -> bool:
        """Return whether the simulated iterations are done."""
        return self.dwarf.simulated_iterations is not None and iterations >= self.dwarf.simulated_iterations

    def finish(self, *result: Any) -> None:
        """Count a step."""
        self.steps += 1

    def _add(self, kind: str, name: str, label: str, of: Any = None) -> None:
        arrays = self.arrays.setdefault(name, []) if name else []
        if of is not None and of not in arrays:
            arrays.append(of)
        given, number = bool(label), len(self._operations) + 1
        if self.dwarf.numbered:
            label = f"{number} {label or (name if kind == 'exchange' else kind)}"
        elif kind == "compute":
            label = label or f"{number} compute"
        self._operations.append(_Operation(kind, name, label, given))

    # The program.

    def program(self, name: str = "") -> ProgramWorkload:
        """Return the program of the steps. Raises InputError for operations that no program has."""
        exchanges = {each: self.dwarf.exchanged(each) for each in self.arrays}
        steps: list[Any] = []
        operations = iter(self._operations)
        for operation in operations:
            exchange = exchanges.get(operation.name)
            if operation.kind == "start" and not isinstance(exchange, Exchanged):
                computed, wait = next(operations, operation), next(operations, operation)
                if (computed.kind, wait.kind, wait.name) != ("compute", "wait", operation.name):
                    raise InputError(
                        f"exchange {operation.name!r} of strategy {self.dwarf.strategy}: a program takes a start, one "
                        "computation and a wait of an exchange without a method of its own; for others let "
                        "`exchanged` of the dwarf return `named_exchange`"
                    )
                steps.append(self.dwarf.computation(computed.label, computed.calls, exchange))
            else:
                steps.append(self._step(operation, exchange))
        return ProgramWorkload(
            *steps, dtype=self.dwarf.precision, name=name or f"{self.dwarf.kind}, {self.dwarf.strategy}"
        )

    def _step(self, operation: _Operation, exchange: Exchanged | _core.Schedule | None) -> Any:
        if operation.kind == "compute":
            return self.dwarf.computation(operation.label, operation.calls)
        if operation.kind == "poke":
            return Poke(operation.label)
        if not isinstance(exchange, Exchanged):
            return exchange
        kinds: dict[str, Any] = {"exchange": WholeExchange, "start": Start, "wait": Wait}
        return kinds[operation.kind](exchange, operation.label)
