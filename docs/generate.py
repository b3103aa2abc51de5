"""Writes the tables of the reference pages that the program itself knows.

``python docs/generate.py`` brings the pages up to date; the tests compare them with what it would write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from website.c_reference import declarations

import tradewind
from tradewind import _core
from tradewind.base.exports import exports
from tradewind.cli import COMMANDS, command_for, words_of
from tradewind.cli.help import REQUIRED, default_of
from tradewind.cli.kinds import Family
from tradewind.cli.options import DWARFS, PATTERNS
from tradewind.cli.parameters import Parameter
from tradewind.study.model.machine_keys import OF_STUDY
from tradewind.workload.simulation_options import options_of_simulations, swept_options

REFERENCE = Path(__file__).parent / "reference"


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    lines = [list(header)]
    lines += [["---"] * len(lines[0])]
    lines += [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def algorithms() -> str:
    rows = [(e.pattern, f"`{e.name}`", e.description, e.source) for e in _core.algorithms()]
    return table(("pattern", "algorithm", "what, and in how many stages", "source"), rows)


def result_columns() -> str:
    from tradewind.dataset.build import ORIGINS
    from tradewind.dataset.table import OWN, VALUES
    from tradewind.study.model.labels import LABELS

    groups = (("case", OWN), ("label", LABELS), ("origin", ORIGINS), ("value", VALUES))
    return table(
        ("column", "group", "what"), [(f"`{name}`", group, what) for group, of in groups for name, what in of.items()]
    )


def result_quantities() -> str:
    from tradewind.dataset.build import NUMBERS
    from tradewind.dataset.table import quantity_named

    rows = [(f"`{quantity_named(name)}`", unit, what) for name, (_, unit, what) in NUMBERS.items()]
    return table(("quantity", "unit", "what"), rows)


def routings() -> str:
    rows = [(f"`{e.name}`", e.topology, e.description, e.source) for e in _core.routings()]
    return table(("routing", "topology", "what", "source"), rows)


def topologies() -> str:
    rows = [(f"`{e.name}`", e.parameters, e.description, e.source) for e in _core.topologies()]
    return table(("topology", "parameters", "what", "source"), rows)


def transports() -> str:
    rows = [(f"`{e.name}`", e.description, ", ".join(f"`{p}`" for p in e.packings)) for e in _core.transports()]
    return table(("transport", "how the messages of a stage are carried", "packings"), rows)


def packings() -> str:
    rows = [(f"`{e.name}`", e.description) for e in _core.packings()]
    return table(("packing", "from arrays to messages and back"), rows)


def machines() -> str:
    from tradewind.machine import load_machine, machine_names

    rows = []
    for name in machine_names():
        machine = load_machine(name).machine
        topology = machine.build().topology
        rows.append((f"`{name}`", f"{topology.switches:,}", f"{topology.nodes:,}", machine.routing, machine.title))
    return table(("machine", "switches", "nodes", "routing", "what"), rows)


def models() -> str:
    from tradewind.model import load_model, model_names

    rows = []
    for name in model_names():
        model = load_model(name)
        table_of, left_out = model.table, "; ".join(model.table.left_out)
        rows.append((f"`{name}`", model.grid_text, f"{model.step_s:g} s", table_of.title, left_out, table_of.source))
    return table(("model", "grid", "step", "what", "left out", "source"), rows)


def dwarfs() -> str:
    from tradewind.dwarfs import DWARFS

    rows = []
    for name, entry in DWARFS.items():
        strategies = ", ".join(f"`{strategy}`" for strategy in entry.load().strategies)
        rows.append((f"`{name}`", strategies, entry.description, entry.source))
    return table(("dwarf", "strategies", "what", "source"), rows)


def commands() -> str:
    return table(("command", "what it does"), ((f"`{name}`", text) for name, text in COMMANDS.items()))


def options(name: str) -> str:
    """Arguments and options of a command; of one that is about a kind, without those of the kinds."""
    first, *more = name.split()
    command = command_for(first, more)
    panel = command.family and command.family.panel
    rows = [_row(each) for each in command.parameters if panel is None or each.declared.panel != panel]
    return table(("option", "what", "default"), rows)


def kind_options(family: Family, command: str) -> str:
    """The options of every kind of a family: patterns, which all commands about an exchange take; dwarfs."""
    rows = []
    for kind in family.kinds():
        own = [each for each in command_for(command, [kind]).parameters if each.declared.panel == family.panel]
        rows += [(kind, *_row(each)) for each in own if not each.declared.hidden]
    return table((family.what, "option", "what", "default"), rows)


def keys_of_simulations() -> str:
    """The keys of sweeps that are options of simulations."""
    rows = []
    for name, each in swept_options().items():
        default = "that of the study" if name in OF_STUDY else each.shown or f"`{each.default}`"
        rows.append((f"`{name}`", each.help, default, "*" if each.in_bases else ""))
    return table(("key", "meaning", "default", "of bases"), rows)


def options_of_simulation() -> str:
    """The names of the options of `tw.simulate`."""
    return f"Options: {', '.join(f'`{name}`' for name in options_of_simulations())} and `settings`."


def docstrings() -> str:
    """The public names by module, for mkdocstrings."""
    modules: dict[str, list[str]] = {}
    for name, module in exports(tradewind.__file__).items():
        modules.setdefault(module, []).append(f"::: {module}.{name}")
    return "\n\n".join(f"## {module}\n\n" + "\n\n".join(names) for module, names in modules.items())


def _row(parameter: Parameter) -> tuple[str, str, str]:
    """A parameter, what it is, and its default: in words as it is, a value as code."""
    text = default_of(parameter)
    in_words = isinstance(parameter.declared.show_default, str) or text in ("", REQUIRED)
    return f"`{parameter.spelling}`", parameter.declared.help, text if in_words else f"`{text}`"


_WITH_WORDS = [f"{name} {word}" for name in COMMANDS for word in words_of(name) if word != "output"]
"""Commands about a program or a model; that about output has a page of its own."""

SECTIONS: dict[str, dict[str, Callable[[], str]]] = {
    "registry.md": {
        "algorithms": algorithms,
        "transports": transports,
        "packings": packings,
        "topologies": topologies,
        "routings": routings,
        "machines": machines,
        "models": models,
        "dwarfs": dwarfs,
    },
    "table.md": {"result_columns": result_columns, "result_quantities": result_quantities},
    "command-line.md": {
        "commands": commands,
        "patterns": lambda: kind_options(PATTERNS, "verify"),
        "dwarfs": lambda: kind_options(DWARFS, "run"),
    }
    | {name: lambda name=name: options(name) for name in (*COMMANDS, *_WITH_WORDS)},
    "study-file.md": {"keys of simulations": keys_of_simulations},
    "python.md": {"options of simulations": options_of_simulation},
    "python-docstrings.md": {"docstrings": docstrings},
    "c-header.md": {"declarations": declarations},
}
"""By page, the sections between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``."""


def filled(page: str) -> str:
    """The text of a page with its generated sections as they should be."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    for name, make in SECTIONS[page].items():
        section = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if not section.search(text):
            raise ValueError(f"{page} has no section {name}: write <!-- begin {name} --> and <!-- end {name} -->")
        made = make().replace("\\", r"\\")
        text = section.sub(rf"\1\n{made}\n\n\2", text)
    return text


if __name__ == "__main__":
    for page in SECTIONS:
        (REFERENCE / page).write_text(filled(page), encoding="utf-8")
