"""Fields, checked against their layout, the plan and the sinks that they go to."""

from __future__ import annotations

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.sinks import form_of
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan


def fitting_field(plan: OutputPlan, field: OutputField, points: int, lying: int) -> OutputField:
    """Return a field with what a plan has of it. `points` and `lying`: points of a level, and levels, of its layout.

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
