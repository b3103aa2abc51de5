"""Output in study files: runs of a model that writes and reads files, simulated with those who write beside it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.base.tables import one_of
from tradewind.base.units import seconds
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.values import Grid, Many, Quick, checked
from tradewind.workload.exchange import MAX_TIMES
from tradewind.workload.output_request import MAX_INTERVALS, MAX_QUEUE, WAYS

Count = Annotated[int, Field(ge=1, le=MAX_EXTENT, strict=True)]
MAX_BITS, MAX_RATIO, MAX_SLOWDOWN = 64, 1000.0, 100.0


def _point_time(text: Any) -> None:
    if seconds(text) <= 0:
        raise InputError(f"point_time {text!r}: more than 0 s is allowed")


class OutputSweep(OnMachine):
    """Runs of several output intervals. The time is that of the run, until all files are written."""

    kind: Literal["output"]
    name: str
    grid: Many[Grid]
    ranks: Many[Count]
    """All ranks, those of servers included."""
    way: Many[Annotated[str, one_of("way", WAYS)]]
    servers: Many[Count] = [1]
    """Servers of the way of that name."""
    writers: Many[Count] = [1]
    """Writers of the ways `in place`, `collective` and `threads`."""
    threads: Many[Count] = [1]
    """That encode and compress, of each server."""
    fields: Many[Count]
    """Fields that are written at each output."""
    input_fields: Many[Annotated[int, Field(ge=0, le=MAX_EXTENT, strict=True)]] = [0]
    """Fields that are read in each interval."""
    dtype: Annotated[str, one_of("dtype", tuple(DTYPES))] = "f8"
    bits: Many[Annotated[int, Field(ge=1, le=MAX_BITS, strict=True)]] = [16]
    """Bits of a value in a file, before compression."""
    compress: Many[Annotated[float, Field(ge=1, le=MAX_RATIO)]] = [1.0]
    """Bytes before compression over bytes after it; 1: none."""
    encode: bool = True
    """Whether values are encoded; else they are written as they are in memory."""
    steps: Many[Annotated[int, Field(ge=1, le=MAX_TIMES, strict=True)]]
    """Time steps between two outputs."""
    intervals: Many[Annotated[int, Field(ge=1, le=MAX_INTERVALS, strict=True)]]
    """Outputs of the run."""
    point_time: Many[Annotated[str, checked(_point_time)]]
    """Time of one core per grid point and step."""
    queue: Many[Annotated[int, Field(ge=1, le=MAX_QUEUE, strict=True)]] = [2]
    """Outputs that may wait for servers or threads."""
    slowdown: Many[Annotated[float, Field(ge=0, le=MAX_SLOWDOWN)]] = [0.0]
    """Share by which the model's work takes longer while threads write."""
    machine: Many[str]
    quick: Quick = Field(default_factory=dict)
