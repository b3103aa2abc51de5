"""A model that writes and reads files beside its time steps, as a workload: in place, on threads, on servers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text
from tradewind.base.units import seconds
from tradewind.workload.on_grid import layout_imbalance
from tradewind.workload.output_program import OutputProgram
from tradewind.workload.output_request import OutputRequest
from tradewind.workload.workload import Step, Workload

OUTPUT = "output"
"""Value of the label `pattern` for these workloads."""


@dataclass(frozen=True)
class OutputRun(OutputRequest, Workload):
    """A run with output, see `OutputRequest`."""

    family: ClassVar[str] = OUTPUT

    def program(self) -> OutputProgram:
        """Return the simulated program. Raises InputError."""
        if problems := self.problems():
            raise InputError(*problems)
        return OutputProgram(self)

    @property
    def split(self) -> tuple[int, int] | None:  # type: ignore[override]  # of the model
        """(cx, cy) ranks of the model over x and y."""
        return self.split_of_model

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point of one field: fields travel one by one."""
        return point_bytes(1, self.dtype)

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return DTYPES[self.dtype]

    def steps(self) -> list[Step]:
        """Return the steps of its program. Raises InputError."""
        return self.program().steps()

    def traits(self) -> list[str]:
        """Return its sizes as texts, for a line about it."""
        often = f"{self.intervals} x {self.steps_between} steps"
        packed = [f"compressed {self.compress:g}"] if self.compress > 1 else []
        return [extents_text(self.grid), f"{self.ranks} ranks", f"{self.fields} fields", *packed, often]

    def as_dict(self) -> dict[str, Any]:
        """Return the request as plain values, with ``steps`` for the steps between two outputs."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"steps": values.pop("steps_between"), **values}

    def labels(self) -> dict[str, Any]:
        """Return the labels by which studies select it."""
        own = {"pattern": OUTPUT, "split": extents_text(self.split_of_model) if self.split_of_model else None}
        return {**super().labels(), **own}

    def imbalance(self) -> float:
        """Return the load imbalance of the model: the maximum points of a rank over the mean."""
        return layout_imbalance(self.grid, self.split_of_model or (1, 1), "xy")

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the busiest rank computes, what a rank alone would, how long the model does not compute, and
        these as the parts of the run's time."""
        end_s = result["step_end_s"][self.program().end_of_model]
        alone_s = math.prod(self.grid) * seconds(self.point_time) * self.steps_between * self.intervals
        blocked_s = max(0.0, end_s - self.work_s)
        points = math.prod(self.grid) * self.steps_between * self.intervals
        after_s = max(0.0, result["time_s"] - end_s)
        parts = {"model computes": self.work_s, "model does not compute": blocked_s, "after the model": after_s}
        derived = {"compute_s": self.work_s, "alone_s": alone_s, "blocked_s": blocked_s, "points": points}
        return {**derived, "step_time_s": parts}
