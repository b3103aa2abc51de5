"""Fields as a model defines them: checked against layout, plan and sinks, and against what other ranks define."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.extents import real_number
from tradewind.base.names import unknown
from tradewind.fieldserver.model.agreement import Agreement
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.geometry import Geometry
from tradewind.fieldserver.plan.plan_file import OutputPlan
from tradewind.fieldserver.server.field_check import fitting_field
from tradewind.fieldserver.server.handover import describe_layout, ids_of
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.slots import Defined

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tradewind.fieldserver.server.handover import Numbers
    from tradewind.mpi.library import MPI

MAX_LEVELS = 1_000_000
_ARGUMENTS = ("name", "geometry", "levels", "dtype")
"""Keys of a field that are arguments of `FieldServer.define`."""


@dataclass(frozen=True)
class Described:
    """A field as this rank alone describes it. `closed`: its layout in plain values; `own`: else this rank's points."""

    field: OutputField
    shape: Shape
    closed: dict[str, Any] | None
    own: Numbers | None


def described_field(
    plan: OutputPlan,
    name: str,
    where: _core.Layout | ArrayLike,
    geometry: Geometry,
    levels: Sequence[float] | None,
    dtype: Any,
    axis: Any,
    attributes: Mapping[str, Any],
    rank: int,
) -> Described:
    """Return a field of the arguments of `FieldServer.define`, on a rank of the model. Raises InputError."""
    shown = name if isinstance(name, str) else quoted(name)
    if not isinstance(geometry, Geometry):
        raise InputError(
            f"field {shown}: geometry {quoted(geometry)}: one of tradewind.fieldserver.plan.geometry is allowed"
        )
    dtype = _element(dtype)
    if isinstance(axis, bool) or not isinstance(axis, Integral) or int(axis) not in (-1, 0, 1):
        raise InputError(f"field {shown}: axis {quoted(axis)}: 0, 1 or -1 is allowed")
    known = [each for each in OutputField.__dataclass_fields__ if each not in _ARGUMENTS]
    if problems := [f"field {shown}: {unknown('key', each, known)}" for each in attributes if each not in known]:
        raise InputError(*problems)
    given = None if levels is None else _levels(shown, levels)
    closed = describe_layout(where) if isinstance(where, _core.Blocks | _core.Product) else None
    own = None if closed is not None else ids_of(where, rank)
    if closed is not None:
        nx, ny, nz = closed["grid"]
        points = nx * ny
    else:
        points, nz = geometry.points, 1 if given is None else len(given)
    numbers = tuple(map(float, range(1, nz + 1))) if given is None else given
    field = fitting_field(plan, OutputField(name, geometry, numbers, dtype, **attributes), points, nz)
    layout = None if closed is None else json.dumps(closed)
    return Described(field, Shape(nz, points, dtype, layout, int(axis)), closed, own)


def agreed_field(plan: OutputPlan, agreement: Agreement, comm: MPI.Intracomm, described: Described) -> Defined:
    """Return a field that all ranks of the model describe alike. Collective. Raises InputError, PlanError."""
    field, shape, own = described.field, described.shape, described.own
    agreement.note(f"define {field.name} {json.dumps([field.as_dict(), asdict(shape)])}")
    agreement.check()
    digest = None
    if own is not None:
        _check_owners(comm, field.name, own, shape.points)
        digest = _digest(comm, own)
    by_level = shape.levels > 1 and any(request.by_level for request in plan.all_requests(field.name))
    single = None
    if by_level:
        form = _one_level(field.name, shape, described.closed)
        single = Defined(field, form, own, _alike(form, digest))
    return Defined(field, shape, own, _alike(shape, digest), single)


def _levels(name: str, levels: Any) -> tuple[float, ...]:
    """Return the numbers of levels. Raises InputError for what is no list of them, or too long a one."""
    try:
        count = len(levels)
    except TypeError:
        raise InputError(f"field {name}: levels {quoted(levels)}: a list of numbers is allowed") from None
    if count > MAX_LEVELS:
        raise InputError(f"field {name}: {count} levels: up to {MAX_LEVELS} are allowed")
    return tuple(real_number(f"field {name}: level", each) for each in levels)


def _element(dtype: Any) -> str:
    """An element type by its short name, where it has one."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        return dtype if isinstance(dtype, str) else quoted(dtype)
    return found.str[1:] if found.isnative and found.kind == "f" else str(dtype)


def _one_level(name: str, shape: Shape, closed: dict[str, Any] | None) -> Shape:
    """The form of one level of a field. Raises InputError where its levels are divided among ranks."""
    if closed is None:
        return replace(shape, levels=1)
    if len(closed["runs"][2]) > 1:
        raise InputError(
            f"field {name}: its layout divides levels among ranks, and a sink with {{level}} in its path takes fields "
            "whose levels are not, or that are written level by level"
        )
    x, y, _ = closed["runs"]
    flat = {**closed, "grid": [*closed["grid"][:2], 1], "runs": [x, y, [[[0, 1]]]]}
    return replace(shape, levels=1, layout=json.dumps(flat))


def _alike(shape: Shape, digest: list[str] | None) -> str:
    """Key of the fields of one form that lie alike."""
    return hashlib.sha256(json.dumps([asdict(shape), digest]).encode()).hexdigest()[:16]


def _check_owners(comm: MPI.Intracomm, name: str, own: Any, points: int) -> None:
    """Raises InputError, on all ranks, where each point of a level is not one rank's. Collective."""
    outside = int(np.count_nonzero((own < 0) | (own >= points)))
    numbers = own.astype(np.uint64)
    sums = [int(numbers.sum()), int((numbers * numbers).sum())]  # of the right count: they identify the points
    everyone = comm.allgather((len(own), outside, *sums))
    count, outside, *found = (sum(each) for each in zip(*everyone, strict=True))
    wanted = [points * (points - 1) // 2, points * (points - 1) * (2 * points - 1) // 6]
    same = all((one - other) % 2**64 == 0 for one, other in zip(found, wanted, strict=True))
    if outside or count != points or not same:
        raise InputError(
            f"field {name}: the ranks name {count} points, {outside} of them outside 0..{points - 1}: each of the "
            f"{points} points of its grid is named by one rank, once"
        )


def _digest(comm: MPI.Intracomm, own: Any) -> list[str]:
    """Return digests that distinguish lists of points, alike on all ranks. Collective."""
    return list(comm.allgather(hashlib.sha256(own.tobytes()).hexdigest()))
