"""Power of a machine: what its nodes draw while they compute, wait and do nothing, and what it costs to move bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from pydantic import BeforeValidator

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.base.tables import Table
from tradewind.base.toml_lines import Place


def _at_most(parse: Callable[[object], float], maximum: str) -> BeforeValidator:
    highest = parse(maximum)

    def check(text: object) -> float:
        if (value := parse(text)) > highest:
            raise InputError(f"{text!r}: at most {maximum} is allowed")
        return value

    return BeforeValidator(check)


Watts = Annotated[float, _at_most(units.watts, "1MW")]
JoulesPerByte = Annotated[float, _at_most(units.joules_per_byte, "1uJ/B")]


class Power(Table):
    """Power of a node: of all its cores in one of three states, and of what moves bytes beside that.

    Joules of what the watts of a node hold already, such as those of its memory, are left out.
    """

    idle: Watts
    """No core does anything."""
    waiting: Watts
    """All cores wait for messages: most MPI libraries poll."""
    busy: Watts
    """All cores compute."""
    memory: JoulesPerByte | None = None
    """Joules per byte that computations copy; None: the watts above hold it."""
    network: JoulesPerByte | None = None
    """Joules per byte and port that it goes through; None: no share of it depends on traffic."""
    switch: Watts | None = None
    """Watts of a switch, whatever its traffic; None: the watts above hold its share, or it is left out."""

    def problems(self) -> Iterator[tuple[Place, str]]:
        """Yield values that cannot be together: where, and what is wrong."""
        for key, below in (("waiting", "idle"), ("busy", "waiting")):
            more, less = getattr(self, key), getattr(self, below)
            if more < less:
                yield (
                    ("power", key),
                    f"power.{key} = {units.format_watts(more)} is less than power.{below} = {units.format_watts(less)}",
                )
