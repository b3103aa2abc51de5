"""`tradewind list`: what there is, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tradewind.cli import options

Rows = list[dict[str, Any]]


def command(
    what: Annotated[
        str,
        typer.Argument(
            help="machines, topologies, routings, algorithms, transports, dwarfs or studies.", show_default=False
        ),
    ],
    machine: Annotated[
        str | None, typer.Option("--machine", help="machines: only this one, a NAME or your FILE.toml.")
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option("--picture", help="machines: draw the one of --machine: FILE.svg, .png, .pdf or .html."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """What there is, by name; a map of a machine."""
    from pathlib import Path

    from tradewind.cli.answer import answer
    from tradewind.errors import InputError
    from tradewind.exchange import unknown

    if what not in TABLES:
        raise InputError(unknown("list", what, TABLES))
    if machine is not None and what != "machines":
        raise InputError(f"--machine {machine}: it belongs to  tradewind list machines")
    if picture is not None and machine is None:
        raise InputError(f"--picture {picture}: of which machine? Say --machine NAME or --machine FILE.toml")
    rows = TABLES[what]() if machine is None else _machines([machine])
    if picture is not None and machine is not None:
        from tradewind.machine import load_machine
        from tradewind.plot.machine_map import save_map

        save_map(load_machine(machine), Path(picture))
    answer(rows, as_json, lambda: _show(rows, picture, in_full=machine is not None))


def _machines(names: list[str] | None = None) -> Rows:
    from tradewind.evidence import EVIDENCE
    from tradewind.machine import load_machine, machine_names

    rows = []
    for name in names or machine_names():
        file = load_machine(name)
        machine = file.machine
        topology = machine.topology.build()
        evidence = machine.evidence()
        rows.append(
            {
                "name": file.name,
                "switches": topology.switches,
                "nodes": topology.nodes,
                "routing": machine.routing,
                "topology": topology.describe(),
                "values": {kind: [key for key, each in evidence.items() if each == kind] for kind in EVIDENCE},
                "title": machine.title,
            }
        )
    return rows


def _topologies() -> Rows:
    from tradewind import _core

    keys = ("name", "parameters", "description", "source")
    return [{key: getattr(entry, key) for key in keys} for entry in _core.topologies()]


def _routings() -> Rows:
    from tradewind import _core

    keys = ("name", "topology", "description", "source")
    return [{key: getattr(entry, key) for key in keys} for entry in _core.routings()]


def _algorithms() -> Rows:
    from tradewind import _core

    keys = ("pattern", "name", "description", "source")
    return [{key: getattr(entry, key) for key in keys} for entry in _core.algorithms()]


def _transports() -> Rows:
    from tradewind import _core

    return [
        {"name": entry.name, "description": entry.description, "packings": entry.packings}
        for entry in _core.transports()
    ]


def _dwarfs() -> Rows:
    from tradewind.dwarfs import DWARFS

    return [{"name": name, "description": e.description, "source": e.source} for name, e in DWARFS.items()]


def _studies() -> Rows:
    from tradewind.study.load import load_study

    studies = [load_study(path) for path in _study_files()]
    return [{"name": study.name, "title": study.study.title} for study in studies]


TABLES: dict[str, Callable[[], Rows]] = {
    "machines": _machines,
    "topologies": _topologies,
    "routings": _routings,
    "algorithms": _algorithms,
    "transports": _transports,
    "dwarfs": _dwarfs,
    "studies": _studies,
}


def _show(rows: Rows, picture: str | None = None, in_full: bool = False) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    keys = [key for key in (rows[0] if rows else ()) if key != "title" or len(rows[0]) < 4]
    for key in keys:
        table.add_column(key, no_wrap=key == "name")
    for row in rows:
        table.add_row(*(_counts(row[key]) if key == "values" else str(row[key]) for key in keys))
    Console().print(table)
    for row in rows if in_full else ():
        for kind, values in row["values"].items():
            if values:
                print(f"{kind}: {', '.join(values)}")
    if picture is not None:
        print(f"picture: {picture}")


def _counts(values: dict[str, list[str]]) -> str:
    """How many values of a machine rest on what."""
    return ", ".join(f"{len(each)} {kind}" for kind, each in values.items() if each)


def _study_files() -> list[Path]:
    """All that come with Tradewind; a study's own machines lie in a folder beside it."""
    from tradewind.data import data_folder

    return sorted(path for path in data_folder("studies").glob("**/*.toml") if path.parent.name != "machines")
