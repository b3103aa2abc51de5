"""Workloads of studies that are whole time steps, and no exchange alone."""

from __future__ import annotations

from tradewind.study.cases.model_request import WEATHER_MODEL
from tradewind.study.cases.model_step import PATTERN
from tradewind.study.model.trace_sweep import TRACE
from tradewind.workload.output_run import OUTPUT

WHOLE_STEPS = {PATTERN: PATTERN, WEATHER_MODEL: WEATHER_MODEL, OUTPUT: f"run with {OUTPUT}", TRACE: "recorded program"}
"""Values of the label `pattern`, which name their requests, too, and what they are to a reader."""
