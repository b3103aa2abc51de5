"""Programs in studies: a model's time step, simulated; and values that somebody has published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_fakes import FAKES, HERE, run_study

from tradewind.base.errors import InputError
from tradewind.dataset.build import build_dataset, without_empty, write_dataset
from tradewind.dataset.read import read_dataset
from tradewind.report.build import build_report
from tradewind.simulation import simulate
from tradewind.study.cases.expand import expand
from tradewind.study.cases.lines import lines_sent
from tradewind.study.cases.model_step import ModelStep
from tradewind.study.cases.records import Record, exchange_of, read_records
from tradewind.study.cases.store import Store
from tradewind.study.claims.finding import judge
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.model.study import Finding
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import make_plan
from tradewind.study.plan.quick import quick_study
from tradewind.workload.program_file import load_program

STUDY = """\
title = "A time step"

[[sweep]]
name = "rows"
kind = "program"
grid = "24x20x12"
ranks = [1, 6, 12]
split = { 1 = "1x1", 6 = "3x2", 12 = ["4x3", "12x1"] }
machine = "nec-sx6"
ranks_per_node = 4
point_time = ["1us", "10us"]
fields = 2
quick = { ranks = [6] }
step = [
  { compute = "xy", share = 0.8 },
  { halo = 2, periodic = "x", times = 3 },
  { path = "xy-zy-zx-zy-xy", algorithm = "burst", times = 2 },
  { compute = "zy", share = 0.2, times = 2 },
]

