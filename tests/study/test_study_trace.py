"""Sweeps of recorded programs in studies: cases, what is kept of them, mistakes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.replay.workload import TraceWorkload
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import Records, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.read import open_trace
from tradewind.trace.write import save_trace

STUDY = """\
title = "A recorded program on two machines"

[[sweep]]
name = "ring"
kind = "trace"
trace = "ring.trace"
computing = [0.5, 1]
allreduce = ["recursive-2", "ring"]
machine = ["torus-M", "fattree-M"]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank)
        calls.call("MPI_Sendrecv", gap_ns=5000, peer=(rank + 1) % 4, bytes=4000, source=(rank - 1) % 4, received=4000)
        calls.call("MPI_Allreduce", bytes=8, received=8, duration_ns=3000)
    path = tmp_path_factory.mktemp("study") / "ring.toml"
    save_trace(builder.trace(), path.parent / "ring.trace")
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def ran(study: Path) -> tuple[Store, Records]:
    file, executors = load_study(study), replace(FAKES, simulate=simulate)
    store = Store.create(study.parent / "results", STUDY)
    assert run_study(file, make_plan(file, executors, HERE), store, executors, HERE).failed == {}
    return store, read_records(store, HERE)


def test_factors_algorithms_and_machines_multiply(study: Path, ran: tuple[Store, Records]):
    assert len(expand(load_study(study).study)[0]) == len(ran[1].records) == 2 * 2 * 2
    trace = open_trace(study.parent / "ring.trace")
    for record in ran[1].records:
        assert (record["trace"], record["ranks"], record["pattern"]) == ("ring", 4, "trace")
        workload = TraceWorkload(trace, computing=float(record["computing"]), allreduce=record["algorithm"])
        alone = simulate(workload, record["machine"])
        assert record["time_s"] == alone["time_s"]
        assert quantity_of(record, "replay-ratio") == pytest.approx(alone["time_s"] / alone["recorded_s"])


def test_a_trace_of_the_same_name_with_other_calls_is_another_case(study: Path, tmp_path: Path):
    """Its SHA-256 is part of the case."""
    other = TraceBuilder(4)
    other.rank(0).call("MPI_Send", peer=1, bytes=8)
    other.rank(1).call("MPI_Recv", source=0, received=8)
    save_trace(other.trace(), tmp_path / "ring.trace")
    (tmp_path / "ring.toml").write_text(STUDY)
    requests = [
        {str(case.request) for case in expand(load_study(path).study)[0]} for path in (study, tmp_path / "ring.toml")
    ]
    assert len(requests[0]) == len(requests[1]) == 8
    assert not requests[0] & requests[1]


def test_a_copy_of_a_study_has_its_traces(ran: tuple[Store, Records]):
    kept = ran[0].folder / "traces" / "ring.trace"
    assert load_study(ran[0].study_file).study.sweep[0].trace == [str(kept)]
    data = kept.read_bytes()
    kept.unlink()
    assert load_study(ran[0].study_file, is_copy=True).study.title
    with pytest.raises(InputError, match=r"ring\.trace"):
        load_study(ran[0].study_file)
    kept.write_bytes(data)


def test_a_trace_of_several_files_is_refused(study: Path):
    (study.parent / "ring.ti").write_text("0 compute 1\n")
    with pytest.raises(InputError, match="tradewind export trace makes one"):
        load_study(study, STUDY.replace("ring.trace", "ring.ti"))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"ring.trace"', '"ringg.trace"', r"ringg\.trace"),
        ("[0.5, 1]", "-1", "computing -1.*0 to 1e.06 times the recorded time are allowed"),
        ('["recursive-2", "ring"]', '"rong"', "allreduce algorithm 'rong'.*ring"),
    ],
)
def test_mistakes(study: Path, old: str, new: str, error: str):
    with pytest.raises(InputError) as raised:
        load_study(study, STUDY.replace(old, new))
    assert re.search(error, " ".join(str(raised.value).split()))
