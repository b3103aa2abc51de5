"""Tables and pictures of `tradewind run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tradewind.cli.ranks import show_warnings

Result = dict[str, Any]
COMPUTE, LOOP, TOTAL = "compute", "loop", "all"
"""Keys of parts: what computing begins with, the rest of the loop, and the whole."""
WORTH_BUILDING = 3
"""Percent of a step that a method must be able to save before it is worth building."""
NAMES = {LOOP: "other", TOTAL: "total"}
"""Names of these parts for a reader."""


def show_one(result: Result) -> None:
    """Prints the result of one strategy."""
    if "parts" in result:
        _show_measured(result)
    else:
        _show_simulated(result)
    _show_files(result)


def show_several(result: Result) -> None:
    """Prints the results of several strategies in one table, the fastest first."""
    from tradewind.cli.screen import show_table, show_text

    rows = sorted(result["results"], key=step_s)
    measured = "parts" in rows[0]
    show_table(_measured_table(rows) if measured else _simulated_table(rows))
    print()
    if measured:
        texts = _by(rows, _numbers)
        for text, strategies in texts.items():
            show_text(f"all end with {text}" if len(texts) == 1 < len(rows) else f"{strategies}: {text}")
    for each in result["skipped"]:
        show_text(f"skipped {each['strategy']}: {each['reason']}", "dim", indent="  ")
    show_warnings(warnings_by_kind(rows))
    _show_files({**result["results"][0], **result})


def step_s(result: Result) -> float:
    """Seconds of a time step."""
    return float(result["wall_s"] if "parts" in result else result["time_s"]) / float(result["steps"])


def phases_of(result: Result) -> dict[str, float]:
    """Seconds of a time step by part, without the total: of the median rank, or of a simulation by its steps."""
    if "parts" not in result:
        return {name: seconds / result["steps"] for name, seconds in result["step_time_s"].items()}
    return {row["part"]: row["median_s"] / result["steps"] for row in result["parts"] if row["part"] != TOTAL}


def draw(path: Path, results: Sequence[Result]) -> None:
    """Draws where the time of a step goes, a bar for each strategy. Raises InputError where it cannot be written."""
    from tradewind.plot.phases import phase_rows, save_phases

    first = results[0]
    rows: list[dict[str, Any]] = []
    for result in results:
        phases = {NAMES.get(part, part): seconds for part, seconds in phases_of(result).items()}
        rows += phase_rows(str(result["strategy"]), phases)
    place = first.get("machine") or first["provenance"]["cpu"]
    over = "OVERSUBSCRIBED: more threads than cores, so these are no times of this machine"
    warning = over if first.get("oversubscribed") else ""
    save_phases(rows, path, f"{_heading(first)}, {first['ranks']} ranks, {place}", warning)


def _heading(result: Result) -> str:
    """The dwarf and, where it has one, its grid."""
    grid = result.get("grid")
    if grid is None:
        return str(result["dwarf"])
    return f"{result['dwarf']} {grid if isinstance(grid, str) else 'x'.join(str(n) for n in grid)}"


def _by(rows: Sequence[Result], text: Callable[[Result], str]) -> dict[str, str]:
    """Texts about results, each with the strategies of which it is true."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(text(row), []).append(row["strategy"])
    return {text: ", ".join(names) for text, names in found.items()}


def warnings_by_kind(rows: Sequence[Result]) -> list[str]:
    """Return a warning of each kind, with the strategies that have one: its numbers are those of the first."""
    found: dict[str, tuple[str, list[str]]] = {}
    for row in rows:
        for text in row.get("warnings", []):
            found.setdefault(text.partition(":")[0], (text, []))[1].append(row["strategy"])
    return [f"{', '.join(names)}: {text}" for text, names in found.values()]


def _numbers(result: Result) -> str:
    """The diagnostics of a run, and that it was checked."""
    from tradewind.dwarfs import find

    names = find(result["dwarf"]).diagnostics
    text = ", ".join(f"{label} {result[name]!r}" for name, label in names.items())
    return text + (f"; {result['agreement']}" if result["check"] else "")


def _measured_table(rows: Sequence[Result]) -> Any:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.table import TextColumn, TextTable

    first = rows[0]
    columns = [
        TextColumn("strategy"),
        TextColumn("step", number=True),
        *(TextColumn(title, number=True, drop=3) for title in ("compute", "exchange", "other")),
        TextColumn("Gpoint/s", number=True, drop=1),
        TextColumn("x copy", number=True, drop=2),
        TextColumn("messages", number=True, drop=4),
        TextColumn("sent", number=True, drop=5),
    ]
    cells = []
    for row in rows:
        phases = phases_of(row)
        other = phases.pop(LOOP)
        compute = sum(phases.pop(part) for part in list(phases) if part.startswith(COMPUTE))
        cells.append(
            [
                row["strategy"],
                format_seconds(step_s(row)),
                *(format_seconds(s) for s in (compute, sum(phases.values()), other)),
                f"{row['points_per_s'] / 1e9:.3f}",
                f"{row['ratio_to_copy']:.2f}",
                str(row["messages"]),
                format_bytes(row["bytes_sent"]),
            ]
        )
    over = "oversubscribed: more threads than cores" if first["oversubscribed"] else ""
    return TextTable(columns, cells, f"{_heading(first)}, {first['steps']} steps, {first['ranks']} ranks", over)


