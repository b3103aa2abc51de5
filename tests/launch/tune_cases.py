"""Ranks that tune, and choose together."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, PlanError
from tradewind.method.method import Method

GRID = _core.Grid(12, 10, 4)


def halo(comm: Any, width: int = 2) -> _core.Halo:
    return _core.Halo(_core.Blocks(GRID, (comm.size, 1)), width, [True, True])


def own_arrays(comm: Any, file: str) -> Any:
    """Tunes three patterns on arrays of a model's own: what they hold must be there afterwards."""
    from tradewind.launch.trials import tune

    random = np.random.default_rng(comm.rank)
    pattern = halo(comm)
    fields = [random.random(pattern.source_shape(comm.rank)).transpose() for _ in range(2)]
    swap = _core.Transpose(_core.Blocks(GRID, (comm.size, 1)), _core.Blocks(GRID, (comm.size, 1), "zy"))
    source, target = random.random(swap.source_shape(comm.rank)), random.random(swap.target_shape(comm.rank))
    vector = random.random(9) + 1
    everything = [*fields, source, target, vector]
    before = [array.copy() for array in everything]
    few = {"warmup": 0, "trials": 2, "give_up": 1e9, "include": [",isend-irecv,buffer", "native"], "tuning": file}
    tuned = [
        tune(pattern, comm, fields, dims="xyz", **few | {"include": ["isend-irecv"]}),
        tune(swap, comm, source, target, **few),
        tune(_core.AllReduce(comm.size, 9), comm, vector, operation="prod", **few),
    ]
    kept = all((a == b).all() for a, b in zip(everything, before, strict=True))
    return comm.allgather(([asdict(choice) for choice, _ in tuned], kept, [table for _, table in tuned]))


def _outcomes(comm: Any, act: Any) -> list[str]:
    try:
        act()
        text = ""
    except (InputError, PlanError) as error:
        text = f"{type(error).__name__}: {error}"
    return comm.allgather(text)


def wrong_arrays(comm: Any, _: None) -> Any:
    """On one rank the array does not fit."""
    from tradewind.launch.trials import tune

    array = np.zeros(halo(comm).source_shape(comm.rank))
    return _outcomes(comm, lambda: tune(halo(comm), comm, array[:, 1:] if comm.rank else array))


def wrong_terms(comm: Any, _: None) -> Any:
    """Rank 0's figures count; rank 1's are not looked at."""
    from tradewind.launch.trials import tune

    array = np.zeros(halo(comm).source_shape(comm.rank))
    bad = _outcomes(comm, lambda: tune(halo(comm), comm, array, trials=0 if comm.rank == 0 else 2))
    fine = {"trials": 1 if comm.rank == 0 else 0, "include": ["sweep,isend-irecv,buffer"] if comm.rank == 0 else ["x"]}
    return [bad, _outcomes(comm, lambda: tune(halo(comm), comm, array, **fine))]


def unwritable(comm: Any, _: None) -> Any:
    from tradewind.launch.trials import tune

    array = np.zeros(halo(comm).source_shape(comm.rank))
    options = {"trials": 1, "include": ["sweep,isend-irecv,buffer"], "tuning": "/no/folder/t.toml"}
    return _outcomes(comm, lambda: tune(halo(comm), comm, array, **options))


def choice_of_rank_0(comm: Any, file: str) -> Any:
    """Ranks see different variables and files; those of rank 0 count, a rank's own arguments on that rank."""
    from tradewind.mpi.choice import choose_collectively

    os.environ["TRADEWIND_HALO"] = ",persistent" if comm.rank == 0 else "nonsense,,,"
    os.environ["TRADEWIND_TUNING"] = "" if comm.rank == 0 else "/no/file"
    first = choose_collectively(comm, halo(comm), "f8", 1)
    own = choose_collectively(comm, halo(comm), "f8", 1, Method(packing="direct") if comm.rank else None)
    del os.environ["TRADEWIND_HALO"]
    os.environ["TRADEWIND_TUNING"] = file if comm.rank == 0 else ""
    tuned = choose_collectively(comm, halo(comm), "f8", 1)
    return comm.allgather([(str(each.choice), each.origin) for each in (first, own, tuned)])


def bad_choice_of_rank_0(comm: Any, _: None) -> Any:
    from tradewind.mpi.choice import choose_collectively

    os.environ["TRADEWIND_HALO"] = "" if comm.rank else "swep"
    return _outcomes(comm, lambda: choose_collectively(comm, halo(comm), "f8", 1))


