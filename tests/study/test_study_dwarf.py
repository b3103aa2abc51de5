"""Dwarfs in studies: run here, simulated, and beside times that somebody has published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from slow_tests import slow
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.dataset.build import build_dataset, without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.dwarfs.frame.dwarf import Dwarf
from tradewind.dwarfs.spherical_harmonics import SphericalHarmonics
from tradewind.figure.figure import draw
from tradewind.report.build import build_report
from tradewind.report.pack import data_of
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.records import Records, exchange_of, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.finding import judge
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.model.study import Finding, Plot
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.study.plan.quick import quick_study
from tradewind.study.runner.executors import default_executors
from tradewind.study.runner.task import make_task, run_task

STUDIES = Path(__file__).parents[2] / "studies"
STUDY = """\
title = "A dwarf"

[[sweep]]
name = "here"
kind = "run"
dwarf = "diffusion"
grid = "32x32x4"
ranks = [1, 2]
strategy = ["exchange", "overlap"]
transport = ["sendrecv", "even-odd"]
steps = 10
repeat = 3
quick = { ranks = [2], transport = ["sendrecv"] }

[[sweep]]
name = "nodes"
kind = "run"
dwarf = "diffusion"
grid = "128x128x64"
ranks = [1, 12, 24]
machine = "piz-daint"
nodes = [1, 2]
strategy = ["exchange", "wide", "objects"]
width = 4
routing = "minimal"
point_time = "10ns"
set = { "node.memory_bandwidth" = "16GB/s" }

