"""`tradewind bench` and `tradewind doctor`, as a user types them and as MPI's launcher starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tradewind import _core
from tradewind.base.errors import InputError, VerificationError
from tradewind.cli import make_app, output
from tradewind.launch import bench as run_bench
from tradewind.launch.benchmark import choose, combine
from tradewind.launch.job import find_launcher, run
from tradewind.method.method import packing_names, transport_names
from tradewind.workload.exchange import Exchange

pytest.importorskip("mpi4py.MPI")

APP = "import sys\nfrom tradewind.cli import make_app, output\nsys.exit(output.run(make_app(), sys.argv[1:]))\n"


def tradewind(capsys: pytest.CaptureFixture[str], arguments: str) -> tuple[int, str]:
    code = output.run(make_app(), arguments.split())
    return code, capsys.readouterr().out


def under_launcher(ranks: int, arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*find_launcher().arguments(ranks), sys.executable, "-c", APP, *arguments.split()]
    return subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False)


def test_halo_as_json(capsys):
    code, text = tradewind(
        capsys, "bench halo -n 2 --grid 62x58x6 --split 2x1 --width 3 --periodic xy --repeat 4 --json"
    )
    assert code == 0
    result = json.loads(text)
    (row,) = result["results"]
    assert (row["algorithm"], row["transport"], row["packing"]) == ("sweep", "isend-irecv", "buffer")
    assert len(row["samples_s"]) == 4
    assert 0 < row["min_s"] <= row["median_s"] <= max(row["samples_s"])
    # Its own 31 x 58 points and 3 more all around, on 6 levels of doubles.
    assert result["bytes"] == ((31 + 6) * (58 + 6) - 31 * 58) * 6 * 8
    assert row["bytes_per_s"] == pytest.approx(result["bytes"] / row["median_s"])
    # Two x halos of 3 columns; the y halos are its own: it has all of y.
    assert (row["messages"], row["bytes_sent"]) == (2, 2 * 3 * 58 * 6 * 8)
    assert result["copy_bytes_per_s"] > 1e7
    assert 0 < result["floor_s"] < 1
    assert result["checked"] is True
    assert result["oversubscribed"] == (result["ranks_per_core"] > 1)
    assert {"host", "cpu", "mpi"} <= set(result["provenance"])


def test_fetch_as_json(capsys):
    """The halo of a mesh of longitudes and latitudes: 3 columns of the other rank; nothing beyond the grid."""
    methods = "--algorithm all --transport isend-irecv,shared --packing buffer,direct --repeat 2"
    code, text = tradewind(capsys, f"bench fetch -n 2 --grid 62x58x6 --split 2x1 --width 3 --fields 2 {methods} --json")
    assert code == 0, text
    result = json.loads(text)
    assert (result["exchange"]["mesh"], result["checked"]) == ("lonlat", True)
    assert result["bytes"] == 3 * 58 * 6 * 8 * 2
    assert [(row["algorithm"], row["transport"], row["packing"]) for row in result["results"]] == [
        ("direct", transport, packing) for transport in ("isend-irecv", "shared") for packing in ("buffer", "direct")
    ]
    for row in result["results"][::2]:
        assert (row["messages"], row["bytes_sent"]) == (1, result["bytes"])
    (native,) = result["skipped"]
    assert native["reason"] == "algorithm 'native': MPI has one for transpose and allreduce, none for fetch"


def test_fetch_by_nodes(capsys):
    """All algorithms on an octahedral mesh; store-and-forward ones are checked bit for bit as the others."""
    code, text = tradewind(
        capsys, "bench fetch -n 3 --mesh octahedral --grid 1x16x4 --width 2 --algorithm all --repeat 1 --json"
    )
    assert code == 0, text
    result = json.loads(text)
    assert [row["algorithm"] for row in result["results"]] == ["direct", "two-level-2", "leaders-2"]
    assert result["checked"] is True
    assert len({row["messages"] for row in result["results"]}) > 1


def test_all_algorithms_of_a_transposition_and_what_is_skipped(capsys):
    code, text = tradewind(
        capsys, "bench transpose -n 2 --grid 17x13x9 --split 2x1 --algorithm all --repeat 2 --fields 2 --json"
    )
    assert code == 0
    result = json.loads(text)
    two_level = {"two-level-1", "two-level-2"}
    assert {row["algorithm"] for row in result["results"]} == {
        *("ring-1", "burst", "pairwise", "bruck", "native"),
        *two_level,
    }
    assert result["skipped"] == []
    assert [step["name"] for step in result["results"][0]["steps"]] == ["xz", "xy", "yz"]
    for row in result["results"]:
        assert row["median_s"] >= max(step["min_s"] for step in row["steps"])


def test_all_skips_with_a_reason():
    exchange = Exchange("halo", 2, grid=(20, 10, 4), split=(2, 1))
    chosen, skipped = choose(exchange, ["all"])
    assert chosen == ["sweep", "direct"]
    assert [item["algorithm"] for item in skipped] == ["native"]
    assert "none for halo" in skipped[0]["reason"]
    chosen, _ = choose(Exchange("halo", 5, grid=(20, 10, 4), split=(5, 1)), ["all"])
    assert chosen == ["sweep", "direct", "two-level-2", "two-level-4", "leaders-2", "leaders-4"]
    with pytest.raises(InputError, match="none for halo"):
        choose(exchange, ["native"])
    with pytest.raises(InputError, match="ring-9"):
        choose(Exchange("transpose", 4, grid=(8, 8, 8), split=(2, 2)), ["ring-9"])


def test_all_transports_and_packings():
    """All transports that carry several stages run an algorithm of two; the others are skipped with a reason."""
    exchange = Exchange("halo", 2, grid=(20, 10, 4), split=(2, 1))
    every = {(t.name, p.name) for t in _core.transports() for p in _core.packings()}
    found, skipped = combine(exchange, ["sweep"], transport_names(), packing_names())
    measured = {(method.transport, method.packing) for method in found}
    assert measured == {(t.name, p) for t in _core.transports() if not t.one_stage for p in t.packings}
    assert {(item["transport"], item["packing"]) for item in skipped} == every - measured
    reasons = {(item["transport"], item["packing"]): item["reason"] for item in skipped}
    assert "carries a schedule of one stage, and sweep has 2" in reasons["neighbor", "buffer"]
    assert "goes with buffer, direct" in reasons["shared", "datatype"]
    with pytest.raises(InputError, match="carries a schedule of one stage"):
        combine(exchange, ["sweep"], ["neighbor"], ["buffer"])
    found, _ = combine(Exchange("allreduce", 2), ["ring", "native"], ["persistent"], ["buffer", "direct"])
    assert [str(method) for method in found] == ["ring,persistent,buffer", "ring,persistent,direct", "native,,"]


def test_what_is_measured_and_what_is_skipped(capsys, tmp_path):
    chart = tmp_path / "halo.svg"
    methods = "--algorithm all --transport isend-irecv,neighbor --packing buffer,datatype"
    code, text = tradewind(
        capsys, f"bench halo -n 2 --grid 24x20x4 {methods} --repeat 2 --warmup 0 --chart {chart} --json"
    )
    assert code == 0
    result = json.loads(text)
    rows = {f"{row['algorithm']},{row['transport']},{row['packing']}" for row in result["results"]}
    both = {f"{a},isend-irecv,{p}" for a in ("sweep", "direct") for p in ("buffer", "datatype")}
    assert rows == both | {"direct,neighbor,buffer", "direct,neighbor,datatype"}
    skipped = [(item["algorithm"], item["transport"], item["packing"]) for item in result["skipped"]]
    assert skipped == [("native", None, None), ("sweep", "neighbor", "buffer"), ("sweep", "neighbor", "datatype")]
    assert result["chart"] == str(chart)
    drawn = chart.read_text()
    assert drawn.count('aria-roledescription="bar"') == len(rows)
    assert ("OVERSUBSCRIBED" in drawn) == result["oversubscribed"]


def test_rounds_share_the_samples(capsys):
    methods = "--algorithm sweep,direct --transport isend-irecv,shared --repeat 7 --rounds 3 --warmup 0"
    code, text = tradewind(capsys, f"bench halo -n 2 --grid 24x20x4 {methods} --json")
    assert code == 0
    result = json.loads(text)
    assert len(result["results"]) == 4
    for row in result["results"]:
        assert len(row["samples_s"]) == 7
        assert row["min_s"] == min(row["samples_s"])
        assert row["median_s"] >= max(step["min_s"] for step in row["steps"])


def test_radices_of_all():
    chosen, _ = choose(Exchange("allreduce", 6), ["all"])
    without = ["ring", "rabenseifner", "halving-doubling", "binomial"]
    near = [f"recursive-near-{radix}" for radix in (2, 4, 6)]
    assert chosen == ["recursive-2", "recursive-4", "recursive-6", *near, *without, "native"]


def test_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    code, text = tradewind(capsys, "bench allreduce -n 3 --count 4 --times 2 --algorithm ring,native --repeat 2")
    assert code == 0
    assert "allreduce on 3 ranks" in text
    assert "x copy" in text
    assert ("oversubscribed" in text) == (run_bench(Exchange("allreduce", 3), repeat=1)["oversubscribed"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("bench halo --grid 20x10x4", "how many ranks? Say -n RANKS"),
        ("bench halo -n 2 --grid 20x10x4 --split 3x1", "split 3x1 makes 3 ranks: 3 is not 2"),
        ("bench halo -n 2 --grid 20x10x4 --width -1", "width -1"),
        ("bench halo -n 2 --grid 20x10x4 --transport put", "unknown transport 'put'"),
        ("bench halo -n 2 --grid 20x10x4 --packing bufer", "did you mean 'buffer'?"),
        ("bench halo -n 2 --grid 20x10x4 --transport neighbor", "carries a schedule of one stage, and sweep has 2"),
        ("bench halo -n 2 --grid 20x10x4 --chart a.jpg", "chart a.jpg: a name that ends in .svg, .png, .pdf, .html"),
        ("bench halo -n 2 --grid 20x10x4 --chart no/a.svg", "chart no/a.svg: there is no folder no"),
        ("bench halo -n 2 --grid 20x10x4 --algorithm swep", "did you mean 'sweep'?"),
        ("bench halo -n 2 --grid 20x10x4 --repeat 0", "repeat 0"),
        ("bench halo -n 2 --grid 20x10x4 --repeat 3 --rounds 4", "rounds 4: 1 to 3 are allowed"),
        ("bench halo -n 2 --grid 20x10x4 --timeout 5", "has no unit"),
        ("bench fetch -n 2 --grid 20x10x4 --mesh cube", "unknown mesh 'cube'"),
        ("bench fetch -n 2 --grid 20x10x4 --algorithm sweep", "unknown fetch algorithm 'sweep'"),
        ("bench fetch -n 2 --messages none.json", "none.json"),
        ("bench hallo -n 2", "unknown pattern 'hallo'"),
    ],
)
def test_bad_input(capsys, arguments, message):
    code, text = tradewind(capsys, arguments + " --json")
    assert code == 2
    assert message in json.loads(text)["error"]


def test_wrong_results_are_found():
    """The check before the timing must be able to fail."""
    with pytest.raises(VerificationError, match="rank 1, halo, field 0: 1 of 560 elements differ") as error:
        run(2, "job_ends:bench_with_a_fault_on_rank_1", None, timeout_s=240)
    assert "first -5.0 for" in str(error.value)


def test_command_under_the_launcher():
    done = under_launcher(2, "bench allreduce --repeat 2 --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks"] == 2


@pytest.mark.parametrize(
    "arguments",
    [
        "bench halo --grid 24x20x4 --width 2 --algorithm direct --transport all --packing all --repeat 1",
        "bench allreduce --algorithm all --transport all --repeat 1",
    ],
)
@pytest.mark.slow
def test_the_library_itself_prints_nothing(arguments):
    """Requests and windows are freed in their order, before MPI is finalized."""
    done = under_launcher(2, f"{arguments} --json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert done.stderr == ""


def test_bad_input_under_the_launcher():
    done = under_launcher(2, "bench halo -n 3 --grid 20x10x4 --json")
    assert done.returncode != 0
    assert "-n 3, but 2 ranks are running" in done.stdout + done.stderr


def test_doctor(capsys):
    code, text = tradewind(capsys, "doctor --json")
    checks = {check["name"]: check for check in json.loads(text)["checks"]}
    assert code == 0
    assert checks["two ranks"]["value"].endswith("exchanged 2048 bytes, all right")
    assert all(check["ok"] for check in checks.values())


def test_doctor_finds_what_is_broken(capsys, monkeypatch):
    monkeypatch.setenv("TRADEWIND_MPIEXEC", "no-such-mpiexec")
    code, text = tradewind(capsys, "doctor --json")
    checks = {check["name"]: check for check in json.loads(text)["checks"]}
    assert code == 1
    assert not checks["launcher"]["ok"]
    assert "pip install" in checks["launcher"]["advice"]
    assert checks["mpi"]["ok"]
