"""`tradewind calibrate` and `bench --predict` on real ranks: what comes out is a machine, and can be simulated."""

from __future__ import annotations

import copy
import json
import statistics
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.cli import calibrate, make_app, output
from tradewind.launch import bench as run_bench
from tradewind.launch import job, unexpected
from tradewind.launch.calibrate import calibrate as run_calibrate
from tradewind.launch.calibrate import methods, write
from tradewind.launch.probe import MessageShape, between_two, many_small, scattering, shapes_of, within_one
from tradewind.machine import load_machine
from tradewind.machine.calibration import calibrated, spread
from tradewind.simulation import simulate
from tradewind.workload.exchange import Exchange

pytest.importorskip("mpi4py.MPI")

QUICK = "calibrate -n 2 --transport isend-irecv,shared --packing buffer --largest 8KiB --repeat 3 --no-kernels --force"


SHARED = {"transports": ["shared"], "packings": ["buffer"], "largest": 8192, "kernels": False, "force": True}


def tradewind(capsys: pytest.CaptureFixture[str], arguments: str) -> tuple[int, str]:
    code = output.run(make_app(), arguments.split())
    return code, capsys.readouterr().out


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """Measure this machine, in haste: the result of the ranks."""
    found: list[dict[str, Any]] = []
    on_ranks = job.on_ranks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "on_ranks", lambda *given, **named: found.append(on_ranks(*given, **named)) or found[0])
        methods = {"transports": ["isend-irecv", "shared"], "packings": ["buffer"]}
        run_calibrate(2, **methods, largest=8192, kernels=False, repeat=3, force=True)
    return found[0]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, measured: dict[str, Any]) -> Path:
    """This machine's file."""
    path = tmp_path_factory.mktemp("calibrated") / "here.toml"
    write(calibrated(measured, repeat=3, rounds=1), path)
    return path


