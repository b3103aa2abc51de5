"""The fields of a model that are defined, their arrays and levels, and which of these were written in a step."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.names import known_name
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.handover import layout_of
from tradewind.fieldserver.server.slots import Defined

if TYPE_CHECKING:
    from tradewind.fieldserver.server.handover import Array
    from tradewind.mpi.library import MPI


class DefinedFields(Mapping[str, Defined]):
    """Fields by name, as a rank of `comm`, the ranks of the model, has them."""

    def __init__(self, plan: OutputPlan, comm: MPI.Intracomm) -> None:
        self._plan, self._comm = plan, comm
        self._fields: dict[str, Defined] = {}
        self._written: dict[int, set[tuple[str, int]]] = {}
        self._last = -1
        """The last step that has ended."""
        self._shapes: dict[str, tuple[int, ...]] = {}

    def __getitem__(self, name: str) -> Defined:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def check_new(self, name: str) -> None:
        """Raises InputError for a field that is defined already."""
        if name in self._fields:
            raise InputError(f"field {name} is defined twice")

    def add(self, what: Defined) -> None:
        """Take a field."""
        self._fields[what.field.name] = what

    def end_step(self, step: int) -> None:
        """Nothing more is written of a step. Raises InputError for one that has ended."""
        if step <= self._last:
            raise InputError(f"step {step} has ended: steps end once, in ascending order")
        self._last = step
        self._written = {later: places for later, places in self._written.items() if later > step}

    def writable(self, name: str, step: int) -> Defined:
        """Return a field that is written at a step. Raises InputError for an unknown one, and a step that has ended."""
        what = self.defined(name)
        if step <= self._last:
            raise InputError(f"field {name}: step {step} has ended: step {self._last + 1} or later is allowed")
        return what

    def defined(self, name: str) -> Defined:
        """Return a field. Raises InputError for an unknown one."""
        return self._fields[known_name("field", name, self._fields)]

    def claim_places(self, what: Defined, values: Array, step: int, level: int | None) -> tuple[int, ...]:
        """Return the places of the levels that are written, which no other call of this step may write."""
        name, levels, lying = what.field.name, len(what.field.levels), what.shape.levels
        if level is None and lying != levels:
            raise InputError(f"field {name} has {levels} levels, and its layout 1: say level=0..{levels - 1}")
        if level is not None and lying != 1:
            raise InputError(
                f"field {name}: level {level} of {levels}, and its layout has all of them: none is to be named"
            )
        if level is not None and level >= levels:
            raise InputError(f"field {name}: level {level}: 0..{levels - 1} is allowed")
        places = (level,) if level is not None else tuple(range(levels))
        self.check_array(what, values)
        if not self._plan.requests(name, step):
            return places
        seen = self._written.setdefault(step, set())
        again = [place for place in places if (what.field.name, place) in seen]
        if again:
            raise InputError(f"field {what.field.name}, step {step}, level {again[0]}: it is written twice")
        seen |= {(what.field.name, place) for place in places}
        return places

    def check_array(self, what: Defined, values: Array) -> None:
        """Raises InputError for an array that is not this rank's part of a field."""
        name, wanted = what.field.name, self._local_shape(what)
        if not isinstance(values, np.ndarray):
            raise InputError(f"field {name}: {type(values)!r}: an array of NumPy is allowed")
        fits = _without_ones(values.shape) in (_without_ones(wanted), _without_ones((math.prod(wanted),)))
        if not fits or values.dtype != what.field.dtype:
            given = f"{values.shape} of {values.dtype}"
            raise InputError(f"field {name}: {given}: {wanted} of {what.field.dtype} is this rank's part")
        if isinstance(values, np.ma.MaskedArray):
            raise InputError(f"field {name}: an array without a mask is allowed, like values.filled(numpy.nan)")

    def _local_shape(self, what: Defined) -> tuple[int, ...]:
        """Shape of this rank's part."""
        shape = what.shape
        if what.own is not None:
            points = len(what.own)
            return (points, shape.levels) if shape.axis == 0 else (shape.levels, points)
        if what.alike not in self._shapes:
            assert shape.layout is not None
            found = layout_of(json.loads(shape.layout), self._comm.Get_size()).shape(self._comm.Get_rank())
            self._shapes[what.alike] = tuple(found)
        return self._shapes[what.alike]


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)
