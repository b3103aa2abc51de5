"""Finite buffers and credits: closed forms, every network driven into saturation, and results without chance."""

import pytest
from fetches import simulated
from networks import ROUTED, network_id
from small import CROSSBAR, DRAGONFLY, FATTREE, NS, TORUS, all_to_all, core, machine, messages, pair, run
from test_threads import bits

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

TWO_SWITCHES = {"kind": "complete", "switches": 2, "nodes_per_switch": 1}
BYTE = 100
"""Picoseconds at 10 GB/s."""


@pytest.mark.parametrize("packets", [1, 2, 7, 40])
@pytest.mark.parametrize("room", [1, 2, 4, 64])
def test_a_buffer_passes_as_many_packets_as_it_holds_each_round_trip(room, packets):
    """NIC - switch - switch - NIC, packets of 512 B (51.2 ns), 100 ns per link. Room comes back 200 ns after a packet
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
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), algorithm="ring-2")
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


# ---------------------------------------------------------------------- buffers of ports, behind the crossbar, of NICs


@pytest.mark.parametrize("channels", [None, 2, 5])
def test_a_port_s_buffer_is_divided_among_its_channels(channels):
    """As the closed form above, with what a channel gets: two switches need one channel, so it has the whole buffer or
    the part that is said."""
    file = machine(TWO_SWITCHES, packet="512B")
    assert _core.Walker(file.machine.build()).channels == 1
    for room, packets in ((1, 7), (3, 40)):
        switch = {"port_buffer": f"{512 * room * (channels or 1)}B"} | ({"channels": channels} if channels else {})
        file = machine(TWO_SWITCHES, packet="512B", switch=switch)
        rounds, left = divmod(packets - 1, room)
        first, steady = 3 * 100 * NS + 512 * BYTE, max(200 * NS, room * 512 * BYTE)
        result = run(pair(64 * packets), file, buffers="credits")
        assert result.time_ps == first + rounds * steady + left * 512 * BYTE


@pytest.mark.parametrize(("topology", "routing"), ROUTED, ids=network_id)
def test_what_a_channel_gets_is_all_that_counts(topology, routing):
    """A port's buffer over the channels of the routing does what as much for each channel does."""
    channels = _core.Walker(machine(topology, routing).machine.build()).channels
    nodes = machine(topology, routing).machine.build().nodes
    exchange = all_to_all(min(nodes, 24), "ring-1", 100)
    divided = machine(topology, routing, packet="512B", switch={"port_buffer": f"{1000 * channels + channels - 1}B"})
    each = machine(topology, routing, packet="512B", switch={"buffer": "1000B"})
    assert divided.machine.build().buffer_sizes == (1000, 0, 1000)
    assert bits(run(exchange, divided, buffers="credits")) == bits(run(exchange, each, buffers="credits"))


@pytest.mark.parametrize("packets", [1, 2, 9])
@pytest.mark.parametrize("room", [1, 2, 16])
def test_a_nic_sends_as_many_packets_as_its_switch_has_room_for_each_round_trip(room, packets):
    """As above, but it is the room for the NIC that is small: 300 ns away, so that it comes back after 600 ns."""
    file = machine(TWO_SWITCHES, packet="512B", nic_latency="300ns", nic={"buffer": f"{512 * room}B"})
    each, first, trip = 512 * BYTE, (300 + 100 + 300) * NS + 512 * BYTE, 600 * NS
    rounds, left = divmod(packets - 1, room)
    result = run(pair(64 * packets), file, buffers="credits")
    assert result.time_ps == first + rounds * max(trip, room * each) + left * each


@pytest.mark.parametrize(("output", "second"), [(None, 1224), (1, 712), (2, 300), (5, 300)])
def test_a_packet_in_the_output_buffer_makes_room_for_those_behind_it(output, second):
    """Two switches, A with nodes 0 and 1, B with 2 and 3; packets of 512 B, 100 ns per link, and nodes receive a packet
    in 512 ns. Node 3 sends two packets to node 2, which come to its port at 100 and 151.2 ns and keep it until 1124;
    node 0 sends one to node 2, which comes at 200 ns, and then three to node 3, which find no room in B's input buffer
    of one packet until that one leaves it. Without output buffers it does at 1124 ns; where the port to node 2 has
    room behind the crossbar for one packet, when the second of node 3's has left that, at 612 ns; for two, at once."""
    switch = {"buffer": "512B"} | ({"output_buffer": f"{512 * output}B"} if output else {})
    file = machine(
        {"kind": "complete", "switches": 2, "nodes_per_switch": 2},
        packet="512B",
        ejection_bandwidth="1GB/s",
        switch=switch,
        nic={"buffer": "64KiB"},
    )
    result = simulated(file, 4, [{(0, 2): 512, (0, 3): 3 * 512, (3, 2): 2 * 512}], finite=True)
    # `second` is when the first packet for node 3 leaves A; it takes two links, and node 3 its time for all three.
    assert result.time_ps == (second + 100 + 100 + 3 * 512) * NS


ONE_CHANNEL = [each for each in ROUTED if _core.Walker(machine(*each).machine.build()).channels == 1]


@pytest.mark.parametrize(("topology", "routing"), ONE_CHANNEL, ids=network_id)
def test_output_buffers_that_are_never_full_leave_unbounded_ones(topology, routing):
    """Input buffers are then left at once, and what they hold, 16 packets, is more than a link passes in the round trip
    of a credit. (Of several channels one with room goes before another that came first.)"""
    nodes = machine(topology, routing).machine.build().nodes
    exchange = all_to_all(min(nodes, 32), "burst", 300)
    file = machine(topology, routing, packet="512B", switch={"buffer": "8KiB", "output_buffer": "128MiB"})
    assert bits(run(exchange, file, buffers="credits")) == bits(run(exchange, file, buffers="unbounded"))


def test_they_matter_where_input_buffers_are_small():
    small, helped, large = (
        run(all_to_all(32, "burst", 300), file, buffers="credits", placement="random").time_ps
        for file in (
            machine(FATTREE, packet="512B", switch=switch)
            for switch in ({"buffer": "1KiB"}, {"buffer": "1KiB", "output_buffer": "2KiB"}, {"buffer": "16KiB"})
        )
    )
    assert large < helped < small


@pytest.mark.parametrize(("topology", "routing"), ROUTED, ids=network_id)
def test_small_output_buffers_drain_with_the_same_bits_on_any_threads(topology, routing):
    channels = _core.Walker(machine(topology, routing).machine.build()).channels
    switch = {"buffer": "1KiB", "output_buffer": f"{3 * 1024 * channels // 2}B"}
    file = machine(topology, routing, packet="1KiB", switch=switch)
    exchange = all_to_all(min(file.machine.build().nodes, 40), "burst", 256)
    simulation = prepare(exchange, file, placement="random", buffers="credits")
    one = core(simulation, 1)
    assert one.bytes == sum(size for _, _, size in messages(exchange))
    assert one.time_s >= one.bound_s
    assert bits(core(simulation, 2, adaptive=False)) == bits(one)


@pytest.mark.parametrize(
    ("tables", "says"),
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
def test_buffers_that_no_packet_fits_are_refused(tables, says):
    with pytest.raises(InputError, match=says):
        prepare(pair(1), machine(DRAGONFLY, **tables))
