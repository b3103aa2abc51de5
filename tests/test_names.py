"""No two types of one name in one namespace: two that are linked into one module are undefined behaviour."""

import re
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|union|enum(?: class)?) (?:alignas\(\w+\) )?(\w+)[^;]*$")
"""Definition in a namespace: one inside another type, or without a name, is indented or in a .cpp file."""


def types() -> dict[str, set[Path]]:
    """The headers that define a type, by its full name."""
    found = defaultdict(set)
    for path in SOURCES.rglob("*.hpp"):
        namespace = ""
        for line in path.read_text().splitlines():
            if named := NAMESPACE.fullmatch(line):
                namespace = named[1]
            elif defined := TYPE.fullmatch(line):
                found[f"{namespace}::{defined[1]}"].add(path.relative_to(SOURCES))
    return found


def test_every_type_has_a_name_of_its_own():
    found = types()
    assert {"tradewind::mpi::Program", "tradewind::program::Program", "tradewind::Peers"} <= set(found)
    assert len(found) > 150
    twice = {name: sorted(map(str, paths)) for name, paths in found.items() if len(paths) > 1}
    assert twice == {}
