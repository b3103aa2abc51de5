"""Time of computations: cores, the memory that they share, and rates of kernels.

A computation takes as long as its flops, or as the bytes that it copies, whichever is longer (the roofline model of
Williams, Waterman & Patterson 2009). Memory bandwidth is that of copies, everywhere: each byte is read and written, and
counts once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, model_serializer

from tradewind.base.errors import InputError
from tradewind.base.tables import Table
from tradewind.machine.quantities import Bandwidth, Flops, Fraction, Latency
from tradewind.machine.topology import Count

SINGLE = "-f4"
"""End of the names of kernels in single precision, whose rates are others than those in double precision."""


def rate_name(kernel: str, precision: str) -> str:
    """Return the name by which a machine file has the rates of a kernel in a precision, f4 or f8."""
    return kernel + SINGLE if precision == SINGLE.removeprefix("-") else kernel


class Node(Table):
    """Cores and memory of a node."""

    cores: Count | None = None
    memory_bandwidth: Bandwidth
    """Rate of copies of all cores together; half of the bandwidth of data sheets."""
    flow_memory_bandwidth: Bandwidth | None = None
    """Maximum that one copy reaches alone; None: as memory_bandwidth."""
    numa_domains: Count | None = None
    """Parts of the node, each with its share of cores and of memory bandwidth; None: one."""
    flops: Flops | None = None
    """Peak rate of all its cores, in double precision."""
    core_flops: Flops | None = None
    """Rate of one core in loops over what is in its cache; where it is known, computations are limited by cores."""
    serial_fraction: Fraction = 0.0
    """Share of a computation that one thread does while the others of its rank wait (Amdahl 1967)."""


class Rates(Table):
    """Rates of the loops of one name."""

    flops: Flops | None = None
    """Rate of one core while the others wait; includes what it gets from memory."""
    busy_flops: Flops | None = None
    """Rate of each core while all of the node compute; None: as flops."""
    bandwidth: Bandwidth | None = None
    """Rate of copies that one core reaches in these loops; None: as the memory allows."""
    point_time: Latency | None = None
    """Seconds of one core per point, in place of flops."""
    serial_fraction: Fraction | None = None
    """None: that of the node."""

    @property
    def has_speed(self) -> bool:
        """Whether it is known how fast it computes, and not only how fast it copies."""
        return self.flops is not None or self.point_time is not None

    def rate(self, load: float) -> float:
        """Return the flops per second of a core; `load`: how busy the others are, from 0 to 1."""
        assert self.flops is not None
        if self.busy_flops is None:
            return self.flops
        return 1 / ((1 - load) / self.flops + load / self.busy_flops)

    @model_serializer(mode="wrap")
    def _plain(self, own: Callable[[Any], dict[str, Any]]) -> Any:
        """A rate of flops alone is a number, as all were once: results keep their identity."""
        values = {key: value for key, value in own(self).items() if value is not None}
        return self.flops if set(values) == {"flops"} else values


KernelRates = Annotated[Rates, BeforeValidator(lambda value: value if isinstance(value, dict) else {"flops": value})]
"""A table of rates, or one rate of flops."""


@dataclass(frozen=True)
class Work:
    """Work of a computation: of a point, if it has points, or of a rank."""

    flops: float
    copied: float
    """Bytes that are copied, each read and written."""
    kernel: str = ""
    has_points: bool = True


@dataclass(frozen=True)
class Sharing:
    """Use of a node: the number of its ranks, and of the threads of each."""

    ranks: int
    threads: int

    def cores(self, node: Node) -> float:
        """Return the cores of a rank: as many as threads, if there are enough."""
        return self.threads if node.cores is None else min(self.threads, node.cores / self.ranks)

    def load(self, node: Node) -> float:
        """Return how busy the other cores of a node are: 0 where one computes alone, 1 where all do."""
        if node.cores is None or node.cores == 1:
            return 0.0
        return (min(node.cores, self.ranks * self.threads) - 1) / (node.cores - 1)

    def memory(self, node: Node, cores: float | None) -> float:
        """Return the memory bandwidth of a rank on the fullest NUMA domain; `cores`: of the rank, where they count."""
        domains = node.numa_domains or 1
        each = node.memory_bandwidth / domains
        if self.ranks >= domains:
            return each / math.ceil(self.ranks / domains)
        spanned = domains // self.ranks
        if cores is not None:
            spanned = min(spanned, math.ceil(cores * domains / node.cores) if node.cores else math.ceil(cores))
        return each * max(1, spanned)


def has_core_rates(node: Node, kernels: Mapping[str, Rates]) -> bool:
    """Whether a computation is limited by the cores of its rank; else a rank has its share of its node at once."""
    return node.core_flops is not None or bool(kernels)


def seconds_of(work: Work, node: Node, kernels: Mapping[str, Rates], machine: str, sharing: Sharing) -> float:
    """Return the seconds of a computation of a rank; `machine`: its name in errors.

    A thread has a core as far as there are enough: its flops are at the rate of the kernel, or else at
    `node.core_flops`, and its copies at most at `node.flow_memory_bandwidth`, which a kernel's own rate includes. All
    ranks of a NUMA domain share its memory, and all of a node its `node.flops`. Threads do not speed up the serial
    fraction. Raises InputError where no rate is known, or that of a kernel in another precision alone.
    """
    own = kernels.get(work.kernel, Rates())
    double = work.kernel.removesuffix(SINGLE)
    other, precision = (work.kernel + SINGLE, "single") if double == work.kernel else (double, "double")
    if not own.has_speed and kernels.get(other, Rates()).has_speed:
        raise InputError(
            f"the machine {machine!r} has the rate of kernel.{other} in {precision} precision alone, and none for "
            f"kernel.{work.kernel}: `tradewind calibrate` measures both; or assume one, such as --set "
            f"kernel.{work.kernel}.flops=10Gflop/s"
        )
    cores = sharing.cores(node)
    speedup = _speedup(cores, node.serial_fraction if own.serial_fraction is None else own.serial_fraction)
    memory = sharing.memory(node, cores if has_core_rates(node, kernels) else None)
    rate = None if node.flops is None else node.flops / sharing.ranks
    if own.point_time is not None:
        if not work.has_points:
            raise InputError(f"kernel.{work.kernel}.point_time is that of a point, and the computation has no points")
        memory = min(memory, speedup * (own.bandwidth or math.inf))
        return max(own.point_time / speedup, work.copied / memory)
    if own.flops is not None and work.flops:
        memory = min(memory, speedup * (own.bandwidth or math.inf))
        rate = speedup * own.rate(sharing.load(node))
    elif node.core_flops is not None:
        memory = min(memory, speedup * (own.bandwidth or node.flow_memory_bandwidth or memory))
        rate = speedup * node.core_flops if rate is None else min(rate, speedup * node.core_flops)
    elif own.bandwidth is not None:
        memory = min(memory, speedup * own.bandwidth)
    if work.flops and rate is None:
        named = f"kernel.{work.kernel}, " if work.kernel else ""
        raise InputError(
            f"a computation has flops, and the machine {machine!r} has no rate for them: {named}node.core_flops or "
            "node.flops is needed; `tradewind calibrate` measures the first ones on this machine; or assume one, such "
            "as --set node.core_flops=10Gflop/s"
        )
    return max(work.flops / rate if rate else 0.0, work.copied / memory)


def _speedup(cores: float, serial: float) -> float:
    """Return how many times as fast as one core these are; several ranks may share one."""
    return cores if cores <= 1 or not serial else 1 / (serial + (1 - serial) / cores)


def problems_of_rates(node: Node, kernels: Mapping[str, Rates]) -> Iterator[tuple[str, str]]:
    """Yield the keys of rates that cannot be, and why."""
    if node.numa_domains and node.cores and node.cores % node.numa_domains:
        yield "node.numa_domains", f"{node.numa_domains} do not divide the {node.cores} of node.cores"
    if node.serial_fraction and not has_core_rates(node, kernels):
        yield "node.serial_fraction", "without node.core_flops or kernel a rank has its share of the node at once"
    for name, rates in kernels.items():
        if rates.flops is None and rates.bandwidth is None and rates.point_time is None:
            yield f"kernel.{name}", "one of flops, bandwidth and point_time is needed"
        if rates.point_time is not None and rates.flops is not None:
            yield f"kernel.{name}.point_time", "in place of flops, not beside them"
        if rates.point_time == 0:
            yield f"kernel.{name}.point_time", "more than 0 s is allowed"
        if rates.busy_flops is not None and (rates.flops is None or rates.busy_flops > rates.flops):
            yield f"kernel.{name}.busy_flops", "needs flops, those of one core alone, which are as many or more"
        if rates.busy_flops is not None and node.cores is None:
            yield f"kernel.{name}.busy_flops", "needs node.cores, all of which are busy then"
