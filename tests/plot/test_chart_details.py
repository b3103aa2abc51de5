"""Details of charts: axes, bins, medians, tooltips, descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tradewind.figure.figure import draw
from tradewind.figure.kept import over_time_rows
from tradewind.plot.matrix import panel
from tradewind.plot.style import PALETTE, colours, log_axis
from tradewind.study.model.labels import LABELS
from tradewind.study.model.study import Plot

Record = dict[str, Any]


def record(**labels: Any) -> Record:
    known = {label: None for label in LABELS} | {"exchange": "e", "kind": "simulate", "machine": "torus-M"}
    return {**known, "ranks": 4, "seed": 1, "time_s": 1.0, "result": {}, **labels}


def drawn(plot: Plot, records: list[Record]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    specification = draw(plot, records)
    assert specification is not None
    return specification, [row for rows in specification["datasets"].values() for row in rows]


def tooltips(specification: dict[str, Any]) -> set[str]:
    """The fields that tooltips show."""
    parts = (specification, *specification.get("layer", []))
    fields = {each["field"] for part in parts for each in part.get("encoding", {}).get("tooltip", [])}
    return fields & {"shown", "minimum", "time", "minimum_s", "seconds"}


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([1.0, 10.0], [1, 2, 5, 10]), ([1.0, 1000.0], [1, 10, 100, 1000]), ([3.0, 3.0], [])],
)
def test_ticks_and_margins_of_a_logarithmic_axis(values: list[float], ticks: list[float]) -> None:
    scale, axis = log_axis(values, "t", "l")
    assert axis["values"] == ticks
    low, high = scale["domain"]
    margin = {1000.0: 0.18, 10.0: 0.12, 3.0: 0.12}[values[-1]]
    assert (low, high) == pytest.approx((values[0] / 10**margin, values[-1] * 10**margin))


def test_delays_are_counted_in_the_bins_that_they_fall_in() -> None:
    """From 1 to 2 us two of eight packets, from 4 to 6 us (its middle below 5) one, and five without delay."""
    delay = {"edges_s": [0.0, 1e-6, 2e-6, 4e-6, 6e-6], "counts": [5.0, 2.0, 0.0, 1.0]}
    _, rows = drawn(Plot(kind="delay", title="t", of=[{}], curve="machine"), [record(result={"delay": delay})])
    shares = {row["delay"]: row["share"] for row in rows if row["share"]}
    assert shares == {"none": 0.625, "1 us to 2 us": 0.25, "2 us to 5 us": 0.125}


def test_the_shortest_step_of_a_run() -> None:
    result = {"samples_s": [0.03, 0.02], "steps": 10, "parts": []}
    run = record(kind="run", dwarf="diffusion", time_s=2.5e-3, result=result, grid="2x2x2")
    specification, (row,) = drawn(Plot(kind="bars", title="t", of=[{}], curve="machine"), [run])
    assert (row["minimum_s"], row["minimum"], row["shown"]) == (2e-3, "2 ms", "2.5 ms")
    assert tooltips(specification) == {"shown", "minimum"}, "texts with units"


def test_lines_go_through_medians_and_points_say_their_times() -> None:
    cases = [record(ranks=ranks, seed=seed, time_s=seed * 1e-3) for ranks in (4, 8) for seed in (1, 2, 6)]
    plot = Plot(title="t", of=[{}], curve="machine")
    specification, rows = drawn(plot, cases)
    assert specification["layer"][0]["encoding"]["y"]["aggregate"] == "median"
    assert [row["shown"] for row in rows] == 2 * ["1 ms", "2 ms", "6 ms"]
    assert tooltips(specification) == {"shown"}
    over = plot.model_copy(update={"over": {"seed": [1]}})
    assert [row["shown"] for row in drawn(over, cases[:3])[1]] == ["1", "2", "6"]


def test_parts_of_a_step_say_their_times() -> None:
    parts = [
        {"part": "compute", "median_s": 0.02},
        {"part": "exchange", "median_s": 0.01},
        {"part": "all", "median_s": 1},
    ]
    run = record(kind="run", result={"steps": 10, "parts": parts})
    specification, rows = drawn(Plot(kind="parts", title="t", of=[{}], curve="exchange"), [run])
    assert [(row["part"], row["seconds"], row["shown"]) for row in rows] == [
        ("compute", 2e-3, "2 ms"),
        ("exchange", 1e-3, "1 ms"),
    ]
    assert tooltips(specification) == {"shown"}


def test_a_bin_of_time_stands_at_its_middle() -> None:
    series = {"bin_s": 2e-6, "packets": [4.0, 1.0], "mean_delay_s": [1e-6, 3e-6]}
    plot = Plot(kind="over-time", title="t", of=[{}], curve="machine")
    rows = over_time_rows(plot, [record(result={"delay_over_time": series})])
    assert [(row["time"], row["delay"]) for row in rows] == [(pytest.approx(1e-6), 1e-6), (pytest.approx(3e-6), 3e-6)]


@pytest.mark.parametrize(("maximum", "kind"), [(1000, "linear"), (1001, "log")])
def test_bytes_that_differ_by_more_than_a_hundred_times_have_a_logarithmic_scale(maximum: int, kind: str) -> None:
    matrix = np.array([[0, 10], [maximum, 0]])
    assert panel(matrix, 1, 2, "t").to_dict()["encoding"]["color"]["scale"]["type"] == kind


def test_levels_of_a_field_share_all_colours(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tradewind.plot import field

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(field, "picture", lambda specification, *_: (seen.append(specification), b"")[1])
    field.save_levels([[[0.5, 1.0]], [[0.25, 4.0]]], ["before", "after"], (2, 1), tmp_path / "f.svg")
    for part in seen[0]["hconcat"]:
        assert part["encoding"]["color"]["scale"]["domain"] == [0.25, 4.0]


def test_a_description_says_what_is_drawn() -> None:
    plot = Plot(title="Transposition", of=[{}], curve="machine", panel="routing")
    specification, _ = drawn(plot, [record(routing="minimal"), record(routing="ugal", machine="dgx-2")])
    assert specification["description"] == (
        "Transposition. Time of the exchange (s) against number of ranks. Curves: torus-M, dgx-2. "
        "Panels: minimal, ugal."
    )


def test_more_kinds_than_the_palette_has_colours_are_told_apart():
    found = colours(3 * len(PALETTE) + 1)
    assert found[: len(PALETTE)] == PALETTE
    assert len(set(found)) == 3 * len(PALETTE)
