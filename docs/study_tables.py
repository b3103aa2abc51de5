"""Tables of one study each, as its page shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kept_results import load

from tradewind.figure.curves import valued
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.model.study import Plot


def table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in line) + " |" for line in lines
    )


SIZES = ("4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "message")
UNBOUNDED = ("transposition", "halo", "allreduce", "long messages")
"""Sweeps of the study of packets without finite buffers, other routings, or messages that are compared."""


def packets() -> str:
    """The time with each size of packets over that with 4 KiB, by exchange, machine and ranks."""
    rows: dict[tuple[str, str, int], dict[str, float]] = {}
    for record, ratio in _over_4_kib(UNBOUNDED):
        rows.setdefault((record["sweep"], record["machine"], record["ranks"]), {})[record["packet"]] = ratio
    cells = [(*key, *(f"{row[size]:.3f}" if size in row else "" for size in SIZES)) for key, row in rows.items()]
    return table(("exchange", "machine", "ranks", *SIZES), cells)


def packet_ranges() -> str:
    """The same of all other sweeps, from the least to the greatest: by sweep, machine, routing and buffers."""
    others = [sweep.name for sweep in load("packets").study.sweep if sweep.name not in UNBOUNDED]
    rows: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for record, ratio in _over_4_kib(others):
        buffers = (record["settings"] or record["buffers"]).replace("switch.buffer=", "").replace("link.", "")
        key = (record["sweep"], record["machine"], record["routing"], buffers)
        rows.setdefault(key, {}).setdefault(record["packet"], []).append(ratio)
    sizes = [size for size in SIZES[1:] if any(size in row for row in rows.values())]
    cells = [(*key, *(_from_to(row.get(size, [])) for size in sizes)) for key, row in rows.items()]
    return table(("sweep", "machine", "routing", "buffers", *sizes), cells)


def _from_to(values: Sequence[float]) -> str:
    if not values:
        return ""
    minimum, maximum = f"{min(values):.2f}", f"{max(values):.2f}"
    return minimum if minimum == maximum else f"{minimum} to {maximum}"


def _over_4_kib(sweeps: Sequence[str]) -> list[tuple[Record, float]]:
    """The cases of some sweeps of the study of packets, and their times over those with packets of 4 KiB."""
    plot = Plot(title="", of=[{}], curve="sweep", along="packet", over={"packet": ["4KiB"]})
    return [
        pair for sweep in sweeps for pair in valued(plot, [r for r in load("packets").records if r["sweep"] == sweep])
    ]


RULES = ("calls", "pokes", "thread")
"""The rules by which a reduction that was started goes on."""


def gcr_times() -> str:
    """The time of two iterations in ms, by levels, ranks and overhead: of GCR, classic, and pipelined by each rule."""
    rows: dict[tuple[int, int, str], dict[str, float]] = {}
    for record in load("gcr-solvers").records:
        if record["dwarf"] == "helmholtz":
            levels = int(str(record["grid"]).split("x")[-1])
            solver = record["mpi_progress"] if record["strategy"] == "pipelined" else "classic"
            rows.setdefault((levels, record["ranks"], record["base"]), {})[solver] = 1e3 * record["time_s"]
    cells = [
        (levels, f"{ranks:,}", base, *(f"{rows[key][solver]:.3g}" for solver in ("classic", *RULES)))
        for key in sorted(rows, key=lambda key: (-key[0], *key[1:]))
        for levels, ranks, base in [key]
    ]
    return table(("levels", "ranks", "messages", "classic", *(f"pipelined, {rule}" for rule in RULES)), cells)


def gcr_exchanges() -> str:
    """The time of 50 allreduces and of a transposition in ms, by algorithm, overhead and ranks."""
    rows: dict[tuple[str, str, str], dict[int, float]] = {}
    for record in load("gcr-solvers").records:
        if record["sweep"] in ("50 allreduces", "transposition"):
            key = (record["sweep"], record["algorithm"], record["base"])
            rows.setdefault(key, {})[record["ranks"]] = 1e3 * record["time_s"]
    ranks = sorted({count for row in rows.values() for count in row})
    cells = [(*key, *(f"{row[n]:.3g}" if n in row else "" for n in ranks)) for key, row in rows.items()]
    return table(("exchange", "algorithm", "messages", *(f"{n:,} ranks" for n in ranks)), cells)


BOTH = ("wide", "on-demand")
"""The strategies of the dwarf semi_lagrangian that are compared."""


def _beside_compute(record: Record) -> float:
    found = quantity_of(record, "non-compute")
    assert found is not None
    return 1e3 * found


def on_demand_acceptance() -> str:
    """Time of a step in ms that is not computing, by buffers and ranks: of columns on demand, of each width of halo."""
    rows: dict[tuple[str, int], dict[int | None, float]] = {}
    for record in load("acceptance").records:
        rows.setdefault((record["base"], record["ranks"]), {})[record["width"]] = _beside_compute(record)
    widths = sorted({width for row in rows.values() for width in row if width is not None})
    cells = [
        (base, f"{ranks:,}", *(f"{row[width]:.3g}" for width in (None, *widths)))
        for (base, ranks), row in sorted(rows.items())
    ]
    return table(("buffers", "ranks", "on demand", *(f"{width} points" for width in widths)), cells)


def on_demand_ranks(sweeps: Sequence[str]) -> str:
    """Bytes and time beside computing of both strategies, by wind, tracers and ranks: MB per rank, and ms."""
    rows: dict[tuple[float, int, int], dict[str, Record]] = {}
    for record in load("ranks").records:
        if record["sweep"] in sweeps:
            key = (float(record["wind"]), record["tracers"], record["ranks"])
            rows.setdefault(key, {})[record["strategy"]] = record
    cells = []
    for (wind, tracers, ranks), found in sorted(rows.items()):
        if len(found) < len(BOTH):
            continue
        sent = [found[each]["result"]["bytes"] / ranks / 1e6 for each in BOTH]
        times = [_beside_compute(found[each]) for each in BOTH]
        numbers = (f"{number:.3g}" for number in (*sent, *times, times[1] / times[0]))
        cells.append((f"{wind:g}", tracers, f"{ranks:,}", *numbers))
    header = ("m/s", "tracers", "ranks", "MB per rank: wide", "on demand", "ms: wide", "on demand", "on demand / wide")
    return table(header, cells)


def on_demand_here() -> str:
    """A step on two ranks in ms, measured and simulated, by strategy, points that the wind passes, and tracers."""
    rows: dict[tuple[float, int], dict[tuple[str, str], float]] = {}
    for record in load("here").records:
        key = (float(record["wind"]) * float(record["dt_s"]) / float(record["spacing_m"]), record["tracers"])
        rows.setdefault(key, {})[record["strategy"], record["kind"]] = 1e3 * record["time_s"]
    if not rows:
        return "*No results of this study are kept yet.*"
    cells = []
    for (points, tracers), row in sorted(rows.items()):
        numbers = []
        for strategy in BOTH:
            measured, simulated = row[strategy, "run"], row[strategy, "simulate"]
            numbers += [f"{measured:.4g}", f"{simulated:.4g}", f"{simulated / measured:.2f}"]
        cells.append((f"{points:g}", tracers, *numbers, f"{row['on-demand', 'run'] / row['wide', 'run']:.2f}"))
    each = ("measured", "simulated", "ratio")
    header = ("points", "tracers", *(f"{strategy}: {word}" for strategy in BOTH for word in each), "on demand / wide")
    return table(header, cells)


Row = dict[tuple[int, str], list[Record]]
"""The cases of a sweep, by ranks and algorithm: one for each seed."""


def _by_sweep(name: str, base: str | None = None) -> dict[str, Row]:
    """The cases of a study, of one base if it has several, by sweep in the order of its file."""
    kept = load(name)
    rows: dict[str, Row] = {sweep.name: {} for sweep in kept.study.sweep}
    for record in kept.records:
        if record["base"] == base and record["time_s"] is not None:
            rows[record["sweep"]].setdefault((record["ranks"], record["algorithm"]), []).append(record)
    return {sweep: row for sweep, row in rows.items() if row}


def _one(row: Row, ranks: int) -> Record:
    return next(cases[0] for (count, _), cases in row.items() if count == ranks)


def _node_time(row: Row, few: int, many: int) -> float:
    """Return the time x nodes on many ranks over that on few."""
    return float(_one(row, many)["time_s"] / _one(row, few)["time_s"] * many / few)


FIXED = {
    "234 us more computing in each rank": 234e-6,
    "one rank 2.25 times as slow, and 500 us more computing in each": 500e-6,
}
"""Seconds of computing in each rank beside its points, by sweep."""


def mpi_share() -> str:
    """The share of a step in which ranks do not compute, in the mean, on 64 and 128 nodes, by the factor changed."""
    cells = [("published", "0.47", "0.44", "poor")]
    for sweep, row in _by_sweep("mpdata-mpi-share").items():
        shares = []
        for ranks in (64, 128):
            record = _one(row, ranks)
            computing = quantity_of(record, "efficiency")
            assert computing is not None
            shares.append(1 - computing - FIXED.get(sweep, 0.0) / record["time_s"])
        cells.append((sweep, *(f"{share:.2f}" for share in shares), f"x {_node_time(row, 64, 128):.2f}"))
    return table(("factor", "MPI, 64 nodes", "MPI, 128 nodes", "time x nodes, 64 to 128"), cells)


WITH_FIXED = "fixed time"
"""Beginning of the names of sweeps in which each rank computes for a fixed time as well."""


def protocols() -> str:
    """A step with a cost over one without, on 64 and 128 cores, by cost, without and with a fixed time."""
    rows = _by_sweep("mpdata-protocols")
    costs = [sweep for sweep in rows if f"{WITH_FIXED}, {sweep}" in rows and sweep != "compact parts"]
    cells = [("published", "1.15", "1.17 (1.08 to 1.26)", "1.15", "1.17 (1.08 to 1.26)", "x 1.22 (1.15 to 1.29)")]
    for cost in costs:
        found = []
        for before, none in (("", "base"), (f"{WITH_FIXED}, ", WITH_FIXED)):
            without = rows[f"{before}compact parts"] if "compact" in cost else rows[none]
            for ranks in (8, 16):
                found.append(_one(rows[f"{before}{cost}"], ranks)["time_s"] / _one(without, ranks)["time_s"])
        scaling = _node_time(rows[f"{WITH_FIXED}, {cost}"], 8, 16)
        cells.append((cost, *(f"{ratio:.2f}" for ratio in found), f"x {scaling:.2f}"))
    header = ("a cost", "64 cores", "128 cores", "fixed time: 64 cores", "128 cores", "time x cores, 64 to 128")
    return table(header, cells)


def _burst(row: Row, ranks: int) -> str:
    """Return the time of burst over that of ring-4: from the least to the greatest, where there are several seeds."""
    if (ranks, "ring-4") not in row:
        return ""
    pairs = zip(row[ranks, "burst"], row[ranks, "ring-4"], strict=True)
    return _from_to([one["time_s"] / four["time_s"] for one, four in pairs])


SST, OURS = "SST/macro 7.1", "ours"
ROWS, SIZES_OF_ALL = "rows of ", " sizes"
"""Beginning of the names of sweeps whose splits have as many ranks along x; end of those with further sizes."""


def burst_factors() -> str:
    """Burst over ring-4 on 500 and 2000 ranks, by the factor changed."""
    cells = [
        (name if base == SST else f"{name}, ours", *(_burst(row, ranks) for ranks in (500, 2000)))
        for base in (SST, OURS)
        for name, row in _by_sweep("burst", base).items()
        if not name.startswith(ROWS) and not name.endswith(SIZES_OF_ALL)
    ]
    return table(("factor", "500 ranks", "2000 ranks"), cells)


def _burst_sizes(rows: Sequence[tuple[str, Row]]) -> str:
    ranks = (100, 200, 500, 1000, 2000, 5000, 10000, 20000)
    cells = [(name, *(_burst(row, n) for n in ranks)) for name, row in rows]
    return table(("burst / ring-4", *(f"{n:,}" for n in ranks)), cells)


def burst_sizes() -> str:
    """Burst over ring-4 by ranks: as in the study of Figure 5a under both bases, and by the ranks along x."""
    rows = [(f"nearest to a square (Figure 5a), {base}", _by_sweep("figure-5a", base)["burst"]) for base in (SST, OURS)]
    rows += [(f"{name} ranks", row) for name, row in _by_sweep("burst", SST).items() if name.startswith(ROWS)]
    return _burst_sizes(rows)


def burst_orders() -> str:
    """Burst over ring-4 by ranks, where links between switches are not the narrow place, in its own order and in
    ascending order."""
    rows = _by_sweep("burst", SST)
    shown = []
    for order in ("", "ascending, "):
        valiant: Row = {**rows[f"{order}Valiant"], **rows[f"{order}Valiant, more{SIZES_OF_ALL}"]}
        shown += [
            (f"{order}fattree-M", rows[f"{order}fattree-M, all{SIZES_OF_ALL}"]),
            (f"{order}dragonfly-MM, Valiant", valiant),
        ]
    return _burst_sizes(shown)


TABLES: dict[str, Callable[[], str]] = {
    "mpi-share-factors": mpi_share,
    "protocol-factors": protocols,
    "burst-factors": burst_factors,
    "burst-sizes": burst_sizes,
    "burst-orders": burst_orders,
    "packets-table": packets,
    "packets-ranges": packet_ranges,
    "gcr-times": gcr_times,
    "gcr-exchanges": gcr_exchanges,
    "on-demand-acceptance": on_demand_acceptance,
    "on-demand-ranks": lambda: on_demand_ranks(("strategies", "a million")),
    "on-demand-buffers": lambda: on_demand_ranks(("finite buffers",)),
    "on-demand-here": on_demand_here,
}
"""The sections of pages that show one table of one study."""
