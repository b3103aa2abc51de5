"""Recognised patterns as a program file, with what it does not have as comments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.files import write_atomically
from tradewind.base.imbalance import LARGEST_SPREAD
from tradewind.base.units import format_bytes, format_seconds
from tradewind.recognition.computing import Computing
from tradewind.recognition.recognise import Recognised, Repeated, Step

SHORTEST_S = 1e-8
"""Computing that is left out of a file: shorter than what a recorded call costs."""
SHORTEST_OVERLAP_S = 1e-6
"""Computing during an exchange from which on a file starts and awaits it."""
LEVEL_SPREAD = 0.02
"""Spread of the computing among ranks from which on a file has it."""
SHOWN = 20
"""Kinds of messages that are not in the file, which its comments name."""


def program_text(found: Recognised, name: str) -> str:
    """Return the text of a program file. `name`: that of the program. Raises InputError where no pattern was found."""
    if not found.exchanges:
        raise InputError("no pattern was recognised in the trace, so there is no program file of it")
    head = [f"# {line}".rstrip() for text in _about(found) for line in text.splitlines() or [""]]
    head += [f"name = {_value(name)}", f"ranks = {found.trace.size}", f"repeat = {found.repeats}"]
    common = _common([each.table for each in found.exchanges])
    head += [f"{key} = {_value(value)}" for key, value in common.items()]
    parts = ["\n".join(head)]
    for each in found.exchanges:
        table = {key: value for key, value in each.table.items() if common.get(key) != value}
        lines = [f"# {note}" for note in (each.about, *each.notes)]
        lines += ["[[exchange]]", f'name = "{each.name}"', *(f"{key} = {_value(v)}" for key, v in table.items())]
        parts.append("\n".join(lines))
    parts += _steps(found.steps, "step", _Numbers())
    return "\n\n".join(parts) + "\n"


def _about(found: Recognised) -> Iterator[str]:
    command = " ".join(found.trace.command)
    yield "The time step of a recorded program" + (f": {command}" if command else "")
    yield (
        f"On {found.trace.size} ranks it has {100 * found.share_of_messages:.1f} % of the messages and "
        f"{100 * found.share_of_bytes:.1f} % of the bytes of the trace, in {found.repeats} steps."
    )
    yield "Scale it: tradewind simulate program FILE --machine NAME --ranks N --scale weak, or strong."
    if found.unexplained:
        yield ""
        yield "Not in it:"
    for each in found.unexplained[:SHOWN]:
        yield f"  {each.messages} {each.call} of {format_bytes(each.size)}: {each.why}"
    if more := found.unexplained[SHOWN:]:
        total = sum(each.messages for each in more)
        size = format_bytes(sum(each.messages * each.size for each in more))
        yield f"  and {total} more of {len(more)} other kinds, {size} together"


def _common(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return grid and split where all exchanges that have them have the same, for the head of the file."""
    placed = [table for table in tables if "grid" in table]
    found = {}
    for key in ("grid", "split"):
        values = {table[key] for table in placed}
        if len(values) == 1 and all(table["split"].count("x") == 1 for table in placed):
            found[key] = values.pop()
    return found if "split" in found else {}


def save_program(found: Recognised, path: Path | str) -> None:
    """Write a program file. Raises InputError where no pattern was found, and WriteError."""
    write_atomically(Path(path), program_text(found, Path(path).stem).encode(), "program")


class _Numbers:
    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


def _steps(steps: Sequence[Step | Repeated], key: str, numbers: _Numbers) -> Iterator[str]:
    for each in steps:
        if isinstance(each, Repeated):
            yield f"[[{key}]]\nrepeat = {each.in_file}" + (
                f"  # {each.repeats:.4g} in the mean" if each.repeats != each.in_file else ""
            )
            yield from _steps(each.steps, f"{key}.step", numbers)
            continue
        yield from _computing(each.computing, SHORTEST_S, key, numbers)
        under_way = list(_computing(each.during, SHORTEST_OVERLAP_S, key, numbers))
        if not under_way:
            yield f'[[{key}]]\nexchange = "{each.exchange.name}"'
            continue
        yield f'[[{key}]]\nstart = "{each.exchange.name}"'
        yield from under_way
        yield f'[[{key}]]\nwait = "{each.exchange.name}"'


def _computing(computing: Computing, shortest_s: float, key: str, numbers: _Numbers) -> Iterator[str]:
    """Yield the step of a computation that is not too short."""
    if computing.mean_s < shortest_s:
        return
    lines = [f"[[{key}]]", f'label = "computing {numbers.next()}"', 'compute = "rank"']
    lines.append(f'seconds = "{_seconds(computing.mean_s)}"')
    if computing.spread >= LEVEL_SPREAD:
        spread = min(computing.spread, LARGEST_SPREAD["normal"])
        lines.append(f'imbalance = {{ distribution = "normal", spread = {spread:.3f} }}')
    yield "\n".join(lines)


def _seconds(value: float) -> str:
    return format_seconds(float(f"{value:.3g}")).replace(" ", "")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a string of TOML, too
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)
