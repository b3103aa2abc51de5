"""`tradewind run`: a dwarf on real MPI ranks, or on a machine of the simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks
from tradewind.cli.kinds import Asked
from tradewind.cli.parameters import ONE_OR_MORE, Argument, Option, range_problems

if TYPE_CHECKING:
    from tradewind.dwarfs.frame.dwarf import Dwarf

ALL = "all"


@options.of_dwarfs
@options.of_simulations(
    without=("transport", "packing", "timeline"),  # those of the dwarf, and of runs
    flags={"threads": "--simulation-threads"},
    panel="Options of --simulate",
)
def command(
    dwarf: Annotated[str, Argument(help="See below, and `tradewind list dwarfs`.", show_default=False)],
    ranks: mpi_ranks.Ranks = None,
    steps: Annotated[int, Option("--steps", help="Number of time steps.", allowed=None)] = 64,
    repeat: Annotated[
        int,
        Option("--repeat", help="Number of times to take and time the steps; the median counts.", allowed=None),
    ] = 1,
    chart: Annotated[
        Path | None,
        Option(
            "--chart",
            help="Draw where the time goes, one bar per strategy: FILE.svg, .png, .pdf or .html.",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        Option(
            "--picture",
            help="Draw the field before and after: FILE.svg, .png, .pdf or .html.",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        Option(
            "--timeline",
            help="Write a time line of a few more steps, or of those simulated: for Perfetto, or a picture "
            "(.svg, .png, .pdf, .html).",
            show_default=False,
        ),
    ] = None,
    simulate: Annotated[
        str | None,
        Option(
            "--simulate",
            help="Simulate the dwarf on this machine instead: a name or FILE.toml.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", help="Write fields by this plan file: PLAN.toml.", show_default=False),
    ] = None,
    servers: Annotated[
        str,
        Option(
            "--servers",
            help="Ranks beside those of the dwarf that write; `threads`; 0: its own ranks do; `auto`: what is fastest.",
        ),
    ] = "0",
    *,
    simulated: options.Simulated,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Run a dwarf; print where its time goes and how close it comes to the limit of the memory."""
    from tradewind.cli import run_tables
    from tradewind.cli.output import INTERRUPTED, keeping, print_result

    place = mpi_ranks.place_of(ranks)
    written = "; files that were complete are" if output is not None else ""
    with place.collective(as_json), keeping(lambda: INTERRUPTED.partition(": ")[2] + written):
        problems = range_problems("steps", steps, ONE_OR_MORE) + range_problems("repeat", repeat, ONE_OR_MORE)
        problems += _file_problems(picture, chart)
        problems += _simulation_problems(simulate, simulated, picture, asked, alone=place.rank is None)
        writers = _servers(servers, problems)
        problems += _output_problems(output, writers, simulate)
        advice = None
        if writers == "auto" and not problems and output is not None:
            advice, writers = _advised(dwarf, asked, place, output)
        takes = output is not None and isinstance(writers, int) and (place.rank is not None or advice is not None)
        beside = writers if takes and isinstance(writers, int) else 0
        ranks_of_dwarf = max(1, place.ranks - beside)
        dwarfs, skipped = _requests(dwarf, asked, ranks_of_dwarf, problems, simulated=simulate is not None)
        if output is not None and len(dwarfs) > 1:
            raise _refused(f"--output: one strategy writes, not {len(dwarfs)}")
        for name, file in (("timeline", timeline), ("links", simulated.links)):
            if file is not None and len(dwarfs) > 1:
                raise _refused(f"--{name}: it shows one strategy, not {len(dwarfs)}")
        results = []
        for each in dwarfs:
            if simulate is not None:
                folder = simulated.congestion
                if folder is not None and len(dwarfs) > 1:
                    folder /= str(each.strategy)
                results.append(_simulated(each, simulate, simulated, timeline, folder, as_json=as_json))
                continue
            with mpi_ranks.busy(f"{each.strategy} on {place.ranks} ranks", quiet=as_json or not place.prints) as show:
                drawn = picture if each is dwarfs[0] else None  # the same of all
                results.append(
                    _measured(each, steps, repeat, drawn, timeline, output, writers, show, draws=place.prints)
                )
        several = len(results) > 1 or bool(skipped)
        result: dict[str, Any] = {"results": results, "skipped": skipped} if several else results[0]
        if advice is not None:
            result["advice"] = advice
        if chart is not None:
            result["chart"] = str(chart)
            if place.prints:
                run_tables.draw(chart, results)
    if place.prints:
        show_tables = run_tables.show_several if several else run_tables.show_one
        print_result(result, as_json, lambda: show_tables(result))


def _refused(*problems: str) -> Exception:
    from tradewind.base.errors import InputError

    return InputError(*problems)


def _file_problems(picture: Path | None, chart: Path | None) -> list[str]:
    """Return why a picture cannot be written. What draws is imported only for one: it takes a quarter of a second."""
    from tradewind.base.errors import gathered

    problems: list[str] = []
    with gathered(problems):
        if picture is not None:
            from tradewind.plot.field import check_path

            check_path(picture)
    with gathered(problems):
        if chart is not None:
            from tradewind.plot.methods import check_name

            check_name(chart)
    return problems


def _servers(text: str, problems: list[str]) -> int | str:
    """The servers that are asked for."""
    if text in ("threads", "auto"):
        return text
    if text.isascii() and text.isdigit() and len(text) < 8:
        return int(text)
    problems.append(f"--servers {text!r}: a number, 'threads' or 'auto' is allowed")
    return 0


