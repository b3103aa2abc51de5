"""Our times beside those of SST/macro 7.1.0: ``python -m validation.sstmacro [--all] [--json]``.

The first table has all-to-alls among 64 ranks, and SST/macro's time over ours. Receives are posted first, or late, as
stages begin; our buffers are unbounded or have credits, others behind the crossbar are added ("+ output"), and copies
of what came before its receive ("+ copies"). The second table shows how far apart they are. The third has one group of
a dragonfly with the buffers that SST/macro 7.1 has by default. ``--all`` adds large networks, in a minute. ``--json``
prints a row per comparison, with both times.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tradewind.base.units import format_bytes
from tradewind.machine import load_machine
from tradewind.simulation import prepare, simulate
from tradewind.workload.exchange import Exchange
from validation.machines import all_to_all, machine
from validation.sstmacro.published import (
    CHANNELS,
    GROUPS,
    LARGE,
    NETWORKS,
    SIXTYFOUR,
    Group,
    Large,
    Sixtyfour,
    group,
)
from validation.table import parser, print_rows

COPIES = {"unexpected_bandwidth": "5.3GB/s"}
"""Rate at which SST/macro 7.1 copies messages that came before their receive, by default."""

Row = dict[str, Any]


def sixtyfour(case: Sixtyfour, columns: Collection[str] | None = None) -> Iterator[Row]:
    """Compare an all-to-all among 64 ranks: a row per setting that SST/macro has a time for, or those of `columns`."""
    channels = CHANNELS[case.network, case.routing]
    port = f"{64 * channels}KiB"
    credits: Row = {"switch": {"buffer": "64KiB"}}
    behind: Row = {"switch": {"port_buffer": port, "output_buffer": port, "channels": channels}}
    exchange = all_to_all(64, case.algorithm, case.bytes // 8)
    for receives, setting, sst_ms, tables, buffers in (
        ("first", "unbounded", case.unbounded, {}, "unbounded"),
        ("first", "credits", case.first, credits, "credits"),
        ("first", "+ output", case.first, behind, "credits"),
        ("late", "unbounded", case.late, {}, "unbounded"),
        ("late", "credits", case.late, credits, "credits"),
        ("late", "+ copies", case.late, {**credits, "mpi": COPIES}, "credits"),
        ("late", "+ output, copies", case.late, {**behind, "mpi": COPIES}, "credits"),
    ):
        if sst_ms is None or (columns is not None and f"{receives}: {setting}" not in columns):
            continue
        file = machine(NETWORKS[case.network], case.routing, **tables)
        time_s = prepare(exchange, file, buffers=buffers, threads=1).run()["time_s"]
        yield row(64, case.network, case.routing, _named(case), f"receives {receives}", setting, sst_ms, time_s)


def one_group(case: Group) -> Iterator[Row]:
    """Compare an all-to-all in a group of a dragonfly with 32 KiB per port, without and with output buffers."""
    exchange = all_to_all(case.ranks, case.algorithm, case.bytes // 8)
    switch: Row = {"port_buffer": "32KiB", "channels": CHANNELS["dragonfly", case.routing]}
    for setting, more in (("port buffers", {}), ("+ output", {"output_buffer": "32KiB"})):
        file = machine(
            group(case.side, case.side),
            case.routing,
            bandwidth=case.bandwidth,
            nic_bandwidth=case.nic_bandwidth,
            latency=case.latency,
            nic_latency=case.nic_latency,
            switch={**switch, **more},
            mpi={} if case.eager_limit is None else {"eager_limit": case.eager_limit},
        )
        time_s = prepare(exchange, file, threads=1).run()["time_s"]
        what = f"{case.series}: {case.latency}, {case.bandwidth}"
        if case.nic_bandwidth:
            what += f", NICs {case.nic_bandwidth}"
        if case.eager_limit:
            what += f", NICs {case.nic_latency}, eager to {case.eager_limit}"
        yield row(case.ranks, "dragonfly", case.routing, _named(case), what, setting, case.sst_ms, time_s)


def large(case: Large) -> Row:
    """Simulate an exchange on one of the paper's networks, beside the formula of SST/macro where there is one."""
    file = load_machine(case.machine, case.settings)
    options: Row = {"routing": case.routing, "packet": case.packet, "buffers": case.buffers, "threads": 1}
    if case.pattern == "allreduce":
        exchange = Exchange("allreduce", case.ranks, algorithm="recursive-21", count=3, times=50)
        named, steady = "50 x recursive-21", case.ranks > 1000
    else:
        exchange = Exchange("transpose", case.ranks, case.grid, case.split, algorithm="ring-4", slab=case.slab)
        named, steady = f"transposition {case.slab}, ring-4", False
    time_s = simulate(exchange, file, steady=steady, **options)["time_s"]
    routing = case.routing or file.machine.routing
    setting = "port buffers" if case.buffers == "credits" else case.buffers
    return row(case.ranks, case.machine, routing, named, case.what, setting, case.sst_ms, time_s)


