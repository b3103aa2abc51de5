"""A time step, written once: a strategy names its exchanges and computations, and a `Step` carries them out.

Two kinds of `Step` exist: a run on MPI ranks (`running.Running`), with plans, loops and timers, and a recorder
(`recorder.Recorder`), which makes the program of the simulator. A strategy takes either.
Programs of files are carried out by the same operations (`launch.program.replay`).

    @kernel(flops=12, values=2)
    def diffuse(run, box):
        _core.diffuse(run.field, run.next, box, ALPHA, run.team)

    def overlap(step, steps):
        step.start("halo", "field")
        step.compute(diffuse, points="interior")
        step.wait("halo")
        step.compute(diffuse, points="rim")
        step.finish()
        return 1

Exchanges are those of `Dwarf.plans`. Arrays, points and what a reduction adds up have names: a run has arrays by these
names, a recorder none. So a strategy depends on the numbers of reductions alone, and on what `Step.ended` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tradewind.base.errors import InputError
from tradewind.machine.computing import rate_name

COMPUTE = "compute"
"""The part of the time loop that a dwarf computes. Where it has several such parts, their names begin so."""

Cost = float | Callable[..., float]
"""Per point; or a function of the dwarf's request and of the loop's arguments."""


@dataclass(frozen=True)
class Kernel:
    """A loop over points, and what it costs per point: flops, and values that it reads or writes."""

    loop: Callable[..., None]
    """Called with the run, a place of its points (`Running.places`), and the arguments."""
    flops: Cost | None
    """None: programs leave it out."""
    values: Cost
    weight: Cost
    """Seconds per point as a multiple of the dwarf's `point_s`."""
    part: str
    """Name of its seconds; "": they are not measured."""
    once: bool
    """Whether the dwarf's `work` leaves it alone, as it reads what it writes."""
    on_device: Callable[..., None] | None = None
    """The same loop where fields lie on a device; None: there it cannot be computed."""

    def loop_on(self, device: Any) -> Callable[..., None]:
        """Return its loop for a `tradewind.device.Device`. Raises InputError for one that has none."""
        if device.is_host:
            return self.loop
        if self.on_device is None:
            raise InputError(f"device {device.name}: the loop {self.loop.__name__} has no kernel for devices")
        return self.on_device


def kernel(
    flops: Cost | None,
    values: Cost = 0,
    *,
    weight: Cost = 1.0,
    part: str = COMPUTE,
    once: bool = False,
    on_device: Callable[..., None] | None = None,
    anywhere: bool = False,
) -> Callable[[Callable[..., None]], Kernel]:
    """Make a `Kernel` of a loop. `anywhere`: the run that it is called with knows where its fields lie."""
    return lambda loop: Kernel(loop, flops, values, weight, part, once, loop if anywhere else on_device)


class Call(NamedTuple):
    """A computation of a strategy."""

    kernel: Kernel
    points: Any
    arguments: tuple[Any, ...]

    def cost(self, dwarf: Any) -> tuple[float, float]:
        """Return flops, and bytes that are read or written, per point."""
        return self._of(self.kernel.flops or 0.0, dwarf), self._of(self.kernel.values, dwarf) * dwarf.element_bytes

    def point_s(self, dwarf: Any) -> float:
        """Return the seconds per point; 0 where its flops and bytes count."""
        return float(dwarf.point_s) * self._of(self.kernel.weight, dwarf)

    def _of(self, cost: Cost, dwarf: Any) -> float:
        return float(cost(dwarf, *self.arguments) if callable(cost) else cost)

    def name(self, dwarf: Any) -> str:
        """Return the name of its loop, for which a machine may have a rate: in single precision another one."""
        return rate_name(self.kernel.part.replace(COMPUTE, dwarf.kind), dwarf.precision)

    def times(self, dwarf: Any) -> int:
        """Return how often it is done."""
        return 1 if self.kernel.once else int(dwarf.work)


class Operations(Protocol):
    """Exchanges and computations. Labels name steps of programs; a run does without."""

    def exchange(self, name: str, of: Any = "field", label: str = "") -> None:
        """Exchange an array."""

    def start(self, name: str, of: Any = "field", label: str = "") -> None:
        """Begin to exchange an array. Of exchanges of one name one is open at a time."""

    def wait(self, name: str, label: str = "") -> None:
        """End the exchange that was started."""

    def poke(self) -> None:
        """Let all exchanges that are open go on, as far as they can without waiting."""

    def compute(self, kernel: Kernel, *arguments: Any, points: Any = "own", label: str = "") -> None:
        """Compute some points. In a program, computations without labels that follow each other are one step."""


class Step(Operations, Protocol):
    """Operations of strategies."""

    @property
    def dwarf(self) -> Any:
        """The request."""

    @property
    def steps(self) -> int:
        """Time steps that have ended."""

    def reduce(self, name: str, of: Any, label: str = "") -> Sequence[float]:
        """Reduce numbers over all ranks, and return them."""

    def values(self, name: str, of: Any) -> Sequence[float]:
        """Return the numbers of a reduction that was started and awaited."""

    def ended(self, iterations: int, numbers: Sequence[float]) -> bool:
        """Return whether a solver has converged after some iterations; `numbers`: the sums by which it is decided."""

    def finish(self, *result: Any) -> None:
        """End a time step: what it has computed is now the state."""
