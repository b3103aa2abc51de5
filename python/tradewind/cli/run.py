"""`tradewind run`: a dwarf on real MPI ranks, or on a machine of the simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks

if TYPE_CHECKING:
    from tradewind.dwarfs.dwarf import Dwarf

_Open = "what plan() chooses"
_GRID = "128x128x64"


def command(
    dwarf: Annotated[str, typer.Argument(help="See `tradewind list dwarfs`.", show_default=False)],
    ranks: mpi_ranks.Ranks = None,
    grid: Annotated[str, typer.Option("--grid", help="Points NXxNYxNZ.")] = _GRID,
    steps: Annotated[int, typer.Option("--steps", help="Time steps.")] = 64,
    split: Annotated[
        str | None, typer.Option("--split", help="Ranks CXxCY over x and y.", show_default="nearest to a square")
    ] = None,
    precision: Annotated[str, typer.Option("--precision", help="f4 or f8.")] = "f8",
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            help="When to exchange: exchange, overlap or wide; or, not to be copied, barrier or objects.",
            show_default="exchange",
        ),
    ] = None,
    width: Annotated[
        int | None, typer.Option("--width", help="Points of the halo.", show_default="what the strategy needs")
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", help="Of the exchange, like sweep.", show_default=_Open)
    ] = None,
    transport: Annotated[str | None, typer.Option("--transport", help="Like isend-irecv.", show_default=_Open)] = None,
    packing: Annotated[str | None, typer.Option("--packing", help="Like buffer.", show_default=_Open)] = None,
    threads: Annotated[int, typer.Option("--threads", help="Of each rank.")] = 1,
    work: Annotated[
        int, typer.Option("--work", help="How often each computation is done: more of it for the same exchange.")
    ] = 1,
    repeat: Annotated[
        int, typer.Option("--repeat", help="How often the steps are timed, one after another; the median counts.")
    ] = 1,
    picture: Annotated[
        str | None,
        typer.Option("--picture", help="Draw the middle level before and after: FILE.svg, .png, .pdf or .html."),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            help="Write what ranks do when, in a few steps more: for Perfetto, or a picture (.svg, .png, .pdf, .html).",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare checksums of messages, and the field with NumPy's, bit for bit.")
    ] = False,
    watchdog: mpi_ranks.Watchdog = 0.0,
    simulate: Annotated[
        str | None,
        typer.Option("--simulate", help="Not here, but on this machine of the simulator: a name or FILE.toml."),
    ] = None,
    point_time: Annotated[
        str | None,
        typer.Option(
            "--point-time",
            help="With --simulate: what a core takes for a point beside the memory, like 15ns.",
            show_default="by node.flops",
        ),
    ] = None,
    settings: options.Settings = None,
    as_json: options.Json = False,
) -> None:
    """Run a dwarf, and say where its time goes and how far it is from the memory's limit."""
    from tradewind.cli.answer import answer

    place = mpi_ranks.place_of(ranks)
    with place.together(as_json):
        problems = _problems(steps, repeat, picture, check, simulate, settings, alone=place.rank is None)
        point_s = _point_time(point_time, problems, simulated=simulate is not None)
        asked = _asked(
            dwarf,
            problems,
            {"grid": grid, "split": split},
            ranks=place.ranks,
            precision=precision,
            strategy=strategy,
            width=width,
            algorithm=algorithm,
            transport=transport,
            packing=packing,
            threads=threads,
            work=work,
            point_s=point_s,
            check=check,
            watchdog_s=watchdog,
        )
        if simulate is not None:
            result = _simulated(asked, simulate, settings, timeline)
        else:
            with mpi_ranks.busy(f"running on {place.ranks} ranks", quiet=as_json or not place.answers):
                result = _measured(asked, steps, repeat, picture, timeline, draws=place.answers)
    if place.answers:
        answer(result, as_json, lambda: _show_simulated(result) if simulate else _show(result))


def _problems(
    steps: int,
    repeat: int,
    picture: str | None,
    check: bool,
    simulate: str | None,
    settings: list[str] | None,
    *,
    alone: bool,
) -> list[str]:
    """What is wrong with a request, whatever the dwarf is."""
    from tradewind.base.errors import gathered
    from tradewind.plot.field import check_path

    counts = {"steps": steps, "repeat": repeat}
    problems = [f"{name} {count}: 1 or more are allowed" for name, count in counts.items() if count < 1]
    if picture is not None:
        with gathered(problems):
            check_path(Path(picture))
    if simulate is None:
        return problems + (["--set: only a machine of --simulate has values to set"] if settings else [])
    if picture is not None or check:
        problems.append("--simulate: it has no field; leave --picture and --check away")
    if not alone:
        problems.append("--simulate: it needs no MPI ranks; leave mpiexec or srun away, and say -n RANKS")
    return problems


