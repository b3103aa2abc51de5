"""Schedules on real MPI: `plan` binds one to arrays and a communicator.

Needs an MPI library and mpi4py (MissingMPIError says what to install); the rest of Tradewind works without.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tradewind import _core
from tradewind.choice import choose_together
from tradewind.errors import INSTALL_MPI, InputError, MissingMPIError
from tradewind.exchange import DTYPES, default_algorithm, unknown
from tradewind.levels import FETCHES, described_points, levels_of
from tradewind.ways import DEFAULT_PACKING, DEFAULT_TRANSPORT, Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py is there, but finds no MPI library
    raise MissingMPIError(f"MPI is not available ({error}): {INSTALL_MPI}") from error
try:
    from tradewind import _mpi
except ImportError as error:
    raise MissingMPIError(f"Tradewind was built without this MPI ({error}): {INSTALL_MPI}") from error

if MPI.Get_library_version() != _mpi.library_version():
    raise MissingMPIError(
        f"mpi4py uses {MPI.Get_library_version().splitlines()[0]}, Tradewind was built with "
        f"{_mpi.library_version().splitlines()[0]}: both must use the same MPI; {INSTALL_MPI}"
    )


def library_name() -> str:
    """What the MPI library calls itself, in one line. (Open MPI ends its text with a null.)"""
    return " ".join(MPI.Get_library_version().splitlines()[0].rstrip("\0").split())


__all__ = [
    "MPI",
    "NATIVE",
    "PACKINGS",
    "TRANSPORTS",
    "Peers",
    "Plan",
    "empty",
    "library_name",
    "plan",
    "ranks_here",
    "ranks_per_core",
]

Plan = _mpi.Plan
OwnPoints = _mpi.Points
"""The points of a rank as the core knows them; see `tradewind.points`."""
Peers = _mpi.Processes
"""The processes of a communicator as the core knows them; see `tradewind.processes`."""

TRANSPORTS = tuple(entry.name for entry in _core.transports())
PACKINGS = tuple(entry.name for entry in _core.packings())
NATIVE = "native"
"""The algorithm name of the MPI library's own collective."""


def plan(
    what: _core.Schedule | _core.Pattern,
    comm: MPI.Intracomm,
    fields: Array | Sequence[Array],
    target: Array | Sequence[Array] | None = None,
    *,
    algorithm: str | None = None,
    transport: str | None = None,
    packing: str | None = None,
    dims: str = "zyx",
    axis: int = -1,
    operation: str = "sum",
    largest_message: int = 2**30,
    pack_ahead: bool = True,
    synchronous: bool = False,
    check: bool = False,
    watchdog_s: float = 0.0,
    record: str = "",
    ranks_per_node: int = 0,
    tuning: str | Path | None = None,
) -> Plan:
    """Binds a schedule, or a pattern with an algorithm, to arrays. Collective over `comm`.

    `fields`: one array or several, which then travel in one message. Each has the shape that the pattern gives this
    rank, (nz, ny, nx) or in the order that `dims` says ("xyz" for Fortran's arrays), any strides, and one of the
    element types f4 f8 i4 i8 c8 c16. A reduction takes vectors. A fetch takes arrays of one to three dimensions, of
    which `axis` is the one over points and the others are levels. `target`: as many arrays, for a transposition or a
    fetch between two arrays; halos and reductions work in place. `operation` of a reduction: sum, min, max, prod.

    `algorithm`, `transport` and `packing`: see ``tradewind list``. What is None is chosen at run time: by the
    environment, by the tuning file `tuning` (None: that of ``TRADEWIND_TUNING``; "": none), or by default; see
    `tradewind.choice`. `largest_message`: bytes of one MPI message; longer messages of the schedule go in several.
    `pack_ahead`: the messages of a stage are gathered while the one before is under way, where that does not change
    them. `synchronous`: a send ends only when it is received, which shows whether the model relies on MPI's buffers.
    `check`: a checksum of every message is compared at its two ends. `watchdog_s`: an exchange that waits longer raises
    PlanError, which says for whom; 0 waits for ever. `record`: "totals" fills `Plan.seconds`, "events" `Plan.events`
    too. `ranks_per_node`: transport shared behaves as if so many ranks in a row had a node of their own.

    The plan keeps the arrays alive. Called on all ranks, it carries out the exchange. Raises InputError where something
    does not fit; PlanError where another rank raised, or the ranks make different plans.
    """
    if not isinstance(comm, MPI.Intracomm):
        raise InputError(f"comm is {comm!r}: an intracommunicator of mpi4py is allowed")
    if comm == MPI.COMM_NULL:
        raise InputError("comm is the null communicator: it has been freed, or this rank is not part of it")
    handle = comm.py2f()
    try:
        pattern, asked = _asked(what, algorithm, transport, packing)
        one_array = getattr(pattern, "one_array", False)
        sources = _checked("source", fields, dims, writable=pattern.in_place or one_array)
        targets = _targets(pattern, sources, target, dims)
        if isinstance(pattern, FETCHES):
            pattern = pattern.with_levels(levels_of(pattern, comm.Get_rank(), sources, targets, axis))
            described = ([described_points(a, axis) for a in sources], [described_points(a, axis) for a in targets])
        else:
            described = ([_describe(a, pattern, dims) for a in sources], [_describe(a, pattern, dims) for a in targets])
    except InputError as error:
        _refuse(handle, error)
    element = sources[0].dtype.str[1:]
    chosen = choose_together(comm, pattern, element, len(sources), asked, tuning=tuning).choice
    try:
        schedule, transport, packing = _carried(what, pattern, chosen)
        options = _mpi.Options(
            operation,
            transport,
            packing,
            largest_message,
            pack_ahead,
            synchronous,
            check,
            watchdog_s,
            record,
            ranks_per_node,
        )
    except InputError as error:
        _refuse(handle, error)
    bound = (sources, targets)
    if schedule is None:
        return _mpi.native_plan(pattern, handle, *described, bound, element, options)
    return _mpi.schedule_plan(schedule, handle, *described, bound, element, options)


