"""Warnings about a busy machine: when they come, and what they name."""

from __future__ import annotations

import pytest

from tradewind.cli.run_tables import warnings_by_kind
from tradewind.launch.quiet import cores_here, warnings_of

STEADY, WIDE = [1.0, 1.01, 1.02, 1.03], [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("cores", "per_core", "busy", "ratio", "samples", "words"),
    [
        (4, 0.5, 0.1, 1.0, STEADY, []),
        (1, 2.0, 0.3, 1.0, STEADY, []),  # two ranks on one of four cores leave three to others
        (4, 1.0, 0.3, 1.0, STEADY, ["other processes keep 0.3 of 4 cores at work; end them"]),
        (64, 0.5, 1.0, 1.0, STEADY, []),  # of many free cores
        (64, 1.0, 1.0, 1.0, STEADY, ["the machine is busy"]),
        (64, 0.5, 9.0, 1.0, STEADY, ["the machine is busy"]),
        (4, 2.0, 0.0, 1.2, STEADY, ["the clock of the cores has changed: a fixed computation took 1.20 times"]),
        (4, 1.0, 0.0, 0.8, STEADY, ["took 0.80 times as long"]),
        (4, 1.0, 0.0, 1.0, WIDE, ["the samples of 1 of 2 measurements are far apart", "--repeat 100 --rounds 5"]),
        (4, 1.0, 0.0, 1.0, WIDE[:3], []),
    ],
)
def test_warnings(cores, per_core, busy, ratio, samples, words):
    result = {"cores": cores, "ranks_per_core": per_core}
    result["quiet"] = {"busy_cores": busy, "node_cores": 4 if cores == 1 else cores, "clock_ratio": ratio}
    found = warnings_of(result, [STEADY, samples])
    assert len(found) == min(1, len(words))
    assert all(word in found[0] for word in words)


def test_a_warning_names_the_options_of_its_command():
    result = {"cores": 4, "ranks_per_core": 1.0}
    result["quiet"] = {"busy_cores": 0.0, "node_cores": 4, "clock_ratio": 2.0}
    found = warnings_of(result, [WIDE], "--trials 100")
    assert len(found) == 2
    assert all("take more samples (--trials 100)" in text for text in found)


def test_strategies_share_a_warning_of_one_kind():
    rows = [
        {"strategy": "plain", "warnings": ["the machine is busy: 1.0 cores"]},
        {"strategy": "overlap", "warnings": ["the machine is busy: 1.2 cores", "the clock: 2 times"]},
    ]
    assert warnings_by_kind(rows) == ["plain, overlap: the machine is busy: 1.0 cores", "overlap: the clock: 2 times"]


def test_bound_ranks_have_the_cores_of_all(monkeypatch):
    pytest.importorskip("mpi4py.MPI")
    from types import SimpleNamespace

    node = SimpleNamespace(allgather=lambda own: [own, {1}, {1, 2}], Free=lambda: None)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    assert cores_here(SimpleNamespace(Split_type=lambda _: node)) == 3


def test_ranks_look_at_the_machine():
    pytest.importorskip("mpi4py.MPI")
    import psutil

    from tradewind.launch import bench
    from tradewind.workload.exchange import Exchange

    result = bench(Exchange("allreduce", 2), repeat=6, check=False)
    assert 0 <= result["quiet"]["busy_cores"] <= 1.5 * psutil.cpu_count()
    assert 0.01 < result["quiet"]["clock_ratio"] < 100
    assert isinstance(result["warnings"], list)
