"""SST/macro 7.1.0 and our packet model agree where they model the same; options explain most of the rest."""

import json
import math
import sys
from pathlib import Path

import pytest
from validation.machines import machine
from validation.sstmacro import __main__ as sstmacro
from validation.sstmacro.__main__ import beside, large, matrix, one_group, ranges, sixtyfour
from validation.sstmacro.published import CHANNELS, GROUPS, KIB, LARGE, NETWORKS, SIXTYFOUR

from tradewind.machine import load_machine

ROOT = Path(__file__).parents[2]
FIRST = [case for case in SIXTYFOUR if case.first is not None]


def named(case):
    return f"{case.network} {case.routing} {case.algorithm} {case.bytes // KIB} KiB"


def ratios(cases, column):
    return [found["SST / ours"] for case in cases for found in sixtyfour(case, {column})]


@pytest.mark.parametrize("case", FIRST, ids=named)
def test_the_same_models_give_the_same_times(case):
    """Receives are posted first, so that nothing is copied, and buffers have no limit on either side."""
    (ratio,) = ratios([case], "first: unbounded")
    assert 0.99 <= ratio <= 1.06


@pytest.mark.slow
def test_output_buffers_bring_us_nearer():
    """SST/macro has a buffer behind the crossbar as large as the one before it."""
    credits, behind = (ratios(FIRST, column) for column in ("first: credits", "first: + output"))
    assert max(abs(ratio - 1) for ratio in behind) < 0.16 < 0.25 < max(abs(ratio - 1) for ratio in credits)
    assert sum(abs(math.log(ratio)) for ratio in behind) < 0.6 * sum(abs(math.log(ratio)) for ratio in credits)


def test_copies_explain_ring_1():
    """Its ranks drift apart, so that messages come early. SST/macro copies them: up to 1.6 times as long."""
    cases = [case for case in SIXTYFOUR if case.algorithm == "ring-1"]
    assert len(cases) == 3
    assert all(1.25 < ratio < 1.6 for ratio in ratios(cases, "late: credits"))
    assert all(0.9 < ratio < 1 for ratio in ratios(cases, "late: + copies"))


def test_a_burst_copies_nothing():
    """It has one stage, whose receives are posted before anything can come."""
    for case in SIXTYFOUR:
        if case.algorithm == "burst":
            assert case.late == case.first
            columns = {"late: credits", "late: + copies"}
            without, copied = sixtyfour(case, columns)
            assert without["ours ms"] == copied["ours ms"]


@pytest.mark.slow
def test_routings_of_a_group_stand_in_the_same_order():
    """32 KiB per port are 16, 8 and 5.3 KiB per channel; at 1 us per hop the last is one packet at a time."""
    found = {case.routing: list(one_group(case)) for case in GROUPS if case.series == "routing" and case.ranks == 216}
    plain = {routing: rows[0] for routing, rows in found.items()}
    behind = {routing: rows[1] for routing, rows in found.items()}
    for times in ({r: row["ours ms"] for r, row in plain.items()}, {r: row["SST ms"] for r, row in plain.items()}):
        assert 1.5 * times["valiant"] < times["minimal"] < times["ugal-sst71"] / 3
    assert all(0.83 < row["SST / ours"] < 0.86 for row in plain.values())
    assert all(0.92 < row["SST / ours"] < 0.96 for row in behind.values())


def test_latency_over_buffer_bounds_a_channel():
    """At 10 us per hop 16 KiB pass a channel in each round trip of a credit, whatever the simulator."""
    (case,) = [case for case in GROUPS if case.latency == "10us"]
    plain, _ = one_group(case)
    assert plain["SST / ours"] == pytest.approx(1, abs=0.01)


def test_handshakes_cost_the_same():
    """512 B per pair: rings send eagerly, bruck's messages of up to 54 KiB ask first."""
    for case in GROUPS:
        if case.series == "algorithm":
            plain, _ = one_group(case)
            assert plain["SST / ours"] == pytest.approx(1, abs=0.03 if case.algorithm == "bruck" else 0.001)


