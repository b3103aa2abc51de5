"""The hand-over of fields to one rank that gets them whole: a redistribution from the layout of the model.

Layouts with a closed form go as they are; of others, and of points of a mesh, each rank names the numbers of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown
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
HandoverMethod = Mapping[str, str | None]
"""Algorithm, transport and packing of hand-overs."""
FENCES = ("put-fence", "get-fence")
"""Transports by which no rank goes on before all have come to the end of a stage."""
BURST, DIRECT = "burst", "direct"
"""Algorithms of one stage: all is under way when a hand-over has been started."""


def describe_layout(layout: Closed) -> dict[str, Any] | None:
    """Return a layout as plain values, from which `layout_of` makes it on other ranks; None where that cannot be."""
    product = layout if isinstance(layout, _core.Product) else _core.Product(layout)
    if product.lines is not None:
        return None
    parts = [product.parts(axis) for axis in range(3)]
    runs = [[part.runs(number) for number in range(part.parts)] for part in parts]
    coordinates = [_coordinate(product, axis) for axis in range(3)]
    grid = list(product.grid.points)
    return {"grid": grid, "runs": runs, "coordinates": coordinates, "first": product.first}


def _coordinate(product: _core.Product, axis: int) -> int:
    """The coordinate of a rank, 0 or 1, that divides a direction; -1: none."""
    if product.parts(axis).parts == 1:
        return -1
    second = product.part_of(product.first + 1) if product.split[0] > 1 else None
    return 0 if second is not None and second[axis] == 1 else 1


def layout_of(description: Mapping[str, Any], ranks: int) -> _core.Product:
    """The layout of `describe_layout`, among `ranks` ranks."""
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


@dataclass(frozen=True)
class Shape:
    """Form of the arrays of a hand-over: the same on all ranks, and as plain values as JSON.

    `layout`: see `describe_layout`; None: points by number. `axis`: of arrays of such points the one over points.
    """

    levels: int
    points: int
    dtype: str
    layout: str | None
    axis: int = -1

    @property
    def bytes(self) -> int:
        """Bytes of a whole field."""
        return self.levels * self.points * DTYPES[self.dtype]


class Handover:
    """The way of fields of one shape between the ranks of `comm` and one of them, `receiver`, that has them whole.

    `layout`: that of the model as `describe_layout` returns it; or None, and `own`: the numbers of this rank's points.
    Collective.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        receiver: int,
        shape: Shape,
        layout: Mapping[str, Any] | None,
        own: Numbers | None,
        *,
        back: bool = False,
        method: HandoverMethod | None = None,
        watchdog_s: float = 0.0,
    ) -> None:
        """`watchdog_s`: seconds after which its plans raise PlanError where others do not take part; 0: no limit."""
        self.comm, self.receiver, self.shape, self.back = comm, receiver, shape, back
        self._watchdog_s = watchdog_s
        check_method(method)
        one_stage = DIRECT if layout is None else BURST
        self._method: dict[str, Any] = {"algorithm": one_stage} | dict(method or {})
        if self._method["algorithm"] != one_stage:
            raise InputError(
                f"hand-over by {self._method['algorithm']!r}: {one_stage!r} is allowed, as later stages would wait for "
                "the model"
            )
        rank, ranks = comm.Get_rank(), comm.Get_size()
        self.receives = rank == receiver
        if layout is not None:
            before = layout_of(layout, ranks)
            nx, ny, nz = before.grid.points
            after = Whole(_core.Grid(nx, ny, nz), 1).placed(receiver, ranks)
            pair = on_one_grid(before, after)
            self._pattern: Any = _core.Redistribution(*(reversed(pair) if back else pair))
            self.local, self.whole = tuple(before.shape(rank)), tuple(after.shape(rank))
            self._options: dict[str, Any] = {}
        else:
            mine = np.empty(0, np.int64) if own is None else own
            wanted = np.arange(shape.points) if self.receives else np.empty(0, np.int64)
            self._pattern = CorePoints(comm, wanted if back else mine).fetch(mine if back else wanted)
            self.local, self.whole = self._levelled(len(mine)), self._levelled(len(wanted))
            self._options = {"axis": shape.axis}

    def _levelled(self, points: int) -> tuple[int, ...]:
        return (points, self.shape.levels) if self.shape.axis == 0 else (self.shape.levels, points)

    @property
    def in_shared_memory(self) -> bool:
        """Whether the arrays lie where the ranks of a node read each other's."""
        return self._method.get("transport") == "shared"

    def arrays(self, shape: tuple[int, ...]) -> Array:
        """An array of this rank."""
        if self.in_shared_memory:
            return shared_zeros(shape, self.shape.dtype)
        return np.zeros(shape, self.shape.dtype)

    def plan(self, local: Sequence[Array], whole: Sequence[Array]) -> Plan:
        """Bind fields to the hand-over. Collective."""
        source, target = (list(whole), list(local)) if self.back else (list(local), list(whole))
        options: dict[str, Any] = {**self._method, **self._options}
        if all(self._method.get(part) for part in PARTS):
            options["tuning"] = ""  # nothing is left to tuning files, which ranks of other programs do not read
        made = make_plan(self._pattern, self.comm, source, target, watchdog_s=self._watchdog_s, **options)
        if problems := transport_problems(made.transport):
            raise InputError(*problems)
        return made

    def levels_first(self, whole: Array) -> Array:
        """A whole field as [level][point]."""
        return whole.T if len(whole.shape) == 2 and self.shape.axis == 0 else whole.reshape(self.shape.levels, -1)


def ids_of(layout: Any, rank: int) -> Numbers:
    """The numbers of a rank's points of a level, of a layout that has no description for other ranks."""
    if isinstance(layout, _core.Layout):
        found = own_ids(layout, rank)
        return np.asarray(found, np.int64)
    return ids("where, which is no layout: the numbers of this rank's points", layout)