[[sweep]]
name = "theirs"
kind = "published"
dwarf = "diffusion"
source = "a paper, its table 1"
grid = "128x128x64"
transport = "isend-irecv"
nodes = 2
steps = 1000
ranks = [2, 4]
time = ["8s", "5s"]
"""

Calls = Callable[[str], int]


def run(folder: Path, text: str = STUDY, **options: Any) -> tuple[Records, Store]:
    path = folder / "dwarf.toml"
    path.write_text(text)
    study_file, executors = load_study(path), replace(FAKES, simulate=simulate)
    store = Store.create(folder / "results", text)
    environment = options.pop("environment", HERE)
    outcome = run_study(
        study_file, make_plan(study_file, executors, environment), store, executors, environment, **options
    )
    assert outcome.failed == {}
    return read_records(store, HERE), store


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Records, Store]:
    """The study after one run."""
    folder = tmp_path_factory.mktemp("computed")
    (folder / "calls").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRADEWIND_TEST_CALLS", str(folder / "calls"))
        return run(folder)


def test_lists_multiply_and_what_cannot_be_is_skipped() -> None:
    cases, skips = expand(load_study("a.toml", STUDY).study)
    kinds = [case.kind for case in cases]
    # Simulated: two strategies, 1 rank on 1 node only, 12 and 24 on both.
    assert {kind: kinds.count(kind) for kind in kinds} == {"run": 8, "simulate": 2 * 5, "published": 2}
    simulated = [case for case in cases if case.kind == "simulate"]
    assert {(case.labels["ranks"], case.labels["nodes"], case.options["ranks_per_node"]) for case in simulated} == {
        *((1, 1, 1), (12, 1, 12), (12, 2, 6), (24, 1, 24), (24, 2, 12)),
    }
    reasons = {skip.reason for skip in skips}
    assert "1 ranks, nodes 2: no equal shares" in reasons
    assert any("what it adds is not simulated" in reason for reason in reasons)
    assert len({case.name for case in cases if case.kind == "run"}) == 8


def test_a_quick_run_leaves_out_what_the_sweep_says() -> None:
    reduced, notes = quick_study(load_study("a.toml", STUDY).study)
    cases = [case for case in expand(reduced)[0] if case.kind == "run"]
    assert {(case.labels["ranks"], case.labels["transport"]) for case in cases} == {(2, "sendrecv")}
    assert "quick run, here: 2 of 8 cases; left out: ranks 1; transport even-odd" in notes


def test_each_is_computed_once_and_a_measurement_belongs_to_its_machine(tmp_path: Path, calls: Calls) -> None:
    records, _ = run(tmp_path)
    assert (calls("run"), len(records.records), records.missing) == (8, 20, [])
    run(tmp_path)
    assert calls("run") == 8
    run(tmp_path, remeasure=True)
    assert calls("run") == 16
    run(tmp_path, environment=replace(HERE, mpi="another MPI"))
    assert calls("run") == 24


def test_times_are_those_of_a_step(computed: tuple[Records, Store]) -> None:
    records, _ = computed
    by_kind = {kind: [r for r in records.records if r["kind"] == kind] for kind in ("run", "simulate", "published")}
    assert {(r["ranks"], r["time_s"]) for r in by_kind["run"]} == {(1, 1e-3), (2, 5e-4)}
    for record in by_kind["run"]:
        assert quantity_of(record, "compute") == pytest.approx(record["time_s"] / 2)
        assert quantity_of(record, "non-compute-share") == pytest.approx(0.5)
        assert quantity_of(record, "points") == pytest.approx(32 * 32 * 4 / record["time_s"])
        assert quantity_of(record, "copy-ratio") == 3.0
        assert record["packing"] == "buffer"
    assert [(r["ranks"], r["time_s"], r["nodes"]) for r in by_kind["published"]] == [(2, 8e-3, 2), (4, 5e-3, 2)]
    assert not any(record["is_foreign"] for record in records.records)
    assert {r["environment"]["host"] for r in by_kind["published"]} == {None}
    with pytest.raises(InputError, match="is a dwarf"):
        exchange_of(by_kind["run"][0])


def test_a_simulated_step_takes_what_the_formula_says(computed: tuple[Records, Store]) -> None:
    """A rank alone: 10 ns per point, and 16 bytes of it at 16 GB/s. Twelve of a node share that memory."""
    records, _ = computed
    found = {
        (r["strategy"], r["ranks"], r["nodes"]): quantity_of(r, "compute")
        for r in records.records
        if r["kind"] == "simulate"
    }
    points = 128 * 128 * 64
    assert found["exchange", 1, 1] == pytest.approx(points * 10.5e-9)
    # Twelve as 4 x 3: the largest part is 32 x 43 columns.
    assert found["exchange", 12, 1] == pytest.approx(32 * 43 * 64 * (10e-9 + 6e-9), rel=1e-6)
    assert found["exchange", 12, 2] == pytest.approx(32 * 43 * 64 * (10e-9 + 3e-9), rel=1e-6)
    # The first of two steps also computes two points around.
    wide = (36 * 47 + 32 * 43) / 2 * 64
    assert found["wide", 12, 1] == pytest.approx(wide * (10e-9 + 6e-9), rel=1e-6)


def test_where_both_overlap_nobody_says_which_is_which(tmp_path: Path, calls: Calls) -> None:
    text = STUDY.replace('["exchange", "wide", "objects"]', '"overlap"')
    simulated = [record for record in run(tmp_path, text)[0].records if record["kind"] == "simulate"]
    assert simulated
    for record in simulated:
        assert quantity_of(record, "step-time") == record["time_s"] > 0
        assert quantity_of(record, "compute") is None
        assert quantity_of(record, "non-compute") is None


def test_memory_and_time_are_per_node_and_for_all_nodes(tmp_path: Path, calls: Calls) -> None:
    text = """\
title = "Memory"

