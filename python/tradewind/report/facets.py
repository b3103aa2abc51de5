"""What a reader may choose on a page: one machine, algorithm, pattern or number of ranks, for all that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.records import Record

FACETS = {"machine": "Machine", "algorithm": "Algorithm", "pattern": "Pattern", "ranks": "Ranks"}
"""The keys of a choice in the address of the page, and their titles."""
HERE = "measured here"
PUBLISHED = "published"


def facets_of(record: Record) -> tuple[str, ...]:
    """The values of a case, in the order of `FACETS`; an empty text for what it does not have."""
    kind = record["kind"]
    machine = record["machine"] or (HERE if kind in HERE_ONLY else PUBLISHED if kind == "published" else None)
    algorithm = record["algorithm"] or record["strategy"]
    pattern = record["dwarf"] or record["pattern"]
    return tuple("" if value is None else str(value) for value in (machine, algorithm, pattern, record["ranks"]))


class Groups:
    """The cases of a page by their facets: cases with equal ones are a group, and each group has a number."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}
        self.of_case = [self._numbers.setdefault(facets_of(record), len(self._numbers)) for record in records]
        """[case]: its group."""
        self._of_record = {id(record): group for record, group in zip(records, self.of_case, strict=True)}

    def of(self, records: Iterable[Record]) -> tuple[int, ...]:
        """The groups of some cases, each once."""
        return tuple(sorted({self._of_record[id(record)] for record in records}))

    def as_dict(self) -> dict[str, Any]:
        """Return ``facets``, each with its values in order, and ``groups``, each with its value of every facet."""
        values = {
            name: sorted({group[i] for group in self._numbers} - {""}, key=_order) for i, name in enumerate(FACETS)
        }
        facets = [{"name": name, "title": title, "values": values[name]} for name, title in FACETS.items()]
        return {"facets": facets, "groups": [list(group) for group in self._numbers]}


def _order(value: str) -> tuple[int, str]:
    """Numbers by size, texts by their letters."""
    return (int(value), "") if value.isdecimal() else (0, value)
