"""Operations out of which the strategies make a solver; vectors have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tradewind.dwarfs.helmholtz.run import apply_operator, combine_vectors, multiply, solve_columns, without_columns

if TYPE_CHECKING:
    from tradewind.dwarfs.frame.step import Step

Pair = tuple[str, str]


def begin(step: Step, r: str) -> None:
    """Compute the right-hand side b = sigma (2 phi - phi before) of the time step, and r = b - A x; phi is the first
    guess."""
    combine(step, "b", *step.dwarf.right_side)
    combine(step, "phi before", (1.0, "x"))
    residual(step, r)


def residual(step: Step, r: str) -> None:
    """Compute r = b - A x."""
    operate(step, "x", r)
    combine(step, r, (1.0, "b"), (-1.0, r))


def precondition(
    step: Step, right: str, out: str, *, minus: str | None = None, plus: str | None = None, pokes: int = 0
) -> None:
    """Compute out = plus + M (right - minus), with some pokes in between."""
    if step.dwarf.preconditioner == "none":
        step.compute(without_columns, right, out, minus, plus)
        for _ in range(pokes):
            step.poke()
        return
    for number in range(pokes + 1):
        if number:
            step.poke()
        step.compute(solve_columns, right, out, minus, plus, points=(number, pokes + 1))


def operate(step: Step, field: str, out: str, *, pokes: int = 0) -> None:
    """Exchange the halo of a field, and compute out = A field, with some pokes in between."""
    step.exchange("halo", field)
    for number in range(pokes + 1):
        if number:
            step.poke()
        step.compute(apply_operator, field, out, points=(number, pokes + 1))


def combine(step: Step, target: str, *terms: tuple[float, str]) -> None:
    """Compute target = the sum of factors times vectors."""
    step.compute(combine_vectors, target, terms)


def sums(step: Step, *pairs: Pair) -> Sequence[float]:
    """Return scalar products over all ranks: a reduction."""
    if not pairs:
        return []
    step.compute(multiply, pairs)
    return step.reduce(f"sum {len(pairs)}", pairs, "sum")


def start_sums(step: Step, *pairs: Pair) -> None:
    """Begin the reduction."""
    step.compute(multiply, pairs)
    step.start(f"sum {len(pairs)}", pairs)


def wait_sums(step: Step, *pairs: Pair) -> Sequence[float]:
    """End the reduction that was begun, and return its scalar products."""
    step.wait(f"sum {len(pairs)}")
    return step.values(f"sum {len(pairs)}", pairs)


def norms(step: Step, r: str, first: bool) -> list[Pair]:
    """Return the products that are reduced for the norm of r; at `first` that of b, too."""
    if step.dwarf.rtol == 0:
        return []
    return [(r, r), ("b", "b")] if first else [(r, r)]


def finish(step: Step, iterations: int, r: str) -> None:
    """End a time step after some iterations."""
    step.finish(iterations, sums(step, (r, r), ("b", "b")) if step.dwarf.rtol == 0 else [])
