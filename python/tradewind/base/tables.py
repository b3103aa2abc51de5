"""Tables of TOML files as pydantic checks them: what all kinds of files share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from tradewind.base.errors import InputError
from tradewind.base.extents import parse_extents
from tradewind.base.names import unknown


class Table(BaseModel):
    """A table of a file. A key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def one_of(what: str, known: Sequence[str]) -> BeforeValidator:
    """Return the check of a name, of which `what` says the kind."""

    def check(value: Any) -> Any:
        if value not in known:
            raise InputError(unknown(what, str(value), known))
        return value

    return BeforeValidator(check)


def parsed_extents(count: int, what: str, value: Any) -> tuple[int, ...]:
    """Return so many extents of a text like 64x32. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(f"{what} {value!r}: text is allowed, {count} whole numbers joined by 'x'")
    return parse_extents(value, count, what)


def extents(count: int, what: str) -> BeforeValidator:
    """Return the check of so many extents, which are given as text."""
    return BeforeValidator(lambda value: parsed_extents(count, what, value))