def empty(
    pattern: _core.Pattern,
    comm: MPI.Intracomm,
    dtype: str = "f8",
    *,
    fields: int = 1,
    of: str = "source",
    dims: str = "zyx",
) -> Any:
    """An array of zeros for a pattern's source or target on this rank, in memory that the ranks of its node share.

    Plans with transport "shared" and packing "direct" let the other ranks take messages from there, without a copy in
    between. `fields` other than 1: a list of so many. x is the fastest direction; `dims` orders the axes of the array.
    Raises InputError, and PlanError where no memory is left. Not collective.
    """
    if of not in ("source", "target"):
        raise InputError(f"of {of!r}: 'source' and 'target' are allowed")
    if dtype not in DTYPES:
        raise InputError(unknown("dtype", dtype, DTYPES))
    rank = comm.Get_rank()
    shape = pattern.source_shape(rank) if of == "source" else pattern.target_shape(rank)
    arrays = []
    for _ in range(fields):
        memory = np.asarray(_mpi.shared_bytes(max(int(np.prod(shape)), 1) * DTYPES[dtype]))
        array = memory.view(dtype)[: int(np.prod(shape))].reshape(shape)
        if isinstance(pattern, FETCHES):
            arrays.append(array.reshape([n for n in shape[:2] if n != 1] + [shape[2]]))
        else:
            arrays.append(array.reshape(-1) if pattern.name == "allreduce" else array.transpose(_order(dims)))
    return arrays[0] if fields == 1 else arrays


def _order(dims: str) -> list[int]:
    _check_dims(dims)
    return ["zyx".index(axis) for axis in dims]


def _check_dims(dims: str) -> None:
    if sorted(dims) != ["x", "y", "z"]:
        raise InputError(f"dims {dims!r}: an order of the three letters x, y, z is allowed, like 'zyx'")


def _check_native(transport: str | None, packing: str | None) -> None:
    if transport not in (None, "alltoallv") or packing not in (None, "buffer"):
        raise InputError(
            f"algorithm 'native' is MPI_Alltoallv of packed data, not transport {transport!r} with packing {packing!r}"
        )


def _asked(
    what: _core.Schedule | _core.Pattern, algorithm: str | None, transport: str | None, packing: str | None
) -> tuple[_core.Pattern, Choice]:
    """The pattern, and what the arguments name of the way to carry it out."""
    if isinstance(what, _core.Schedule):
        if algorithm is not None:
            raise InputError(f"algorithm {algorithm!r}: the schedule has one already, {what.algorithm}")
        pattern, algorithm = what.pattern, what.algorithm
    elif isinstance(what, _core.Pattern):
        pattern = what
    else:
        raise InputError(f"{what!r} is neither a schedule nor a pattern")
    asked = Choice(algorithm, transport, packing)
    if problems := asked.problems(pattern.name):
        raise InputError(*problems)
    return pattern, asked


def _carried(
    what: _core.Schedule | _core.Pattern, pattern: _core.Pattern, way: Choice
) -> tuple[_core.Schedule | None, str, str]:
    """Schedule (None: MPI's own collective), transport and packing of a way."""
    if way.algorithm == NATIVE and isinstance(pattern, _core.Transpose) and pattern.complete:
        _check_native(way.transport, way.packing)
        way = Choice("burst", "alltoallv", DEFAULT_PACKING)
    transport, packing = way.transport or DEFAULT_TRANSPORT, way.packing or DEFAULT_PACKING
    if way.algorithm == NATIVE:
        return None, transport, packing
    if isinstance(what, _core.Schedule) and not isinstance(pattern, FETCHES):  # which may have other levels
        return what, transport, packing
    return _core.make_schedule(pattern, way.algorithm or default_algorithm(pattern.name)), transport, packing