@pytest.fixture
def known(measured: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets `tradewind calibrate` take what is measured already."""
    monkeypatch.setattr(job, "on_ranks", lambda *_, **__: copy.deepcopy(measured))


def test_a_machine_is_written(capsys, tmp_path):
    code, text = tradewind(capsys, f"{QUICK} -o {tmp_path}/quick.toml --json")
    assert code == 0, text
    result = json.loads(text)
    assert [(method["transport"], method["packing"]) for method in result["methods"]] == [
        ("isend-irecv", "buffer"),
        ("shared", "buffer"),
    ]
    assert all(
        method["latency_s"] + method["overhead_s"] > 0 and method["bytes_per_s"] > 1e3 for method in result["methods"]
    )
    assert (result["nodes"], result["ranks_per_node"]) == (1, 2)
    assert 0 <= result["spread"] <= result["worst_spread"]
    machine = load_machine(result["file"]).machine
    (isend, shared) = machine.intranode
    assert (isend.transport, shared.transport) == ("isend-irecv", "shared")
    assert list(isend.runs) == ["8B", "24B", "64B", "512B", "4KiB"]
    assert list(isend.scattered) == list(isend.runs)
    assert machine.node.core_flops == pytest.approx(result["core_flops"], rel=1e-3)
    assert 1e8 < machine.node.core_flops < 1e11, "flops per second"
    assert machine.topology.nodes == 1
    rate = result["unexpected"]["bytes_per_s"]
    assert machine.mpi.unexpected_bandwidth == (rate and pytest.approx(rate, rel=1e-3))
    assert (rate is None) == ("not distinguishable from nothing" in (result["unexpected"]["reason"] or ""))


@pytest.mark.slow
def test_unexpected_messages_are_copied_about_as_fast_as_others():
    """A rate of another kind, of copies of 8 KiB within a rank, bounds it from both sides, roughly.

    Other work may hide it, or blur it: it is measured again, then."""
    ratios = []
    while not ratios or (len(ratios) < 5 and not (ratios[-1] and 0.1 < ratios[-1] < 10)):
        calibration = run_calibrate(2, **SHARED, repeat=20)
        probed, rate = calibration.probed, calibration.unexpected.bytes_per_s
        (copy,) = (row for row in probed["copies"] if not row["run"])
        ratios.append(rate and rate * copy["best_s"] / 8192)
    assert ratios[-1], ratios
    assert 0.1 < ratios[-1] < 10, ratios
    rows = probed["unexpected"]
    assert {row["bytes"] for row in rows} == set(unexpected.sizes_of(probed["eager_bytes"]))
    assert {len(row["samples_s"]) for row in rows} == {200}


@pytest.mark.parametrize("limit", [4096, 8192])
@pytest.mark.slow
def test_the_eager_limit_is_that_of_the_library(limit, monkeypatch):
    """Within a node both libraries send eagerly what fits, with a header, into bytes whose number a variable sets."""
    monkeypatch.setenv("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", str(limit))  # MPICH
    monkeypatch.setenv("OMPI_MCA_btl_vader_eager_limit", str(limit))  # Open MPI
    assert limit * 0.95 < run_calibrate(2, **SHARED, repeat=1).probed["eager_bytes"] < limit


def test_sizes_go_up_to_the_eager_limit():
    assert unexpected.sizes_of(8064) == [1008, 2016, 3024, 4032, 5040, 6048, 7056, 8064]
    assert unexpected.sizes_of(unexpected.SMALLEST) == [8, 16, 24, 32, 40, 48, 56, 64]


@pytest.mark.slow
def test_samples_of_all_rounds_count():
    probed = run_calibrate(2, **SHARED, repeat=11, rounds=3).probed
    assert {len(row["samples_s"]) for name in ("inside", "scattered", "copies") for row in probed[name]} == {11}
    (row,) = (row for row in probed["copies"] if not row["run"])
    rounds = [spread(row["samples_s"][i:j]) for i, j in ((0, 4), (4, 8), (8, 11))]
    assert row["spread"] == sorted(rounds)[1]
    medians = [statistics.median(row["samples_s"][i:j]) for i, j in ((0, 4), (4, 8), (8, 11))]
    assert row["best_s"] == min(medians)


@pytest.mark.usefixtures("known")
def test_the_table_for_a_reader(capsys, tmp_path):
    code, text = tradewind(capsys, f"{QUICK} -o {tmp_path}/quick.toml")
    assert code == 0, text
    assert "1 node of 2 ranks" in text
    assert "mpi.unexpected_bandwidth: eager messages, up to " in text or "mpi.unexpected_bandwidth is not known" in text
    assert f"machine file: {tmp_path}/quick.toml" in text


def test_pretended_nodes_are_measured_too(tmp_path):
    path = tmp_path / "nodes.toml"
    calibration = run_calibrate(2, **SHARED, repeat=2, ranks_per_node=1)
    write(calibration, path)
    machine = load_machine(path).machine
    assert machine.topology.nodes == 2
    assert machine.intranode == []
    assert machine.source["nic"].startswith("as between nodes: ")
    assert calibration.unexpected.eager_bytes > 0
    assert (machine.mpi.unexpected_bandwidth is None) == (calibration.unexpected.bytes_per_s is None)


def test_the_table_says_why_a_rate_is_not_known():
    text = calibrate._copies({"bytes_per_s": None, "eager_bytes": 0, "reason": "no message is eager"})
    assert text == "mpi.unexpected_bandwidth is not known, and not in the file: no message is eager"


@pytest.mark.usefixtures("known")
def test_a_busy_machine_is_refused_and_nothing_written(capsys, tmp_path):
    """No machine is so quiet that no sample differs from another."""
    quick = QUICK.replace(" --force", "")
    code, text = tradewind(capsys, f"{quick} --limit 0 -o {tmp_path}/busy.toml --json")
    assert code == 2
    assert "the machine is busy" in json.loads(text)["error"]
    assert not (tmp_path / "busy.toml").exists()


@pytest.mark.usefixtures("known")
def test_a_busy_machine_is_written_if_forced(capsys, tmp_path):
    """Where it would be refused; the file says how far apart the samples lay."""
    code, text = tradewind(capsys, f"{QUICK} --limit 0 -o {tmp_path}/busy.toml --json")
    assert code == 0, text
    result = json.loads(text)
    sources = tomllib.loads((tmp_path / "busy.toml").read_text())["source"]
    for table in ("copy", "intranode", "node.cores"):
        assert table in sources
    assert f"the middle half of one lies within {result['spread']:.1%} of the median" in sources["intranode"]
    assert load_machine(tmp_path / "busy.toml").machine.topology.nodes == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("-n 1", "ranks 1: pairs are measured"),
        ("-n 2 --transport isend", "unknown transport 'isend'; did you mean"),
        ("-n 2 --packing buffers", "unknown packing 'buffers'; did you mean 'buffer'"),
        ("-n 2 --transport alltoallw --packing buffer", "none of alltoallw goes with packing buffer"),
        ("-n 2 --largest 1KiB", "largest message 1024 B: 8192 B or more are allowed"),
        ("-n 2 --largest 1", "has no unit"),
        ("-n 2 --repeat 0", "--repeat 0: 1 or more are allowed"),
        ("-n 2 --rounds 0", "--rounds 0: 1 or more are allowed"),
        ("-n 2 --limit -1", "limit -1.0: 0 or more"),
        ("-n 3 --ranks-per-node 2", "2 do not divide 3 ranks"),
        ("-n 2 -o here.tml", "a name that ends in .toml is allowed"),
        ("-n 2 -o nowhere/here.toml", "there is no folder nowhere"),
        ("", "how many ranks?"),
    ],
)
def test_bad_input_is_refused_before_anything_is_measured(arguments, problem, capsys):
    code, text = tradewind(capsys, f"calibrate {arguments} --json")
    assert code == 2
    assert problem in json.loads(text)["error"]


def test_an_odd_number_of_ranks_on_a_node_is_refused():
    with pytest.raises(InputError, match="3 ranks on a node: pairs are measured, so an even number is needed"):
        run_calibrate(3, transports=["shared"], force=True)


def test_ways_are_those_that_go_together():
    every = methods(["all"], ["all"])
    assert len(every) == sum(len(entry.packings) for entry in _core.transports() if not entry.on_devices)
    assert methods(["shared"], ["all"]) == [["shared", "buffer"], ["shared", "direct"]]


def sent(pattern, algorithm: str, rank: int = 0) -> list[int]:
    """Bytes of each message of a rank."""
    schedule = _core.make_schedule(pattern, algorithm)
    return [
        8 * message.count
        for stage in range(schedule.stages)
        for message in schedule.sends(rank, stage)
        if message.count and message.peer != rank
    ]


@pytest.mark.parametrize("shape", shapes_of([8192, 65536], [8, 24, 64, 512, 4096]))
def test_probes_send_what_they_say(shape):
    exact = shape.bytes // (shape.run or shape.bytes) * (shape.run or shape.bytes)
    assert sent(between_two(shape), "direct") == sent(between_two(shape), "direct", 1) == [exact]
    if shape.run:
        assert sent(scattering(shape), "burst") == sent(scattering(shape), "burst", 1) == [exact]
    assert sent(within_one(shape), "direct") == []


def test_the_small_probe_sends_several_messages():
    assert sent(many_small(), "direct") == [8] * 6


def test_shapes_have_two_runs_or_one():
    assert MessageShape(8192, 4096) in shapes_of([8192], [4096])
    assert shapes_of([8192], [8192]) == [MessageShape(8192)]


@pytest.mark.slow
def test_predictions_stand_beside_measurements(here):
    exchange = Exchange("halo", 2, grid=(64, 64, 8), split=(2, 1), width=3)
    result = run_bench(exchange, ["sweep"], ["isend-irecv", "shared", "persistent"], repeat=2, predict=here)
    by_name = {row["transport"]: row for row in result["results"]}
    for name in ("isend-irecv", "shared"):
        row = by_name[name]
        assert row["predicted_ratio"] == pytest.approx(row["predicted_s"] / row["median_s"])
        assert row["predicted_s"] > 0
    assert by_name["persistent"]["predicted_s"] is None, "the machine file does not know it"
    errors = sorted(abs(by_name[name]["predicted_ratio"] - 1) for name in ("isend-irecv", "shared"))
    assert result["prediction"]["rows"] == 2
    assert result["prediction"]["machine"] == "here"
    assert result["prediction"]["median_error"] == pytest.approx(sum(errors) / 2)


@pytest.mark.parametrize(
    ("exchange", "algorithms"),
    [
        (Exchange("transpose", 2, grid=(32, 32, 8), split=(2, 1)), ["burst", "ring-1", "native"]),
        (Exchange("allreduce", 2, count=1000), ["ring", "recursive-2", "native"]),
        (Exchange("fetch", 2, grid=(64, 64, 8), split=(2, 1), width=3), ["direct"]),
        (Exchange("fetch", 2, grid=(1, 32, 8), width=3, mesh="octahedral"), ["direct"]),
    ],
)
def test_every_pattern_is_predicted(here, exchange, algorithms):
    """Predictions equal simulations on the machine file; the MPI library's own algorithm has none."""
    result = run_bench(exchange, algorithms, ["isend-irecv", "shared"], repeat=2, predict=here)
    predicted = {(row["algorithm"], row["transport"]): row["predicted_s"] for row in result["results"]}
    ours = [name for name in algorithms if name != "native"]
    assert list(predicted) == [
        *((name, transport) for name in ours for transport in ("isend-irecv", "shared")),
        *([("native", "native")] if "native" in algorithms else []),
    ]
    for (name, transport), seconds in predicted.items():
        if name == "native":
            assert seconds is None
            continue
        alone = simulate(
            replace(exchange, algorithm=name), here, transport=transport, packing="buffer", ranks_per_node=2
        )
        assert seconds == alone["time_s"] > 0
    assert result["prediction"]["rows"] == 2 * len(ours)


def test_the_table_of_predictions(here, capsys):
    code, text = tradewind(capsys, f"bench halo -n 2 --grid 64x64x8 --split 2x1 --repeat 2 --predict {here}")
    assert code == 0, text
    assert "predicted for here: 1 rows" in text


def test_a_machine_that_says_nothing_of_transports_predicts_nothing():
    with pytest.raises(InputError, match="torus-M has no table `intranode`"):
        run_bench(Exchange("allreduce", 2), predict="torus-M")
