"""Compares the values of two machine files: which differ, by what factor, and which are worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.base.reading import is_there
from tradewind.base.toml_lines import TomlFile
from tradewind.machine.machine import load_machine, machine_folder, machine_names

_KINDS: tuple[tuple[str, Callable[[object], float], bool | None], ...] = (
    ("rate", units.bytes_per_second, True),
    ("rate", units.flops, True),
    ("time", units.seconds, False),
    ("size", units.byte_count, None),
)
"""Kinds of quantities, how each is read, and whether more of it is better; None: neither."""
_NOT_COMPARED = ("title", "source")
_NAMES = ("transport", "packing")
"""Keys that name a table of a list."""


@dataclass(frozen=True)
class ValueDifference:
    """A value that differs: its key, its texts, and where both are numbers of one kind the factor new / old."""

    key: str
    old: str | None
    """None: the first file has no such value."""
    new: str | None
    factor: float | None
    slowdown: float | None
    """Factor by which it makes the machine slower, below 1 for a faster one; None where that cannot be known."""


@dataclass(frozen=True)
class MachineComparison:
    """The values of two machine files that differ."""

    differences: list[ValueDifference]
    equal: int
    """Number of values that do not differ."""
    threshold: float

    @property
    def too_slow(self) -> list[ValueDifference]:
        """The rates and times that are worse by more than the threshold."""
        return [each for each in self.differences if each.slowdown is not None and each.slowdown > 1 + self.threshold]


def is_machine(path: Path) -> bool:
    """Whether a path is a machine file, or the name of a machine that comes with Tradewind."""
    if not is_there(path):
        return str(path) in machine_names()
    return path.suffix == ".toml" and "entry" not in TomlFile(path).data


def compare_machine_files(old: Path, new: Path, threshold: float) -> MachineComparison:
    """Return the values that differ. Raises InputError for an invalid machine file."""
    first, second = _values(old), _values(new)
    keys = dict.fromkeys((*first, *second))
    found = [_difference(key, first.get(key), second.get(key)) for key in keys]
    different = [each for each in found if each is not None]
    return MachineComparison(different, len(keys) - len(different), threshold)


def _values(path: Path) -> dict[str, str]:
    file = path if is_there(path) else machine_folder() / f"{path}.toml"
    load_machine(file)  # raises InputError with all that is wrong
    return dict(_flat(TomlFile(file).data))


def _flat(table: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    items = table.items() if isinstance(table, dict) else enumerate(table)
    for key, value in items:
        if not prefix and key in _NOT_COMPARED:
            continue
        name = ",".join(value[each] for each in _NAMES if each in value) if isinstance(value, dict) else ""
        place = f"{prefix}.{name or key}" if prefix else str(key)
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, dict | str) for each in value)):
            yield from _flat(value, place)
        else:
            yield place, "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _difference(key: str, old: str | None, new: str | None) -> ValueDifference | None:
    if old == new:
        return None
    factor = slowdown = None
    for _, read, more_is_better in _KINDS:
        values = [_read(read, text) for text in (old, new)]
        if None in values:
            continue
        first, second = values
        if first == second:  # "0.1us" and "100ns"
            return None
        if first and second:
            factor = second / first
            slowdown = None if more_is_better is None else 1 / factor if more_is_better else factor
        break
    return ValueDifference(key, old, new, factor, slowdown)


def _read(read: Callable[[object], float], text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return read(text)
    except InputError:
        return None
