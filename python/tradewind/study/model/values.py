"""Values of the keys of a study file: the types of its values, and the keys that several kinds of sweeps share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.tables import Table, extents
from tradewind.workload.options import options_of
from tradewind.workload.simulation_options import SimulationOptions


def listed(value: Any) -> Any:
    """Return a list as it is, and one value as a list of it."""
    return value if isinstance(value, list) else [value]


def checked(check: Callable[[Any], None]) -> BeforeValidator:
    """Return a validator that passes on a value after `check`, which raises InputError."""

    def run(value: Any) -> Any:
        check(value)
        return value

    return BeforeValidator(run)


def simulated(name: str) -> BeforeValidator:
    """Return the check of an option of simulations."""
    known = options_of(SimulationOptions)[name]

    def check(value: Any) -> None:
        if problems := known.wrong(value):
            raise InputError(*problems)

    return checked(check)


def directions(text: Any) -> None:
    """Check the periodic directions, a text like "xy". Raises InputError."""
    if not isinstance(text, str) or not set(text) <= {"x", "y"} or len(set(text)) != len(text):
        raise InputError(f"periodic {text!r}: some of 'xy' are allowed")


T = TypeVar("T")
Many = Annotated[list[T], BeforeValidator(listed), Field(min_length=1)]
"""One value or a list of them."""

Positive = Annotated[int, Field(ge=1, strict=True)]
Grid = Annotated[tuple[int, int, int], extents(3, "grid")]
Split = Annotated[tuple[int, int], extents(2, "split")]


Value = str | int
QUICK_KEYS = ("ranks", "algorithm", "machine", "routing", "base", "width", "seed")
RUN_QUICK_KEYS = (*QUICK_KEYS, "strategy", "transport", "packing", "threads", "work", "nodes", "way", "servers")
"""The keys of a sweep that a quick run may shorten; those of a sweep of runs."""


def quick_keys(value: Any) -> Any:
    """Check the table `quick` of a sweep. Raises InputError for `true` and for a key that it cannot shorten."""
    if value is True:
        raise InputError(
            "quick true: false (nothing of this sweep), or a table like { ranks = [100, 1000] } is allowed"
        )
    for key in value if isinstance(value, dict) else ():
        if key not in RUN_QUICK_KEYS:
            raise InputError("quick: " + unknown("key", key, RUN_QUICK_KEYS))
    return value


def rising() -> AfterValidator:
    """Return the check of a span (low, high), which raises InputError where low > high."""

    def check(span: tuple[Any, Any]) -> tuple[Any, Any]:
        if span[0] > span[1]:
            raise InputError(f"{list(span)}: the first must not be larger than the second")
        return span

    return AfterValidator(check)


def split_by_ranks(value: Any) -> Any:
    """Return splits by number of ranks; one split alone has the key 0 and holds for all."""
    return value if isinstance(value, dict) else {0: value}


Model = Annotated[str, simulated("model")]
Buffers = Annotated[str, simulated("buffers")]
Packet = Annotated[str, simulated("packet")]
Placement = Annotated[str, simulated("placement")]
Posting = Annotated[str, simulated("posting")]
Order = Annotated[str, simulated("order")]
MpiProgress = Annotated[str, simulated("mpi_progress")]
_OWN = SimulationOptions()


class OnMachine(Table):
    """Use of a simulated machine."""

    routing: Many[str] | None = None
    """None: the machine's own."""
    model: Many[Model] = [_OWN.model]
    buffers: Many[Buffers] = [_OWN.buffers]
    packet: Many[Packet] | None = None
    """None: the machine's own."""
    placement: Many[Placement] = [_OWN.placement]
    posting: Many[Posting] | None = None
    """When messages of a stage are posted; None: together."""
    order: Many[Order] | None = None
    """Orders of packets that come to a switch at one time; of "seed=1..8" each is a case. None: ports."""
    seed: Many[Annotated[int, Field(ge=0, strict=True)]] | None = None
    """None: the study's."""
    set: dict[str, Many[str]] = Field(default_factory=dict)
    """Any values of the machine, like ``{ "link.bandwidth" = ["1GB/s", "10GB/s"] }``."""
    base: Many[str] | None = None
    """The bases of the study that it is made under; None: all of them."""
