"""Lays the cases of a study out as one page: what each table says, row by row. The template says how it looks."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tradewind.report.dwarfs import run_rows
from tradewind.study.case import HERE_ONLY
from tradewind.study.environment import Environment
from tradewind.study.finding import Verdict
from tradewind.study.model import KINDS, Study
from tradewind.study.records import Record, Records
from tradewind.units import format_bytes, format_count, format_rate, format_seconds

if TYPE_CHECKING:
    import jinja2

Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A plot of the study, drawn."""

    name: str
    title: str
    note: str
    specification: dict[str, Any]


def template(name: str) -> jinja2.Template:
    """One of the pages that lie beside this file. A value that it lacks is an error, not an empty text."""
    import jinja2

    loader = jinja2.PackageLoader("tradewind", "report")
    return jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    ).get_template(name)


def render(
    study: Study,
    study_text: str,
    records: Records,
    verdicts: Sequence[Verdict],
    figures: Sequence[Figure],
    environment: Environment,
    machines: dict[str, str],
) -> str:
    """The page as HTML, with everything that it needs inside."""
    from tradewind.plot.export import script

    return template("report.html.jinja").render(
        study=study,
        study_text=study_text,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        cases=records,
        counts={kind: sum(r["kind"] == kind for r in records.records) for kind in KINDS},
        headline=headline(records),
        machine_names=_machines(records.records),
        figures=[(figure, embedded(figure.specification)) for figure in figures],
        verdicts=verdicts,
        verdict_counts=_verdict_counts(verdicts),
        measured=measured_rows(records.records),
        runs=run_rows(records.records),
        simulated=simulated_rows(records.records),
        networks=network_rows(records.records),
        proofs=proof_rows(records.records),
        foreign=foreign_hosts(records.records),
        environment=environment,
        machines=machines,
        script=script() if figures else "",
    )


def embedded(specification: dict[str, Any]) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(specification).replace("<", "\\u003c")


def _machines(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r["machine"] for r in records if r["kind"] == "simulate"))


def _verdict_counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    kinds = dict.fromkeys(("reproduced", "not reproduced", "not testable here"), 0)
    return {kind: sum(verdict.verdict == kind for verdict in verdicts) for kind in kinds}


def headline(records: Records) -> list[Row]:
    """One row an exchange: where it was proved, what it takes here, what it will take on each machine."""
    rows = []
    for exchange in dict.fromkeys(record["exchange"] for record in records.records):
        mine = [record for record in records.records if record["exchange"] == exchange]
        simulated = [record for record in mine if record["kind"] == "simulate"]
        rows.append(
            {
                "exchange": exchange,
                "verified": ", ".join(map(_grouped, sorted({r["ranks"] for r in mine if r["kind"] == "verify"}))),
                "measured": [_measured_cell(r) for r in mine if r["kind"] in HERE_ONLY],
                "simulated": {name: _simulated_cell(simulated, name) for name in _machines(records.records)},
            }
        )
    return sorted(rows, key=lambda row: _order(row["exchange"].split()[0]))


def _order(first: str) -> int:
    """Of the headline's rows, by the first word of what moves: dwarfs come last."""
    patterns = ("transpose", "halo", "fetch", "allreduce")
    return patterns.index(first) if first in patterns else len(patterns)


def _grouped(number: int) -> str:
    """10000 -> "10 000", with a narrow space that does not break."""
    return f"{number:,}".replace(",", "\u202f")


def _measured_cell(record: Record) -> Row:
    return {
        "ranks": record["ranks"],
        "time": format_seconds(record["time_s"]),
        "oversubscribed": record["result"]["oversubscribed"],
    }


def _simulated_cell(simulated: Sequence[Record], machine: str) -> list[Row]:
    """A line for each number of ranks; over several seeds or settings, from the fastest to the slowest."""
    by_ranks: dict[int, list[float]] = {}
    for record in simulated:
        if record["machine"] == machine:
            by_ranks.setdefault(record["ranks"], []).append(record["time_s"])
    return [
        {
            "ranks": _grouped(ranks),
            "time": " .. ".join(dict.fromkeys((format_seconds(min(times)), format_seconds(max(times))))),
        }
        for ranks, times in sorted(by_ranks.items())
    ]


def proof_rows(records: Sequence[Record]) -> list[Row]:
    return [
        {**_inputs(record), "transport": record["transport"], "wall": format_seconds(record["wall_s"])}
        for record in records
        if record["kind"] == "verify"
    ]


def _inputs(record: Record) -> Row:
    slab = f" ({record['slab']})" if record["slab"] else ""
    keys = ("grid", "split", "ranks", "sweep")
    return {"exchange": record["exchange"] + slab, **{key: record[key] if record[key] else "" for key in keys}}