[[sweep]]
name = "there"
kind = "run"
dwarf = "spherical_harmonics"
truncation = 15
levels = 4
ranks = [2, 8]
ranks_per_node = 2
on_the_fly = [true, false]
machine = "escape-edr"
"""
    records, _ = run(tmp_path, text)
    assert len(records.records) == 4
    for record in records.records:
        dwarf = SphericalHarmonics(ranks=record["ranks"], truncation=15, levels=4, on_the_fly=record["on_the_fly"])
        distribution, nodes = dwarf.distribution(), record["ranks"] // 2
        arrays = sum(distribution.array_bytes(rank) for rank in range(dwarf.ranks))
        tables = sum(distribution.table_bytes(rank) for rank in range(dwarf.ranks))
        wanted = (arrays + (0 if dwarf.on_the_fly else tables)) / nodes / 1e9
        assert quantity_of(record, "memory") == pytest.approx(wanted)
        assert quantity_of(record, "node-time") == pytest.approx(record["time_s"] * nodes)
    path = tmp_path / "results.nc"
    write_dataset(without_empty(build_dataset(records.records, {})), path)
    for before, after in zip(records.records, read_dataset(path)[0], strict=True):
        assert quantity_of(after, "memory") == quantity_of(before, "memory")


def test_parts_that_compute_are_added_and_a_mesh_of_a_source_has_no_points() -> None:
    parts = [{"part": name, "median_s": seconds} for name, seconds in (("compute-fft", 2.0), ("compute-waves", 1.0))]
    of_run = {"dwarf": "spherical_harmonics", "kind": "run", "time_s": 2.0, "grid": None}
    run_record = {**of_run, "result": {"steps": 2, "parts": [*parts, {"part": "rows-wait", "median_s": 1.0}]}}
    assert quantity_of(run_record, "compute") == 1.5
    assert quantity_of(run_record, "non-compute") == 0.5
    published = {"dwarf": "mpdata", "kind": "published", "time_s": 2.0, "grid": "O1024", "result": {"time_s": 2.0}}
    assert quantity_of(published, "points") is None


QUANTITIES = ("time", "step-time", "compute", "non-compute", "non-compute-share", "points", "copy-ratio", "memory")


@pytest.mark.parametrize("keep", [*slow(lambda dataset: dataset), without_empty], ids=["all", "as kept"])
def test_the_dataset_gives_back_what_plots_and_findings_ask_for(
    keep: Any, computed: tuple[Records, Store], tmp_path: Path
) -> None:
    records, _ = computed
    path = tmp_path / "results.nc"
    write_dataset(keep(build_dataset(records.records, {})), path)
    again, _ = read_dataset(path)
    assert len(again) == len(records.records)
    for before, after in zip(records.records, again, strict=True):
        for label in ("sweep", "kind", "dwarf", "strategy", "ranks", "nodes", "work", "threads", "transport", "grid"):
            assert after[label] == before[label]
        for quantity in QUANTITIES:
            wanted = quantity_of(before, quantity)
            found = quantity_of(after, quantity)
            assert found == (None if wanted is None else pytest.approx(wanted)), (before["kind"], quantity)
    plot = Plot(kind="bars", title="t", of=[{"sweep": ["here"]}], curve="strategy")
    assert draw(plot, again) == draw(plot, records.records)


def test_where_the_time_goes_is_drawn(computed: tuple[Records, Store]) -> None:
    records, _ = computed
    plot = Plot(kind="parts", title="t", of=[{"sweep": ["here", "nodes"]}], curve="transport", panel="strategy")
    specification = draw(plot, records.records)
    assert specification is not None
    (rows,) = specification["datasets"].values()
    assert {(row["curve"], row["panel"], row["part"]) for row in rows} == {
        (transport, strategy, "compute")
        for transport in ("sendrecv", "even-odd")
        for strategy in ("exchange", "overlap")
    }
    assert draw(plot.model_copy(update={"of": [{"sweep": ["nodes"]}]}), records.records) is None


def test_the_report_shows_runs_and_what_is_published(computed: tuple[Records, Store]) -> None:
    _, store = computed
    page = build_report(store.folder, HERE).page.read_text()
    assert "Runs of dwarfs" in page
    runs, where = (column["texts"] for column in data_of(page)["tables"]["runs-table"]["columns"][:2])
    assert "published, 2 nodes" in where
    assert "diffusion overlap, halo 2" in runs


def records_of(values: dict[int, float], **labels: Any) -> list[dict[str, Any]]:
    return [
        {"sweep": "a", "kind": "run", "exchange": "e", "ranks": ranks, "seed": None, "time_s": value, "result": {}}
        | labels
        for ranks, value in values.items()
    ]


@pytest.mark.parametrize(
    ("between", "verdict"),
    [((2, 8), "confirmed"), ((4, 8), "confirmed"), ((1, 4), "contradicted"), ((8, 16), "contradicted")],
)
def test_a_curve_passes_a_level(between: tuple[int, int], verdict: str) -> None:
    finding = Finding(figure="1", claim="c", passes={"sweep": ["a"]}, level=0.5, between=between)
    found = judge(finding, records_of({1: 0.1, 2: 0.2, 4: 0.4, 8: 0.6, 16: 0.9}))
    assert found.verdict == verdict
    assert ("at 4 ranks" in found.because) == (between == (1, 4))


def test_a_level_needs_cases_on_both_sides() -> None:
    finding = Finding(figure="1", claim="c", passes={"sweep": ["a"]}, level=0.5, between=(1, 64))
    assert judge(finding, records_of({1: 0.1, 8: 0.9})).verdict == "not testable"


def test_proofs_are_wanted_for_every_number_of_ranks_and_transport() -> None:
    cases = records_of({n: None for n in (1, 2, 3)}, transport="even-odd")  # type: ignore[misc]
    cases += records_of({n: None for n in (1, 3)}, transport="sendrecv")  # type: ignore[misc]

    def verdict(ranks: Any, transport: list[str]) -> tuple[str, str]:
        proved = {"sweep": ["a"], "transport": transport}
        found = judge(Finding(figure="1", claim="c", proved=proved, ranks=ranks), cases)
        return found.verdict, found.because

    assert verdict([1, 2, 3], ["even-odd"]) == ("confirmed", "")
    assert verdict({"from": 1, "to": 3}, ["even-odd", "sendrecv"]) == (
        "contradicted",
        "sendrecv has no result on 2 ranks",
    )
    assert verdict([4], ["even-odd"])[0] == "contradicted"
    assert verdict([1], ["even-odd", "put"])[0] == "contradicted"
    assert verdict([1], ["put"])[0] == "not testable"


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ('"diffusion"', '"difusion"', 6, "unknown dwarf 'difusion'; did you mean 'diffusion'?"),
        ('"overlap"]', '"overlop"]', 9, "unknown strategy 'overlop'; did you mean 'overlap'?"),
        ('"even-odd"]', '"odd-even"]', 10, "unknown transport 'odd-even'"),
        ("repeat = 3", "repeat = 0", 12, "repeat 0: 1 or more are allowed"),
        ("steps = 10", "seed = 1", 11, "seed needs a machine, and none is named"),
        ("{ ranks = [2],", "{ ranks = [3],", 13, "quick: ranks 3 is not among those of the sweep"),
        ("nodes = [1, 2]", "nodes = 1\nranks_per_node = 2", 15, "one of them is allowed"),
        ('"10ns"', '"10"', 26, "'10' has no unit"),
        ('"8s", "5s"', '"8s"', 29, "2 numbers of ranks and 1 times"),
        ('source = "a paper, its table 1"\n', "", 29, "key 'source' is missing"),
    ],
)
def test_what_is_wrong_stands_with_its_line(old: str, new: str, line: int, problem: str) -> None:
    assert old in STUDY
    with pytest.raises(InputError) as caught:
        load_study("a.toml", STUDY.replace(old, new, 1))
    assert any(text.startswith(f"a.toml:{line}: ") and problem in text for text in caught.value.problems), str(
        caught.value
    )


def test_parts_of_a_dwarf_are_as_unequal_as_its_layout() -> None:
    (case,) = (case for case in expand(load_study("a.toml", STUDY).study)[0] if _is(case, "exchange", 12, 2))
    assert case.imbalance() == pytest.approx(32 * 43 * 12 / (128 * 128))


def _is(case: Any, strategy: str, ranks: int, nodes: int) -> bool:
    wanted = (strategy, ranks, nodes)
    return isinstance(case.workload, Dwarf) and wanted == tuple(case.labels[k] for k in ("strategy", "ranks", "nodes"))


OF_MESH = """\
title = "A dwarf on a mesh"

