"""Types of the compiled module that `tradewind.mpi` wraps."""

from collections.abc import Sequence
from typing import Any

from tradewind import _core

_Field = tuple[int, tuple[int, int, int], tuple[int, int, int]]

class Plan:
    def __call__(self) -> None: ...
    def start(self) -> None: ...
    def wait(self) -> None: ...
    @property
    def in_flight(self) -> bool: ...
    @property
    def messages(self) -> int: ...
    @property
    def bytes_sent(self) -> int: ...

def schedule_plan(
    schedule: _core.Schedule,
    comm: int,
    source: Sequence[_Field],
    target: Sequence[_Field],
    arrays: Any,
    element: str,
    operation: str,
    transport: str,
    packing: str,
    largest_message: int,
) -> Plan: ...
def native_plan(
    pattern: _core.Pattern,
    comm: int,
    source: Sequence[_Field],
    target: Sequence[_Field],
    arrays: Any,
    element: str,
    operation: str,
) -> Plan: ...
def agree(comm: int, identity: str, problem: str) -> None: ...
def measure(
    comm: int, steps: Sequence[tuple[Plan, int]], warmup: int, samples: int, copy_only: bool = False
) -> tuple[list[float], list[list[float]]]: ...
def library_version() -> str: ...

build_mpi: str
build_compiler: str
