"""`tradewind list`: what there is, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.cli.table import TextColumn

Rows = list[dict[str, Any]]


def command(
    what: Annotated[
        str | None,
        Argument(
            help="machines, models, topologies, routings, patterns, algorithms, transports, dwarfs or studies.",
            show_default="the names of all",
        ),
    ] = None,
    machine: Annotated[
        str | None, Option("--machine", help="machines: only this one, a NAME or your FILE.toml.")
    ] = None,
    picture: Annotated[
        str | None,
        Option("--picture", help="machines: draw the machine of --machine: FILE.svg, .png, .pdf or .html."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List everything that has a name, or draw a machine."""
    from pathlib import Path

    from tradewind.base.errors import InputError
    from tradewind.base.names import unknown
    from tradewind.cli.output import print_result

    if what is not None and what not in TABLES:
        raise InputError(unknown("list", what, TABLES))
    if machine is not None and what != "machines":
        raise InputError(f"--machine {machine}: it belongs to  tradewind list machines")
    if picture is not None and machine is None:
        raise InputError(f"--picture {picture}: of which machine? Say --machine NAME or --machine FILE.toml")
    if what is None:
        print_result({name: rows() for name, rows in TABLES.items()} if as_json else None, as_json, _show_names)
        return
    rows = TABLES[what]() if machine is None else _machines([machine])
    if picture is not None and machine is not None:
        from tradewind.machine import load_machine
        from tradewind.plot.machine_map import save_map

        save_map(load_machine(machine), Path(picture))
    print_result(rows, as_json, lambda: _show(what, rows, picture, in_full=machine is not None))


def _machines(names: list[str] | None = None) -> Rows:
    from tradewind.machine import load_machine, machine_names
    from tradewind.machine.evidence import EVIDENCE

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


def _models() -> Rows:
    from tradewind.model import load_model, model_names

    loaded = map(load_model, model_names())
    return [
        {
            "name": model.name,
            "grid": model.grid_text,
            "step_s": model.step_s,
            "title": model.table.title,
            "numbers": {name: number.value for name, number in model.table.numbers.items()},
            "source": model.table.source,
        }
        for model in loaded
    ]


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


def _patterns() -> Rows:
    from tradewind.cli.options import PATTERNS as FAMILY
    from tradewind.workload.registry import PATTERNS

    return [
        {
            "name": name,
            "description": entry.description,
            "options": [each.flag for each in FAMILY.own_options(name) if not each.hidden],
        }
        for name, entry in PATTERNS.items()
    ]


def _dwarfs() -> Rows:
    from tradewind.cli.options import DWARFS as FAMILY
    from tradewind.dwarfs import DWARFS

    return [
        {
            "name": name,
            "description": entry.description,
            "strategies": list(entry.load().strategies),
            "options": [each.flag for each in FAMILY.own_options(name)],
            "source": entry.source,
        }
        for name, entry in DWARFS.items()
    ]


def _studies() -> Rows:
    from tradewind.study.plan.catalogue import study_files
    from tradewind.study.plan.load import load_study

    files = study_files()
    return [{"name": name, "title": load_study(path).study.title, "file": str(path)} for name, path in files.items()]


TABLES: dict[str, Callable[[], Rows]] = {
    "machines": _machines,
    "models": _models,
    "topologies": _topologies,
    "routings": _routings,
    "patterns": _patterns,
    "algorithms": _algorithms,
    "transports": _transports,
    "dwarfs": _dwarfs,
    "studies": _studies,
}


def _show(what: str, rows: Rows, picture: str | None = None, in_full: bool = False) -> None:
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextTable

    columns = _columns(what)
    show_table(TextTable([*columns.values()], [[_text(row[key]) for key in columns] for row in rows]))
    for row in rows if in_full else ():
        for kind, values in row["values"].items():
            if values:
                show_text(f"{kind}: {', '.join(values)}", indent="  ")
    if what == "studies":
        from tradewind.study.plan.catalogue import study_folders

        print()
        show_text(
            f"to run one: tradewind study NAME; all of a folder: tradewind study FOLDER ({', '.join(study_folders())})"
        )
    if picture is not None:
        print(f"picture: {picture}")


def _columns(what: str) -> dict[str, TextColumn]:
    """The columns of a list by the keys of its rows."""
    from tradewind.cli.table import TextColumn

    name, source = TextColumn("name"), TextColumn("source", prose=28, drop=9)
    described = {"name": name, "description": TextColumn("what", prose=30)}
    return {
        "machines": {
            "name": name,
            "nodes": TextColumn("nodes", number=True),
            "switches": TextColumn("switches", number=True, drop=1),
            "routing": TextColumn("routing", drop=2),
            "title": TextColumn("what", prose=40),
            "values": TextColumn("values", prose=20, drop=3),
            "topology": TextColumn("topology", prose=28, drop=4),
        },
        "models": {
            "name": name,
            "grid": TextColumn("grid"),
            "step_s": TextColumn("step, s", number=True),
            "title": TextColumn("what", prose=40),
            "source": source,
        },
        "topologies": described | {"parameters": TextColumn("parameters", prose=28, drop=1), "source": source},
        "routings": {"topology": TextColumn("topology")} | described | {"source": source},
        "patterns": described | {"options": TextColumn("options", prose=20, drop=1)},
        "algorithms": {"pattern": TextColumn("pattern")} | described | {"source": source},
        "transports": described | {"packings": TextColumn("packings", prose=8, drop=1)},
        "dwarfs": described
        | {
            "strategies": TextColumn("strategies", prose=12, drop=2),
            "options": TextColumn("options", prose=20, drop=1),
            "source": source,
        },
        "studies": {"name": name, "title": TextColumn("title", prose=30)},
    }[what]


def _text(value: Any) -> str:
    """A value of a row; of lists by kind, how many of each."""
    if isinstance(value, dict):
        return ", ".join(f"{len(each)} {kind}" for kind, each in value.items() if each)
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _show_names() -> None:
    """The names of all lists, and nothing else of them."""
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    rows = [[heading, ", ".join(names)] for heading, names in _names().items()]
    show_table(TextTable([TextColumn("list"), TextColumn("names", prose=20)], rows, header=False))
    print()
    show_text(f"more of each: tradewind list WHAT, where WHAT is {', '.join(TABLES)}")


def _names() -> dict[str, list[str]]:
    """The names by list; those of algorithms by pattern, those of studies by folder."""
    from tradewind.machine import machine_names
    from tradewind.model import model_names
    from tradewind.study.plan.catalogue import study_files

    names = {"machines": machine_names(), "models": model_names()}
    for what in ("topologies", "routings"):
        names[what] = list(dict.fromkeys(row["name"] for row in TABLES[what]()))
    names["patterns"] = [row["name"] for row in _patterns()]
    for row in _algorithms():
        names.setdefault(f"algorithms: {row['pattern']}", []).append(row["name"])
    for what in ("transports", "dwarfs"):
        names[what] = [row["name"] for row in TABLES[what]()]
    for name in study_files():
        folder = name.rpartition("/")[0]
        names.setdefault(f"studies: {folder}" if folder else "studies", []).append(name)
    return names