[[sweep]]
name = "meshes"
kind = "run"
dwarf = "mpdata"
grid = ["O8", "12x12"]
ranks = [4]
levels = 2
machine = "torus-M"
set = { "topology.shape" = "[4,4,4]", "node.flops" = "1TFlop/s" }
"""


def test_a_grid_that_has_a_name(tmp_path: Path) -> None:
    records, _ = run(tmp_path, OF_MESH)
    assert [record["grid"] for record in records.records] == ["O8", "12x12"]
    for record, nodes in zip(records.records, (544, 144), strict=True):
        assert quantity_of(record, "points") == pytest.approx(2 * nodes / record["time_s"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"O8"', '"12x12x4"', "grid '12x12x4': O<N>, like O40, or NXxNY of a flat mesh, like 64x64, is allowed"),
        ("mpdata", "diffusion", "grid 'O8': 3 whole numbers joined by 'x' are allowed, like 602x568x60"),
        ('"O8"', '"q"', "grid 'q'"),
    ],
)
def test_a_grid_of_another_dwarf(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        load_study(
            "a.toml", OF_MESH.replace(old, new).replace("levels = 2\n", "" if new == "diffusion" else "levels = 2\n")
        )
    assert message in str(error.value)


def test_rules_of_progress_multiply_and_no_key_names_one_that_is_not_asked_for() -> None:
    text = """\
