"""Schedules on real MPI: `plan` binds one to arrays and a communicator.

Needs an MPI library and mpi4py (MissingMPIError says what to install); the rest of Tradewind works without.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from operator import index as whole_number
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tradewind import _core
from tradewind.choice import choose_alone, chosen_together
from tradewind.errors import INSTALL_MPI, InputError, MissingMPIError
from tradewind.exchange import DTYPES, default_algorithm, unknown
from tradewind.fields import ELEMENTS, checked, checked_dims, checked_targets, described_box
from tradewind.installation import in_brackets, not_loaded
from tradewind.levels import FETCHES, described_points, levels_of
from tradewind.memory import require
from tradewind.together import check_communicator, collective, go_on, telling
from tradewind.tuning import PRIVATE, SHARED
from tradewind.ways import DEFAULT_PACKING, DEFAULT_TRANSPORT, Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:  # RuntimeError: mpi4py is there, but finds no MPI library
    raise MissingMPIError(f"MPI is not available ({in_brackets(error)}): {INSTALL_MPI}") from error
try:
    from tradewind import _mpi
except ImportError as error:
    raise MissingMPIError(not_loaded(error)) from error

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
_LONGEST_S = 1e9  # of a watchdog


@collective
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
    PlanError, which says for whom, and so does a rank whose plan the others do not make; 0 waits for ever. `record`:
    "totals" fills `Plan.seconds`, "events" `Plan.events` too. `ranks_per_node`: transport shared behaves as if so many
    ranks in a row had a node of their own.

    The plan keeps the arrays alive. Called on all ranks, it carries out the exchange. Raises InputError where something
    does not fit; PlanError where another rank raised, whatever it was, or the ranks make different plans. (A rank whose
    `comm` is none has no way to tell the others.)
    """
    check_communicator(comm)
    limit_s = float(watchdog_s) if isinstance(watchdog_s, int | float) and 0 <= watchdog_s < _LONGEST_S else 0.0
    heard = telling(comm, limit_s)
    with heard:
        pattern, asked = _asked(what, algorithm, transport, packing)
        one_array = getattr(pattern, "one_array", False)
        checked_dims(dims)
        sources = checked("source", fields, writable=pattern.in_place or one_array)
        targets = checked_targets(pattern, sources, target)
        if isinstance(pattern, FETCHES):
            pattern = pattern.with_levels(levels_of(pattern, comm.Get_rank(), sources, targets, axis))
            described = [described_points(a, axis) for a in sources], [described_points(a, axis) for a in targets]
        else:
            boxes = [described_box(a, pattern, dims) for a in (*sources, *targets)]
            described = boxes[: len(sources)], boxes[len(sources) :]
        element = ELEMENTS[sources[0].dtype]
        request = _mpi.Request(
            described[0],
            described[1],
            (sources, targets),
            element,
            operation,
            largest_message,
            pack_ahead,
            synchronous,
            check,
            watchdog_s,
            record,
            ranks_per_node,
        )
        # Most often all ranks choose alike without a word; that they do is seen when they compare their plans.
        guess = None
        if (alone := choose_alone(pattern, element, len(sources), asked, tuning=tuning)) is not None:
            with suppress(InputError):  # what is wrong with what rank 0 chooses is said below
                guess = _carried(what, pattern, alone.choice)
    handle = comm.py2f()

    def bound(schedule: _core.Schedule | None, by: str, packed: str, sure: bool) -> Plan | None:
        if schedule is None:
            return _mpi.native_plan(pattern, handle, request, by, packed, sure)
        return _mpi.schedule_plan(schedule, handle, request, by, packed, sure)

    if guess is None:
        _mpi.abstain(handle, limit_s)
    elif (made := bound(*guess, sure=False)) is not None:
        return made

    def memory() -> str:
        return SHARED if request.in_shared_memory else PRIVATE

    chosen = chosen_together(comm, pattern, element, len(sources), asked, tuning=tuning, memory=memory).choice
    algorithm = chosen.algorithm or ""
    needed = _core.needs_all_lists(pattern, algorithm)
    if comm.bcast(needed):  # on rank 0, so on all
        pattern = _mpi.known_to_all(handle, pattern, algorithm, needed)
    with heard:
        carried = _carried(what, pattern, chosen)
    return cast(Plan, bound(*carried, sure=True))


@collective
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
    Collective: raises InputError for what cannot be, PlanError where no memory is left, and where another rank raises.
    """
    check_communicator(comm)
    with telling(comm):
        arrays = _empty(pattern, comm.Get_rank(), dtype, fields, of, dims)
    go_on(comm)
    return arrays[0] if fields == 1 else arrays


def _empty(pattern: _core.Pattern, rank: int, dtype: str, fields: int, of: str, dims: str) -> list[Array]:
    if not isinstance(pattern, _core.Pattern):
        raise InputError(f"{pattern!r} is no pattern")
    if of not in ("source", "target"):
        raise InputError(f"of {of!r}: 'source' and 'target' are allowed")
    if dtype not in DTYPES:
        raise InputError(unknown("dtype", dtype, DTYPES))
    if whole_number(fields) < 0:
        raise InputError(f"fields {fields}: 0 or more are allowed")
    shape = pattern.source_shape(rank) if of == "source" else pattern.target_shape(rank)
    bytes_needed = float(fields) * float(np.prod(shape, dtype=float)) * DTYPES[dtype]
    require(f"{fields} arrays of shape {tuple(shape)}", bytes_needed, "name fewer fields, or more ranks")
    arrays = []
    for _ in range(fields):
        array = shared_zeros(shape, dtype)
        if isinstance(pattern, FETCHES):
            arrays.append(array.reshape([n for n in shape[:2] if n != 1] + [shape[2]]))
        else:
            order = ["zyx".index(axis) for axis in checked_dims(dims)]
            arrays.append(array.reshape(-1) if pattern.name == "allreduce" else array.transpose(order))
    return arrays


def shared_zeros(shape: Sequence[int], dtype: str) -> Array:
    """Zeros in memory that the ranks of a node share, x fastest. Raises PlanError where no memory is left."""
    size = int(np.prod(shape))
    memory = np.asarray(_mpi.shared_bytes(max(size, 1) * DTYPES[dtype]))
    return memory.view(dtype)[:size].reshape(shape)


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


def ranks_here(comm: MPI.Intracomm) -> int:
    """Ranks on this rank's node. Collective."""
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    ranks: int = node.Get_size()
    node.Free()
    return ranks


def ranks_per_core(comm: MPI.Intracomm, cores: int) -> float:
    """Ranks that share a node, over the cores that they may use; the worst node. Collective."""
    return float(comm.allreduce(ranks_here(comm) / max(cores, 1), MPI.MAX))
