"""From what ranks have measured to the values of a machine file, and its text.

Two ranks exchange one message each way, in a time of latency + overhead + bytes / rate. A message of one double takes
latency + overhead, each further one in the same stage the overhead again; what a longer one takes more is its rate. So
the rates include what it costs to pack, and what the ranks take from each other, as all measure at the same time.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tradewind.errors import InputError
from tradewind.units import format_bytes
from tradewind.ways import DEFAULT_PACKING, DEFAULT_TRANSPORT

Row = Mapping[str, Any]
"""Of `tradewind.launch.probe`."""

SPREAD_LIMIT = 0.25
"""Above this a machine is too busy to be measured, unless forced."""

_LEAST_SHARE = 0.02
"""Of the time of a message, that is at least due to its bytes: noise could leave nothing, or less."""
_TICK_S = 1e-8


def spread(samples: Sequence[float]) -> float:
    """How far samples lie apart: half of them, from the first to the last quarter, over the median."""
    if len(samples) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / middle


@dataclass(frozen=True)
class Rates:
    """Bytes a second by size; `runs` by the bytes of a run, `whole` of one run. A list may end early."""

    sizes: list[int]
    whole: list[float]
    runs: dict[int, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Way:
    """How a transport with a packing carries messages."""

    transport: str
    packing: str
    latency_s: float
    overhead_s: float
    rates: Rates
    scattered: dict[int, list[float]] = field(default_factory=dict)
    """Rates of what is one run at its sender, by the bytes of a run at its receiver."""


def fitted(rows: Iterable[Row], scattered: Iterable[Row] = (), copies: Iterable[Row] = ()) -> list[Way]:
    """The ways of all rows of pairs; one of which something is missing is left out.

    `scattered`: rows of messages that are one run at their sender, beside a copy within the rank of the same shape,
    whose time is that of `copies`.
    """
    kept = {(row["run"], row["bytes"]): statistics.median(row["samples_s"]) for row in copies}
    beside: dict[tuple[str, str], list[Row]] = {}
    for row in scattered:
        if (shape := (row["run"], row["bytes"])) in kept:
            less = [seconds - kept[shape] for seconds in row["samples_s"]]
            beside.setdefault((row["transport"], row["packing"]), []).append({**row, "samples_s": less})
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["transport"], row["packing"]), []).append(row)
    found = (_way(*names, chosen, beside.get(names, [])) for names, chosen in grouped.items())
    return [way for way in found if way is not None]


def _way(transport: str, packing: str, rows: Sequence[Row], scattered: Sequence[Row]) -> Way | None:
    least = min(row["bytes"] for row in rows)
    small = {row["messages"]: statistics.median(row["samples_s"]) for row in rows if row["bytes"] == least}
    rates = _rates([row for row in rows if row["bytes"] > least], small.get(1, 0.0))
    if 1 not in small or rates is None:
        return None
    most = max(small)
    overhead = (small[most] - small[1]) / (most - 1) if most > 1 else 0.0
    overhead = min(max(overhead, 0.0), small[1])
    whole = [row for row in rows if row["run"] == 0 and row["bytes"] > least]
    beside = _rates([*whole, *scattered], small[1]) if scattered else None
    return Way(transport, packing, small[1] - overhead, overhead, rates, beside.runs if beside else {})


def copy_rates(rows: Sequence[Row]) -> Rates | None:
    """The rates of copies within a rank, of the rows of copies."""
    return _rates(rows, 0.0)


def _rates(rows: Sequence[Row], start_s: float) -> Rates | None:
    """Of each run the rates of the sizes, as far as they go without a gap; None without any of one run."""
    times = {(row["run"], row["bytes"]): statistics.median(row["samples_s"]) for row in rows}
    sizes = sorted({size for run, size in times if run == 0})
    lists: dict[int, list[float]] = {}
    for run in sorted({run for run, _ in times}):
        for size in sizes:
            if (run, size) not in times:
                break
            seconds = times[run, size]
            lists.setdefault(run, []).append(size / max(seconds - start_s, _LEAST_SHARE * abs(seconds), _TICK_S))
    whole = lists.pop(0, None)
    return None if whole is None else Rates(sizes, whole, lists)


@dataclass(frozen=True)
class Calibration:
    """What is known of a machine once its ranks have measured."""

    ways: list[Way]
    copies: Rates | None
    outside: Way | None
    """Between nodes; None where there is one."""
    probed: Mapping[str, Any]
    """The rest of the answer of `tradewind.launch.probe.probe`."""
    spread: float
    """Of three in four measurements it is less."""
    worst_spread: float
    """Of nine in ten it is less."""
    repeat: int

    @property
    def bases(self) -> Way:
        """Where the values of the network come from."""
        found = self.outside or next((way for way in self.ways if way.transport == DEFAULT_TRANSPORT), None)
        return found or self.ways[0]


def calibrated(answer: Mapping[str, Any], repeat: int) -> Calibration:
    """The calibration of an answer of `tradewind.launch.probe.probe`. Raises InputError where nothing was measured."""
    inside, outside = fitted(answer["inside"], answer["scattered"], answer["copies"]), fitted(answer["outside"])
    if not inside and not outside:
        raise InputError("nothing could be measured: none of these transports goes with any of these packings")
    spreads = sorted(
        spread(row["samples_s"]) for name in ("inside", "scattered", "outside", "copies") for row in answer[name]
    )
    return Calibration(
        inside,
        copy_rates(answer["copies"]),
        outside[0] if outside else None,
        answer,
        spreads[int(0.75 * (len(spreads) - 1))],
        spreads[int(0.9 * (len(spreads) - 1))],
        repeat,
    )


def refusals(calibration: Calibration, limit: float) -> list[str]:
    """Why the figures should not be trusted."""
    found = []
    if calibration.spread > limit:
        found.append(
            f"the machine is busy: in one of four measurements half of the samples lie {calibration.spread:.0%} of "
            f"their median apart or more, and {limit:.0%} are allowed; calibrate when it is idle, or force it"
        )
    if calibration.probed["ranks_per_core"] > 1:
        found.append(
            f"{calibration.probed['ranks_per_core']:g} ranks a core: at most 1 is allowed, as ranks that take turns "
            "at a core measure that; name fewer, or force it"
        )
    return found


def text_of(calibration: Calibration, name: str) -> str:
    """The machine file."""
    probed, base = calibration.probed, calibration.bases
    site = probed["site"]
    where = f"{site['cpu']}, {site['mpi']}"
    title = f"{name}: {probed['nodes']} x {probed['ranks_per_node']} ranks, {where}"
    share = probed["ranks_per_node"] if calibration.outside else 1
    bandwidth = base.rates.whole[-1] * share
    tables: list[tuple[str, dict[str, str | int]]] = [
        ("topology", {"kind": "crossbar", "nodes": probed["nodes"]}),
        ("link", {"bandwidth": _rate(bandwidth), "latency": _time(base.latency_s / 2)}),
        (
            "nic",
            {
                "injection_bandwidth": _rate(bandwidth),
                "ejection_bandwidth": _rate(bandwidth),
                "latency": _time(base.latency_s / 2),
                "send_overhead": _time(base.overhead_s / 2),
                "receive_overhead": _time(base.overhead_s / 2),
            },
        ),
        ("node", _node(probed)),
        ("packet", {"size": "4KiB"}),
    ]
    lines = [f"title = {_quoted(title)}", 'routing = "direct"']
    for table, values in tables:
        lines += ["", f"[{table}]", *(f"{key} = {_quoted(value)}" for key, value in values.items())]
    if calibration.copies is not None:
        lines += ["", "[copy]", *_rate_lines(calibration.copies)]
    lines += ["", "[source]", *(f"{key} = {_quoted(text)}" for key, text in _sources(calibration).items())]
    for way in calibration.ways:
        lines += ["", "[[carriage]]", f"transport = {_quoted(way.transport)}", f"packing = {_quoted(way.packing)}"]
        lines += [f'latency = "{_time(way.latency_s)}"', f'overhead = "{_time(way.overhead_s)}"']
        lines += _rate_lines(way.rates)
        if way.scattered:
            lines.append(f"scattered = {_runs(way.scattered)}")
    return "\n".join(lines) + "\n"


def _node(probed: Mapping[str, Any]) -> dict[str, str | int]:
    together = probed["copy_bytes_per_s"] * probed["ranks_per_node"]
    alone = min(probed["copy_alone_bytes_per_s"], together)
    return {
        "cores": probed["cores"],
        "memory_bandwidth": _rate(together),
        "flow_memory_bandwidth": _rate(alone),
    }


def _sources(calibration: Calibration) -> dict[str, str]:
    from importlib.metadata import version

    probed = calibration.probed
    site = probed["site"]
    by = (
        f"measured by tradewind calibrate {version('tradewind')} on {site['host']}, "
        f"{datetime.now(UTC):%Y-%m-%d}, {site['cpu']}, {site['mpi']}; up to {calibration.repeat} samples of each, of "
        f"which the middle half lies within {calibration.spread:.1%} of the median in three of four measurements"
    )
    pairs = "pairs of ranks, all at the same time, send each other one message a stage of a halo"
    network = (
        f"as between nodes: {pairs}, by {DEFAULT_TRANSPORT} {DEFAULT_PACKING}; latency and overhead of both ends halved"
        if calibration.outside
        else "not measured, as there is one node: taken from what is within it"
    )
    sources = {
        "topology": "counted; how nodes are wired is not measured, a crossbar is taken",
        "link": f"not measured: a crossbar has none; {network}",
        "nic": f"{network}; {by}" if calibration.outside else network,
        '"node.cores"': "counted",
        '"node.memory_bandwidth"': f"copies of 64 MiB by all ranks of a node at the same time; {by}",
        '"node.flow_memory_bandwidth"': f"copies of 64 MiB by one rank while the others wait; {by}",
        "packet": "not measured: taken as 4 KiB",
    }
    if calibration.copies is not None:
        sources["copy"] = f"copies around the seam of a halo of one rank, by all ranks at the same time; {by}"
    if calibration.ways:
        sources["carriage"] = (
            f"{pairs}; latency and overhead from 1 and 6 messages of 8 bytes, rates from what longer ones take more, "
            f"in one run of memory (whole) and in runs of so many bytes; scattered: {_SCATTERED}; {by}"
        )
    return sources


_SCATTERED = "the same of a transposition, less what is copied within the rank"


def _rate_lines(rates: Rates) -> list[str]:
    lines = [f"sizes = {_listed(_size(size) for size in rates.sizes)}"]
    lines.append(f"whole = {_listed(map(_rate, rates.whole))}")
    if rates.runs:
        lines.append(f"runs = {_runs(rates.runs)}")
    return lines


def _runs(rates: Mapping[int, Sequence[float]]) -> str:
    runs = ", ".join(f'"{_size(run)}" = {_listed(map(_rate, each))}' for run, each in rates.items())
    return f"{{ {runs} }}"


def _listed(texts: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def _size(size: int) -> str:
    text = format_bytes(size).replace(" ", "")
    return text if float(text.rstrip("KMGTiB")) * _FACTORS[text.lstrip("0123456789.")] == size else f"{size}B"


_FACTORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def _rate(rate: float) -> str:
    return f"{min(max(rate, 1e6), 1e15) / 1e9:.4g}GB/s"


def _time(seconds: float) -> str:
    return f"{round(max(seconds, 1e-12) * 1e12)}ps" if seconds < 1e-9 else f"{seconds * 1e9:.4g}ns"


def _quoted(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
