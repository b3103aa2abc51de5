"""Schedules on real MPI: `plan` binds one to arrays and a communicator.

Needs an MPI library and mpi4py (MissingMPIError names what to install); the rest of Tradewind works without.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tradewind import _core
from tradewind.base.collective import check_communicator, collective, collective_errors
from tradewind.base.errors import InputError, as_utf8, quoted
from tradewind.base.extents import true_or_false, whole_number
from tradewind.method.choice import choose_alone
from tradewind.method.memories import PRIVATE, SHARED
from tradewind.method.method import (
    DEFAULT_PACKING,
    DEFAULT_TRANSPORT,
    NATIVE,
    Method,
    default_algorithm,
    device_transports,
)
from tradewind.mpi.choice import chosen_on_all
from tradewind.mpi.device import NCCL, load_wheel, memory_of, stream_number
from tradewind.mpi.fields import ELEMENTS, checked, checked_dims, checked_targets, described_box
from tradewind.mpi.levels import described_points, levels_of, with_equal_levels
from tradewind.mpi.library import MPI, Plan, _mpi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

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
    stream: Any = None,
    pushes_at_once: bool = True,
    tuning: str | Path | None = None,
) -> Plan:
    """Bind a schedule, or a pattern and an algorithm, to arrays. Collective over `comm`.

    `fields`: one array or several; the fields of several travel in one message. Each array has the shape that the
    pattern gives this rank, (nz, ny, nx) or in the order of `dims` ("xyz" for Fortran's arrays), any strides, and one
    of the element types f4 f8 i4 i8 c8 c16. A reduction takes vectors. A fetch takes arrays of one to three dimensions:
    `axis` is the one over points, the others are levels, whose numbers may differ from field to field; so they may in a
    halo of a grid of one level. `target`: as many arrays, for a transposition or a fetch
    between two arrays; halos and reductions work in place. `operation` of a reduction: sum, min, max or prod; a
    gather-scatter has the one that it was made with.

    Arrays may lie on a device, of CUDA or ROCm, all of a plan on one: see `Plan.staging`. `stream`: that of the
    caller's work on them, its number or a stream of CuPy, PyTorch or Numba; None: the one that the arrays name, or else
    the default stream. A call reads what was written before it in that stream, and returns before its own copies into
    the arrays are over: what comes later in the stream waits for them. `pushes_at_once`: transport shared
    pushes messages on devices to all targets at once; False: to one after another.

    `algorithm`, `transport` and `packing`: see ``tradewind list``. Those that are None are chosen at run time: by the
    environment, by the tuning file `tuning` (None: that of ``TRADEWIND_TUNING``; "": none), or by default; see
    `tradewind.method.choice`. `largest_message`: maximum bytes of an MPI message; longer messages are divided.
    `pack_ahead`: gather the messages of a stage during the stage before, if that does not change them. `synchronous`:
    a send ends only when it is received; this shows whether the model relies on MPI's buffers. `check`: compare a
    checksum of every message at its two ends. `watchdog_s`: maximum seconds of waiting; then PlanError names the peers
    (also for a plan that other ranks do not make); 0: no limit. `record`: "totals" fills `Plan.seconds`, "events" also
    `Plan.events`. `ranks_per_node`: transport shared takes every group of that many consecutive ranks for a node.

    The plan keeps the arrays alive. To carry out the exchange, call it on all ranks. Raises InputError for arguments
    that do not fit; PlanError if another rank raised any error, or the ranks make different plans. (A rank whose `comm`
    is no communicator cannot inform the others.)
    """
    check_communicator(comm)
    limit_s = float(watchdog_s) if isinstance(watchdog_s, int | float) and 0 <= watchdog_s < _LONGEST_S else 0.0
    local_errors = collective_errors(comm, limit_s)
    with local_errors:
        pattern, asked = _asked(what, algorithm, transport, packing)
        one_array = pattern.one_array
        checked_dims(dims)
        largest_message = whole_number("largest_message", largest_message)
        ranks_per_node = whole_number("ranks_per_node", ranks_per_node)
        flags = {"pack_ahead": pack_ahead, "synchronous": synchronous, "check": check}
        flags["pushes_at_once"] = pushes_at_once
        pack_ahead, synchronous, check, pushes_at_once = (true_or_false(name, value) for name, value in flags.items())
        for name, text in (("operation", operation), ("record", record)):
            if not isinstance(text, str):
                raise InputError(f"{name} {quoted(text)}: a name is allowed")
        record = as_utf8(record)
        if not isinstance(watchdog_s, int | float) or not abs(watchdog_s) <= sys.float_info.max:
            raise InputError(f"watchdog_s {quoted(watchdog_s)}: seconds, 0 or more, are allowed")
        sources = checked("source", fields, writable=pattern.in_place or one_array)
        targets = checked_targets(pattern, sources, target)
        sources, targets, axis, split = with_equal_levels(pattern, comm.Get_rank(), sources, targets, dims, axis)
        if pattern.has_levels:
            pattern = pattern.for_levels(levels_of(sources[0], axis))
            described = [described_points(a, axis) for a in sources], [described_points(a, axis) for a in targets]
        else:
            boxes = [described_box(a, pattern, dims) for a in (*sources, *targets)]
            described = boxes[: len(sources)], boxes[len(sources) :]
        element = ELEMENTS[sources[0].dtype]
        memory_of_fields = memory_of(sources, targets)
        number = stream_number(stream)
        if memory_of_fields is not None and number is not None:
            memory_of_fields = memory_of_fields._replace(stream=number)
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
            memory_of_fields,
            pushes_at_once,
            split,
        )
        # Most often all ranks choose alike without a word; that they do is seen when they compare their plans.
        guess = None
        if (alone := choose_alone(pattern, element, len(sources), asked, tuning=tuning)) is not None:
            with suppress(InputError):  # an invalid choice of rank 0 is reported below
                guess = _carried(what, pattern, alone.choice)
    handle = comm.py2f()

    def bound(schedule: _core.Schedule | None, by: str, packed: str, tentative: bool) -> Plan | None:
        if by in device_transports():
            load_wheel(NCCL)
        if schedule is None:
            return _mpi.native_plan(pattern, handle, request, by, packed, tentative)
        return _mpi.schedule_plan(schedule, handle, request, by, packed, tentative)

    if guess is None:
        _mpi.decline(handle, limit_s)
    elif (made := bound(*guess, tentative=True)) is not None:
        return made

    def memory() -> str:
        return SHARED if request.in_shared_memory else PRIVATE

    chosen = chosen_on_all(comm, pattern, element, len(sources), asked, tuning=tuning, memory=memory).choice
    algorithm = chosen.algorithm or ""
    needed = _core.needs_all_lists(pattern, algorithm)
    if comm.bcast(needed):  # on rank 0, so on all
        pattern = _mpi.allgather_lists(handle, pattern, algorithm, needed)
    with local_errors:
        carried = _carried(what, pattern, chosen)
    return cast(Plan, bound(*carried, tentative=False))


def _asked(
    what: _core.Schedule | _core.Pattern, algorithm: str | None, transport: str | None, packing: str | None
) -> tuple[_core.Pattern, Method]:
    """The pattern, and what the arguments name of its method."""
    if isinstance(what, _core.Schedule):
        if algorithm is not None:
            raise InputError(f"algorithm {algorithm!r}: the schedule has one already, {what.algorithm}")
        pattern, algorithm = what.pattern, what.algorithm
    elif isinstance(what, _core.Pattern):
        pattern = what
    else:
        raise InputError(f"{quoted(what)} is neither a schedule nor a pattern")
    asked = Method(algorithm, transport, packing)
    if problems := asked.problems(pattern.name):
        raise InputError(*problems)
    return pattern, asked


def _carried(
    what: _core.Schedule | _core.Pattern, pattern: _core.Pattern, method: Method
) -> tuple[_core.Schedule | None, str, str]:
    """Schedule (None: MPI's own collective), transport and packing of a method."""
    if method.algorithm == NATIVE:
        method = Method(*_core.carried_method(pattern, NATIVE, method.transport or "", method.packing or ""))
    transport, packing = method.transport or DEFAULT_TRANSPORT, method.packing or DEFAULT_PACKING
    if method.algorithm == NATIVE:
        return None, transport, packing
    if isinstance(what, _core.Schedule) and not pattern.has_levels:  # which may have other levels
        return what, transport, packing
    return _core.make_schedule(pattern, method.algorithm or default_algorithm(pattern.name)), transport, packing
