"""Tables of one study each, as its page shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kept_results import load

from tradewind.base.units import format_seconds
from tradewind.figure.curves import valued
from tradewind.machine import load_machine
from tradewind.model import load_model
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import parts_of, quantity_of
from tradewind.study.model.study import Plot
from tradewind.study.model.weather_model_sweep import WeatherModelSweep


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
    cells = [(*key, *(from_to(row.get(size, [])) for size in sizes)) for key, row in rows.items()]
    return table(("sweep", "machine", "routing", "buffers", *sizes), cells)


def from_to(values: Sequence[float]) -> str:
    """Return the least and the greatest of some ratios, or the one that all are."""
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


def packet_orders() -> str:
    """The time in the order of the ports and in those that are drawn, and the latter over the former."""
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    for record in load("packet-order").records:
        details = [record["algorithm"]]
        if record["sweep"] == "ring of eight":
            details.append(record["settings"].split(",")[0].replace("switch.buffer=", "buffers of "))
        details += [record[label] for label in _DETAILS.get(record["sweep"], ())]
        machine = record["machine"] + (f", {record['routing']}" if record["machine"] == "dragonfly-MM" else "")
        times = rows.setdefault((record["sweep"], f"{record['ranks']:,}", ", ".join(details), machine), {})
        times[record["order"]] = record["time_s"]
        if record["sweep"].startswith(_LARGEST):
            times["ports"] = _of_ports(record)
    cells = []
    for key, times in rows.items():
        drawn = [time for order, time in times.items() if order != "ports"]
        ends = min(drawn), max(drawn)
        over = [f"{round(100 * (time / times['ports'] - 1), 1) + 0.0:+.1f}" for time in ends]
        spread, change = (" to ".join(dict.fromkeys(each)) for each in (map(format_seconds, ends), over))
        cells.append((*key, format_seconds(times["ports"]), len(drawn), spread, f"{change} %"))
    return table(("exchange", "ranks", "how", "machine", "ports", "drawn", "times", "over ports"), cells)


_DETAILS = {"packets": ("packet",), "a hundredth": ("placement",), "a hundredth, dragonfly": ("placement",)}
"""Labels in which cases of a sweep of the study of orders differ, beside algorithm and machine."""
_LARGEST = "10 000 ranks"
"""Sweeps of that study without cases in the order of the ports, which the studies of Zheng & Marguinaud have."""


def _of_ports(record: Record) -> float:
    """Return the time of a case of the largest sweeps in the order of the ports."""
    alike = {label: record[label] for label in ("exchange", "slab", "ranks", "machine", "routing", "seed")}
    alike |= {"base": "ours"}
    (time,) = {
        float(other["time_s"])
        for name in ("figure-5b", "figure-5d")
        for other in load(name).records
        if all(other[label] == value for label, value in alike.items()) and not other["settings"]
    }
    return time


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


def on_demand_source_case() -> str:
    """Time of a whole step in ms, by buffers and ranks: of columns on demand, of each width of halo; and the share of
    the narrowest halo's exchange that the columns take."""
    rows: dict[tuple[str, int], dict[int | None, Record]] = {}
    for record in load("source-case").records:
        rows.setdefault((record["base"], record["ranks"]), {})[record["width"]] = record
    widths = sorted({width for row in rows.values() for width in row if width is not None})
    cells = [
        (
            *(base, f"{ranks:,}"),
            *(f"{1e3 * row[width]['time_s']:.4g}" for width in (None, *widths)),
            f"{row[None]['time_s'] / row[widths[0]]['time_s']:.3g}",
            f"{_beside_compute(row[None]) / _beside_compute(row[widths[0]]):.3g}",
        )
        for (base, ranks), row in sorted(rows.items())
    ]
    over = f"on demand / {widths[0]} points"
    header = ("buffers", "ranks", "on demand", *(f"{width} points" for width in widths), over, "of the exchange alone")
    return table(header, cells)


