"""Results of the library: dictionaries of plain values, which a reader sees as one line, and notebooks as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tradewind.base.html import html_table
from tradewind.base.units import format_bytes, format_count, format_rate, format_seconds

_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "ok": lambda ok: "verified" if ok else "wrong",
    "best": lambda best: f"best {best}",
    "algorithm": str,
    "routing": str,
    "time_s": format_seconds,
    "stages": lambda count: f"{count:,} stages",
    "messages": lambda count: f"{format_count(count)} messages",
    "packet_hops": lambda count: f"{format_count(count)} packet-hops",
    "bytes": format_bytes,
    "memory_bytes": lambda size: f"{format_bytes(size)} of memory",
}
"""Values of the line, in order, and how they are written."""


class Result(dict[str, Any]):
    """A result: a dictionary of plain values, as `json.dumps` takes it."""

    def __repr__(self) -> str:
        """Return the subject and the values that matter most; `dict(result)` has all of them."""
        return f"<Result: {self._subject()}{', '.join(self._values())}; {len(self)} keys>"

    def _repr_html_(self) -> str:
        rows = [(key, written(key, value)) for key, value in self.items()]
        return html_table(self._subject().rstrip(": ") or "result", rows)

    def _subject(self) -> str:
        name = next((self[key] for key in ("pattern", "program", "dwarf") if key in self), None)
        if name is None or "ranks" not in self:
            return ""
        machine = f" of {self['machine']}" if "machine" in self else ""
        return f"{name} on {self['ranks']:,} ranks{machine}: "

    def _values(self) -> list[str]:
        return [show(self[key]) for key, show in _SHOWN.items() if self.get(key) is not None]


def written(key: str, value: object) -> str:
    """Return a value in the unit that its key ends with; of lists and tables their size."""
    if isinstance(value, Mapping | list | tuple):
        return f"{len(value):,} {'keys' if isinstance(value, Mapping) else 'entries'}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None else str(value)
    if key.endswith("bytes_per_s"):
        return format_rate(value)
    if key.endswith("_s"):
        return format_seconds(value)
    if key == "bytes" or key.endswith("_bytes"):
        return format_bytes(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
