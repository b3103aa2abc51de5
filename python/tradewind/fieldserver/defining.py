"""Checks of a field against its layout and the sinks of a plan."""

from __future__ import annotations

from tradewind.base.errors import InputError
from tradewind.fieldserver.field import OutputField
from tradewind.fieldserver.plan_file import OutputPlan
from tradewind.fieldserver.sinks import form_of


def described_field(plan: OutputPlan, field: OutputField, points: int, lying: int) -> OutputField:
    """Return a field with what a plan says of it. `points` and `lying`: points of a level, and levels, of its layout.

    Raises InputError where they do not fit the field, and where a sink that it goes to cannot hold it.
    """
    name, levels = field.name, len(field.levels)
    if points != field.geometry.points:
        raise InputError(f"field {name}: the layout has {points} points per level, its grid {field.geometry.points}")
    if lying not in (1, levels):
        raise InputError(f"field {name}: {levels} levels are named, and the layout has {lying}")
    found = field.described(plan.table.field.get(name))
    for request in plan.all_requests(name):
        form_of(request.sink.format).check(found, request)
    return found
