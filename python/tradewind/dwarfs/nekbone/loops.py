"""The loops over points of the dwarf nekbone, with their costs, and the operations that consist of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.dwarfs.frame.step import COMPUTE, Kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tradewind.dwarfs.frame.step import Step
    from tradewind.dwarfs.nekbone.request import NekboneRequest

Run = Any
"""A `tradewind.dwarfs.nekbone.run.NekboneRun`, whose module imports this one."""
SQUARES, ENERGY, PRODUCT, SCALED = ("r", "r"), ("p", "A p"), ("A r", "r"), ("r", "z")
"""Vectors whose scalar products are summed over all ranks."""


# The loops over points, by elements. Flops of an iteration beside those of the operator are as Nekbone counts them.


def _operator(values: int) -> Callable[[Callable[..., None]], Kernel]:
    """The operator, of which each point reads and writes some values beside factors and mass."""

    def moved(dwarf: NekboneRequest, *_: object) -> float:
        return values + (6 if dwarf.factors == "stored" else 0) + (1 if dwarf.mass else 0)

    return kernel(lambda dwarf, *_: 12 * dwarf.nx1 + 15, moved)


@_operator(4)
def apply_to_direction(run: Run, which: NDArray[np.int32]) -> None:
    """The new direction p from z = M^-1 r, and w = A p in some elements, not summed over elements yet."""
    run.operator.apply_to_direction(which, run.beta, run.z, run.p, run.w, run.energies, run.team)
    for _ in range(run.dwarf.work - 1):
        run.operator.apply(which, run.p, run.w, run.team)


@_operator(2)
def apply_ahead(run: Run, which: NDArray[np.int32]) -> None:
    """A (A r) of pipelined conjugate gradients, not summed over elements yet, where the other strategies have A p."""
    for _ in range(run.dwarf.work):
        run.operator.apply(which, run.vectors["w"], run.w, run.team)


@_operator(2)
def multiply(run: Run, which: NDArray[np.int32], vector: str) -> None:
    """A times a vector, not summed over elements yet."""
    run.operator.apply(which, run.vectors[vector], run.w, run.team)


@kernel(None)
def complete(run: Run, which: NDArray[np.int32], vector: str) -> None:
    """A times a vector, when it has been summed over elements."""
    run.operator.complete(run.vectors[vector], run.w, run.team)


@kernel(None)
def weigh(run: Run, which: NDArray[np.int32]) -> None:
    """For Nekbone's mask, p A p of the complete product: its copies of a point differ."""
    run.operator.complete(run.p, run.w, run.team)
    run.elements.dot(run.w, run.p, run.energies, run.team)


def _values_of_sums(dwarf: NekboneRequest, *_: str) -> float:
    """While a copy of a shared point is summed, a copy of memory reads and writes 47 bytes by lists, 8 by strides, as
    measured, see docs/dwarfs/nekbone.md; in values."""
    return (47.0 if dwarf.own == "lists" else 8.0) / dwarf.element_bytes


@kernel(1, _values_of_sums, part=f"{COMPUTE}-sums", once=True)
def sum_own(run: Run, lists: Any, vector: str) -> None:
    """Sum the values that elements of this rank alone share, of w or z."""
    values = run.w if vector == "w" else run.z
    if lists is not None:
        _core.sum_by_lists(lists[0], lists[1], values, run.team)
    else:
        run.core_brick.sum_shared(values, run.team)


@kernel(19, 6, once=True)
def update(run: Run, which: NDArray[np.int32], energy: float) -> None:
    """The next solution and residual; `energy`: p A p."""
    alpha = run.before / energy if energy else 0.0
    operator = run.without_shift if run.dwarf.mask == "nekbone" else run.operator
    operator.update(alpha, run.p, run.w, run.x, run.r, run.squares, run.team)


@kernel(27, 13, once=True)
def update_pipelined(run: Run, which: NDArray[np.int32], squares: float, product: float) -> None:
    """The next solution and residual, and what follows from them without an operator."""
    beta = squares / run.before if run.steps and run.before else 0.0
    energy = product - beta * squares / run.alpha if beta else product
    run.alpha = squares / energy if energy else 1.0
    alpha = run.alpha if energy else 0.0
    vectors = tuple(run.vectors[name] for name in "xrwpsz")
    run.operator.update_pipelined(alpha, beta, run.w, vectors, run.pairs, run.team)
    run.before = squares


# Operations that take no time: numbers of this rank, and the vectors of a replacement.


@kernel(None, part="")
def turn(run: Run, which: NDArray[np.int32], squares: float) -> None:
    """Take the share that the direction before has in the new one."""
    run.beta = squares / run.before if run.steps and run.before else 0.0
    run.before = squares


@kernel(None, part="")
def keep(run: Run, which: NDArray[np.int32], product: str) -> None:
    """Replace r by b - A x, or another vector by A times that from which it follows."""
    if product == "r":
        np.subtract(run.b, run.w, out=run.r)
    else:
        run.vectors[product][:] = run.w


@kernel(None, part="")
def pair(run: Run, which: NDArray[np.int32]) -> None:
    """The numbers of this rank's elements of which `start` begins to compute the sums."""
    for name, parts in zip("rw", run.pairs, strict=True):
        run.elements.dot(run.vectors[name], run.r, parts, run.team)


def sum_over_elements(step: Step, before: str = "", vector: str = "w") -> None:
    """Sum the values of w, or of z, that elements share, over all ranks."""
    step.compute(sum_own, vector, points="shared", label=f"{before}own sums")
    for name in step.dwarf.exchange_names:
        step.exchange(name, vector, label=f"{before}{name}")


def multiply_whole(step: Step, vector: str, before: str = "") -> None:
    """Compute w = A times a vector, summed over elements."""
    step.compute(multiply, vector, points="all", label=f"{before}operator")
    sum_over_elements(step, before)
    step.compute(complete, vector, points="all")


def gather_scatter(step: Step) -> None:
    """The same for w = A p, whose p A p may depend on it."""
    sum_over_elements(step)
    if step.dwarf.mask == "nekbone":
        step.compute(weigh, points="all")
