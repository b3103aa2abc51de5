"""Tables of what ran: exchanges beside what the memory of the machine allows, and steps of dwarfs."""

from __future__ import annotations

from collections.abc import Sequence

from tradewind.report.table import (
    Cell,
    PageColumn,
    PageTable,
    Row,
    number,
    rate,
    ratio,
    seconds,
    table_of_cases,
    text,
    whole,
)
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import quantity_of

MEASURED = (
    PageColumn("Exchange"),
    PageColumn("Grid"),
    number("Ranks"),
    PageColumn("Split", hint="ranks along x, y"),
    PageColumn("Method", hint="transport and packing"),
    number("Median", "s", "of one whole exchange, on the slowest rank"),
    number("Minimum", "s"),
    number("Maximum", "s"),
    number("Samples"),
    number("Rate", "B/s", "bytes that all ranks send, divided by the median"),
    number("× copy", "", "median over the time of a memory copy of the same bytes by the same ranks"),
    number("× pack+copy", "", "median over the time to pack and copy the same bytes without any message"),
)

RUNS = (
    PageColumn("Run"),
    PageColumn("Where"),
    PageColumn("Sweep"),
    PageColumn("Grid"),
    number("Ranks"),
    PageColumn("Split", hint="ranks along x, y"),
    PageColumn("Method", hint="transport, packing, threads per rank"),
    number("Step", "s", "median over the repetitions, on the slowest rank"),
    number("Minimum", "s"),
    number("Maximum", "s"),
    number("Compute", "s", "of a step, on the median rank"),
    number("Gpoint/s", "", "10⁹ grid points that all ranks take one step further in a second"),
    number("× copy", "", "time over that of a memory copy of what must be read and written"),
)


def inputs(record: Record) -> Row:
    """The cells that name the exchange of a case."""
    slab = f" ({record['slab']})" if record["slab"] else ""
    labels = {"Grid": "grid", "Split": "split"}
    cells = {title: text(record[label]) for title, label in labels.items()}
    return {"Exchange": Cell(record["exchange"] + slab), "Ranks": whole(record["ranks"]), **cells}


def measured_table(records: Sequence[Record]) -> PageTable:
    """Each measured exchange beside what the memory of the machine allows."""
    rows = [(i, _measured(record)) for i, record in enumerate(records) if record["kind"] == "measure"]
    return table_of_cases("measured-table", "Measured exchanges", MEASURED, rows)


def _measured(record: Record) -> Row:
    result = record["result"]
    best = result["results"][0]
    speed, floor = best.get("bytes_per_s"), result.get("floor_s")
    native = record["algorithm"] == "native"
    cells = inputs(record)
    return {
        **cells,
        "Exchange": Cell(cells["Exchange"].text, tags=_marks(record)),
        "Method": Cell("the library's own" if native else f"{record['transport']}, {record['packing']}"),
        "Median": seconds(best["median_s"]),
        "Minimum": seconds(best["min_s"]),
        "Maximum": seconds(max(best["samples_s"])),
        "Samples": whole(len(best["samples_s"])),
        "Rate": rate(speed or None),
        "× copy": ratio(quantity_of(record, "copy-ratio")),
        "× pack+copy": ratio(best["median_s"] / floor if floor else None),
    }


def _marks(record: Record) -> tuple[tuple[str, str], ...]:
    """Reasons why the time of a case is not one of this machine."""
    result, marks = record["result"], []
    if result.get("oversubscribed"):
        per_core = f": {result['ranks_per_core']:g} ranks per core" if "ranks_per_core" in result else ""
        marks.append(("bad", f"oversubscribed{per_core}"))
    if record["is_foreign"]:
        marks.append(("bad", f"measured on {record['environment']['host']}"))
    return tuple(marks)


def runs_table(records: Sequence[Record]) -> PageTable:
    """Each run of a dwarf, and each published time of a step."""
    rows = [(i, _run(record)) for i, record in enumerate(records) if record["kind"] in ("run", "published")]
    return table_of_cases("runs-table", "Time steps of dwarfs", RUNS, rows)


def _run(record: Record) -> Row:
    result, published = record["result"], record["kind"] == "published"
    samples = [total / result["steps"] for total in result.get("samples_s", [])]
    threads = f"{record['threads']} threads" if record["threads"] else None
    work = f", work {record['work']}" if (record["work"] or 1) > 1 else ""
    points = quantity_of(record, "points")
    return {
        "Run": Cell(record["exchange"] + work, tags=_marks(record)),
        "Where": Cell(f"published, {record['nodes']} nodes" if published else "here"),
        "Sweep": text(record["sweep"]),
        "Grid": text(record["grid"]),
        "Ranks": whole(record["ranks"]),
        "Split": text(record["split"]),
        "Method": Cell(", ".join(filter(None, (record["transport"], record["packing"], threads)))),
        "Step": seconds(record["time_s"]),
        "Minimum": seconds(min(samples, default=None)),
        "Maximum": seconds(max(samples, default=None)),
        "Compute": seconds(quantity_of(record, "compute")),
        "Gpoint/s": ratio(None if points is None else points / 1e9),
        "× copy": ratio(quantity_of(record, "copy-ratio")),
    }