def _simulated_table(rows: Sequence[Result]) -> Any:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.table import TextColumn, TextTable

    titles = ("per step", "messages", "bytes", "steps")
    columns = [TextColumn("strategy"), *(TextColumn(title, number=True) for title in titles)]
    cells = [
        [
            row["strategy"],
            format_seconds(step_s(row)),
            str(row["messages"]),
            format_bytes(row["bytes"]),
            str(row["steps"]),
        ]
        for row in rows
    ]
    first = rows[0]
    return TextTable(columns, cells, f"{_heading(first)} on {first['ranks']} ranks of {first['machine']}", "")


def _show_measured(result: Result) -> None:
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.energy import say_measured
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn("part"), *(TextColumn(title, number=True) for title in ("min", "median", "max", "share"))]
    whole = result["parts"][-1]["median_s"]
    rows = [
        [
            NAMES.get(row["part"], row["part"]),
            *(format_seconds(row[key]) for key in ("min_s", "median_s", "max_s")),
            f"{100 * row['median_s'] / whole:.0f} %",
        ]
        for row in result["parts"]
    ]
    over = "oversubscribed: more threads than cores" if result["oversubscribed"] else ""
    title = f"{_heading(result)}, {result['steps']} steps, {result['strategy']}, {result['ranks']} ranks"
    show_table(TextTable(columns, rows, title, over))
    print()
    show_text(
        f"{result['points_per_s'] / 1e9:.3f} Gpoint/s; {result['ratio_to_copy']:.2f} x copy, the time of a memory "
        f"copy of {format_bytes(result['minimum_bytes'])} per rank at {format_rate(result['copy_bytes_per_s'])}"
    )
    show_text(
        f"{result['messages']} messages and {format_bytes(result['bytes_sent'])} from the busiest rank; "
        f"threads per rank: {result['threads']}, not bound"
    )
    if copies := result.get("device_copies"):
        show_text(
            f"device: {result['device_name']}; copied to the host {copies['to_host']} times, "
            f"{format_bytes(copies['to_host_bytes'])}, and to the device {copies['to_device']} times, "
            f"{format_bytes(copies['to_device_bytes'])}, in {result['steps']} steps of all ranks"
        )
    say_measured(result, "step", result["steps"] * len(result["samples_s"]))
    bound = result["packing_overlap"]["median_s"]
    if bound > 0:
        show_text(
            f"packing while messages travel could save at most {format_seconds(bound / result['steps'])} of a step, "
            f"{100 * bound / whole:.1f} %; above {WORTH_BUILDING} % it is worth building"
        )
    if setup := result.get("setup_s"):
        show_text("set-up: " + ", ".join(f"{part} {format_seconds(seconds)}" for part, seconds in setup.items()))
    show_text(_numbers(result))
    show_warnings(result["warnings"])


def _show_simulated(result: Result) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.energy import say_energy
    from tradewind.cli.screen import show_text
    from tradewind.cli.simulation_run import say_disturbed, say_orders

    steps = result["steps"]
    show_text(
        f"{result['dwarf']}, {result['strategy']}, on {result['ranks']} ranks of {result['machine']}: "
        f"{format_seconds(result['time_s'] / steps)} per step; {result['messages']} messages and "
        f"{format_bytes(result['bytes'])} every {'step' if steps == 1 else f'{steps} steps'}"
    )
    for name, seconds in result["step_time_s"].items():
        show_text(f"  {name}: {format_seconds(seconds)}")
    say_energy(result, steps)
    say_orders(result)
    say_disturbed(result)


def _show_output(output: Result) -> None:
    """Print what the field server did: who waited, who worked, what was written."""
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.screen import show_text

    waited, share = output["blocked_in_loop_s"], f"{100 * output['blocked_share']:.1f} %"
    loop = format_seconds(output["loop_s"])
    show_text(f"output: the model waited {format_seconds(waited)}, {share} of its time loop, {loop}")
    before, after = format_seconds(output["blocked_s"] - waited), format_seconds(output["close_s"])
    show_text(f"  and {before} before it, in the first step; {after} after it, until all was written")
    for number, writer in enumerate(output["writers"]):
        if not writer["sinks"]:
            continue
        idle = f", idle {format_seconds(writer['idle_s'])}" if "idle_s" in writer else ""
        show_text(
            f"  writer {number}: busy {format_seconds(writer['busy_s'])}{idle}; up to "
            f"{format_bytes(writer['peak_queue_bytes'])} waited"
        )
        for name, sink in writer["sinks"].items():
            rate = sink["bytes"] / sink["seconds"] if sink["seconds"] else 0.0
            show_text(f"    {name}: {sink['files']} files, {format_bytes(sink['bytes'])}, {format_rate(rate)}")
    for lost in output["taken_over"]:
        show_text(f"  server {lost['server']}: {lost['reason']}; {lost['by']} has written its fields")
    if output["dropped_fields"]:
        show_text(f"  dropped, as their queues were full: {output['dropped_fields']} fields")


def _show_advice(advice: Result) -> None:
    """Print who writes, and why."""
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_text

    taken, step = advice["taken"], format_seconds(advice["step_s"])
    who = {0: "in place", "threads": "on threads", 1: "on 1 server"}.get(taken, f"on {taken} servers")
    every = "every step is" if advice["steps_between"] == 1 else f"every {advice['steps_between']} steps are"
    show_text(f"advised: output {who}, bound by the {advice['bottleneck']}; a step takes {step}, and {every} written")


def _show_files(result: Result) -> None:
    if result.get("advice"):
        _show_advice(result["advice"])
    if result.get("output"):
        _show_output(result["output"])
    for key, text in (("picture", "picture"), ("chart", "chart"), ("timeline", "time line")):
        if result.get(key) is not None:
            print(f"{text}: {result[key]}")
    for each in result.get("results", [result]):
        for drawn in each.get("pictures", []):
            print(f"picture: {drawn}")