@pytest.mark.slow
def test_the_formula_of_small_messages():
    """1000 ranks have one z, so that a message has only two NICs on its way: 50 allreduces of 4 stages of 2 us."""
    cases = [case for case in LARGE if case.pattern == "allreduce" and case.ranks == 1000]
    assert len(cases) == 4
    for case in cases:
        assert large(case)["SST / ours"] == pytest.approx(1, abs=0.02)
    assert cases[0].sst_ms == pytest.approx(50 * 4 * 2e-3)


def test_settings_are_those_that_the_tables_say():
    for (kind, routing), channels in CHANNELS.items():
        topology = {**NETWORKS[kind]}
        file = machine(topology, routing, switch={"port_buffer": "32KiB", "channels": channels})
        assert file.machine.build().buffer_sizes[0] == 32 * KIB // channels
    for case in LARGE:
        file = load_machine(case.machine, case.settings)
        assert case.ranks <= file.machine.build(case.routing).nodes


def test_tables_have_a_line_per_case():
    some = [case for case in SIXTYFOUR if case.bytes == 4 * KIB or case.algorithm == "bruck"]
    rows = [found for case in some for found in sixtyfour(case, {"first: credits", "late: credits"})]
    lines = matrix(rows)
    assert [line["exchange"] for line in lines] == ["ring-4 4 KiB", "ring-4 4 KiB", "bruck 64 KiB"]
    assert lines[2]["first: credits"] is None
    assert lines[0]["late: credits"] == rows[1]["SST / ours"]
    first, late = ranges(rows)
    assert (first["cases"], late["cases"]) == (2, 3)
    assert late["lowest"] <= late["highest"]
    assert late["largest difference %"] == pytest.approx(100 * max(1 - late["lowest"], late["highest"] - 1), rel=1e-12)


@pytest.mark.slow
def test_without_and_with_output_buffers_stand_side_by_side():
    cases = [c for c in GROUPS if (c.side, c.routing, c.bandwidth, c.latency) == (6, "minimal", "10GB/s", "1us")]
    lines = beside(found for case in cases for found in one_group(case))
    assert [line["SST ms"] for line in lines] == [10.2, 10.2, 11.6]  # one setting, in three series of SST/macro's
    assert list(lines[0])[-4:] == ["ours ms", "SST / ours", "ours ms, + output", "SST / ours, + output"]
    assert len({line["ours ms"] for line in lines}) == 1


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_the_program(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sstmacro, "SIXTYFOUR", SIXTYFOUR[:1])
    monkeypatch.setattr(sstmacro, "GROUPS", GROUPS[-1:])
    monkeypatch.setattr(sys, "argv", ["sstmacro", *arguments])
    sstmacro.main()
    printed = capsys.readouterr().out
    if not arguments:
        assert [table.splitlines()[0].split()[0] for table in printed.split("\n\n")] == ["network", "SST", "ranks"]
        return
    rows = json.loads(printed)
    assert len(rows) == 7 + 2
    assert all(row["SST / ours"] == pytest.approx(row["SST ms"] / row["ours ms"]) for row in rows)


def _of_page():
    """Lines of the page's table of large networks: times in ms, by what stands before them."""
    page = (ROOT / "docs" / "explanation" / "validation-sstmacro.md").read_text(encoding="utf-8")
    lines = [line.split() for line in page.splitlines()]
    return [line for line in lines if len(line) > 6 and line[0].isdigit() and line[1] in {c.machine for c in LARGE}]


def test_the_page_has_all_large_networks():
    assert [(int(line[0]), line[1]) for line in _of_page()] == [(case.ranks, case.machine) for case in LARGE]


ALIKE = {4, 5, 7, 9, 12, 13, 16}
"""Numbers of lines that differ from another of the table in one rate, latency or count alone, and take long."""
TRIED = [pair for number, pair in enumerate(zip(LARGE, _of_page(), strict=False)) if number not in ALIKE]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "line"), TRIED, ids=lambda each: "")
def test_large_networks_as_on_the_page(case, line):
    assert large(case)["ours ms"] == pytest.approx(float(line[-2]), rel=0.001)