def plan_of_a_pattern(comm: Any, _: None) -> Any:
    """Return the result of a plan that is made of the pattern itself."""
    import tradewind as tw

    layout = tw.Blocks(GRID, (comm.size, 1))
    array = np.full(tw.Halo(layout, 1, "xy").source_shape(comm.rank), float(comm.rank))
    tw.Halo(layout, 1, "xy").plan(comm, array, algorithm="direct")()
    return comm.allgather([array[:, :, 0].mean(), array[:, :, 1:-1].mean(), array[:, :, -1].mean()])


def plans_by_environment(comm: Any, _: None) -> Any:
    """How plans are carried out, with variables that only rank 0 sees."""
    from tradewind import mpi

    def made(what: Any, variables: dict[str, str], **options: Any) -> str:
        os.environ |= variables if comm.rank == 0 else {}
        try:
            plan = mpi.plan(what, comm, array, **options)
            plan()
            return f"{plan.transport},{plan.packing},{plan.messages}"
        except (InputError, PlanError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            for name in variables:
                os.environ.pop(name, None)

    pattern = halo(comm, 1)
    array = np.zeros(pattern.source_shape(comm.rank))
    direct = {"TRADEWIND_HALO": "direct,persistent,datatype"}
    return comm.allgather(
        [
            made(pattern, {}),
            made(pattern, direct),
            made(pattern, direct, packing="buffer"),
            made(_core.make_schedule(pattern, "sweep"), direct),
            made(pattern, {"TRADEWIND_HALO": "swep"}),
            made(pattern, {"TRADEWIND_HALO": ",neighbor"}),
            made(pattern, {"TRADEWIND_TUNING": "/no/file"}),
            made(pattern, {"TRADEWIND_TUNING": "/no/file"}, tuning=""),
            made(pattern, {}, transport="persistent" if comm.rank else "sendrecv"),
        ]
    )


def plans_of_both_memories(comm: Any, file: str) -> Any:
    """How plans are carried out on arrays of rank 0 that are shared, are not, and are in part."""
    from tradewind import mpi

    pattern = halo(comm)
    shared = mpi.empty(pattern, comm, fields=2)
    private = [array.copy() for array in shared]
    on_one_rank = shared if comm.rank == 0 else private
    flipped = [array[::-1, :, ::-1] for array in shared]

    def method(arrays: Any) -> str:
        plan = mpi.plan(pattern, comm, arrays, tuning=file)
        plan()
        return f"{plan.transport},{plan.packing}"

    mixed = [shared[0], private[1]]
    return comm.allgather([method(arrays) for arrays in (shared, private, on_one_rank, flipped, mixed)])


def host(comm: Any, _: None) -> Any:
    from tradewind.mpi.host import host_of

    return asdict(host_of(comm))


def fetch_of_a_model(comm: Any, file: str) -> Any:
    """How a model's halo of the same points, the same with fewer levels, and its adjoint are carried out."""
    from tradewind import points

    nx, ny, levels, width = 24, 20, 4, 2
    mesh = points.Points(comm, _core.Blocks(_core.Grid(nx, ny, levels), (2, 1)))
    theirs = np.arange(nx // 2, nx // 2 + width) if comm.rank == 0 else np.arange(nx // 2 - width, nx // 2)
    halo = mesh.halo((theirs + nx * np.arange(ny)[:, None]).ravel())

    def method(pattern: Any, depth: int) -> str:
        plan = pattern.plan(comm, np.zeros((depth, mesh.count + width * ny)), tuning=file)
        plan()
        return f"{plan.transport},{plan.packing}"

    return comm.allgather([method(halo, levels), method(halo, levels - 1), method(halo.adjoint(), levels)])


def tuned_fetches(comm: Any, file: str) -> Any:
    """Tunes fetches, the second with its levels inside and then outside; returns how many ways were the right ones."""
    from tradewind import points
    from tradewind.launch.trials import tune

    mesh = points.Points(comm, [10 * comm.rank + i for i in range(5)])
    other = 10 * (1 - comm.rank)
    three, four = mesh.fetch([other, other + 2, other]), mesh.fetch([other + i for i in range(4)])
    few = {"warmup": 0, "trials": 1, "give_up": 1e9, "include": ["direct,shared,buffer"], "tuning": file}
    right = 0
    for pattern, shape, axis in (
        (three, (5,), -1),
        (three, (5, 3), 0),
        (three, (3, 5), 1),
        (four, (1, 5), -1),
        (three.adjoint(), (5,), 0),
    ):
        wanted = 4 if pattern is four else 3
        arrays = [np.ones(shape), np.ones([wanted if n == 5 else n for n in shape])]
        if isinstance(pattern, _core.FetchAdjoint):
            arrays.reverse()
        choice, _ = tune(pattern, comm, *arrays, axis=axis, **few)
        right += choice == Method("direct", "shared", "buffer") and all((array == 1).all() for array in arrays)
    return comm.allgather(right)