[[sweep]]
name = "all"
kind = "program"
grid = "24x20x12"
ranks = [6, 15]
split = { 6 = "3x2", 15 = "5x3" }
machine = "nec-sx6"
point_time = "10us"
line_time = ["0s", "5us"]
step = [{ compute = "xy" }, { path = "xy-z-x" }]
"""


def run(folder: Path, text: str = STUDY) -> tuple[list[Record], Store]:
    folder.mkdir(exist_ok=True)
    path = folder / "step.toml"
    path.write_text(text)
    study_file, executors = load_study(path), replace(FAKES, simulate=simulate)
    store = Store.create(folder / "results", text)
    outcome = run_study(study_file, make_plan(study_file, executors, HERE), store, executors, HERE)
    assert outcome.failed == {}
    records = read_records(store, HERE)
    assert records.missing == []
    return records.records, store


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Record], Store]:
    return run(tmp_path_factory.mktemp("program"))


def one(records: list[Record], **labels: Any) -> Record:
    (found,) = (record for record in records if all(record[key] == value for key, value in labels.items()))
    return found


def test_lists_multiply_and_what_does_not_fit_is_skipped() -> None:
    cases, skips = expand(load_study("a.toml", STUDY).study)
    assert [case.labels["ranks"] for case in cases].count(12) == 4  # two splits, two times
    assert len(cases) == 2 + 2 + 4 + 2
    assert [skip.reason for skip in skips] == [
        "split 15x1: 15 ranks do not divide the 12 points along z among them (1..12 are allowed)"
    ] * 2
    assert len({case.name for case in cases}) == len(cases)
    reduced, notes = quick_study(load_study("a.toml", STUDY).study)
    assert {case.labels["ranks"] for case in expand(reduced)[0] if case.sweep == "rows"} == {6}
    assert any(note.startswith("quick run, rows: 2 of 8 cases") for note in notes)


def test_a_rank_alone_computes_and_nothing_else(computed: tuple[list[Record], Store]) -> None:
    alone = one(computed[0], sweep="rows", ranks=1, point_time="1us")
    points, shares = 24 * 20 * 12, 0.8 + 2 * 0.2
    assert alone["time_s"] == pytest.approx(points * shares * 1e-6, rel=1e-9)
    assert quantity_of(alone, "efficiency") == pytest.approx(1.0)
    assert quantity_of(alone, "parallel-loss") == pytest.approx(0.0, abs=1e-12)
    assert quantity_of(alone, "messages") == 0


def test_steps_are_those_that_the_study_names(computed: tuple[list[Record], Store]) -> None:
    case = one(computed[0], sweep="rows", ranks=6, point_time="10us")
    steps = case["result"]["step_time_s"]
    assert list(steps) == ["1 compute xy", "2 halo", "3 xy-zy", "3 zy-zx", "3 zx-zy", "3 zy-xy", "4 compute zy"]
    # Each of 3 x 2 ranks has 8 x 10 x 12 points, in every layout as many.
    assert steps["1 compute xy"] == pytest.approx(0.8 * 960 * 10e-6)
    assert quantity_of(case, "compute") == pytest.approx(1.2 * 960 * 10e-6, rel=0.01)
    assert sum(steps.values()) == pytest.approx(case["time_s"])
    # Within rows of 3 and columns of 2, each leg twice; halos three times, along closed rows of 3 and columns of 2.
    assert case["result"]["messages"] == 2 * (12 + 6 + 6 + 12) + 3 * (12 + 6)
    moved = 24 * 20 * 12 * 16 * (2 / 3 + 1 / 2 + 1 / 2 + 2 / 3) * 2
    halo = 3 * 16 * 12 * (12 * 2 * 10 + 6 * 2 * (8 + 4))
    assert case["result"]["bytes"] == pytest.approx(moved + halo)


def test_efficiency_is_of_the_whole_step(computed: tuple[list[Record], Store]) -> None:
    short, long = (one(computed[0], sweep="rows", ranks=6, point_time=time) for time in ("1us", "10us"))
    for case, point_s in ((short, 1e-6), (long, 10e-6)):
        share = 5760 * 1.2 * point_s / 6
        assert quantity_of(case, "efficiency") == pytest.approx(share / case["time_s"])
        assert quantity_of(case, "parallel-loss") == pytest.approx(case["time_s"] - share)
    assert short["time_s"] < long["time_s"]
    assert (quantity_of(short, "efficiency") or 0) < (quantity_of(long, "efficiency") or 0) < 1


def test_lines_take_their_time(computed: tuple[list[Record], Store]) -> None:
    packed, lines = (one(computed[0], sweep="all", line_time=time) for time in ("0s", "5us"))
    steps = lines["result"]["step_time_s"]
    # To 5 others: of 10 y and 2 z each, then of 20 y and 2 z with 4 x.
    assert steps["2 xy-z lines"] == pytest.approx(5 * 10 * 2 * 5e-6, rel=1e-6)
    assert steps["2 z-x lines"] == pytest.approx(5 * 20 * 2 * 5e-6, rel=1e-6)
    assert lines["time_s"] == pytest.approx(packed["time_s"] + 5 * (20 + 40) * 5e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("split", "before", "after", "lines"),
    [
        ((2, 1), "xy", "zy", 4 * 3),  # half of x: all y of the other's 3 levels
        ((1, 2), "xy", "yx", 2 * 6),  # half of x of 2 y and all z
        ((1, 3), "zy", "zx", 2 * (2 * 6)),  # of 2 y and all 6 z, 2 x each to two others
        ((1, 2), "zy", "yz", 3),  # all x of 2 y, of 3 levels
        ((3, 1), "zy", "yx", None),
    ],
)
def test_lines_are_the_contiguous_runs_of_both_arrays(
    split: tuple[int, int], before: str, after: str, lines: int | None
) -> None:
    """Against the points themselves, numbered in the arrays of both ranks."""
    import numpy as np

    import tradewind as tw
    from tradewind.layout.names import blocks

    nx, ny, nz = grid = (6, 4, 6)
    numbers = np.arange(nx * ny * nz).reshape(nz, ny, nx)

    def places(layout: Any, rank: int) -> dict[int, int]:
        (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
        return {int(point): place for place, point in enumerate(numbers[z0:z1, y0:y1, x0:x1].ravel())}

    first, second = (blocks(tw.Grid(nx=nx, ny=ny, nz=nz), split, name) for name in (before, after))
    sent = []
    for sender in range(first.ranks):
        count = 0
        for receiver in set(range(second.ranks)) - {sender}:
            here, there = places(first, sender), places(second, receiver)
            pairs = sorted((here[point], there[point]) for point in here.keys() & there.keys())
            count += sum(i == 0 or pair != (pairs[i - 1][0] + 1, pairs[i - 1][1] + 1) for i, pair in enumerate(pairs))
        sent.append(count)
    assert lines_sent(grid, split, before, after) == max(sent)
    assert lines is None or max(sent) == lines


@pytest.mark.slow
def test_a_report_is_written(computed: tuple[list[Record], Store]) -> None:
    assert build_report(computed[1].folder, HERE).dataset.is_file()


def test_kept_results_hold_what_findings_need(computed: tuple[list[Record], Store], tmp_path: Path) -> None:
    records, _ = computed
    write_dataset(without_empty(build_dataset(records, {})), tmp_path / "kept.nc")
    kept, _ = read_dataset(tmp_path / "kept.nc")
    for quantity in ("efficiency", "parallel-loss", "messages", "step-time", "non-compute"):
        assert [quantity_of(r, quantity) for r in kept] == pytest.approx([quantity_of(r, quantity) for r in records])
    assert [r["point_time"] for r in kept] == [r["point_time"] for r in records]
    with pytest.raises(InputError, match="is a program, and no exchange alone"):
        exchange_of(kept[0])


def test_a_case_is_another_when_its_program_is(tmp_path: Path) -> None:
    def keys(text: str) -> set[str]:
        path = tmp_path / "a.toml"
        path.write_text(text)
        return {planned.key for planned in make_plan(load_study(path), FAKES, HERE).planned}

    same = keys(STUDY)
    assert keys(STUDY.replace('name = "rows"', 'name = "lines"')) == same
    for old, new in (("share = 0.8", "share = 0.7"), ("halo = 2", "halo = 1"), ("times = 2", "times = 4")):
        assert keys(STUDY.replace(old, new)) != same


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("halo = 2, ", "", "sweep 1: a step has one of compute, halo, path, not none of them"),
        ('{ compute = "xy" }', '{ compute = "xy", halo = 1 }', "not compute and halo"),
        ('compute = "xy", share', 'compute = "xw", share', "unknown layout 'xw'"),
        ('"xy-z-x"', '"xy-z-z"', "from z to z nothing moves"),
        ('path = "xy-z-x"', 'path = "xy-z-x", share = 0.5', "share belongs to compute, and not to path"),
        ('{ compute = "xy" }', '{ compute = "xy", algorithm = "burst" }', "algorithm belongs to halo or path"),
        ('algorithm = "burst"', 'algoritm = "burst"', "unknown key 'algoritm'; did you mean 'algorithm'?"),
        ('6 = "3x2", 12', '6 = "3x3", 12', "split 3x3 makes 9 ranks: 9 is not 6"),
        ('grid = "24x20x12"', 'grid = "24x2147483648x12"', "grid 24x2147483648x12: 1..2147483647 points"),
        ('1 = "1x1", 6', "6", "split names none for 1 ranks"),
        ('point_time = "10us"', 'point_time = "10"', "'10' has no unit"),
        ("share = 0.8", "share = 0", "share"),
    ],
)
def test_mistakes_are_told_with_their_line(old: str, new: str, expected: str) -> None:
    assert old in STUDY
    with pytest.raises(InputError) as refused:
        load_study("a.toml", STUDY.replace(old, new, 1))
    assert expected in str(refused.value)
    assert "a.toml:" in str(refused.value)


def test_an_unknown_algorithm_of_a_step_is_a_case_that_cannot_be() -> None:
    cases, skips = expand(load_study("a.toml", STUDY.replace('"burst"', '"birst"')).study)
    assert not [case for case in cases if isinstance(case.workload, ModelStep) and case.sweep == "rows"]
    assert "did you mean 'burst'" in skips[0].reason


def record(ranks: int, value: float, **labels: Any) -> Mapping[str, Any]:
    return {"ranks": ranks, "time_s": value, "result": {}, "exchange": "step", "kind": "simulate", **labels}


@pytest.mark.parametrize(
    ("values", "value", "tolerance", "verdict"),
    [
        ([0.85], 0.78, 0.1, "confirmed"),
        ([0.87], 0.78, 0.1, "contradicted"),
        ([0.71], 0.78, 0.1, "confirmed"),
        ([0.70], 0.78, 0.1, "contradicted"),
        ([0.78, 0.87], 0.78, 0.1, "contradicted"),
    ],
)
def test_near_a_published_value(values: list[float], value: float, tolerance: float, verdict: str) -> None:
    cases = [record(4, each, sweep="a", seed=seed) for seed, each in enumerate(values)]
    finding = Finding(figure="1", claim="c", near={"sweep": ["a"]}, value=value, tolerance=tolerance)
    found = judge(finding, cases)
    assert found.verdict == verdict
    assert "published 780 ms" in found.figures[0]


def test_near_as_a_ratio() -> None:
    cases = [record(4, 6.0, sweep="a"), record(4, 2.0, sweep="b"), record(8, 9.0, sweep="a"), record(8, 2.0, sweep="b")]
    wanted = {"figure": "1", "claim": "c", "near": {"sweep": ["a"]}, "than": {"sweep": ["b"]}, "value": 3.0}
    assert judge(Finding(**wanted, ranks=[4]), cases).verdict == "confirmed"
    found = judge(Finding(**wanted), cases)
    assert found.verdict == "contradicted"
    assert found.because == "at 8 ranks a over b is 4.5, 1.5 times the published 3"
    assert judge(Finding(**wanted, ranks=[16]), cases).verdict == "not testable"


def test_near_needs_a_value_and_no_other_test_takes_one() -> None:
    finding = '\n[[finding]]\nfigure = "1"\nclaim = "c"\n'
    with pytest.raises(InputError, match="near needs one of value, gain and wording"):
        load_study("a.toml", STUDY + finding + 'near = { sweep = "rows" }\n')
    with pytest.raises(InputError, match="value belongs to near, and not to falls"):
        load_study("a.toml", STUDY + finding + 'falls = { sweep = "rows" }\nvalue = 3.0\n')
    load_study("a.toml", STUDY + finding + 'near = { sweep = "rows" }\nthan = { sweep = "all" }\nvalue = 3.0\n')


OPEN = """\
title = "Open"

