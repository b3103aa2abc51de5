"""Refusals of `prepare`, and results of `simulate`."""

import json

import psutil
import pytest
from small import CROSSBAR, DRAGONFLY, TORUS, all_to_all, machine, pair

from tradewind.base.errors import InputError, OutOfMemoryError
from tradewind.simulation import prepare, simulate
from tradewind.workload.exchange import Exchange


def problems(exchange, file, **options):
    with pytest.raises(InputError) as error:
        simulate(exchange, file, **options)
    return list(error.value.problems)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "paket"}, "did you mean 'packet'"),
        ({"placement": "rondom"}, "did you mean 'random'"),
        ({"routing": "valient"}, "did you mean 'valiant'"),
        ({"routing": "d-mod-k"}, "known: minimal, valiant"),
        ({"buffers": "creditz"}, "unknown kind of buffers"),
        ({"packet": "4"}, "has no unit"),
        ({"packet": "4KB/s"}, "not a unit of a size"),
        ({"packet": "0B"}, "1B to 128MiB"),
        ({"packet": "129MiB"}, "1B to 128MiB"),
        ({"packet": ""}, "packet"),
        ({"threads": 0}, "1..256"),
        ({"threads": 1000}, "1..256"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**63}, "seed"),
        ({"ranks_per_node": 0}, "ranks per node 0"),
        ({"ranks_per_node": 2**33}, "ranks per node"),
    ],
)
def test_each_bad_option_is_refused(options, words):
    assert any(words in problem for problem in problems(pair(1), machine(DRAGONFLY), **options))


def test_all_bad_options_are_named_at_once():
    found = problems(
        pair(1), "dragonfly-MN", model="paket", placement="x", packet="5", threads=0, seed=-1, ranks_per_node=0
    )
    assert len(found) == 7


def test_packets_and_placements_that_cannot_be_are_named_with_the_rest():
    file = machine(CROSSBAR, switch={"buffer": "8KiB"})
    found = problems(all_to_all(65, "ring-1"), file, packet="16KiB")
    assert len(found) == 2
    assert "a packet of 16 KiB does not fit a buffer of 8 KiB" in found[0]
    assert "65 ranks with 1 per node need 65 nodes" in found[1]
    found = problems(all_to_all(65, "ring-1"), file, packet="16KiB", threads=0)
    assert [text.split()[0] for text in found] == ["threads", "a"]


def test_a_box_is_one_of_the_torus_of_the_machine_file():
    """Each node of this torus of 4 x 4 switches has two NICs, each of which is an end point of the topology."""
    file = machine({"kind": "torus", "shape": [4, 4], "nodes_per_switch": 2}, nic={"count": 2})
    placed = prepare(all_to_all(7, "ring-1"), file, placement="box").placement
    assert [placed.node(rank) for rank in range(7)] == [0, 1, 2, 3, 8, 9, 10]
    (text,) = problems(all_to_all(7, "ring-1"), machine(CROSSBAR), placement="box")
    assert "placement 'box' needs a torus" in text


def test_too_many_ranks():
    (text,) = problems(all_to_all(65, "ring-1"), machine(CROSSBAR))
    assert "65 ranks with 1 per node need 65 nodes; the machine has 64" in text
    assert simulate(all_to_all(65, "ring-1"), machine(CROSSBAR), ranks_per_node=2)["time_s"] > 0


@pytest.mark.parametrize("zero", [{"latency": "0ns", "nic_latency": "1ns"}, {"nic_latency": "0ns"}])
def test_no_latency_is_for_loggp(zero):
    (text,) = problems(pair(1), machine(TORUS, **zero))
    assert "'loggp'" in text
    assert simulate(pair(1), machine(TORUS, **zero), model="loggp")["time_s"] > 0


