"""Changes that are tried of a recorded program, and what each saves."""

from __future__ import annotations

import pytest
from recorded_exchange import trace_of
from validation.machines import CROSSBAR, all_to_all, machine

from tradewind.replay.workload import TraceWorkload
from tradewind.simulation.trace_advice import advise_trace
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import Trace


def uneven() -> Trace:
    """Rank 1 computes three times as long as rank 0; a vector that is worth Rabenseifner's algorithm is summed up."""
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank).call("MPI_Barrier")
        for _ in range(2):
            calls.call("MPI_Allreduce", gap_ns=30_000 if rank == 1 else 10_000, bytes=800_000, received=800_000)
    return builder.trace()


def test_causes_add_up_and_the_best_algorithm_comes_first() -> None:
    found = advise_trace(TraceWorkload(uneven()), machine(CROSSBAR), threads=1)
    causes = found["causes"]
    assert sum(causes.values()) == pytest.approx(found["time_s"])
    assert (causes["computing_s"], causes["imbalance_s"]) == pytest.approx((30e-6, 30e-6))
    assert found["bounds"]["free_network_s"] == pytest.approx(60e-6)
    assert found["bounds"]["balanced_s"] == pytest.approx(found["time_s"] - 30e-6)
    times = {each["change"]: each["time_s"] for each in found["changes"]}
    assert list(times.values()) == sorted(times.values())
    best = next(name for name in times if name.startswith("allreduce"))
    assert best in ("allreduce by ring", "allreduce by rabenseifner")
    assert times["cores twice as fast"] == pytest.approx(found["time_s"] - 30e-6, rel=0.02)
    assert not any("ranks per node" in name or "at once" in name for name in times)  # nothing of it here


def test_what_the_machine_has_is_tried() -> None:
    """An eager limit and nodes that are shared; no allreduce is called."""
    (schedule,) = all_to_all(6, "pairwise", 1000).schedules().values()
    file = machine(CROSSBAR, mpi={"eager_limit": "1KiB"})
    found = advise_trace(TraceWorkload(trace_of(schedule, 8)), file, threads=1, ranks_per_node=2)
    saved = {each["change"]: each["saves_s"] for each in found["changes"]}
    assert saved["all messages sent at once"] > 0
    assert {"a thread for MPI's progress", "1 rank per node", "placement random"} < {*saved}
    assert not any(name.startswith("allreduce") for name in saved)
