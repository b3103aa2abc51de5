"""Charts of best values, congestion and communication."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pytest
from altair.utils.schemapi import validate_jsonschema

from tradewind.figure.best import best_rows
from tradewind.figure.curves import time_rows
from tradewind.figure.figure import draw
from tradewind.study.model.study import Plot


def record(**labels: Any) -> dict[str, Any]:
    known = {"exchange": "e", "kind": "simulate", "machine": "torus-M", "routing": "minimal", "seed": 1, "time_s": 1.0}
    return {**known, "result": {}, **labels}


def radices(machine: str, ranks: int, times: dict[int, list[float]]) -> list[dict[str, Any]]:
    return [
        record(machine=machine, ranks=ranks, algorithm=f"recursive-{k}", time_s=time, seed=seed)
        for k, seeds in times.items()
        for seed, time in enumerate(seeds)
    ]


BEST = Plot(kind="best", title="t", of=[{}], curve="algorithm", panel="machine")


def test_the_best_has_the_lowest_median_over_seeds() -> None:
    records = radices("torus-M", 10, {2: [3.0, 3.0, 3.0], 5: [1.0, 9.0, 2.0]})
    records += radices("torus-M", 20, {2: [1.0], 5: [2.0]}) + radices("torus-M", 30, {5: [2.0]})
    records += radices("fattree-M", 10, {2: [1.0], 8: [0.5]})
    assert best_rows(BEST, records) == [
        {"ranks": 10, "best": 5, "panel": "torus-M"},
        {"ranks": 20, "best": 2, "panel": "torus-M"},
        {"ranks": 10, "best": 8, "panel": "fattree-M"},
    ], "30 ranks have one radix only"


def test_how_often_each_is_the_best() -> None:
    records = [r for i in range(3) for r in radices("torus-M", 10 + i, {2: [1.0 + i], 5: [1.5]})]
    specification = draw(BEST, records)
    assert specification is not None
    rows = [row for rows in specification["datasets"].values() for row in rows]
    counts = {row["best"]: row["count"] for row in rows if "count" in row}
    assert counts == {2: 1, 5: 2}
    assert draw(BEST, []) is None


def test_cells_of_congestion_cover_the_switches_of_their_bins() -> None:
    congestion = {
        "switches": 5,
        "switches_per_bin": 2,
        "from": [0, 2],
        "to": [2, 1],
        "share": [0.25, 0.5],
        "links": 9,
        "quantiles": [0.1, 0.2, 0.3, 0.5],
    }
    plot = Plot(kind="congestion", title="t", of=[{}], curve="routing", panel="machine")
    specification = draw(plot, [record(ranks=8, result={"congestion": congestion}), record(ranks=8)])
    assert specification is not None
    (cells,) = specification["datasets"].values()
    assert cells == [
        {"f0": 0, "f1": 2, "t0": 4, "t1": 5, "share": 0.25},
        {"f0": 4, "f1": 5, "t0": 2, "t1": 4, "share": 0.5},
    ]
    text = json.dumps(specification)
    assert "torus-M, minimal" in text
    assert "links busy 20 % (median), 10 % to 30 % (middle 80 %), 50 % (maximum)" in text
    assert draw(plot, [record(ranks=8)]) is None


def test_the_matrix_of_a_proof_and_none_of_what_only_the_library_knows() -> None:
    request = {"pattern": "allreduce", "ranks": 4, "algorithm": "recursive-2", "count": 5}
    plot = Plot(kind="matrix", title="t", of=[{}])
    native = record(ranks=4, algorithm="native", request={**request, "algorithm": "native"})
    specification = draw(plot, [record(ranks=4, algorithm="recursive-2", time_s=None, request=request), native])
    assert specification is not None
    (cells,) = specification["datasets"].values()
    assert sum(cell["bytes"] for cell in cells) == 4 * 2 * 40
    assert draw(plot, [native]) is None


@pytest.mark.parametrize("kind", ["best", "congestion", "matrix"])
def test_their_pictures(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tradewind.plot import export

    request = {"pattern": "allreduce", "ranks": 10, "algorithm": "recursive-2"}
    congestion = {"switches": 1, "switches_per_bin": 1, "from": [0], "to": [0], "share": [0.5], "quantiles": [0.5] * 4}
    records = radices("torus-M", 10, {2: [1.0], 5: [2.0]})
    records = [each | {"request": request, "result": {"congestion": congestion}} for each in records]
    specification = draw(Plot(kind=kind, title="t", of=[{}], curve="algorithm"), records)
    assert specification is not None
    svg, _ = export.to_svg_and_pdf(specification, "")
    assert svg.startswith("<svg")
    monkeypatch.delattr(export.vlc, "vegalite_to_svg")
    assert export.to_svg_and_pdf(specification, svg)[0] == svg, "what Vega draws is found again"


@pytest.mark.parametrize("panel", [None, "machine"])
@pytest.mark.parametrize("kind", ["time", "bars", "delay", "over-time"])
def test_plain_specifications_are_those_of_vega_lite(kind: str, panel: str | None) -> None:
    """The others are checked by Altair."""
    over_time = {"bin_s": 1e-6, "packets": [1, 2], "mean_delay_s": [1e-6, 2e-6]}
    result = {"delay": {"edges_s": [1e-9, 1e-6, 1e-3], "counts": [1, 2]}, "delay_over_time": over_time}
    records = [record(ranks=8, machine=name, result=result) for name in ("torus-M", "dgx-2")]
    specification = draw(Plot(kind=kind, title="t", of=[{}], panel=panel), records)
    assert specification is not None
    assert ("facet" in specification) == (panel is not None)
    validate_jsonschema(specification, alt.load_schema())


def rows_of(plot: Plot, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    specification = draw(plot, records)
    assert specification is not None
    return [row for rows in specification["datasets"].values() for row in rows]


def test_cells_of_pairs_cover_the_ranks_of_their_blocks() -> None:
    plot = Plot(kind="pairs", title="t", of=[{}], curve="routing")
    specification = draw(plot, [record(ranks=5, result={"delay_pairs": [[0.0, 1e-6], [3e-6, 0.0]]}), record(ranks=5)])
    assert specification is not None
    (cells,) = specification["datasets"].values()
    assert cells == [
        {"f0": 0, "f1": 3, "t0": 3, "t1": 5, "delay": 1e-6},
        {"f0": 3, "f1": 5, "t0": 0, "t1": 3, "delay": 3e-6},
    ], "ranks 0 to 2 and 3 to 4; nothing waited inside the blocks"
    assert "2 us in the mean of all pairs, 1.5 times that at most" in json.dumps(specification, ensure_ascii=False)
    assert draw(plot, [record(ranks=5)]) is None


def test_a_case_is_divided_by_the_one_that_is_like_it_but_for_a_label() -> None:
    plot = Plot(title="t", of=[{}], along="packet", curve="machine", over={"packet": ["4KiB"]})
    times = {("torus-M", "4KiB"): 2.0, ("torus-M", "8KiB"): 3.0, ("fattree-M", "4KiB"): 4.0, ("dgx-2", "8KiB"): 9.0}
    records = [record(ranks=8, machine=name, packet=size, time_s=time) for (name, size), time in times.items()]
    rows = rows_of(plot, records)
    assert [(row["curve"], row["along"], row["time"]) for row in rows] == [
        ("torus-M", "4KiB", 1.0),
        ("torus-M", "8KiB", 1.5),
        ("fattree-M", "4KiB", 1.0),
    ], "nothing to divide the last by"


def test_places_that_are_numbers_of_one_dwarf_and_texts_of_another() -> None:
    plot = Plot(title="t", of=[{}], curve="machine", along="truncation")
    rows = rows_of(plot, [record(ranks=8, truncation=value) for value in (159, "85x85")])
    assert [row["along"] for row in rows] == ["159", "85x85"]


def test_curves_of_another_quantity() -> None:
    plot = Plot(title="t", of=[{}], curve="machine", quantity="link-time")
    rows = rows_of(plot, [record(ranks=8, time_s=2.0, links=3), record(ranks=9, time_s=2.0)])
    assert [(row["ranks"], row["time"]) for row in rows] == [(8, 6.0)]


def test_an_efficiency_is_drawn_as_a_part_of_the_whole() -> None:
    plot = Plot(title="t", of=[{}], curve="sweep", quantity="efficiency")
    cases = [record(sweep="a", ranks=n, time_s=time, result={"alone_s": 8.0}) for n, time in ((1, 8.0), (4, 4.0))]
    assert [row["time"] for row in time_rows(plot, cases)] == [1.0, 0.5]
    specification = json.dumps(draw(plot, cases))
    assert '"domain": [0, 1.0]' in specification
    assert '"format": ".0%"' in specification


def test_bars_of_what_has_the_quantity() -> None:
    """An exchange beside a step of a dwarf has no time of a step."""
    plot = Plot(kind="bars", title="t", of=[{}], curve="algorithm", quantity="step-time")
    records = [record(algorithm="sweep", ranks=4), record(algorithm="direct", ranks=4, dwarf="diffusion", time_s=3.0)]
    specification = draw(plot, records)
    assert specification is not None
    (rows,) = specification["datasets"].values()
    assert [(row["bar"], row["time"], row["minimum_s"]) for row in rows] == [("direct", 3.0, 3.0)]


def test_bars_add_nothing_up() -> None:
    """Two machines are two bars of an algorithm, and seeds lie over each other."""
    records = [
        record(machine=machine, algorithm=algorithm, ranks=10, seed=seed, time_s=float(seed))
        for algorithm in ("ring-4", "bruck")
        for machine in ("torus-M", "fattree-M")
        for seed in (1, 2)
    ]
    plot = Plot(kind="bars", title="t", of=[{}], curve="algorithm", along="machine")
    specification = draw(plot, records)
    assert specification is not None
    layer = specification["layer"][0]["encoding"]
    assert layer["x"]["stack"] is None
    assert "resolve" not in specification, "bars and ticks have one axis"
    assert layer["y"]["sort"] == [f"{m}, {a}" for m in ("torus-M", "fattree-M") for a in ("ring-4", "bruck")]
    (rows,) = (rows for rows in specification["datasets"].values())
    assert {row["bar"] for row in rows} == set(layer["y"]["sort"])
    one = draw(plot, [r for r in records if r["machine"] == "torus-M"])
    assert one is not None
    assert one["layer"][0]["encoding"]["y"]["sort"] == ["ring-4", "bruck"]