title = "Progress"

[[sweep]]
name = "pipelined"
kind = "run"
dwarf = "helmholtz"
grid = "16x16x4"
ranks = 4
strategy = "pipelined"
iterations = 2
rtol = 0.0
machine = "barbora"
"""
    (plain,), _ = expand(load_study("study.toml", text).study)
    assert "mpi_progress" not in plain.options
    assert plain.labels["mpi_progress"] is None
    cases, _ = expand(load_study("study.toml", f'{text}mpi_progress = ["calls", "thread"]\n').study)
    assert [case.labels["mpi_progress"] for case in cases] == ["calls", "thread"]
    with pytest.raises(InputError, match="unknown progress of MPI 'poke'; did you mean 'pokes'"):
        load_study("study.toml", f'{text}mpi_progress = "poke"\n')


def test_a_posting_order_is_in_the_key_of_a_case_that_names_one() -> None:
    text = """\
title = "Posting"

[[sweep]]
name = "blocking"
kind = "run"
dwarf = "nekbone"
elements = "2x2x2"
nx1 = 4
ranks = 27
strategy = "cartesian-blocking"
machine = "barbora"
"""
    (plain,), _ = expand(load_study("study.toml", text).study)
    assert "posting" not in plain.options
    cases, _ = expand(load_study("study.toml", f'{text}posting = ["together", "transport"]\n').study)
    assert [case.labels["posting"] for case in cases] == ["together", "transport"]
    times = [simulate(case.workload.program(), "barbora", posting=case.options["posting"])["time_s"] for case in cases]
    assert times[0] == simulate(plain.workload.program(), "barbora")["time_s"]
    assert times[1] > times[0]
    with pytest.raises(InputError, match="unknown posting 'transports'; did you mean 'transport'"):
        load_study("study.toml", f'{text}posting = "transports"\n')


ON_ONE_NODE = """\
title = "Two ranks of a node"

[[sweep]]
name = "simulated"
kind = "run"
dwarf = "diffusion"
grid = "256x256x64"
ranks = 2
ranks_per_node = 2
transport = ["sendrecv", "shared"]
packing = "buffer"
machine = "here/machines/vm-2-cores.toml"
set = { "node.flops" = "9GFlop/s" }
"""


def test_messages_within_a_node_cost_what_was_calibrated_of_the_transport() -> None:
    """A dwarf's messages as those of an exchange; and values of a machine of one node can be set."""
    real = default_executors()
    plan = make_plan(load_study(STUDIES / "a.toml", ON_ONE_NODE), real, HERE)
    assert not plan.skips
    times = []
    for planned in plan.planned:
        options = planned.case.options
        asked = {key: options[key] for key in ("ranks_per_node", "settings", "transport", "packing")}
        assert planned.case.labels["transport"] == asked["transport"] in ("sendrecv", "shared")
        assert planned.machine is not None
        result = run_task(make_task(planned, real.simulate)).result
        assert result is not None
        times.append(result["time_s"])
        assert times[-1] == simulate(planned.case.workload.program(), planned.machine, **asked)["time_s"]
    assert times[1] < times[0], "two copies by way of MPI take longer than one"


def test_a_transport_that_was_not_calibrated_is_simulated_as_before() -> None:
    (planned,) = make_plan(load_study("a.toml", ON_PIZ_DAINT), default_executors(), HERE).planned
    assert "transport" not in planned.case.options


ON_PIZ_DAINT = ON_ONE_NODE.replace('["sendrecv", "shared"]', '"sendrecv"').replace(
    "here/machines/vm-2-cores.toml", "piz-daint"
)
