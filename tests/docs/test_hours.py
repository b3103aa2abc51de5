"""Three models' seconds per simulated hour: lines, parts, crossings, and the page that shows them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from document_blocks import ROOT

HOURS = ROOT / "docs" / "hours"
MODULES = ("choices", "closed", "parts", "models", "tables", "balance", "checks", "picture")


@pytest.fixture(scope="module")
def hours() -> Iterator[SimpleNamespace]:
    """The modules of docs/hours, which is a program and no package."""
    sys.path.insert(0, str(HOURS))
    try:
        found = {name: importlib.import_module(name) for name in MODULES}
        found["main"] = _main()
        yield SimpleNamespace(**found)
    finally:
        sys.path.remove(str(HOURS))
        for name in MODULES:
            del sys.modules[name]


def _main() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hours_main", HOURS / "__main__.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(pattern: str, time_s: float, **labels: Any) -> dict[str, Any]:
    common = {"kind": "simulate", "routing": "d-mod-k", "machine": "fattree-L", "base": "today", "ranks": 1000}
    common |= {"buffers": "credits"}
    form = {"grid": None, "width": None, "dtype": "f8", "times": 1}
    return common | form | {"pattern": pattern, "time_s": time_s} | labels


def simulated() -> list[dict[str, Any]]:
    """Exchanges of a machine whose times are known lines: 1 ms + 1 us per level of transpositions, 2 us + 10 ns per
    level and point of width of halos."""
    found = [record("transpose", 1e-3 + 1e-6 * nz, grid=f"2880x1440x{nz}") for nz in (256, 1024)]
    found += [
        record("halo", 2e-6 + 1e-8 * width * nz, grid=f"28800x14400x{nz}", width=width)
        for width in (1, 3, 10)
        for nz in (4, 32)
    ]
    found += [record("allreduce", 4 * time, times=4) for time in (3e-6, 5e-6)]
    return [*found, record("transpose", 1.0, grid="2880x1440x256", routing="minimal")]


@pytest.fixture
def parts(hours: SimpleNamespace) -> Any:
    return hours.parts.Parts(simulated())


@pytest.fixture
def place(hours: SimpleNamespace) -> Any:
    return hours.parts.Place("fattree-L", "today", (28800, 14400), 1000)


def test_a_line_goes_through_what_was_simulated_and_on(hours: SimpleNamespace) -> None:
    line = hours.parts.Line((1.0, 2.0, 4.0), (10.0, 11.0, 17.0))
    np.testing.assert_allclose(line.at(np.array([1.0, 1.5, 2.0, 3.0, 4.0, 8.0])), [10, 10.5, 11, 14, 17, 29])


def test_faster_links_leave_the_latency_as_it_is(hours: SimpleNamespace) -> None:
    line = hours.parts.Line((1.0, 2.0), (10.0, 11.0))  # 9 + 1 per level
    np.testing.assert_allclose(line.at(np.array([1.0, 11.0]), 5.0), [9.2, 11.2])
    falling = hours.parts.Line((1.0, 2.0), (1.0, 3.0))  # -1 + 2 per level: nothing of it is latency
    np.testing.assert_allclose(falling.at(np.array([1.0, 2.0]), 2.0), [0.5, 1.5])


def test_one_amount_makes_a_line_from_nothing(hours: SimpleNamespace) -> None:
    np.testing.assert_allclose(hours.parts.Line((2.0,), (3.0,)).at(np.array([2.0, 20.0])), [3, 30])


def test_the_faster_algorithm_and_the_routing_of_the_question_count(parts: Any, place: Any) -> None:
    assert parts.allreduce(place) == pytest.approx(3e-6)
    assert float(parts.transposition(place).at(np.array(256.0))) == pytest.approx(1.256e-3)


def test_finite_buffers_count_where_both_were_simulated(hours: SimpleNamespace, place: Any) -> None:
    free = [record("transpose", 1e-4 + 1e-6 * nz, grid=f"2880x1440x{nz}", buffers="unbounded") for nz in (256, 1024)]
    assert float(hours.parts.Parts(free).transposition(place).at(np.array(256.0))) == pytest.approx(3.56e-4)
    both = hours.parts.Parts([*free, *simulated()])
    assert float(both.transposition(place).at(np.array(256.0))) == pytest.approx(1.256e-3)
    assert both.finite_over_unbounded(place, 256.0) == pytest.approx(1.256e-3 / 3.56e-4)
    assert hours.parts.Parts(simulated()).finite_over_unbounded(place, 256.0) is None


def test_a_place_that_was_not_simulated_is_said_so(hours: SimpleNamespace, parts: Any) -> None:
    elsewhere = hours.parts.Place("torus-L", "today", (28800, 14400), 1000)
    assert not parts.has(elsewhere)
    with pytest.raises(KeyError, match="not simulated"):
        parts.transposition(elsewhere)


def test_more_ranks_are_estimated_by_what_congestion_made_of_the_closed_form(
    hours: SimpleNamespace, parts: Any, place: Any
) -> None:
    more = hours.parts.Place("fattree-L", "today", (28800, 14400), 10_000)
    assert parts.simulated(place)
    assert not parts.simulated(more)
    assert parts.has(more)
    quiet = [hours.closed.halo(32.0, (28800, 14400), split, 3, 0.8e-6) for split in ((25, 40), (100, 100))]
    assert quiet == pytest.approx(
        [0.8e-6 + c * 32 * 8 / 10e9 for c in (1158 * 366 - 1152 * 360, 294 * 150 - 288 * 144)]
    )
    expected = (2e-6 + 3e-8 * 32) / quiet[0] * quiet[1]
    assert float(parts.halo(more, 3).at(np.array(32.0))) == pytest.approx(expected, rel=1e-3)
    assert hours.closed.allreduce(21**3, 1e-6) == pytest.approx(3 * (1e-6 + 20 * 24 / 10e9))
    assert hours.closed.bruck(8.0, 1000, (10, 100), 1e-6) == pytest.approx(15 * (1e-6 + 32 / 10e9))


def test_the_hour_of_each_model_is_the_sum_computed_by_hand(hours: SimpleNamespace, parts: Any, place: Any) -> None:
    """The base, but with simple numbers: 1 flop per byte and no transform flops make all of it computable by hand."""
    values = hours.choices.base() | {
        name: np.array([float(value)])
        for name, value in {"transform_flops": 0, "column_flops": 0, "long_step_s": 36, "short_step_s": 6}.items()
    }
    found = hours.models.hours(parts, place, values)
    points = 1152 * 360 * 256  # of the largest rank of 25 x 40
    # 36 s x 200 m/s are 5.18 points, so a halo of 6 + 2; 13 fields of 256 levels
    columns = [(1152 + 2 * w) * (360 + 2 * w) - 1152 * 360 for w in (8, 10)]
    advection = points * 40e3 / 200e9 + 2e-6 + 1e-7 * 13 * 256 * columns[0] / columns[1]
    transposed = 2 * 1e-3 + 1e-6 * (5 + 12) * 256 * 100 + points * (5 + 12) * 3 * 32 / 200e9
    assert sum(found["spectral"].values())[0] == pytest.approx(100 * (advection + transposed))
    iteration = points * 240 / 200e9 + 2e-6 + 1e-8 * 256
    assert sum(found["semi-implicit"].values())[0] == pytest.approx(100 * (advection + 25 * iteration + 50 * 3e-6))
    hidden = points * 360 / 200e9 + 2e-6 + 1e-8 * 256  # longer than an allreduce
    assert sum(found["pipelined"].values())[0] == pytest.approx(100 * (advection + 25 * hidden))
    stages = 3 * (2e-6 + 3e-8 * 12 * 256)
    acoustic = 7 * (4e-6 + 1e-8 * 5 * 256)
    step = points * 20e3 / 200e9 + stages + acoustic
    assert sum(found["split-explicit"].values())[0] == pytest.approx(600 * step)


def test_a_pipelined_solver_waits_where_there_is_little_to_compute(hours: SimpleNamespace, parts: Any) -> None:
    tiny = hours.choices.base() | {"pipelined_traffic": np.zeros(1)}
    place = hours.parts.Place("fattree-L", "today", (28800, 14400), 1000)
    slow = hours.parts.Parts([*simulated()[:-3], record("allreduce", 1.0)])
    halo = 2e-6 + 1e-8 * 256
    waited = hours.models.hours(slow, place, tiny)["pipelined"]["allreduces"][0]
    assert waited == pytest.approx(72 * 25 * (1.0 - halo))
    assert hours.models.hours(parts, place, tiny)["pipelined"]["allreduces"][0] == 0.0


def test_combinations_have_each_value_of_each_choice_equally_often(hours: SimpleNamespace) -> None:
    every = hours.choices.combinations()
    sizes = {len(values) for values in every.values()}
    assert sizes == {int(np.prod([choice.count for choice in hours.choices.CHOICES]))}
    steps, counts = np.unique(every["long_step_s"], return_counts=True)
    assert steps.tolist() == [30, 50, 120]
    assert len(set(counts)) == 1
    assert {tuple(pair) for pair in np.stack([every["forth"], every["back"]]).T} == {(5, 12), (3, 5), (10, 24)}


@pytest.mark.parametrize(("low", "high", "holds"), [(1.0, 2.0, True), (1.1, 2.0, False), (1.0, 1.9, False)])
def test_a_claim_fails_on_either_side(hours: SimpleNamespace, low: float, high: float, holds: bool) -> None:
    claim = hours.balance.Claim("", "", low, high, lambda parts: [1.0, 2.0])
    assert claim.holds(None) is holds


def test_transpositions_weigh_by_the_balance_of_a_node(hours: SimpleNamespace, parts: Any) -> None:
    node = hours.choices.Node("a", 500e9, 20e9, "")
    assert node.balance == 25
    values = node.values()
    assert (values["memory"][0], values["faster_links"][0]) == (500e9, 2.0)
    slow, fast = (
        hours.tables.ratios(parts, hours.choices.Node("a", memory, 20e9, "").values(), (28800, 14400))
        for memory in (500e9, 1e12)
    )
    assert fast["transposition"][0] > slow["transposition"][0]
    assert set(slow["semi-implicit"]) == {1.0}


def test_two_models_are_equally_fast_where_it_says_so(hours: SimpleNamespace, parts: Any, place: Any) -> None:
    factor = hours.tables.break_even(parts, place, "short_traffic", "semi-implicit", "split-explicit")
    assert factor is not None
    values = hours.choices.base()
    values["short_traffic"] = values["short_traffic"] * factor
    times = hours.models.totals(hours.models.hours(parts, place, values))
    assert times["semi-implicit"][0] == pytest.approx(times["split-explicit"][0], rel=0.01)
    assert hours.tables.break_even(parts, place, "substeps", "spectral", "semi-implicit") is None


def test_a_parameter_that_is_none_is_refused(hours: SimpleNamespace) -> None:
    with pytest.raises(SystemExit, match=r"a parameter is one of .*long_step_s"):
        hours.main.with_settings(["step=3"])
    with pytest.raises(SystemExit, match="a number is needed"):
        hours.main.with_settings(["iterations=many"])
    with pytest.raises(SystemExit, match="python docs/hours"):
        hours.main.main(["--get"])


def test_parts_have_their_closed_forms_on_a_quiet_network(hours: SimpleNamespace) -> None:
    rows = {name: (form, time) for name, form, time in hours.checks.quiet_rows(hours.main.records("checks"))}
    assert set(rows) == {"transposition", "thin halo of 1", "thin halo of 3", "wide halo of 10", "allreduce"}
    for name, (form, time) in rows.items():
        drift = 0.12 if name == "transposition" else 0.01  # of ring-4's ranks, some of which fall behind
        assert form == pytest.approx(time, rel=drift), name


def test_whole_steps_take_as_long_as_their_parts(hours: SimpleNamespace) -> None:
    parts = hours.parts.Parts(hours.main.records(*hours.main.STUDIES))
    rows = hours.checks.whole_rows(parts, hours.main.records("checks"))
    assert {model for model, *_ in rows} == set(hours.models.MODELS)
    for model, network, ranks, whole, total in rows:
        assert whole == pytest.approx(total, rel=0.25), (model, network, ranks)


def test_estimates_are_near_what_was_simulated(hours: SimpleNamespace) -> None:
    rows = hours.checks.estimate_rows(hours.main.records(*hours.main.STUDIES))
    assert rows
    for place, ratios in rows:
        assert all(0.5 < ratio < 2 for ratio in ratios.values()), (place, ratios)


@pytest.mark.slow  # evaluates all combinations of choices
def test_the_pages_of_the_question_are_up_to_date(hours: SimpleNamespace) -> None:
    parts = hours.parts.Parts(hours.main.records(*hours.main.STUDIES))
    for page in hours.main.PAGES:
        text = page.read_text(encoding="utf-8")
        assert text == hours.main.filled(text, parts), "run  python docs/hours"
    for path, drawn in hours.main.PICTURES.items():
        assert path.is_file()
        assert len(drawn(parts)["vconcat"]) == 2
