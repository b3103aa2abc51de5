"""What happens to a message beside the network: rendezvous, one-sided puts, the bypass, several NICs, memory, and the
switch's own bandwidth; each against its closed form."""

import pytest
from small import CROSSBAR, DRAGONFLY, NS, TORUS, all_to_all, core, machine, messages, pair, run, terminal_bytes
from test_threads import bits

from tradewind.errors import InputError
from tradewind.exchange import Exchange
from tradewind.simulation import model_version, prepare

BYTE = 100
"""Picoseconds at 10 GB/s."""
TRIP = 200 * NS
"""Of a head, from NIC to NIC."""
HEADER = 64 * BYTE


def test_messages_up_to_the_limit_are_sent_at_once():
    file = machine(CROSSBAR, mpi={"eager_limit": "8000B"})
    assert bits(run(pair(1000), file)) == bits(run(pair(1000), machine(CROSSBAR)))


def test_the_receiver_pays_for_the_request_not_for_the_data():
    file = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns", mpi={"eager_limit": "0B"})
    result = run(pair(100), file)
    assert result.time_ps == 100 * NS + 4 * TRIP + 3 * HEADER + 800 * BYTE


@pytest.mark.parametrize("header", [1, 64, 5000])
def test_headers_are_as_long_as_the_machine_says(header):
    """The request, the clear-to-send and the acknowledgement."""
    file = machine(CROSSBAR, mpi={"eager_limit": "0B", "header": f"{header}B"})
    assert run(pair(100), file).time_ps == 4 * TRIP + 3 * header * BYTE + 800 * BYTE


def test_a_put_needs_no_receiver():
    file = machine(CROSSBAR, receive_overhead="60ns", mpi={"eager_limit": "0B"})
    assert run(pair(100), file, protocol="put").time_ps == TRIP + 800 * BYTE
    assert run(pair(100), machine(CROSSBAR, receive_overhead="60ns")).time_ps == TRIP + 800 * BYTE + 60 * NS


@pytest.mark.parametrize("ranks_per_node", [1, 3])
@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
@pytest.mark.parametrize(("topology", "routing"), [(TORUS, "dimension-order"), (DRAGONFLY, "ugal")])
def test_rendezvous_moves_every_byte_with_the_same_bits_on_any_threads(topology, routing, buffers, ranks_per_node):
    """Ranks run ahead of each other, so that requests come before their stage."""
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), "ring-2", times=3)
    file = machine(topology, routing, packet="512B", mpi={"eager_limit": "200B"})
    simulation = prepare(exchange, file, buffers=buffers, ranks_per_node=ranks_per_node)
    one = core(simulation, 1)
    assert one.bytes == sum(size for _, _, size in messages(exchange))
    for threads in (2, 3):
        assert bits(core(simulation, threads, adaptive=False)) == bits(one)


def test_a_bypass_knows_no_congestion():
    """All send to all at once, and every message takes what it would take alone after those before it have left."""
    file = machine(CROSSBAR, mpi={"bypass": "8B"})
    result = run(all_to_all(10, "burst"), file)
    assert result.packet_hops == 0
    assert result.time_ps == 9 * 8 * BYTE + TRIP
    assert run(all_to_all(10, "burst", 2), file).packet_hops == 2 * 10 * 9


def test_a_bypass_is_as_far_as_a_packet_alone():
    exchange = Exchange("halo", 24, (24, 20, 1), (24, 1), "sweep", width=1)
    for topology in (TORUS, DRAGONFLY):
        alone = run(exchange, machine(topology))
        assert run(exchange, machine(topology, mpi={"bypass": "1KiB"})).time_ps <= alone.time_ps


@pytest.mark.parametrize("each", [2, 3, 4])
def test_a_node_s_messages_use_all_of_its_nics(each):
    """Also where every rank sends to the rank of its own place on other nodes, as two-level all-to-alls do."""
    exchange = all_to_all(8 * each, f"two-level-{each}", 100)
    simulation = prepare(exchange, machine(CROSSBAR, nic={"count": 2}), ranks_per_node=each)
    sent = core(simulation).nic_bytes[:16]
    assert min(sent) > 0.3 * max(sent)


@pytest.mark.parametrize("topology", [CROSSBAR, TORUS])
def test_node_aware_halos_bring_each_point_to_a_node_once(topology):
    """A row of 8 ranks of 4 x 4 points is a node; around it are 9 rows of 32 points above, and as many below."""
    straight, once = [], []
    for found, algorithm in ((straight, "direct"), (once, "two-level-8"), (once, "leaders-8")):
        exchange = Exchange("halo", 64, (32, 32, 1), (8, 8), algorithm, width=9, periodic="xy")
        simulation = prepare(exchange, machine(topology), ranks_per_node=8)
        found.append(terminal_bytes(core(simulation), simulation.machine.topology)[:8])
    assert straight[0].tolist() == [2 * 9 * 8 * (4 + 2 * 9) * 8] * 8
    assert [received.tolist() for received in once] == [[2 * 9 * 32 * 8] * 8] * 2


