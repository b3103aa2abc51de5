"""Bases of a study file: values of the machine under which the same cases are simulated side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, create_model

from tradewind.base.tables import Table
from tradewind.study.model.machine_keys import base_fields

Settings = dict[str, str]
"""Values of a machine, like ``{ "link.latency" = "1us" }``."""


class _Named(Table):
    name: Annotated[str, Field(min_length=1)]
    """Name in sweeps, plots, selections and reports."""


if TYPE_CHECKING:
    _WithOptions = _Named
else:
    _WithOptions = create_model("_WithOptions", __base__=_Named, __module__=__name__, **base_fields())


class Base(_WithOptions):
    """One base. What a sweep says itself goes before what the base says."""

    set: Settings = Field(default_factory=dict)
    """Settings for all machines."""
    machine_set: dict[str, Settings] = Field(default_factory=dict)
    """More of them for one machine, called as the sweeps call it; these go before `set`."""
    routing_set: dict[str, Settings] = Field(default_factory=dict)
    """More of them for cases with one routing, whether a sweep names it or it is the machine's own; these go before
    both."""


BASE_OPTIONS = tuple(base_fields())
"""The keys of a base that a sweep has as well."""
