"""Estimate of the space that a run will need on disk, from its plan."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from tradewind.base.errors import InputError, WriteError
from tradewind.base.files import make_folder
from tradewind.base.units import format_bytes
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.plan_file import OutputPlan, Request

_HEADERS = 400
"""Bytes of a message or chunk beside its values."""


def file_bytes(field: OutputField, request: Request) -> float:
    """Estimate of the bytes that a field of a step takes in a file."""
    values = field.geometry.points * len(field.levels)
    bits = request.sink.form.bits_per_value(request.sink, request.bits, request.precision, field.dtype)
    return values * bits / 8 + _HEADERS * len(field.levels)


def run_bytes(plan: OutputPlan, fields: Sequence[OutputField], steps: int) -> float:
    """Estimate of the bytes that a run of `steps` steps writes: at least, where it is compressed or rules overlap."""
    most: dict[tuple[str, str], float] = {}
    for rule in plan.table.rule:
        times = len({step for step in rule.steps if step <= steps}) if rule.steps is not None else None
        count = steps // (rule.every or 1) + 1 if times is None else times
        for field in fields:
            for request in plan.requests_of(rule, field.name):
                key = field.name, request.sink.name
                most[key] = max(most.get(key, 0.0), count * file_bytes(field, request))
    return sum(most.values())


def _memory_problems(plan: OutputPlan, fields: Sequence[OutputField]) -> list[str]:
    """Return the files of a step that have no room in the queue as they grow."""
    sizes: dict[str, float] = {}
    for field in fields:
        for request in plan.requests(field.name, 0):
            if request.sink.form.grows_in_memory:
                width = int((request.precision or field.dtype)[1:])
                values = field.geometry.points * (1 if request.by_level else len(field.levels))
                sizes[request.path] = sizes.get(request.path, 0) + values * width
    room = plan.table.queue - plan.slot_bytes
    return [
        f"file {path}: {format_bytes(size)} grow in memory, and half of the queue, {format_bytes(room)}, is there for "
        "them: name a larger queue, or a file for each field by {name} in the path"
        for path, size in sizes.items()
        if size > room
    ]


def check_space(plan: OutputPlan, fields: Sequence[OutputField], steps: int | None) -> None:
    """Raises WriteError where the disk has less room than the run needs."""
    make_folder(plan.folder, "folder")
    if problems := _memory_problems(plan, fields):
        raise InputError(*problems)
    if steps is None:
        return
    free, needed = shutil.disk_usage(plan.folder).free, run_bytes(plan, fields, steps)
    if needed > free:
        raise WriteError(
            f"folder {plan.folder}: {steps} steps need about {format_bytes(needed)}, and {format_bytes(free)} are free"
        )
