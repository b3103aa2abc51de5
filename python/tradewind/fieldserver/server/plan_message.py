"""The message of a plan: what a model in C or Fortran needs of a plan file, which src/fieldserver reads."""

from __future__ import annotations

from tradewind.fieldserver.plan.file_names import is_by_level
from tradewind.fieldserver.plan.plan_file import ALL, OutputPlan
from tradewind.fieldserver.server.messages import pack


def pack_plan(plan: OutputPlan, transport: str, packing: str) -> bytes:
    """Return the message of a plan. `transport` and `packing`: how fields travel."""
    table = plan.table
    sinks = [(sink.name, sink.path, bool(sink.form.store_file), is_by_level(sink.path)) for sink in table.sink]
    rules = [
        (
            list(rule.sink),
            [] if rule.fields == (ALL,) else list(rule.fields),
            0 if rule.steps is not None else rule.every or 1,
            list(rule.steps or ()),
        )
        for rule in table.rule
    ]
    for_servers = ("", plan.path, plan.text, transport, packing)
    policies = (table.when_full == "drop", table.deal, table.synchronous, table.local_servers == "rank")
    return pack(for_servers, table.block, plan.slot_bytes, float(table.patience), policies, sinks, rules)
