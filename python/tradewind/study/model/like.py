"""Sweeps that are like another sweep: they take its keys, and write only those that differ."""

from __future__ import annotations

from typing import Any

from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place, TomlFile

Problem = tuple[Place, str]
"""A place of a file, and what is wrong there."""

OWN_KEYS = ("name", "like")
"""Keys that a sweep never takes from another one."""


def with_likes(file: TomlFile) -> tuple[dict[str, Any], list[Problem], set[Place]]:
    """Return the tables of a study file whose sweeps have all of their keys, problems of `like` with their places, and
    the places of sweeps that lack keys because of them.

    In `file`, the line of a key that a sweep takes is the one where it is written.
    """
    tables, problems, incomplete = file.data.get("sweep"), list[Problem](), set[Place]()
    if not isinstance(tables, list):
        return file.data, problems, incomplete
    sweeps = list(tables)
    names = [sweep.get("name") if isinstance(sweep, dict) else None for sweep in sweeps]
    for i, sweep in enumerate(sweeps):
        if not isinstance(sweep, dict) or "like" not in sweep:
            continue
        if problem := _problem(name := sweep["like"], names, i):
            problems.append((("sweep", i, "like"), problem))
            incomplete.add(("sweep", i))
            continue
        other = names.index(name)
        taken = [key for key in sweeps[other] if key not in (*OWN_KEYS, *sweep)]
        for key in taken:
            file.stands_at(("sweep", i, key), ("sweep", other, key))
        own = {key: value for key, value in sweep.items() if key != "like"}
        sweeps[i] = own | {key: sweeps[other][key] for key in taken}
        if ("sweep", other) in incomplete:
            incomplete.add(("sweep", i))
    return {**file.data, "sweep": sweeps}, problems, incomplete


def _problem(name: Any, names: list[Any], i: int) -> str | None:
    """Return the problem of the name that sweep i is like."""
    if not isinstance(name, str):
        return f"like {name!r}: the name of another sweep is allowed"
    if name not in names:
        return "like: " + unknown("sweep", name, (each for each in names[:i] if isinstance(each, str)))
    return None if name in names[:i] else f"like {name!r}: only a sweep that stands above this one is allowed"


def reported(file: TomlFile, problems: list[Problem]) -> list[str]:
    """Return problems with their lines, in the order of the file; one of a key that several sweeps take, once."""
    known = {(place, text) for place, text in problems}
    found = dict[str, int]()
    for place, text in problems:
        written = file.written(place)
        which = "" if written == place else ", which is like this one"
        if not which or (written, text) not in known:
            # "sweep 2: " before a problem of the second sweep
            owner = f"{place[0]} {place[1] + 1}{which}: " if len(place) > 1 and isinstance(place[1], int) else ""
            owner = "headline: " if place[:1] == ("headline",) else owner
            found[file.at(place, owner + text)] = file.line(place)
    return sorted(found, key=lambda text: found[text])
