"""The values of an option in a study file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from tradewind.base.errors import InputError
from tradewind.base.tables import one_of
from tradewind.study.model.values import Grid, Positive, Split, checked
from tradewind.workload.options import Option


def value_of(each: Option) -> Any:
    """The type of one value, as pydantic checks it."""
    if each.kind == "extents":
        return {3: Grid, 2: Split}[each.extents]
    if each.kind == "int":
        return Positive if each.minimum == 1 else Annotated[int, Field(ge=each.minimum, strict=True)]
    if each.known is not None:
        return Annotated[str, one_of(each.what, tuple(each.known()))]
    return Annotated[{"str": str, "float": float, "bool": bool}[each.kind], checked(lambda value: _refuse(each, value))]


def _refuse(each: Option, value: Any) -> None:
    if isinstance(value, str) and (problems := each.wrong(value)):
        raise InputError(*problems)