def measured_rows(records: Sequence[Record]) -> list[Row]:
    """Each measured case beside what the memory of the machine allows."""
    rows = []
    for record in records:
        if record["kind"] != "measure":
            continue
        result = record["result"]
        best = result["results"][0]
        samples = sorted(best["samples_s"])
        rate, copy, floor = best.get("bytes_per_s"), result.get("copy_bytes_per_s"), result.get("floor_s")
        rows.append(
            {
                **_inputs(record),
                "way": f"{best['transport']}, {best['packing']}"
                if record["algorithm"] != "native"
                else "the library's own",
                "median": format_seconds(best["median_s"]),
                "least": format_seconds(best["min_s"]),
                "spread": format_seconds(samples[-1]),
                "samples": len(samples),
                "rate": format_rate(rate) if rate else "",
                "copy_share": f"{100 * rate / copy:.2g} %" if rate and copy else "",
                "floor": f"{best['median_s'] / floor:.3g}" if floor else "",
                "oversubscribed": result["oversubscribed"],
                "ranks_per_core": f"{result['ranks_per_core']:g}",
                "foreign": record["environment"]["host"] if record["is_foreign"] else "",
            }
        )
    return rows


def simulated_rows(records: Sequence[Record]) -> list[Row]:
    """Each simulated case with its time, its bound and its cost."""
    rows = []
    for record in records:
        if record["kind"] != "simulate":
            continue
        result = record["result"]
        steps, bound, load = result["step_time_s"], result.get("bound_s"), result.get("imbalance")
        rows.append(
            {
                **_inputs(record),
                "repetitions": _repetitions(record),
                "ranks": record["ranks"],
                "machine": record["machine"],
                "routing": record["routing"],
                "layout_imbalance": f"{record['layout_imbalance']:.2f}",
                "time": format_seconds(record["time_s"]),
                "steps": ", ".join(f"{n} {format_seconds(t)}" for n, t in steps.items()) if len(steps) > 1 else "",
                "bound": "" if bound is None else format_seconds(bound),
                "imbalance": "" if load is None else f"{load:.1f}",
                "messages": format_count(result["messages"]),
                "message": format_bytes(result["bytes"] / result["messages"]) if result["messages"] else "",
                "packets": packets_per_message(result),
                "packet_hops": format_count(result.get("packet_hops") or 0),
                "wall": format_seconds(record["wall_s"]),
            }
        )
    return rows


def _repetitions(record: Record) -> str:
    """Of a case whose repetitions were not all simulated: how many were, and what twice as many changed."""
    result = record["result"]
    simulated = result.get("simulated_times", record["times"])
    if simulated == record["times"]:
        return ""
    change = f"{100 * result['reckoned_change']:+.2g} %"
    return f"{simulated:.0f} of {record['times']} repetitions simulated; {change} on half as many"


def packets_per_message(result: dict[str, Any]) -> str:
    """How many packets the mean message takes."""
    packet, messages = result.get("packet_bytes", "message"), result["messages"]
    if packet == "message" or not messages:
        return "1"
    number = result["bytes"] / messages / packet
    return "1" if number <= 1 else f"≈ {format_count(math.ceil(number))}"


def network_rows(records: Sequence[Record]) -> list[Row]:
    """How each sweep was simulated: what its cases have in common."""
    rows = []
    simulated = [record for record in records if record["kind"] == "simulate"]
    for sweep in dict.fromkeys(record["sweep"] for record in simulated):
        mine = [record for record in simulated if record["sweep"] == sweep]
        packets = {packets_per_message(record["result"]) for record in mine}
        sizes = dict.fromkeys(record["result"].get("packet_bytes", "message") for record in mine)
        whole = "one packet a message in every case" if packets == {"1"} else "one packet a message in some cases"
        if "1" not in packets:
            whole = "several packets a message"
        rows.append(
            {
                "sweep": sweep,
                "machines": _joined(mine, "machine"),
                "routing": _joined(mine, "routing"),
                "model": _joined(mine, "model"),
                "buffers": _joined(mine, "buffers"),
                "packet": ", ".join("a message" if size == "message" else format_bytes(size) for size in sizes)
                + f" ({whole})",
                "placement": _joined(mine, "placement"),
                "seed": _joined(mine, "seed"),
                "settings": _joined(mine, "settings"),
                "splits": ", ".join(dict.fromkeys(f"{r['ranks']} = {r['split']}" for r in mine if r["split"])),
            }
        )
    return rows


def _joined(records: Sequence[Record], label: str) -> str:
    return ", ".join(str(value) for value in dict.fromkeys(record[label] for record in records) if value is not None)


def foreign_hosts(records: Sequence[Record]) -> list[str]:
    """The other machines on which cases of this report were measured."""
    hosts = (f"{r['environment']['host']} ({r['environment']['cpu']})" for r in records if r["is_foreign"])
    return list(dict.fromkeys(hosts))
