"""`tradewind show`: the stages of a rank as text, and the communication matrix as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli.kinds import Asked
from tradewind.cli.output import print_result
from tradewind.cli.parameters import Option

if TYPE_CHECKING:
    from tradewind import _core
    from tradewind.workload.exchange import Exchange

_MAX_STAGES = 16


@options.of_patterns
def command(
    pattern: options.Pattern,
    ranks: options.Ranks,
    algorithm: options.Algorithm = None,
    rank: Annotated[int, Option("--rank", help="Rank whose stages to show.")] = 0,
    stage: Annotated[
        int | None,
        Option("--stage", help="Only this stage of each step, also in the picture.", show_default="all"),
    ] = None,
    picture: Annotated[
        str | None,
        Option("--picture", help="Draw the communication matrix: FILE.svg, .png, .pdf or .html."),
    ] = None,
    animate: Annotated[
        str | None,
        Option("--animate", help="Write a page on which messages move, with a slider for the time: FILE.html."),
    ] = None,
    machine: Annotated[
        str | None,
        Option("--machine", help="Of --animate: move as on this machine, over its links.", show_default="by stages"),
    ] = None,
    routing: Annotated[
        str | None,
        Option("--routing", help="Of --animate: routing of the machine.", show_default="the machine's own"),
    ] = None,
    *,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Show what a rank does, stage by stage; draw the communication matrix, or messages in motion."""
    from pathlib import Path

    exchange = options.exchange(asked, pattern, ranks, algorithm)
    schedules = exchange.schedules()
    _check(schedules, exchange.ranks, rank, stage)
    _check_animation(animate, machine, routing)
    if picture is not None:
        from tradewind.plot.matrix import save_picture

        save_picture(exchange, Path(picture), None if stage is None else range(stage, stage + 1))
    if animate is not None:
        from tradewind.simulation.animation import animate as write_animation

        write_animation(exchange, animate, machine, **({} if routing is None else {"routing": routing}))
    files = {"picture": picture, "animation": animate}
    if as_json:
        print_result(_as_json(exchange, schedules, rank, stage) | files, True, lambda: None)
    else:
        _show(exchange, schedules, rank, stage)
        for name, file in files.items():
            if file is not None:
                print(f"\n{name}: {file}")


def _check(schedules: dict[str, _core.Schedule], ranks: int, rank: int, stage: int | None) -> None:
    from tradewind.base.errors import InputError

    problems = []
    if not 0 <= rank < ranks:
        problems.append(f"rank {rank}: 0..{ranks - 1} are allowed")
    maximum = max(schedule.stages for schedule in schedules.values())
    if stage is not None and not 0 <= stage < maximum:
        problems.append(f"stage {stage}: 0..{maximum - 1} are allowed" if maximum else f"stage {stage}: there are none")
    if problems:
        raise InputError(*problems)


def _check_animation(animate: str | None, machine: str | None, routing: str | None) -> None:
    from tradewind.base.errors import InputError

    if machine is not None and animate is None:
        raise InputError(f"--machine {machine}: only an animation moves on a machine; name its file with --animate")
    if routing is not None and machine is None:
        raise InputError(f"--routing {routing}: name the machine of the animation, too, with --machine")


def _stages(schedule: _core.Schedule, stage: int | None) -> range:
    return range(schedule.stages) if stage is None else range(stage, min(stage + 1, schedule.stages))


def _as_json(exchange: Exchange, schedules: dict[str, _core.Schedule], rank: int, stage: int | None) -> dict[str, Any]:
    size = exchange.bytes_per_point

    def messages(found: list[_core.Message]) -> list[dict[str, int]]:
        return [{"peer": m.peer, "bytes": m.count * size, "tag": m.tag, "parity": m.parity} for m in found]

    steps = [
        {
            "name": name,
            "pattern": schedule.pattern.describe(),
            "stages": schedule.stages,
            "of_rank": [
                {
                    "stage": s,
                    "sends": messages(schedule.sends(rank, s)),
                    "receives": messages(schedule.receives(rank, s)),
                }
                for s in _stages(schedule, stage)
            ],
        }
        for name, schedule in schedules.items()
    ]
    return exchange.as_dict() | {"rank": rank, "steps": steps}


def _show(exchange: Exchange, schedules: dict[str, _core.Schedule], rank: int, stage: int | None) -> None:
    from tradewind import _core
    from tradewind.cli.screen import show_text

    show_text(f"{exchange.name}, {exchange.ranks} ranks, rank {rank}; {exchange.bytes_per_point} bytes per point")
    for name, schedule in schedules.items():
        print()
        show_text(f"{name}: {schedule.pattern.describe()}, {schedule.stages} stages")
        stages = _stages(schedule, stage)
        for s in stages[:_MAX_STAGES]:
            print(f"  stage {s}")
            lines = _core.stage_text(schedule, rank, s).splitlines()
            for line in lines or ["nothing"]:
                show_text(f"    {line}", indent="    ")
        if len(stages) > _MAX_STAGES:
            print(f"  and {len(stages) - _MAX_STAGES} more stages; --stage S shows one")
