"""The hand-over of fields to a server, which gets them whole: a redistribution from the layout of the model.

Layouts with a closed form go as they are; of others, and of points of a mesh, each rank names the numbers of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
from tradewind.fieldserver.server.shape import Shape
from tradewind.layout.closed import Whole, on_one_grid, own_ids
from tradewind.layout.lists import ids
from tradewind.method.method import PARTS, Method
from tradewind.mpi.arrays import shared_zeros
from tradewind.mpi.library import MPI, Plan
from tradewind.mpi.planning import plan as make_plan
from tradewind.mpi.points import CorePoints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Numbers = NDArray[np.int64]

Closed = _core.Blocks | _core.Product
HandoverMethod = Mapping[str, str]
"""Transport and packing of hand-overs."""
FENCES = ("put-fence", "get-fence")
"""Transports by which no rank goes on before all have come to the end of a stage."""
BURST, DIRECT = "burst", "direct"
"""Algorithms of one stage: all is under way when a hand-over has been started."""


def layout_of(description: Mapping[str, Any], ranks: int) -> _core.Product:
    """Return the layout of a description as the model sends it, among `ranks` ranks."""
    grid = description["grid"]
    parts = [_parts(runs, points) for runs, points in zip(description["runs"], grid, strict=True)]
    return _core.Product(_core.Grid(*grid), parts, description["coordinates"], description["first"], ranks, "model")


def _parts(runs: Sequence[Sequence[Sequence[int]]], points: int) -> _core.Parts:
    owners = np.empty(points, np.int32)
    for number, part in enumerate(runs):
        for begin, end in part:
            owners[begin:end] = number
    return _core.Parts.dealt(owners, len(runs))


def check_method(method: Any) -> None:
    """Raises InputError for what is no method of a hand-over."""
    if method is not None and not isinstance(method, Mapping):
        raise InputError(f"method {quoted(method)}: a mapping with algorithm, transport and packing is allowed")
    given = dict(method or {})
    problems = [f"method: {unknown('key', key, PARTS)}" for key in given if key not in PARTS]
    for part in PARTS:
        if given.get(part) is not None and not isinstance(given[part], str):
            problems.append(f"method: {part} {quoted(given[part])}: a name is allowed")
    if problems:
        raise InputError(*problems)
    algorithm = given.get("algorithm")
    if algorithm not in (None, BURST, DIRECT):
        problems.append(
            f"method: algorithm {algorithm!r}: {BURST!r} of layouts, or {DIRECT!r} of lists of points, is allowed, as "
            "later stages would wait for the model"
        )
    problems += Method(None, given.get("transport"), given.get("packing")).problems("transpose")
    problems += transport_problems(given.get("transport"))
    if problems:
        raise InputError(*problems)


def transport_problems(transport: str | None) -> list[str]:
    """Return why fields cannot be handed over by a transport that there is."""
    if transport not in FENCES:
        return []
    return [f"hand-over by transport {transport!r}: its fences would hold a server until the model waits, too"]


class Handover:
    """The way of fields of one shape between the ranks of a model and this rank, a server, which has them whole.

    Collective over `comm`: the ranks of the model, and this one behind them.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        shape: Shape,
        *,
        method: HandoverMethod,
        back: bool = False,
        watchdog_s: float = 0.0,
    ) -> None:
        """`back`: to the model. `watchdog_s`: seconds after which plans raise PlanError where others do not take part.

        `method`: transport and packing.
        """
        self.comm, self.shape, self.back = comm, shape, back
        self._watchdog_s, self._method = watchdog_s, method
        rank, ranks = comm.Get_rank(), comm.Get_size()
        if shape.layout is not None:
            before = layout_of(json.loads(shape.layout), ranks)
            nx, ny, nz = before.grid.points
            after = Whole(_core.Grid(nx, ny, nz), 1).placed(rank, ranks)
            pair = on_one_grid(before, after)
            self._pattern: Any = _core.Redistribution(*(reversed(pair) if back else pair))
            self.local, self.whole = tuple(before.shape(rank)), tuple(after.shape(rank))
        else:
            none, wanted = np.empty(0, np.int64), np.arange(shape.points)
            self._pattern = CorePoints(comm, wanted if back else none).fetch(none if back else wanted)
            self.local, self.whole = (shape.levels, 0), (shape.levels, shape.points)

    def arrays(self, shape: tuple[int, ...]) -> Array:
        """Return an array of this rank; for transport shared where the ranks of a node read each other's."""
        if self._method["transport"] == "shared":
            return shared_zeros(shape, self.shape.dtype)
        return np.zeros(shape, self.shape.dtype)

    def plan(self, local: Sequence[Array], whole: Sequence[Array]) -> Plan:
        """Bind fields to the hand-over. Collective."""
        source, target = (list(whole), list(local)) if self.back else (list(local), list(whole))
        return make_plan(
            self._pattern,
            self.comm,
            source,
            target,
            algorithm=DIRECT if self.shape.layout is None else BURST,
            transport=self._method["transport"],
            packing=self._method["packing"],
            watchdog_s=self._watchdog_s,
            tuning="",  # nothing is left to tuning files, which ranks of other programs do not read
        )

    def levels_first(self, whole: Array) -> Array:
        """Return a whole field as [level][point]."""
        return whole.reshape(self.shape.levels, -1)


def ids_of(layout: Any, rank: int) -> Numbers:
    """The numbers of a rank's points of a level, of a layout that has no description for other ranks."""
    if isinstance(layout, _core.Layout):
        found = own_ids(layout, rank)
        return np.asarray(found, np.int64)
    return ids("where, which is no layout: the numbers of this rank's points", layout)