def row(
    ranks: int, network: str, routing: str, exchange: str, what: str, setting: str, sst_ms: float | None, time_s: float
) -> Row:
    """Return one comparison; SST/macro's time may be missing."""
    ours_ms = time_s * 1e3
    return {
        "ranks": ranks,
        "network": network,
        "routing": routing,
        "exchange": exchange,
        "case": what,
        "ours with": setting,
        "SST ms": sst_ms,
        "ours ms": ours_ms,
        "SST / ours": None if sst_ms is None else sst_ms / ours_ms,
    }


def _named(case: Sixtyfour | Group) -> str:
    return f"{case.algorithm} {format_bytes(case.bytes)}"


def matrix(rows: Iterable[Row]) -> list[Row]:
    """Return a line per case, with a column per setting."""
    lines: dict[tuple[object, ...], Row] = {}
    rows = list(rows)
    columns = dict.fromkeys(_column(each) for each in rows)
    for each in rows:
        key = tuple(each[name] for name in ("network", "routing", "exchange"))
        line = lines.setdefault(
            key, {"network": key[0], "routing": key[1], "exchange": key[2], **dict.fromkeys(columns)}
        )
        line[_column(each)] = each["SST / ours"]
    return list(lines.values())


def _column(each: Row) -> str:
    return f"{each['case'].removeprefix('receives ')}: {each['ours with']}"


def ranges(rows: Iterable[Row]) -> list[Row]:
    """Return how far SST/macro and ours are apart, a line per setting."""
    ratios: dict[str, list[float]] = {}
    for each in rows:
        ratios.setdefault(_column(each), []).append(each["SST / ours"])
    return [
        {
            "SST / ours": column,
            "cases": len(found),
            "lowest": min(found),
            "highest": max(found),
            "largest difference %": 100 * max(abs(ratio - 1) for ratio in found),
        }
        for column, found in ratios.items()
    ]


def beside(rows: Iterable[Row]) -> list[Row]:
    """Return a line per case, without and with output buffers side by side."""
    lines: dict[tuple[object, ...], Row] = {}
    for each in rows:
        key = tuple(each[name] for name in ("ranks", "routing", "exchange", "case"))
        line = lines.setdefault(key, {name: each[name] for name in ("ranks", "routing", "exchange", "case", "SST ms")})
        is_plain = each["ours with"] == "port buffers"
        also = "" if is_plain else ", + output"
        line[f"ours ms{also}"], line[f"SST / ours{also}"] = each["ours ms"], each["SST / ours"]
    return list(lines.values())


def main() -> None:
    options: argparse.ArgumentParser = parser(__doc__)
    options.add_argument("--all", action="store_true", help="large networks too, in a minute more")
    asked = options.parse_args()
    few = [found for case in SIXTYFOUR for found in sixtyfour(case)]
    grouped = [found for case in GROUPS for found in one_group(case)]
    many = [large(case) for case in LARGE] if asked.all else []
    if asked.json:
        print(json.dumps([*few, *grouped, *many], allow_nan=False))
        return
    for i, table in enumerate((matrix(few), ranges(few), beside(grouped), many)):
        if table:
            if i:
                print()
            print_rows(table, as_json=False)


if __name__ == "__main__":
    main()
