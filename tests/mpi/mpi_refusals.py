"""Wrong uses of a plan, by ranks: each returns what every rank met, as "Kind: text", "" where nothing was refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import TradewindError

GRID = (12, 10, 4)


def _halo(ranks: int, width: int = 2) -> _core.Halo:
    return _core.Halo(_core.Blocks(_core.Grid(*GRID), (ranks, 1)), width, [True, True])


def _swap(ranks: int) -> _core.Transpose:
    grid = _core.Grid(*GRID)
    return _core.Transpose(_core.Blocks(grid, (ranks, 1), "xy"), _core.Blocks(grid, (ranks, 1), "zy"))


def _zeros(comm: Any, width: int = 2) -> Any:
    return np.zeros(_halo(comm.size, width).source_shape(comm.rank))


def _plan(*arguments: Any, **options: Any) -> Any:
    from tradewind import mpi

    return mpi.plan(*arguments, **options)


def shape_on_one_rank(comm: Any) -> None:
    array = _zeros(comm)
    _plan(_halo(comm.size), comm, array[:, 1:] if comm.rank == 1 else array)


def dimensions(comm: Any) -> None:
    _plan(_halo(comm.size), comm, np.zeros(5))


def fortran_shape(comm: Any) -> None:
    _plan(_halo(comm.size), comm, np.asfortranarray(_zeros(comm).transpose()))


def mixed_types(comm: Any) -> None:
    _plan(_halo(comm.size), comm, [_zeros(comm), _zeros(comm).astype("f4")])


def unknown_type(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm).astype("u2"))


def byte_order(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm).astype(">f8"))


def no_array(comm: Any) -> None:
    _plan(_halo(comm.size), comm, [_zeros(comm).tolist()])


def no_field(comm: Any) -> None:
    _plan(_halo(comm.size), comm, [])


def read_only(comm: Any) -> None:
    array = _zeros(comm)
    array.flags.writeable = False
    _plan(_halo(comm.size), comm, array)


def same_array_twice(comm: Any) -> None:
    array = _zeros(comm)
    _plan(_halo(comm.size), comm, [array, array])


def target_in_place(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), _zeros(comm))


def target_missing(comm: Any) -> None:
    _plan(_swap(comm.size), comm, np.zeros(_swap(comm.size).source_shape(comm.rank)))


def target_overlaps(comm: Any) -> None:
    pattern = _swap(comm.size)
    memory = np.zeros(2 * int(np.prod(pattern.source_shape(comm.rank))))
    views = []
    for shape in (pattern.source_shape(comm.rank), pattern.target_shape(comm.rank)):
        views.append(memory[: int(np.prod(shape))].reshape(shape))
    _plan(pattern, comm, *views)


def fewer_targets(comm: Any) -> None:
    pattern = _swap(comm.size)
    source = [np.zeros(pattern.source_shape(comm.rank)) for _ in range(2)]
    _plan(pattern, comm, source, np.zeros(pattern.target_shape(comm.rank)))


def other_ranks(comm: Any) -> None:
    _plan(_halo(comm.size + 1), comm, _zeros(comm))


def dims(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), dims="zxx")


def transport(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), transport="isend-irevc")


def packing(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), transport="shared", packing="datatype")


def several_stages(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), algorithm="sweep", transport="neighbor")


def direct_in_small_runs(comm: Any) -> None:
    grid = _core.Grid(2, 300, 300)
    pattern = _core.Halo(_core.Blocks(grid, (comm.size, 1)), 1, [True, True])
    array = np.zeros(pattern.source_shape(comm.rank))
    _plan(pattern, comm, array, algorithm="direct", packing="direct")


def different_transports(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), transport=["put-fence", "shared"][comm.rank])


def watchdog(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), watchdog_s=-1.0)


def record(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), record="everything")


def record_on_one_rank(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), record="everything" if comm.rank else "")


def algorithm(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), algorithm="sweeep")


def native_halo(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), algorithm="native")


def complex_minimum(comm: Any) -> None:
    _plan(_core.AllReduce(comm.size, 3), comm, np.zeros(3, "c16"), operation="min")


def operation(comm: Any) -> None:
    _plan(_core.AllReduce(comm.size, 3), comm, np.zeros(3), operation="mean")


def operation_of_a_halo(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), operation="max")


def operation_on_one_rank(comm: Any) -> None:
    _plan(_core.AllReduce(comm.size, 3), comm, np.zeros(3), operation="sum" if comm.rank else "mean")


def null_communicator(comm: Any) -> None:
    other = comm.Dup()
    other.Free()
    _plan(_halo(comm.size), other, _zeros(comm))


def different_plans(comm: Any) -> None:
    width = 2 + comm.rank
    _plan(_halo(comm.size, width), comm, _zeros(comm, width))


def _fetch(comm: Any, of_one: list[int], of_other: list[int]) -> None:
    """Plan a fetch from lists of all ranks, as each rank passes them."""
    fetch = tw.Fetch([[0, 1, 2], [3, 4, 5]], [of_one, [0, 1]] if comm.rank == 0 else [of_other, [0, 1]])
    _plan(fetch, comm, np.zeros(3), np.zeros(2), check=True)


def different_lists(comm: Any) -> None:
    _fetch(comm, [3, 4], [4, 3])


def different_lists_of_the_same_runs(comm: Any) -> None:
    _fetch(comm, [3, 4], [4, 5])


def different_lists_to_gather(comm: Any) -> None:
    from tradewind import points

    points.allgather_lists(comm, tw.Fetch([[0, 1], [2, 3]], [[2 + comm.rank], [0]]))


def fetches_of_their_own(comm: Any) -> None:
    """Two that all ranks have made together, of as many points; each rank takes another one."""
    from tradewind import points

    mesh = points.Points(comm, [2 * comm.rank, 2 * comm.rank + 1])
    there = 2 * (1 - comm.rank)
    fetches = [mesh.fetch([there]), mesh.fetch([there + 1])]
    _plan(fetches[comm.rank], comm, np.zeros(2), np.zeros(1))


def different_levels(comm: Any) -> None:
    fetch = tw.Fetch([[0], [1]], [[1], [0]])
    shape = (2, 3, 1) if comm.rank else (3, 2, 1)
    _plan(fetch, comm, np.zeros(shape), np.zeros(shape))


def different_levels_by_field(comm: Any) -> None:
    """As many of all fields together on both ranks."""
    source, target = ([np.zeros((levels, 1)) for levels in (2 - comm.rank, 1 + comm.rank)] for _ in range(2))
    _plan(tw.Fetch([[0], [1]], [[1], [0]]), comm, source, target)


def different_layers_by_field(comm: Any) -> None:
    halo = _core.Halo(_core.Blocks(_core.Grid(12, 10, 1), (comm.size, 1)), 1, [True, True])
    _, ny, nx = halo.source_shape(comm.rank)
    _plan(halo, comm, [np.zeros((levels, ny, nx)) for levels in (2 - comm.rank, 1 + comm.rank)])


def different_algorithms(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm), algorithm=["sweep", "direct"][comm.rank])


def communicator_gone(comm: Any) -> None:
    other = comm.Dup()
    plan = _plan(_halo(comm.size), other, _zeros(comm))
    plan()
    other.Free()
    plan()


def start_twice(comm: Any) -> None:
    plan = _plan(_halo(comm.size), comm, _zeros(comm))
    plan.start()
    try:
        plan.start()
    finally:
        plan.wait()


def wait_first(comm: Any) -> None:
    _plan(_halo(comm.size), comm, _zeros(comm)).wait()


def call_while_started(comm: Any) -> None:
    plan = _plan(_halo(comm.size), comm, _zeros(comm))
    plan.start()
    try:
        plan()
    finally:
        plan.wait()


def destroyed_in_flight(comm: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plan = _plan(_halo(comm.size), comm, _zeros(comm))
        plan.start()
        del plan
    raise seen[0].message  # type: ignore[misc]


def overlaps_itself(comm: Any) -> None:
    shape = _zeros(comm).shape
    memory = np.zeros(2 * int(np.prod(shape)))
    strides = (8 * (shape[1] * shape[2] - 1), 8 * shape[2], 8)
    _plan(_halo(comm.size), comm, np.lib.stride_tricks.as_strided(memory, shape, strides))


def target_overlaps_itself(comm: Any) -> None:
    """Only far from each other: along x in steps of 6, along y in steps of 4."""
    pattern = _swap(comm.size)
    shape = pattern.target_shape(comm.rank)
    target = np.lib.stride_tricks.as_strided(np.zeros(10000), shape, (8 * 1000, 8 * 4, 8 * 6))
    _plan(pattern, comm, np.zeros(pattern.source_shape(comm.rank)), target)


def repeated(comm: Any) -> None:
    array = _zeros(comm)
    _plan(_halo(comm.size), comm, np.lib.stride_tricks.as_strided(array, array.shape, (0, *array.strides[1:])))


def ids_too_large(comm: Any) -> None:
    tw.Points(comm, np.array([comm.rank, 2**63], dtype=np.uint64))


def wanted_too_large(comm: Any) -> None:
    tw.Points(comm, [comm.rank]).fetch([2**64])


ALL: dict[str, Callable[[Any], None]] = {
    name: function
    for name, function in list(globals().items())
    if callable(function) and getattr(function, "__module__", "") == __name__ and not name.startswith("_")
}


def run(comm: Any, payload: list[str]) -> dict[str, list[str]]:
    outcome = {}
    for name in payload:
        try:
            ALL[name](comm)
            met = ""
        except (TradewindError, Warning) as error:
            met = f"{type(error).__name__}: {error}"
        outcome[name] = comm.allgather(met)
    return outcome


def interleaved(comm: Any, _: None) -> list[list[float]]:
    """Two plans on one communicator, waited for in another order on each rank."""
    pattern = _halo(comm.size)
    arrays = [_zeros(comm) + 100 * n + comm.rank for n in range(2)]
    plans = [_plan(pattern, comm, array, algorithm="sweep") for array in arrays]
    for plan in plans:
        plan.start()
    for plan in plans if comm.rank == 0 else plans[::-1]:
        plan.wait()
    w, (ny, nx) = 2, arrays[0].shape[1:]
    halos = [[float(a[0, ny // 2, 0]), float(a[0, ny // 2, nx - 1]), float(a[0, 0, w])] for a in arrays]
    return comm.allgather(halos)  # type: ignore[no-any-return]
