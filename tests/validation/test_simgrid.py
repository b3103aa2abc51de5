"""SimGrid, where it is installed, agrees where flows and packets are the same, and differs as its model says."""

import subprocess

import pytest
from validation.machines import CROSSBAR, TORUS, all_to_all, machine, pair
from validation.simgrid import replay
from validation.simgrid.__main__ import NETWORKS, SPLITS, exchanges, row

from tradewind.base.errors import InputError, TradewindError
from tradewind.simulation import prepare

NS = 1e-9


@pytest.fixture(scope="module")
def simgrid():
    try:
        return replay.build()
    except InputError as error:
        pytest.skip(str(error))


def both(exchange, file, **options):
    simulation = prepare(exchange, file, buffers="unbounded", threads=1, **options)
    return simulation.run()["time_s"], replay.replay(simulation).time_s


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (pair(1000), 2 * 90 * NS + 800 * NS),
        (all_to_all(8, "ring-1", 512), 7 * (2 * 90 * NS + 409.6 * NS)),
        (all_to_all(8, "burst", 512), 2 * 90 * NS + 7 * 409.6 * NS),
        (all_to_all(16, "ring-3", 100), 5 * (2 * 90 * NS + 3 * 80 * NS)),
    ],
    ids=["pair", "ring-1", "burst", "ring-3"],
)
@pytest.mark.slow
def test_the_same_on_a_crossbar(simgrid, exchange, expected):
    ours, theirs = both(exchange, machine(CROSSBAR, nic_latency="90ns"))
    assert ours == pytest.approx(expected, rel=1e-9)
    assert theirs == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_flows_share_a_ring(simgrid):
    """d flows share each link in the stages of distance d: all latencies first, then d times as long."""
    ring = machine({"kind": "torus", "shape": [7], "nodes_per_switch": 1})
    ours, theirs = both(all_to_all(7, "ring-1", 2500), ring)
    tail, distances = 2000 * NS, [1, 2, 3, 3, 2, 1]
    assert theirs == pytest.approx(sum((d + 2) * 100 * NS + d * tail for d in distances), rel=1e-9)
    assert ours == pytest.approx(sum(300 * NS + d * tail for d in distances), rel=1e-9)


@pytest.mark.parametrize("network", NETWORKS[64])
@pytest.mark.slow
def test_close_where_links_are_shared(simgrid, network):
    for what, exchange in exchanges(64):
        if what in ("halo 3", "all-to-all 4 KiB, pairwise"):
            found = row(64, network, what, exchange, machine(NETWORKS[64][network]))
            assert found["ours / SimGrid"] == pytest.approx(1, abs=0.05)
            assert found["SimGrid us"] >= found["bound us"]


def test_the_splits_are_those_of_the_ranks():
    assert [x * y for x, y in SPLITS.values()] == list(SPLITS) == list(NETWORKS)


def test_some_exchanges_are_compared_on_all_sizes():
    names = {ranks: [what for what, _ in exchanges(ranks)] for ranks in NETWORKS}
    assert names[1024] == ["halo 3", "allreduce 24 B", "all-to-all 4 KiB, pairwise"]
    assert set(names[64]) > set(names[256]) > set(names[1024])
    assert "all-to-all 4 KiB, ring-4" in names[256]
    assert all(exchange.ranks == ranks for ranks in NETWORKS for _, exchange in exchanges(ranks))


def test_what_cannot_be_replayed(tmp_path):
    plus = {"kind": "dragonflyplus", "leaves": 3, "spines": 2, "groups": 5, "nodes_per_switch": 2, "global_links": 2}
    for simulation in (
        prepare(pair(1), machine(TORUS), ranks_per_node=2),
        prepare(pair(1), machine(plus)),
    ):
        with pytest.raises(InputError, match="one rank per node, on networks where one way joins two nodes"):
            replay.write(tmp_path / "exchange", simulation)


@pytest.mark.slow
def test_a_file_that_ends_too_early(simgrid, tmp_path):
    (tmp_path / "exchange").write_text("2 1 1 0 0\n1e9")
    done = subprocess.run([simgrid, tmp_path / "exchange", "together"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the file ends too early" in done.stderr


def test_without_simgrid_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(replay, "PROGRAM", tmp_path / "replay")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="install libsimgrid-dev"):
        replay.build()
    compiler = tmp_path / "g++"
    for complaint, kind in (("fatal error: simgrid/s4u.hpp: No such file", InputError), ("syntax", TradewindError)):
        compiler.write_text(f"#!/bin/sh\necho '{complaint}' >&2\nexit 1\n")
        compiler.chmod(0o755)
        with pytest.raises(kind):
            replay.build()
