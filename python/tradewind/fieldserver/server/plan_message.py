"""The message of a plan: what the model's side, in C++, needs of it to deal its files."""

from __future__ import annotations

from tradewind.fieldserver.plan.file_names import is_by_level
from tradewind.fieldserver.plan.plan_file import ALL, OutputPlan
from tradewind.fieldserver.server.messages import pack


def packed_plan(plan: OutputPlan) -> bytes:
    """Return block, bytes of the queue, patience, policies, sinks and rules of a plan."""
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
    policies = (table.when_full == "drop", table.deal, table.synchronous, table.local_servers == "rank")
    return pack(table.block, plan.slot_bytes, float(table.patience), policies, sinks, rules)