def go_on(comm: MPI.Intracomm) -> None:
    """All ranks have got this far. Collective: raises PlanError where another one refuses."""
    _mpi.agree(comm.py2f(), "", "")


def refuse(comm: MPI.Intracomm, error: InputError) -> NoReturn:
    """Raises an error, and tells the other ranks, which `go_on`."""
    _refuse(comm.py2f(), error)


def _refuse(handle: int, error: InputError) -> NoReturn:
    _mpi.agree(handle, "", str(error))  # tells the other ranks, which would wait otherwise
    raise error


def _checked(what: str, fields: Array | Sequence[Array], dims: str, *, writable: bool) -> list[Array]:
    arrays = [fields] if isinstance(fields, np.ndarray) else list(fields)
    if not arrays:
        raise InputError(f"no {what} field: one array or more are allowed")
    _check_dims(dims)
    for number, array in enumerate(arrays):
        name = f"{what} field {number}"
        if not isinstance(array, np.ndarray):
            raise InputError(f"{name} is a {type(array).__name__}: a NumPy array is allowed")
        if array.dtype.str[1:] not in DTYPES or not array.dtype.isnative:
            raise InputError(f"{name} has the type {array.dtype}: {', '.join(DTYPES)} in native byte order are allowed")
        if array.dtype != arrays[0].dtype:
            raise InputError(
                f"{name} has the type {array.dtype}, field 0 {arrays[0].dtype}: all fields of a plan have one type"
            )
        if not array.flags.aligned or any(s % array.itemsize for s in array.strides):
            raise InputError(f"{name} is not aligned: strides of whole elements are allowed, not {array.strides} bytes")
        if writable and not array.flags.writeable:
            raise InputError(f"{name} is read-only, but the plan writes into it")
        if writable and array.size and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
            raise InputError(f"{name} repeats elements (strides {array.strides} bytes), but the plan writes into it")
    return arrays


def _targets(
    pattern: _core.Pattern, sources: list[Array], target: Array | Sequence[Array] | None, dims: str
) -> list[Array]:
    if pattern.in_place or (target is None and getattr(pattern, "one_array", False)):
        if target is not None:
            raise InputError(f"a {pattern.name} works in place: give no target")
        _check_apart([(f"field {n}", a) for n, a in enumerate(sources)], 0)
        return sources
    if target is None:
        raise InputError(f"a {pattern.name} needs target arrays")
    targets = _checked("target", target, dims, writable=True)
    if targets[0].dtype != sources[0].dtype:
        raise InputError(f"the source has the type {sources[0].dtype}, the target {targets[0].dtype}: one is allowed")
    named = [(f"target field {n}", a) for n, a in enumerate(targets)]
    named += [(f"source field {n}", a) for n, a in enumerate(sources)]
    _check_apart(named, len(sources))
    return targets


def _check_apart(named: list[tuple[str, Array]], read_only: int) -> None:
    """No array may share memory with one that is written; the last `read_only` of them are only read."""
    for n, (name, array) in enumerate(named[: len(named) - read_only]):
        for other_name, other in named[n + 1 :]:
            if np.may_share_memory(array, other) and _share(array, other):
                raise InputError(f"{name} and {other_name} overlap in memory: the plan writes into the first")


def _share(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=10**6)  # type: ignore[arg-type]  # the stubs of NumPy know -1 and 0 only
    except np.exceptions.TooHardError:
        return True


def _describe(
    array: Array, pattern: _core.Pattern, dims: str
) -> tuple[int, tuple[int, int, int], tuple[int, int, int]]:
    """(address, points along x, y, z, bytes from point to point along x, y, z); the core checks the shape."""
    if pattern.name == "allreduce" and array.ndim == 1:
        return array.ctypes.data, (array.shape[0], 1, 1), (array.strides[0], array.nbytes, array.nbytes)
    if array.ndim != 3:
        wanted = (
            "one dimension"
            if pattern.name == "allreduce"
            else f"three dimensions, ({', '.join('n' + d for d in dims)}),"
        )
        raise InputError(f"a field of shape {array.shape}: {wanted} are allowed")
    order = [dims.index(axis) for axis in "xyz"]
    shape = tuple(array.shape[i] for i in order)
    strides = tuple(array.strides[i] for i in order)
    return array.ctypes.data, shape, strides  # type: ignore[return-value]


def ranks_here(comm: MPI.Intracomm) -> int:
    """Ranks on this rank's node. Collective."""
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    ranks: int = node.Get_size()
    node.Free()
    return ranks


def ranks_per_core(comm: MPI.Intracomm, cores: int) -> float:
    """Ranks that share a node, over the cores that they may use; the worst node. Collective."""
    return float(comm.allreduce(ranks_here(comm) / max(cores, 1), MPI.MAX))