def test_no_latency_of_links_that_are_not_there():
    """A crossbar has none, a single group no global ones."""
    assert simulate(pair(1), machine(CROSSBAR, latency="0ns", nic_latency="1ns"))["time_s"] > 0
    alone = DRAGONFLY | {"groups": 1}
    assert simulate(pair(1), machine(alone, global_link={"latency": "0ns"}))["time_s"] > 0


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_the_result_is_plain_and_whole(model):
    exchange = Exchange("transpose", 12, (12, 12, 12), (4, 3), algorithm="ring-2")
    result = simulate(exchange, machine(TORUS), model=model, seed=9, threads=1)
    assert json.loads(json.dumps(result, allow_nan=False)).keys() == result.keys()
    always = {"time_s", "step_time_s", "messages", "bytes", "seed", "wall_s", "peak_rss_bytes", "machine", "topology"}
    assert always <= result.keys()
    assert result["step_time_s"].keys() == {"xz", "xy", "yz"}
    assert sum(result["step_time_s"].values()) == pytest.approx(result["time_s"])
    assert result["seed"] == 9
    assert result["wall_s"] > 0
    assert result["peak_rss_bytes"] > 1e6
    packet = {"packet_hops", "bound_s", "imbalance", "packet_bytes", "buffers", "routing", "delay"}
    assert packet & result.keys() == (packet if model == "packet" else set())
    if model == "packet":
        delay = result["delay"]
        assert len(delay["edges_s"]) == len(delay["counts"]) + 1
        assert delay["edges_s"] == sorted(delay["edges_s"])
        assert result["packet_bytes"] == 4096


@pytest.mark.parametrize("times", [1, 3])
def test_steps_of_a_repeated_exchange(times):
    exchange = Exchange("transpose", 12, (12, 12, 12), (4, 3), algorithm="ring-2", times=times)
    steps = simulate(exchange, machine(TORUS))["step_time_s"]
    assert len(steps) == 3 * times
    assert all(time > 0 for time in steps.values())
    halo = Exchange("halo", 12, (48, 48, 2), (4, 3), width=1, times=times)
    assert len(simulate(halo, machine(TORUS))["step_time_s"]) == 1


def test_delays_are_counted_where_packets_wait():
    """Three senders into one port: of one packet each, the second waits for one, the third for two."""
    exchange = Exchange("allreduce", 15, algorithm="recursive-4", count=512)
    delay = simulate(exchange, machine(CROSSBAR), packet="message")["delay"]
    packet = 4096 / 10e9
    assert sum(delay["counts"]) == 11 + 12 + 11

    def waited(seconds):
        bins = zip(delay["edges_s"], delay["edges_s"][1:], delay["counts"], strict=False)
        return sum(count for low, high, count in bins if low <= seconds < high)

    assert waited(packet) >= 4
    assert waited(2 * packet) >= 3


def test_a_simulation_that_outgrows_the_memory_is_ended(monkeypatch):
    free = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free._replace(available=free.total // 100))
    exchange = all_to_all(40, "burst", 20_000)
    with pytest.raises(OutOfMemoryError, match=r"ended at .* simulated: it holds .* a larger packet, finite buffers"):
        simulate(exchange, machine(TORUS, packet="8B"), buffers="unbounded", force=True)


def test_a_packet_larger_than_a_buffer_is_refused():
    with pytest.raises(InputError, match=r"a packet of 8 KiB does not fit a buffer of 4 KiB: name a smaller packet"):
        prepare(pair(1), machine(CROSSBAR, switch={"buffer": "4KiB"}), packet="8KiB")


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"switch": {"port_buffer": "32KiB", "channels": 1}}, "switch.channels = 1: routing minimal uses 2"),
        (
            {"switch": {"port_buffer": "8191B"}},
            "a packet of 4096 bytes does not fit a buffer of 4095: .* a larger switch.port_buffer",
        ),
        ({"switch": {"output_buffer": "6KiB"}}, "does not fit a buffer of 3 KiB: .* a larger switch.output_buffer"),
        ({"switch": {"output_buffer": "1B"}}, "1 bytes per port leaves nothing for each of 2 channels"),
        ({"nic": {"buffer": "2KiB"}}, "does not fit a buffer of 2 KiB: .* a larger nic.buffer"),
    ],
)
def test_buffers_that_no_packet_fits_are_refused(tables, expected):
    with pytest.raises(InputError, match=expected):
        prepare(pair(1), machine(DRAGONFLY, **tables))