@pytest.mark.parametrize("nics", [1, 2, 4])
def test_messages_share_the_nics_of_a_node(nics):
    """Four messages to four others; NIC (a + b) mod n carries what ranks a and b send each other."""
    exchange = all_to_all(5, "burst", 1000)
    result = run(exchange, machine(CROSSBAR, nic={"count": nics}), packet="message")
    most = max([(a + b) % nics for b in range(5) if b != a].count(nic) for a in range(5) for nic in range(nics))
    assert result.time_ps == most * 8000 * BYTE + TRIP
    assert most < 4 or nics == 1
    assert result.bytes == 5 * 4 * 8000


@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
def test_several_nics_give_the_same_bits_for_any_threads(buffers):
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), "ring-2")
    file = machine(TORUS, nic={"count": 2}, send_overhead="10ns", receive_overhead="20ns")
    simulation = prepare(exchange, file, buffers=buffers, ranks_per_node=2)
    one = core(simulation, 1)
    assert one.bytes == sum(size for _, _, size in messages(exchange))
    assert bits(core(simulation, 2, adaptive=False)) == bits(one)


@pytest.mark.parametrize("ranks", [8, 9])
def test_nodes_of_a_fattree_have_several_nics(ranks):
    """All send to all below one switch: of a node's messages about half go by each of its two NICs."""
    fattree = {"kind": "fattree", "levels": 2, "down_ports": 9}
    one, two = (machine(fattree, "d-mod-k", nic={"count": n}).machine.build().topology for n in (1, 2))
    assert (two.nodes, two.switches, two.links()) == (2 * one.nodes, one.switches, one.links())
    exchange = all_to_all(ranks, "burst", 1000)
    result = run(exchange, machine(fattree, "d-mod-k", nic={"count": 2}), packet="message")
    most = max([(a + b) % 2 for b in range(ranks) if b != a].count(nic) for a in range(ranks) for nic in range(2))
    assert result.time_ps == most * 8000 * BYTE + TRIP


def test_a_gpu_has_one_nic():
    with pytest.raises(InputError, match=r"nic\.count = 3: a GPU of a cubemesh has one"):
        prepare(pair(1), machine({"kind": "cubemesh", "gpu": "V100"}, nic={"count": 3}))


@pytest.mark.parametrize(("bandwidth", "slower"), [("10GB/s", 1), ("20GB/s", 1), ("5GB/s", 2)])
def test_two_packets_cross_a_switch_one_after_the_other(bandwidth, slower):
    file = machine(CROSSBAR, switch={"bandwidth": bandwidth})
    crossing = 4096 * 1e12 / float(bandwidth[:-4]) / 1e9
    result = run(pair(512), file)
    assert result.time_ps == TRIP + crossing + 4096 * BYTE * slower


def test_a_switch_is_a_bound():
    """Ten ranks all to all through a switch of 1 GB/s: all bytes pass it one after another."""
    exchange = all_to_all(10, "burst", 512)
    result = run(exchange, machine(CROSSBAR, switch={"bandwidth": "1GB/s"}))
    assert result.time_ps == TRIP + 90 * 4096 * 1000
    simulation = prepare(exchange, machine(TORUS, switch={"bandwidth": "20GB/s"}), buffers="unbounded")
    assert bits(core(simulation, 2, adaptive=False)) == bits(core(simulation, 1))


@pytest.mark.parametrize("packet", ["4KiB", "message"])
@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
@pytest.mark.parametrize("placement", ["linear", "blocks"])
def test_copies_and_packets_of_one_rank(placement, buffers, packet):
    """Messages to neighbours on the same node and on others, in one stage: all arrive, with the same bits on any
    threads."""
    exchange = Exchange("halo", 64, (320, 320, 16), (8, 8), "direct", width=9, periodic="x")
    simulation = prepare(
        exchange,
        machine(TORUS | {"shape": [5, 5]}),
        buffers=buffers,
        placement=placement,
        packet=packet,
        ranks_per_node=8,
    )
    one = core(simulation, 1)
    assert one.bytes == sum(size for _, _, size in messages(exchange))
    assert bits(core(simulation, 2, adaptive=False)) == bits(one)


def test_answers_of_an_older_model_are_not_used_again():
    """Only of cases that use what has changed since: other studies need not be simulated anew."""
    assert model_version(machine(CROSSBAR), 1) == 2
    assert model_version(machine(CROSSBAR), 2) == model_version(machine(CROSSBAR, mpi={"eager_limit": "1KiB"}), 1) == 3