def on_demand_steps(sweeps: Sequence[str]) -> str:
    """Times of whole steps in ms by wind, tracers and ranks: on demand over wide, and their ratio; in brackets the
    ratio of the exchanges alone."""
    rows: dict[tuple[float, int], dict[int, dict[str, Record]]] = {}
    for record in load("steps").records:
        if record["sweep"] in sweeps:
            row = rows.setdefault((float(record["wind"]), record["tracers"]), {})
            row.setdefault(record["ranks"], {})[record["strategy"]] = record
    ranks = sorted({count for row in rows.values() for count in row})
    cells = [
        (f"{wind:g}", tracers, *(_both_steps(row.get(count, {})) for count in ranks))
        for (wind, tracers), row in sorted(rows.items())
    ]
    return table(("m/s", "tracers", *(f"{count:,} ranks" for count in ranks)), cells)


def _both_steps(found: dict[str, Record]) -> str:
    if len(found) < len(BOTH):
        return ""
    wide, asked = (found[each] for each in BOTH)
    times = " / ".join(_digits(1e3 * record["time_s"]) for record in (asked, wide))
    return f"{times} = {asked['time_s'] / wide['time_s']:.2f} ({_beside_compute(asked) / _beside_compute(wide):.2f})"


def _digits(number: float) -> str:
    """Return four digits, or all of a number of more."""
    return f"{number:.4g}" if number < 1e4 else f"{number:.0f}"


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


def here_dwarfs() -> str:
    """The shortest step of each dwarf, and what is simulated of it: ms, and times what is measured."""
    if not load("dwarfs").records:
        return "*No results of this study are kept yet.*"
    rows: dict[tuple[str, int], dict[str, float]] = {}
    for record in load("dwarfs").records:
        value = quantity_of(record, "minimum")
        assert value is not None
        machine = str(record["machine"] or "measured").rpartition("vm-2-cores-")[2].removesuffix(".toml")
        rows.setdefault((record["dwarf"], record["ranks"]), {})[machine] = 1e3 * value

    def beside(row: dict[str, float], machine: str) -> tuple[str, str]:
        return f"{row[machine]:.4g}", f"{row[machine] / row['measured']:.2f}"

    cells = [
        (dwarf, ranks, f"{row['measured']:.4g}", *beside(row, "blind"), *beside(row, "kernels"))
        for (dwarf, ranks), row in rows.items()
    ]
    simulated = ("blind, ms", "of measured", "by kernels, ms", "of measured")
    return table(("dwarf", "ranks", "measured, ms", *simulated), cells)


def arome_steps() -> str:
    """Steps of both models by machine and ranks: ms, and % of physics and advection, of the halo, of transpositions."""
    rows: dict[tuple[str, int], dict[str, str]] = {}
    machines: list[str] = []
    for record in load("scaling").records:
        machine, time_s, parts = record["machine"], record["time_s"], parts_of(record)
        ms = f"{time_s * 1e3:,.0f}" if time_s >= 0.1 else f"{time_s * 1e3:#.3g}"
        shares = (parts[part] / time_s for part in ("physics and advection", "wide halo", "transpositions"))
        cell = f"{ms} ({', '.join(f'{100 * share:.0f}' for share in shares)})"
        rows.setdefault((record["weather_model"], record["ranks"]), {})[machine] = cell
        if machine not in machines:
            machines.append(machine)
    cells = [(*key, *(row.get(machine, "") for machine in machines)) for key, row in sorted(rows.items())]
    return table(("model", "ranks", *machines), cells)


HOUR_DAYS = 240
"""Days of forecast in a day with which ten days take an hour."""


