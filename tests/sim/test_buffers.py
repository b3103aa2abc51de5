"""Finite buffers and credits: closed forms, every network driven into saturation, and results without chance."""

import pytest
from networks import ROUTED, network_id
from small import CROSSBAR, DRAGONFLY, NS, TORUS, all_to_all, core, machine, messages, pair, run
from test_threads import bits

from tradewind.errors import InputError
from tradewind.exchange import Exchange
from tradewind.simulation import prepare

TWO_SWITCHES = {"kind": "complete", "switches": 2, "nodes_per_switch": 1}
BYTE = 100
"""Picoseconds at 10 GB/s."""


@pytest.mark.parametrize("packets", [1, 2, 7, 40])
@pytest.mark.parametrize("room", [1, 2, 4, 64])
def test_a_buffer_passes_as_many_packets_as_it_holds_each_round_trip(room, packets):
    """NIC - switch - switch - NIC, packets of 512 B (51.2 ns), 100 ns a link. Room comes back 200 ns after a packet
    has left, so `room` packets pass in 200 ns, or as fast as the link is."""
    file = machine(TWO_SWITCHES, packet="512B", switch={"buffer": f"{512 * room}B"})
    result = run(pair(64 * packets), file, buffers="credits")
    each, first, trip = 512 * BYTE, 3 * 100 * NS + 512 * BYTE, 200 * NS
    rounds, left = divmod(packets - 1, room)
    steady = max(trip, room * each)
    assert result.time_ps == first + rounds * steady + left * each


@pytest.mark.parametrize(("topology", "routing"), ROUTED, ids=network_id)
def test_every_network_drains_however_little_its_buffers_hold(topology, routing):
    """Everyone sends everyone everything at once, through buffers of a single packet. (Who waits for ever is an error
    of the core's; tests/machine/test_paths.py proves that no circle of waits is possible.)"""
    probe = machine(topology, routing, packet="1KiB", switch={"buffer": "1KiB"})
    nodes = probe.machine.build().topology.nodes
    exchange = all_to_all(min(nodes, 40), "burst", 256)
    simulation = prepare(exchange, probe, placement="random", buffers="credits")
    one = core(simulation, 1)
    assert one.bytes == sum(size for _, _, size in messages(exchange))
    assert one.time_s >= one.bound_s
    assert bits(core(simulation, 2, adaptive=False)) == bits(one)


@pytest.mark.parametrize(("topology", "routing"), [(TORUS, "dimension-order"), (DRAGONFLY, "ugal"), (DRAGONFLY, "par")])
def test_buffers_that_are_never_full_change_nothing(topology, routing):
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), "ring-2")
    large = run(exchange, machine(topology, routing, switch={"buffer": "64MiB"}), buffers="credits")
    assert bits(large) == bits(run(exchange, machine(topology, routing), buffers="unbounded"))


@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_small_buffers_take_longer(ranks_per_node):
    exchange = all_to_all(40, "burst", 1000)
    times = [
        run(
            exchange, machine(TORUS, switch={"buffer": f"{kib}KiB"}), buffers="credits", ranks_per_node=ranks_per_node
        ).time_ps
        for kib in (4, 1024)
    ]
    assert times[0] > 1.05 * times[1]


def test_messages_in_one_packet_are_cut_to_what_a_buffer_holds():
    file = machine(CROSSBAR, switch={"buffer": "1000B"})
    assert run(pair(250), file, packet="message", buffers="credits").packet_hops == 2 * 2 * 2
    assert run(pair(250), file, packet="message", buffers="unbounded").packet_hops == 2 * 2


def test_a_packet_larger_than_a_buffer_is_refused():
    with pytest.raises(InputError, match=r"a packet of 8 KiB does not fit a buffer of 4 KiB: name a smaller packet"):
        prepare(pair(1), machine(CROSSBAR, switch={"buffer": "4KiB"}), packet="8KiB")
