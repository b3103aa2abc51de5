"""The replay of a trace as a study asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from tradewind.base.reading import read_bytes
from tradewind.replay.workload import TraceWorkload
from tradewind.study.model.trace_sweep import TRACE
from tradewind.trace.read import open_trace
from tradewind.workload.workload import Step, Workload


@dataclass(frozen=True)
class TraceRequest(Workload):
    """A trace, and what is changed of it. Read when it is needed, in the process that needs it."""

    path: Path
    computing: float
    allreduce: str

    family: ClassVar[str] = TRACE

    @cached_property
    def _replayed(self) -> TraceWorkload:
        return TraceWorkload(open_trace(self.path), self.name, self.computing, self.allreduce)

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(read_bytes(self.path)).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """Return the request alone: other processes read the trace by themselves."""
        return {"path": self.path, "computing": self.computing, "allreduce": self.allreduce}

    def program(self) -> TraceWorkload:
        """Return the calls of the trace. Raises InputError for a trace that cannot be replayed."""
        return self._replayed

    def steps(self) -> list[Step]:
        """Return one step, in which all calls are made."""
        return self._replayed.steps()

    @property
    def ranks(self) -> int:  # type: ignore[override]  # of the trace
        """Number of ranks of the trace."""
        return self._replayed.ranks

    @property
    def name(self) -> str:
        """Name of the trace, without its suffix."""
        return self.path.stem

    @property
    def bytes_per_point(self) -> int:
        """1: messages are bytes."""
        return 1

    @property
    def element_bytes(self) -> int:
        """1."""
        return 1

    def traits(self) -> list[str]:
        """Return its ranks, and what is changed of it."""
        changed = [] if self.computing == 1 else [f"computing times {self.computing:g}"]
        return [*super().traits(), *changed, f"allreduce {self.allreduce}"]

    def as_dict(self) -> dict[str, Any]:
        """Return all that its results depend on, as plain values: of the trace its SHA-256."""
        return {
            "trace": self.name,
            "digest": self._digest,
            "ranks": self.ranks,
            "computing": self.computing,
            "allreduce": self.allreduce,
        }

    def labels(self) -> dict[str, Any]:
        """Return the labels by which studies select it."""
        return {
            "pattern": TRACE,
            "trace": self.name,
            "computing": str(self.computing),
            "algorithm": self.allreduce,
            "ranks": self.ranks,
        }

    def simulated(self, simulate: Callable[..., dict[str, Any]], machine: Any, **options: Any) -> dict[str, Any]:
        """Return the result of the replay, with its time over the recorded time."""
        result = super().simulated(simulate, machine, **options)
        return {**result, "replay_ratio": result["time_s"] / result["recorded_s"] if result["recorded_s"] else None}

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: a replay has it all."""
        return {}
