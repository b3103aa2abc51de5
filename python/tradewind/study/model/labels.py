"""The labels of a case: what selections, plots and the dataset call its inputs."""

from __future__ import annotations

from collections.abc import Mapping

from tradewind.study.model.dwarf_keys import all_dwarf_keys
from tradewind.study.model.pattern_keys import all_keys
from tradewind.workload.options import Option
from tradewind.workload.simulation_options import swept_options

LABELS: dict[str, str] = {
    "sweep": "sweep of the study",
    "kind": "how the case was computed",
    "exchange": "pattern, its size and algorithm",
    "pattern": "what must move",
    "dwarf": "small model that ran",
    "strategy": "when a dwarf exchanges and computes",
    "algorithm": "in which stages it moves",
    "ranks": "number of ranks",
    **{name: each.label for name, each in all_keys().items() if each.label},
    **{name: each.label for name, each in all_dwarf_keys().items() if each.label and name not in all_keys()},
    "weather_model": "whole model of the atmosphere or the ocean",
    "numbers": "changed numbers of a model",
    "trace": "recorded program",
    "computing": "time of computations over the recorded time",
    "steps": "time steps of a measurement",
    "transport": "how messages are carried",
    "packing": "how messages are packed",
    "machine": "simulated machine",
    **{name: each.label for name, each in swept_options().items()},
    "nodes": "nodes that ranks are spread over",
    "point_time": "computing of a grid point on one core",
    "way": "who writes output",
    "servers": "servers beside the model",
    "writers": "ranks or threads of the model that write",
    "intervals": "outputs of a run",
    "input_fields": "fields that are read in each interval",
    "bits": "bits of a value in a file",
    "compress": "bytes before compression over bytes after it",
    "queue": "outputs that may wait for their writers",
    "slowdown": "share by which threads slow the model",
    "line_time": "sending of a line of contiguous points on one core",
    "settings": "changed values of the machine, beside those of a base",
    "base": "base of the study",
}
"""Each label with its long name."""


def _of_kind(kind: str) -> set[str]:
    keys: dict[str, Option] = {**all_dwarf_keys(), **all_keys(), **swept_options()}
    return {name for name, each in keys.items() if each.label and each.kind == kind}


OUTPUT_NUMBERS = {"servers", "writers", "intervals", "input_fields", "bits", "queue"}
INTEGER_LABELS = frozenset({"ranks", "steps", "nodes"} | OUTPUT_NUMBERS | _of_kind("int"))
FLOAT_LABELS = frozenset({"compress", "slowdown", "computing"} | _of_kind("float"))
"""Labels that are kept as the text of a number: ``"200.0"``."""
BOOL_LABELS = frozenset(_of_kind("bool"))


def label_value(label: str, value: object) -> object:
    """Return a value of a selection as cases have it: 200 and 200.0 are ``"200.0"`` where a label is such a number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and label in FLOAT_LABELS:
        return str(float(value))
    return value


def settings_text(settings: Mapping[str, str]) -> str | None:
    """Changed values of a machine in a line; None where there are none."""
    return ", ".join(f"{key}={value}" for key, value in sorted(settings.items())) or None