def _globe() -> dict[tuple[str, str], list[tuple[int, Record]]]:
    """Return the cases of the study of global models by model and machine, with their cores, the fewest first.

    Those with smaller packets than others, or in a box of nodes, are left out.
    """
    found: dict[tuple[str, str], list[tuple[int, Record]]] = {}
    for record in load("globe").records:
        if "packets" not in record["sweep"] and record["placement"] == "linear":
            cores = record["ranks"] // record["ranks_per_node"] * load_machine(record["machine"]).machine.node.cores
            found.setdefault((record["weather_model"], record["machine"]), []).append((cores, record))
    return {key: sorted(cases, key=lambda case: (case[0], case[1]["ranks"])) for key, cases in found.items()}


def globe_days() -> str:
    """Days of forecast in a day by model, machine, cores and ranks per node, and per cent of a step by what it does."""
    rows = []
    for (model, machine), cases in _globe().items():
        for cores, record in cases:
            days, time_s = quantity_of(record, "days-per-day"), record["time_s"]
            parts = sorted(parts_of(record).items(), key=lambda part: -part[1])
            most = ", ".join(f"{name} {100 * part_s / time_s:.0f}" for name, part_s in parts[:2])
            ranks = f"{record['ranks']:,} ({record['ranks_per_node']})"
            rows.append((model, machine, f"{cores:,}", ranks, f"{days:,.0f}", most))
    return table(("model", "machine", "cores", "ranks (per node)", "days in a day", "most of a step, %"), rows)


def globe_needs() -> str:
    """Cores between which ten days of forecast come to take an hour; points of a core and power there; 50 members."""
    rows = []
    points = {
        model.name: model.grid.point_count
        for sweep in load("globe").study.sweep
        if isinstance(sweep, WeatherModelSweep)
        for model in map(load_model, sweep.weather_model)
    }
    for (model, machine), cases in _globe().items():
        enough = [case for case in cases if quantity_of(case[1], "days-per-day") >= HOUR_DAYS]
        few = [cores for cores, _ in cases if not enough or cores < enough[0][0]]
        if enough:
            cores, record = enough[0]
            needed = f"{few[-1]:,} to {cores:,}" if few else f"at most {cores:,}"
            megawatts = quantity_of(record, "energy") / record["time_s"] / 1e6
            here = (f"{points[model] / cores:,.0f}", f"{megawatts:.2g}", f"{50 * cores / 1e6:.2g} million")
        else:
            needed, here = f"more than {few[-1]:,}", ("", "", "")
        rows.append((model, f"{points[model] / 1e6:,.0f}", machine, needed, *here))
    header = ("model", "grid points, millions", "machine", "cores", "points of a core", "MW", "cores of 50 members")
    return table(header, rows)


def globe_boxes() -> str:
    """Milliseconds of a step on the first nodes of the machine and in a box of as many, by model."""
    times: dict[tuple[Any, ...], dict[str, float]] = {}
    for record in load("globe").records:
        key = (record["weather_model"], record["machine"], record["ranks"], record["ranks_per_node"])
        times.setdefault(key, {})[record["placement"]] = record["time_s"]
    rows = [
        (model, f"{ranks // each:,}", f"{1e3 * found['linear']:.3g}", f"{1e3 * found['box']:.3g}")
        for (model, _, ranks, each), found in times.items()
        if "box" in found
    ]
    return table(("model", "nodes", "first nodes, ms", "box of nodes, ms"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "packets-table": packets,
    "packets-ranges": packet_ranges,
    "packet-orders": packet_orders,
    "gcr-times": gcr_times,
    "gcr-exchanges": gcr_exchanges,
    "on-demand-source-case": on_demand_source_case,
    "on-demand-steps": lambda: on_demand_steps(("strategies", "a million")),
    "on-demand-buffers": lambda: on_demand_steps(("finite buffers",)),
    "on-demand-here": on_demand_here,
    "here-dwarfs": here_dwarfs,
    "arome-steps": arome_steps,
    "globe-days": globe_days,
    "globe-needs": globe_needs,
    "globe-boxes": globe_boxes,
}
"""The sections of pages that show one table of one study."""
