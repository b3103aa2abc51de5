"""The program of a step of the dwarf helmholtz: its strategy runs without fields, and what it does is written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.dwarfs.frame.dwarf import copied
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, NATIVE, default_algorithm
from tradewind.workload.program import Compute, Exchanged, Poke, Program, Start, Wait, Whole

if TYPE_CHECKING:
    from tradewind.dwarfs.helmholtz.request import HelmholtzRequest
    from tradewind.method.method import Method

SUM = "sum"
DIGITS = 68
"""Digits of an exact sum."""
OPERATOR_FLOPS, COLUMN_FLOPS = 29.0, 5.0
OPERATOR_BYTES, COLUMN_BYTES = 8.0 * (15 + 2), 8.0 * (3 + 2)
"""Per point; see docs/dwarfs/helmholtz.md."""
NUMBER = 8.0


def sum_length(dwarf: HelmholtzRequest, count: int) -> int:
    """Numbers that a reduction of scalar products has."""
    return count if dwarf.sums == "ordinary" else count * DIGITS + 1


def recorded(dwarf: HelmholtzRequest) -> Recorder:
    """Run the strategy of a dwarf for `simulated_iterations` of a step, and return what it does."""
    assert dwarf.strategy is not None
    recorder = Recorder(dwarf)
    dwarf.strategies[dwarf.strategy](recorder, 1)
    recorder.close()
    return recorder


class Recorder:
    """Writes down what a solver would do, as if all its vectors had length 1 and stood at right angles."""

    def __init__(self, dwarf: HelmholtzRequest) -> None:
        self.dwarf = dwarf
        self.x = "x"
        self.with_halo = ["x"]
        """Vectors that the operator is applied to."""
        self.counts: list[int] = []
        """The numbers of scalar products that are reduced together, in the order in which they first are."""
        self._steps: list[tuple[str, Any]] = []
        self._flops = self._bytes = 0.0
        self._open: list[float] = []
        """The numbers of the reduction that is under way."""

    # See `helmholtz.Solver`.

    def vector(self, name: str, halo: bool = False) -> str:
        if halo and name not in self.with_halo:
            self.with_halo.append(name)
        return name

    def begin(self, r: str) -> None:
        self.combine("b", (2.0, "x"), (-1.0, "phi before"))
        self.combine("phi before", (1.0, "x"))
        self.residual(r)

    def residual(self, r: str) -> None:
        self.operate("x", r)
        self.combine(r, (1.0, "b"), (-1.0, r))

    def precondition(
        self, right: str, out: str, *, minus: str | None = None, plus: str | None = None, pokes: int = 0
    ) -> None:
        more = (minus is not None) + (plus is not None)
        if self.dwarf.preconditioner == "none":
            self._compute(float(more), NUMBER * (2 + more))
            self._poke(pokes)
            return
        for number in range(pokes + 1):
            self._poke(number > 0)
            share = self.dwarf.work / (pokes + 1)
            self._compute(share * (COLUMN_FLOPS + more), share * (COLUMN_BYTES + more * NUMBER))

    def operate(self, field: str, out: str, *, pokes: int = 0) -> None:
        self._do("halo", "")
        for number in range(pokes + 1):
            self._poke(number > 0)
            share = self.dwarf.work / (pokes + 1)
            self._compute(share * OPERATOR_FLOPS, share * OPERATOR_BYTES)

    def combine(self, target: str, *terms: tuple[float, str]) -> None:
        self._compute(2.0 * len(terms) - 1, NUMBER * (1 + len(terms)))

    def sums(self, *pairs: tuple[str, str]) -> list[float]:
        if not pairs:
            return []
        self._multiply(pairs)
        self._do("sum", len(pairs))
        return _products(pairs)

    def start_sums(self, *pairs: tuple[str, str]) -> None:
        self._multiply(pairs)
        self._do("start", len(pairs))
        self._open = _products(pairs)

    def wait_sums(self) -> list[float]:
        found, self._open = self._open, []
        self._do("wait", len(found))
        return found

    def norms(self, r: str, first: bool) -> list[tuple[str, str]]:
        if self.dwarf.rtol == 0:
            return []
        return [(r, r), ("b", "b")] if first else [(r, r)]

    def ended(self, iterations: int, norms: Sequence[float]) -> bool:
        return bool(norms) and iterations >= self.dwarf.simulated_iterations

    def finish(self, iterations: int, r: str) -> None:
        if self.dwarf.rtol == 0:
            self.sums((r, r), ("b", "b"))

    # The program.

    def _multiply(self, pairs: Sequence[tuple[str, str]]) -> None:
        if len(pairs) not in self.counts:
            self.counts.append(len(pairs))
        vectors = {name for pair in pairs for name in pair}
        work = self.dwarf.work
        self._compute(work * 2.0 * len(pairs), work * NUMBER * len(vectors))

    def _poke(self, times: int) -> None:
        for _ in range(times):
            if self._open:
                self._do("poke", "")

    def _compute(self, flops: float, moved: float) -> None:
        """Computations between two calls are one step of the program."""
        self._flops += flops
        self._bytes += moved

    def close(self) -> None:
        """End the computation that is under way."""
        if self._bytes:
            self._steps.append(("compute", (self._flops, self._bytes)))
        self._flops = self._bytes = 0.0

    def _do(self, what: str, detail: Any) -> None:
        self.close()
        self._steps.append((what, detail))

    @property
    def pokes(self) -> int:
        """Pokes of a step."""
        return sum(what == "poke" for what, _ in self._steps)

    def program(self) -> Program:
        """The program of a step. Raises InputError for a method that the simulator does not know."""
        exchanges: dict[Any, Exchanged] = {"": self._exchanged("halo", self.dwarf.halo(), "f8")}
        dtype = "f8" if self.dwarf.sums == "ordinary" else "i8"
        for count in self.counts:
            pattern = _core.AllReduce(self.dwarf.ranks, sum_length(self.dwarf, count))
            exchanges[count] = self._exchanged(f"{SUM} {count}", pattern, dtype)
        steps = [self._step(number, what, detail, exchanges) for number, (what, detail) in enumerate(self._steps)]
        return Program(*steps, name=f"helmholtz, {self.dwarf.strategy}")

    def _step(self, number: int, what: str, detail: Any, exchanges: dict[Any, Exchanged]) -> Any:
        label = f"{number + 1} {what}"
        if what == "compute":
            flops, moved = detail
            point_s = self.dwarf.point_s * moved / (OPERATOR_BYTES + COLUMN_BYTES)
            layout = self.dwarf.layout
            done, kernel = 0.0 if point_s else flops, self.dwarf.kind
            return Compute(label, 0.0, done, copied(moved), layout, point_s=point_s, kernel=kernel)
        if what == "poke":
            return Poke(label)
        kinds: dict[str, Any] = {"halo": Whole, "sum": Whole, "start": Start, "wait": Wait}
        return kinds[what](exchanges[detail], label)

    def _exchanged(self, name: str, pattern: _core.Pattern, dtype: str) -> Exchanged:
        method: Method = self.dwarf.method(name)
        algorithm = method.algorithm or default_algorithm(pattern.name)
        if algorithm == NATIVE:
            algorithm = default_algorithm(pattern.name)
        return Exchanged(
            name,
            _core.make_schedule(pattern, algorithm),
            1,
            dtype,
            transport=method.transport or DEFAULT_TRANSPORT,
            packing=method.packing or DEFAULT_PACKING,
        )


def _products(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [float(a == b) for a, b in pairs]