[[sweep]]
name = "open"
kind = "program"
grid = "24x20x12"
ranks = [2, 6]
split = { 2 = "2x1", 6 = "3x2" }
machine = "nec-sx6"
point_time = "10ns"
step = [
  { start = "winds" },
  { compute = "xy", share = 0.5 },
  { poke = true },
  { compute = "rank", seconds = "20us" },
  { wait = "winds" },
  { path = "xy-zy" },
]

[[sweep.exchange]]
name = "winds"
halo = 2
periodic = "x"
fields = ["u", "v"]
"""


def test_steps_may_be_those_of_a_program_file(tmp_path: Path) -> None:
    records, _ = run(tmp_path, OPEN)
    by_hand = """
name = "step by xy-zy"
ranks = 6
grid = "24x20x12"
split = "3x2"
point_time = "10ns"
""" + OPEN[OPEN.index("step =") :].replace("[[sweep.exchange]]", "[[exchange]]")
    wanted = simulate(load_program("by_hand.toml", by_hand), "nec-sx6")
    found = one(records, ranks=6)["result"]
    for key in ("time_s", "messages", "bytes", "stages", "step_end_s"):
        assert found[key] == wanted[key]
    assert set(found["step_time_s"]) == set(found["step_end_s"])
    assert sum(found["step_time_s"].values()) == pytest.approx(found["time_s"])


@pytest.mark.slow
def test_a_report_of_open_exchanges_is_written(tmp_path: Path) -> None:
    assert build_report(run(tmp_path, OPEN)[1].folder, HERE).dataset.is_file()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("poke = true", "pok = true", r"a.toml:14: sweep 1: unknown key 'pok'; did you mean 'poke'\?"),
        ("poke = true", "poke = true, share = 2", r"a.toml:14: sweep 1: share belongs to another kind of step"),
        ("poke = true", "gather_scatter = '2x2'", r"a.toml:14: sweep 1: elements '2x2': 3 whole"),
        ("halo = 2", "hal = 2", r"a.toml:22: sweep 1: unknown key 'hal'; did you mean 'halo'\?"),
    ],
)
def test_a_wrong_step_is_said_with_its_line(before: str, after: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_study("a.toml", OPEN.replace(before, after))


def test_a_step_is_a_gather_scatter(tmp_path: Path) -> None:
    step = '{ gather_scatter = "2x3x1", element_points = 5, algorithm = "cartesian" }'
    with_it, _ = run(tmp_path / "with", OPEN.replace("{ poke = true }", step))
    without, _ = run(tmp_path / "without", OPEN)
    more = one(with_it, ranks=2)["result"]["bytes"] - one(without, ranks=2)["result"]["bytes"]
    assert more == 2 * (3 * 4 + 1) * 5 * 8  # a face of 13 x 5 points, each way


def test_what_cannot_be_is_skipped() -> None:
    _, skips = expand(load_study("a.toml", OPEN.replace('{ wait = "winds" }', '{ wait = "wind" }')).study)
    assert {skip.reason for skip in skips} == {"unknown exchange 'wind'; did you mean 'winds'? (known: winds)"}
