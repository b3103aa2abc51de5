"""A program file on another number of ranks: the same steps, on grids that stay as they are or grow with the ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text, parse_extents
from tradewind.base.names import unknown
from tradewind.base.toml_lines import Place, TomlFile
from tradewind.base.units import seconds
from tradewind.workload.patterns.gather_scatter import cubic
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.program_file import load_program, program_of_data

SCALES = ("strong", "weak")
"""The grid stays as it is, or each rank keeps its points."""


def load_scaled(path: Path | str, ranks: int | None, scale: str = SCALES[0]) -> ProgramWorkload:
    """Read a program file for `ranks` ranks; None: those of the file.

    Ranks are split as in the file: along a direction with one rank there is one, along the others the shape stays as
    near as the factors of the number allow. `scale`: "strong", where the grid stays as it is, and what a rank computes
    in a given time shrinks with the ranks; "weak", where the grid grows with the ranks along each direction. Raises
    InputError with all problems of the file, and for what has no meaning on other numbers of ranks: groups, messages
    one by one, and points by rank.
    """
    program = load_program(path)
    if scale not in SCALES:
        raise InputError(unknown("scale", scale, SCALES))
    if ranks is None or ranks == program.ranks:
        return program
    file = TomlFile(path)
    return program_of_data(_Scaled(file, ranks, scale).data(), file.at)


class _Scaled:
    """Makes the data of a file for another number of ranks."""

    def __init__(self, file: TomlFile, ranks: int, scale: str) -> None:
        self.file, self.ranks, self.scale = file, ranks, scale
        self.before: int = file.data.get("ranks", 1)

    def data(self) -> dict[str, Any]:
        """Return the data. Raises InputError with all problems."""
        given = dict(self.file.data)
        if problems := list(self._problems(given)):
            raise InputError(*(self.file.at(place, problem) for place, problem in problems))
        own = parse_extents(given["split"], 2, "split") if "split" in given else (self.before, 1)
        made = self._placed(given, own)
        made["ranks"] = self.ranks
        made["split"] = extents_text(self.split(own))
        made["exchange"] = [self._exchange(each, own, given.get("grid")) for each in given.get("exchange", [])]
        made["step"] = [self._step(each, own) for each in given["step"]]
        return made

    def _problems(self, given: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
        what = f"has no meaning on other ranks than the {self.before} of the file"
        if "group" in given:
            yield ("group",), f"groups: their ranks are given, and {self.ranks} are asked for"
            return
        if self.ranks < 1:
            yield ("ranks",), f"{self.ranks} ranks: 1 or more are allowed"
        for i, exchange in enumerate(given.get("exchange", [])):
            if "messages" in exchange:
                yield ("exchange", i, "messages"), f"a list of messages {what}"
        for i, step in enumerate(given["step"]):
            if isinstance(step.get("points"), list):
                yield ("step", i, "points"), f"a list of points by rank {what}"

    def split(self, before: Sequence[int]) -> tuple[int, ...]:
        """Return the split of the ranks whose shape is nearest to one of the file."""
        divided = [i for i, parts in enumerate(before) if parts > 1] or [0]
        growth = (self.ranks / math.prod(before)) ** (1 / len(divided))
        wanted = [before[i] * growth for i in divided]

        def distance(parts: Sequence[int]) -> float:
            return max(abs(math.log(a / b)) for a, b in zip(parts, wanted, strict=True))

        nearest = min(_factors(self.ranks, len(divided)), key=distance)
        found = [1] * len(before)
        for i, parts in zip(divided, nearest, strict=True):
            found[i] = parts
        return tuple(found)

    def _placed(self, table: Mapping[str, Any], split: Sequence[int]) -> dict[str, Any]:
        """Return a table with its grid for the other split."""
        made = dict(table)
        if self.scale == "weak" and "grid" in table:
            points = list(parse_extents(table["grid"], 3, "grid"))
            for axis, (before, after) in enumerate(zip(split, self.split(split), strict=True)):
                points[axis] = max(after, round(points[axis] * after / before))
            made["grid"] = extents_text(points)
        return made

    def _exchange(self, table: Mapping[str, Any], own: Sequence[int], grid: str | None) -> dict[str, Any]:
        if "gather_scatter" in table:
            return self._elements(table)
        if "split" not in table:
            return self._placed(table, own)
        parts = parse_extents(table["split"], 1 + table["split"].count("x"), "split")
        made = self._placed({"grid": grid, **table} if grid is not None else table, parts)
        made["split"] = extents_text(self.split(parts))
        return made

    def _elements(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return a gather-scatter on the brick nearest in shape, or to a cube where the file has none.

        Each rank has as many elements, or its share of all. Raises InputError.
        """
        made = dict(table)
        before: tuple[int, ...] = cubic(self.before)
        after: tuple[int, ...] = cubic(self.ranks)
        if "brick" in table:
            before = parse_extents(table["brick"], 3, "brick")
            after = self.split(before)
            made["brick"] = extents_text(after)
        if self.scale == "strong":
            elements = parse_extents(table["gather_scatter"], 3, "elements")
            shares = [divmod(n * b, a) for n, b, a in zip(elements, before, after, strict=True)]
            if any(rest or not share for share, rest in shares):
                total = extents_text(n * b for n, b in zip(elements, before, strict=True))
                raise InputError(
                    f"{self.file.path}: {total} elements are not divided evenly among {extents_text(after)} ranks; "
                    "other ranks, or weak scaling, are allowed"
                )
            made["gather_scatter"] = extents_text(share for share, _ in shares)
        return made

    def _step(self, table: Mapping[str, Any], own: Sequence[int]) -> dict[str, Any]:
        if "step" in table:
            return {**table, "step": [self._step(each, own) for each in table["step"]]}
        if "gather_scatter" in table:
            return self._elements(table)
        made = self._placed(table, own)
        if self.scale == "strong" and "points" not in table:
            share = self.before / self.ranks
            if "seconds" in table:
                made["seconds"] = f"{seconds(table['seconds']) * share!r}s"
            if table.get("compute") == "rank":
                made |= {key: table[key] * share for key in ("flops", "bytes") if key in table}
        return made


def _factors(number: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as a product of `count` factors."""
    if count == 1:
        yield (number,)
        return
    for first in (each for each in range(1, number + 1) if number % each == 0):
        for rest in _factors(number // first, count - 1):
            yield (first, *rest)