def _point_time(text: str | None, problems: list[str], *, simulated: bool) -> float:
    """In seconds; adds what is wrong with it to `problems`."""
    from tradewind.base.errors import gathered
    from tradewind.base.units import seconds

    if text is not None and not simulated:
        problems.append("--point-time: a real run takes the time that it takes; it belongs to --simulate")
    value = 0.0
    with gathered(problems):
        value = 0.0 if text is None else seconds(text)
    return value


def _asked(name: str, problems: list[str], extents: dict[str, str | None], **values: Any) -> Dwarf:
    """The dwarf of a request. Raises InputError with all that cannot be, `problems` included."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.base.extents import parse_extents
    from tradewind.dwarfs import find

    kind = find(name)
    # A value that cannot be read counts as not given, so that the rest is checked, too.
    read: dict[str, Any] = {"grid": parse_extents(_GRID, 3, "grid"), "split": None}
    for what, text in extents.items():
        with gathered(problems):
            if text is not None:
                read[what] = parse_extents(text, 3 if what == "grid" else 2, what)
    dwarf = None
    with gathered(problems):
        dwarf = kind(**read, **values)
    if problems or dwarf is None:
        raise InputError(*problems)
    return dwarf


def _measured(
    dwarf: Dwarf, steps: int, repeat: int, picture: str | None, timeline: Path | None, *, draws: bool
) -> dict[str, Any]:
    from tradewind.launch.dwarf import LEVELS, run

    result = run(dwarf, steps, repeat=repeat, picture=picture is not None, timeline=timeline)
    levels = result.pop(LEVELS, None)
    if picture is not None and draws:
        from tradewind.plot.field import save_levels

        titles = ["before", f"after {steps * repeat} steps"]
        save_levels(levels, titles, dwarf.grid[:2], Path(picture))
        result["picture"] = picture
    return result


def _simulated(dwarf: Dwarf, machine: str, settings: list[str] | None, timeline: Path | None) -> dict[str, Any]:
    result = dwarf.simulate(machine, settings=options.machine_settings(settings), timeline=timeline)
    return {**dwarf.as_dict(), "steps": dwarf.steps_a_round, **result}


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.screen import say, show_table
    from tradewind.cli.table import Column, Table

    columns = [Column("part"), *(Column(title, number=True) for title in ("min", "median", "max", "share"))]
    whole = result["parts"][-1]["median_s"]
    rows = [
        [
            row["part"],
            *(format_seconds(row[key]) for key in ("min_s", "median_s", "max_s")),
            f"{100 * row['median_s'] / whole:.0f} %",
        ]
        for row in result["parts"]
    ]
    over = "oversubscribed: more threads than cores" if result["oversubscribed"] else ""
    grid = "x".join(str(n) for n in result["grid"])
    title = f"{result['dwarf']} {grid}, {result['steps']} steps, {result['strategy']}, {result['ranks']} ranks"
    show_table(Table(columns, rows, title, over))
    print()
    say(
        f"{result['points_per_s'] / 1e9:.3f} Gpoint/s; {result['ratio_to_copy']:.2f} x the time of a copy of what must "
        f"move, {format_bytes(result['least_bytes'])} per rank at {format_rate(result['copy_bytes_per_s'])}"
    )
    say(
        f"{result['messages']} messages and {format_bytes(result['bytes_sent'])} from the busiest rank; "
        f"threads of a rank: {result['threads']}, not bound"
    )
    say(
        f"sum {result['sum']!r}, of squares {result['sum_of_squares']!r}, "
        f"minimum {result['minimum']!r}, maximum {result['maximum']!r}"
        + ("; the same bits as the reference" if result["check"] else "")
    )
    if "picture" in result:
        print(f"picture: {result['picture']}")
    _show_time_line(result)


def _show_time_line(result: dict[str, Any]) -> None:
    if result.get("timeline") is not None:
        print(f"time line: {result['timeline']}")


def _show_simulated(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.screen import say

    steps = result["steps"]
    say(
        f"{result['dwarf']}, {result['strategy']}, on {result['ranks']} ranks of {result['machine']}: "
        f"{format_seconds(result['time_s'] / steps)} per step; {result['messages']} messages and "
        f"{format_bytes(result['bytes'])} every {'step' if steps == 1 else f'{steps} steps'}"
    )
    for name, seconds in result["step_time_s"].items():
        say(f"  {name}: {format_seconds(seconds)}")
    _show_time_line(result)
