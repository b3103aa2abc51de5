"""The keys of sweeps and bases that say how a machine is simulated: they follow from the options of simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, create_model

from tradewind.base.errors import InputError, quoted
from tradewind.base.tables import Table
from tradewind.study.model.values import Many, checked
from tradewind.workload.simulation_options import SimulationOption, swept_options

OF_STUDY = ("seed",)
"""Keys that the study has, too: its value holds for sweeps that name none."""


def _type(each: SimulationOption) -> Any:
    """Return the type of one value, as pydantic checks it."""
    if each.kind == "int" and not each.words:
        return Annotated[int, Field(ge=each.minimum, le=each.maximum, strict=True)]
    if each.kind == "float":
        return Annotated[float, Field(strict=True), checked(lambda value: _refuse(_wrong_number(each, value)))]

    def check(value: Any) -> None:
        is_one = each.kind != "int" or (isinstance(value, int | str) and not isinstance(value, bool))
        _refuse(each.wrong(value if is_one else quoted(value)))

    return Annotated[int | str if each.kind == "int" else str, checked(check)]


def _wrong_number(each: SimulationOption, value: Any) -> list[str]:
    return each.wrong(value) if isinstance(value, int | float) else []  # another type is refused by its own


def _refuse(problems: list[str]) -> None:
    if problems:
        raise InputError(*problems)


def _field(each: SimulationOption) -> tuple[Any, Any]:
    """Return a key as a field of a pydantic model: one value or a list of them; None: nothing is named."""
    many: Any = Many
    kind = many[_type(each)]
    unnamed = each.only_named or each.default is None or each.name in OF_STUDY
    return (kind | None, None) if unnamed else (kind, [each.default])


def base_fields() -> dict[str, tuple[Any, Any]]:
    """Return the keys that a base may have as fields of a pydantic model."""
    return {name: (_type(each) | None, None) for name, each in swept_options().items() if each.in_bases}


if TYPE_CHECKING:

    class _Simulated(Table):
        """The keys of a sweep that are options of simulations; these are three of them."""

        routing: Many[str] | None = None
        """None: the machine's own."""
        ranks_per_node: Many[int | str] = [1]
        seed: Many[int] | None = None
        """None: the study's."""

else:
    _Simulated = create_model(
        "_Simulated",
        __base__=Table,
        __module__=__name__,
        **{name: _field(each) for name, each in swept_options().items()},
    )


class OnMachine(_Simulated):
    """Use of a simulated machine."""

    set: dict[str, Many[str]] = Field(default_factory=dict)
    """Any values of the machine, like ``{ "link.bandwidth" = ["1GB/s", "10GB/s"] }``."""
    base: Many[str] | None = None
    """The bases of the study that it is made under; None: all of them."""