def _advised(name: str, asked: Asked, place: mpi_ranks.RankPlace, plan: Path) -> tuple[dict[str, Any], int | str]:
    """Advice on the output of a dwarf, and who writes: of the ways that go with its ranks the fastest."""
    from tradewind.launch.output_advice import advise_dwarf

    dwarfs, _ = _requests(name, asked, place.ranks, [], simulated=False)
    if len(dwarfs) > 1:
        raise _refused(f"--output: one strategy writes, not {len(dwarfs)}")
    advice = advise_dwarf(dwarfs[0], plan)
    chosen: int | str = advice["servers"]
    if isinstance(chosen, int) and chosen and not _has_room(name, asked, place.ranks - chosen):
        fitting = [way for way in advice["results"] if _has_room(name, asked, place.ranks - way["servers"])]
        way = fitting[0]  # by time
        chosen = "threads" if way["name"] == "threads" else way["servers"]
    kept = ("best", "bottleneck", "step_s", "steps_between", "load", "rates")
    return {**{key: advice[key] for key in kept}, "taken": chosen}, chosen


def _has_room(name: str, asked: Asked, ranks: int) -> bool:
    """Whether the dwarf can be divided among `ranks` ranks."""
    from tradewind.base.errors import InputError

    try:
        _requests(name, asked, ranks, [], simulated=False)
    except InputError:
        return False
    return True


def _output_problems(plan: Path | None, servers: int | str, machine: str | None) -> list[str]:
    """Return what is wrong with a plan file, or with servers that have none."""
    from tradewind.base.errors import gathered

    if plan is None:
        return ["--servers: they need a plan of what to write: --output PLAN.toml"] if servers != 0 else []
    if machine is not None:
        return ["--output: a simulation has no field; leave --simulate away"]
    from tradewind.fieldserver.plan.plan_file import load_plan

    problems: list[str] = []
    with gathered(problems):
        load_plan(plan)
    return problems


def _simulation_problems(
    machine: str | None, simulated: options.Simulated, picture: Path | None, asked: Asked, *, alone: bool
) -> list[str]:
    """Options that belong to a simulation, and those that belong to a real run."""
    if machine is None:
        problems = []
        if simulated.flags:
            problems.append(f"{', '.join(simulated.flags)}: only for simulations: name a machine with --simulate")
        if "point_s" in asked.given:
            problems.append("--point-time: a real run takes the time that it takes; it belongs to --simulate")
        return problems
    problems = []
    if picture is not None or asked.given.get("check"):
        problems.append("--simulate: it has no field; leave --picture and --check away")
    if not alone:
        problems.append("--simulate: it needs no MPI ranks; leave mpiexec or srun away, and give -n RANKS")
    return problems


def _requests(
    name: str, asked: Asked, ranks: int, problems: list[str], *, simulated: bool
) -> tuple[list[Dwarf], list[dict[str, str]]]:
    """The dwarf by each strategy that is named; of `all` also those that cannot be, and why.

    Raises InputError with all that cannot be, `problems` included.
    """
    from tradewind.base.errors import InputError
    from tradewind.dwarfs import find
    from tradewind.workload.options import options_of, read

    kind, given = find(name), dict(asked.given)
    named = given.pop("strategy", None)
    strategies = list(kind.strategies) if named == ALL else [None] if named is None else named.split(",")
    # A value that cannot be read counts as not given, so that the rest is checked, too.
    values, unread = read(kind, given)
    offered, _ = read(kind, {option.name: option.offered for option in options_of(kind).values() if option.offered})
    problems = [*problems, *unread]
    made: list[Dwarf] = []
    skipped: list[dict[str, str]] = []
    for strategy in dict.fromkeys(strategies):
        try:
            dwarf = kind(ranks=ranks, strategy=strategy, **(offered | values))
            if simulated:
                dwarf.program()  # refuses strategies that the simulator does not know
            made.append(dwarf)
        except InputError as error:
            if named == ALL:
                skipped.append({"strategy": str(strategy), "reason": "; ".join(error.problems)})
            else:
                problems += error.problems
    if not problems and not made:
        problems = [each["reason"] for each in skipped]
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return made, skipped


def _measured(
    dwarf: Dwarf,
    steps: int,
    repeat: int,
    picture: Path | None,
    timeline: Path | None,
    output: Path | None,
    servers: int | str,
    show: Callable[[str], None] | None,
    *,
    draws: bool,
) -> dict[str, Any]:
    from tradewind.launch.dwarf import MAPS, run

    more: dict[str, Any] = {} if output is None else {"output": output, "servers": servers}
    result = run(dwarf, steps, repeat=repeat, picture=picture is not None, timeline=timeline, watch=show, **more)
    maps = result.pop(MAPS, None)
    if picture is not None and draws:
        _draw_maps(maps, ["before", f"after {steps * repeat} steps"], picture)
        result["picture"] = str(picture)
    return result


def _draw_maps(maps: Sequence[dict[str, Any]], titles: list[str], path: Path) -> None:
    from tradewind.plot.field import Shown, save_levels

    nx, ny = maps[0]["points"]
    save_levels([each["values"] for each in maps], titles, (nx, ny), path, Shown(**maps[0]["shown"]))


def _simulated(
    dwarf: Dwarf,
    machine: str,
    simulated: options.Simulated,
    timeline: Path | None,
    folder: Path | None,
    *,
    as_json: bool,
) -> dict[str, Any]:
    from tradewind.cli.simulation_run import simulate_here
    from tradewind.simulation import prepare

    line = None if timeline is None else str(timeline)
    simulation = prepare(dwarf, machine, timeline=line, **simulated.chosen())
    result = simulate_here(simulation, simulated, as_json, folder)
    return {**dwarf.as_dict(), "steps": dwarf.steps_per_round, **result}
