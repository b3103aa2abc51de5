"""Tables of a report against values that are computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tradewind.plot.export import embedded
from tradewind.report.claims import claims_table, skipped_table
from tradewind.report.facets import Groups
from tradewind.report.measured import measured_table, runs_table
from tradewind.report.page import foreign_hosts
from tradewind.report.side_by_side import side_by_side
from tradewind.report.simulated import network_table, packets_per_message, simulated_table
from tradewind.report.table import PageColumn, PageTable
from tradewind.report.verified import verified_table
from tradewind.study.claims.finding import CONFIRMED, CONTRADICTED, NOT_TESTABLE, Verdict
from tradewind.study.model.labels import LABELS

Record = dict[str, Any]


def record(kind: str, result: Record, **labels: Any) -> Record:
    known = {label: None for label in LABELS} | {"exchange": "halo 3 sweep", "ranks": 4, "sweep": "s", "kind": kind}
    environment = {"host": "node1", "cpu": "a processor"}
    rest = {"result": result, "wall_s": 0.5, "time_s": 1.0, "is_foreign": False, "environment": environment}
    return {**known, **rest, "layout_imbalance": 1.25, **labels}


def texts(table: PageTable) -> list[dict[str, str]]:
    return [{title: cell.text for title, cell in row.items()} for row in table.rows]


def measurement(**values: Any) -> Record:
    """2 ms for bytes that a copy moves in 0.5 ms, and that packing and copying take 0.8 ms for."""
    best = {"median_s": 2e-3, "min_s": 1e-3, "samples_s": [2e-3, 9e-3, 1e-3], "bytes_per_s": 1e9}
    whole = {"copy_bytes_per_s": 4e9, "floor_s": 8e-4, "oversubscribed": False, "ranks_per_core": 1.0}
    return {**whole, "results": [best | values.pop("best", {})], **values}


def test_a_measured_time_beside_a_copy_and_beside_packing() -> None:
    method = {"algorithm": "sweep", "transport": "isend-irecv", "packing": "buffer"}
    cases = [record("measure", measurement(), grid="8x8x8", split="2x2", **method), record("verify", {})]
    (row,) = measured_table(cases).rows
    assert (row["× copy"].value, row["× copy"].text) == (4.0, "4"), "four times as long as the copy"
    assert (row["× pack+copy"].value, row["× pack+copy"].text) == (pytest.approx(2.5), "2.5")
    assert (row["Median"].text, row["Minimum"].text, row["Maximum"].text) == ("2 ms", "1 ms", "9 ms")
    assert [row[name].value for name in ("Median", "Minimum", "Maximum")] == [2e-3, 1e-3, 9e-3]
    assert (row["Rate"].value, row["Samples"].value, row["Ranks"].value) == (1e9, 3, 4)
    assert (row["Method"].text, row["Grid"].text, row["Split"].text) == ("isend-irecv, buffer", "8x8x8", "2x2")
    assert row["Exchange"].tags == ()


def test_a_measured_time_without_what_it_would_be_compared_with() -> None:
    result = measurement(best={"bytes_per_s": None}, floor_s=None)
    del result["copy_bytes_per_s"]
    (row,) = texts(measured_table([record("measure", result, algorithm="native")]))
    assert (row["× copy"], row["× pack+copy"], row["Rate"]) == ("", "", "")
    assert row["Method"] == "the library's own"


def test_times_that_are_none_of_this_machine_are_marked() -> None:
    result = measurement(oversubscribed=True, ranks_per_core=2.5)
    case = record("measure", result, is_foreign=True)
    (row,) = measured_table([case]).rows
    assert row["Exchange"].tags == (("bad", "oversubscribed: 2.5 ranks per core"), ("bad", "measured on node1"))
    assert foreign_hosts([case, case, record("measure", measurement())]) == ["node1 (a processor)"]


def test_a_step_of_a_dwarf() -> None:
    """Ten steps per sample; of 2 ms per step the median rank computes 1.5."""
    result = {
        "steps": 10,
        "samples_s": [0.03, 0.02, 0.05],
        "parts": [{"part": "compute", "median_s": 0.015}],
        "ratio_to_copy": 3.0,
        "oversubscribed": True,
    }
    labels = {"dwarf": "diffusion", "work": 4, "threads": 2, "transport": "shared", "packing": "direct"}
    run = record("run", result, grid="100x100x10", time_s=2e-3, **labels)
    published = record("published", {"time_s": 1.0}, nodes=3, transport="put", packing="buffer", grid="10x1x1")
    first, second = texts(runs_table([run, published]))
    assert (first["Step"], first["Minimum"], first["Maximum"], first["Compute"]) == ("2 ms", "2 ms", "5 ms", "1.5 ms")
    assert (first["Gpoint/s"], first["× copy"]) == ("0.05", "3")
    assert (first["Run"], first["Method"], first["Where"]) == (
        "halo 3 sweep, work 4",
        "shared, direct, 2 threads",
        "here",
    )
    assert (second["Where"], second["Minimum"], second["Compute"]) == ("published, 3 nodes", "", "")


def simulation(**values: Any) -> Record:
    known = {"step_time_s": {"a": 1.0}, "messages": 12, "bytes": 12 * 9000, "packet_bytes": 4096, "packet_hops": 2500}
    return {**known, "bound_s": 0.5, "imbalance": 1.75, **values}


def test_a_simulated_case() -> None:
    (row,) = simulated_table([record("simulate", simulation(), machine="torus-M", routing="minimal", slab="xz")]).rows
    assert (row["Exchange"].text, row["Exchange"].note) == ("halo 3 sweep (xz)", "")
    assert (row["Load imbalance (subdomains)"].value, row["Load imbalance (links)"].value) == (1.25, 1.75)
    assert (row["Time"].text, row["Bound"].text, row["Took"].text) == ("1 s", "500 ms", "500 ms")
    assert (row["Messages"].value, row["Mean size"].value, row["Packet-hops"].value) == (12, 9000, 2500)
    assert (row["Packets"].text, row["Packets"].value) == ("≈ 3", 3), "two full packets and a part of one"
    steps = simulation(step_time_s={"there": 0.25, "back": 0.75})
    assert simulated_table([record("simulate", steps)]).rows[0]["Time"].hint == "there 250 ms, back 750 ms"
    silent = simulation(messages=0, bytes=0, bound_s=None)
    row = simulated_table([record("simulate", silent)]).rows[0]
    assert (row["Mean size"].text, row["Bound"].text, row["Packets"].text) == ("", "", "1")


def test_repetitions_that_were_not_simulated() -> None:
    result = simulation(simulated_times=5, extrapolated_change=-0.0012)
    (row,) = simulated_table([record("simulate", result, times=50)]).rows
    assert row["Exchange"].note == "5 of 50 repetitions simulated; -0.12 % on half as many"
    assert (
        simulated_table([record("simulate", result | {"simulated_times": 50}, times=50)]).rows[0]["Exchange"].note == ""
    )


@pytest.mark.parametrize(
    ("packet", "size", "packets"),
    [(4096, 4096, 1), (4096, 4097, 2), (4096, 8193, 3), (4096, 1, 1), ("message", 9e9, 1)],
)
def test_a_message_is_so_many_packets(packet: Any, size: float, packets: int) -> None:
    assert packets_per_message({"packet_bytes": packet, "messages": 7, "bytes": 7 * size}) == packets


def test_how_a_sweep_was_simulated() -> None:
    small = simulation(bytes=12)
    labels = {"machine": "torus-M", "routing": "minimal", "buffers": "credits", "split": "2x2"}
    cases = [record("simulate", simulation(), seed=seed, **labels) for seed in (1, 2)]
    cases += [record("simulate", small, sweep="t", **labels), record("simulate", simulation(), sweep="t", **labels)]
    cases += [record("simulate", small | {"packet_bytes": "message"}, sweep="u", ranks=9, **labels)]
    several, some, whole = texts(network_table(cases))
    assert (several["Sweep"], several["Seed"], several["Machines"]) == ("s", "1, 2", "torus-M")
    assert several["Largest packet"] == "4 KiB (several packets per message)"
    assert some["Largest packet"] == "4 KiB (one packet per message in some cases)"
    assert whole["Largest packet"] == "a message (one packet per message in every case)"
    assert (several["Split of ranks"], whole["Split of ranks"]) == ("4 = 2x2", "9 = 2x2")


def test_a_proof() -> None:
    (row,) = texts(verified_table([record("verify", {}, transport="send-recv", grid="8x8x8"), record("measure", {})]))
    assert (row["Posting order"], row["Took"], row["Grid"]) == ("send-recv", "500 ms", "8x8x8")


def test_side_by_side() -> None:
    cases = [
        record("simulate", {}, exchange="diffusion", machine="torus-M", ranks=10000, time_s=4.0),
        record("simulate", {}, exchange="diffusion", machine="torus-M", ranks=10000, time_s=2.0),
        record("simulate", {}, exchange="diffusion", machine="torus-M", ranks=100, time_s=9.0),
        record("measure", {"oversubscribed": True}, exchange="halo 3 sweep", time_s=1e-3),
        record("verify", {}, exchange="transpose ring-1", ranks=1000),
        record("verify", {}, exchange="transpose ring-1", ranks=4),
    ]
    table = side_by_side(cases, Groups(cases))
    assert [column.title for column in table.columns] == ["Exchange", "Verified", "Measured here", "torus-M"]
    transpose, halo, diffusion = table.rows
    assert transpose["Verified"].lines == ("on 4, 1\u202f000 ranks",)
    assert halo["Measured here"].lines == ("1 ms on 4 ranks, oversubscribed",)
    assert diffusion["torus-M"].lines == ("9 s on 100", "2 s .. 4 s on 10\u202f000")
    assert diffusion["torus-M"].order == 2.0, "the fastest on most ranks"
    assert [column.title for column in side_by_side(cases[:1], Groups(cases)).columns] == ["Exchange", "torus-M"]


def test_exchanges_on_different_grids_are_rows_of_their_own() -> None:
    cases = [
        record("measure", {"oversubscribed": False}, exchange="halo 3 sweep", grid="64x64x8", time_s=1e-3),
        record("simulate", {}, exchange="halo 3 sweep", grid="64x64x8", machine="torus-M", time_s=2e-3),
        record("simulate", {}, exchange="halo 3 sweep", grid="9x9x9", machine="torus-M", time_s=4.0),
    ]
    same, other = texts(side_by_side(cases, Groups(cases)))
    assert (same["Grid"], other["Grid"]) == ("64x64x8", "9x9x9")
    first, second = side_by_side(cases, Groups(cases)).rows
    assert (first["Measured here"].lines, first["torus-M"].lines) == (("1 ms on 4 ranks",), ("2 ms on 4",))
    assert (second["Measured here"].lines, second["torus-M"].lines) == ((), ("4 s on 4",))


def test_claims() -> None:
    verdicts = [
        Verdict("1", "it falls", CONFIRMED, "", ["100 ranks 1 s"]),
        Verdict("2", "it rises", CONTRADICTED, "it falls", ["100 ranks 1 s", "200 ranks 2 s"], "a remark"),
        Verdict("3", "it flies", NOT_TESTABLE, "no wings"),
    ]
    table = claims_table(verdicts, ["a.html", "", ""])
    assert [row["Verdict"].tags for row in table.rows] == [
        (("good", "confirmed"),),
        (("bad", "contradicted"),),
        (("none", "not testable"),),
    ]
    why = [row["Because, and the values behind it"] for row in table.rows]
    assert (why[1].text, why[1].lines) == ("it falls; a remark", ("100 ranks 1 s", "200 ranks 2 s"))
    assert why[1].value == "it falls; a remark; 100 ranks 1 s; 200 ranks 2 s"
    assert [row["Figure"].link for row in table.rows] == ["a.html", "", ""]
    (skipped,) = texts(skipped_table([{"sweep": "s", "name": "n", "reason": "r"}]))
    assert skipped == {"Sweep": "s", "Case": "n", "Reason": "r"}


def test_headers_of_csv_have_units() -> None:
    assert PageColumn("Median", "s").header == "Median (s)"
    assert PageColumn("Grid").header == "Grid"


def test_json_cannot_end_its_script() -> None:
    assert "<" not in embedded({"title": "<!--<script></script><b>"})
