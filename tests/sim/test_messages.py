"""Messages outside the network: rendezvous, one-sided puts, the bypass, several NICs, memory, and the
switch's own bandwidth; each against its closed form."""

import pytest
from fetches import simulated
from small import (
    CROSSBAR,
    DRAGONFLY,
    FATTREE,
    NS,
    TORUS,
    all_to_all,
    core,
    machine,
    messages,
    pair,
    run,
    terminal_bytes,
)
from test_threads import bits

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.simulation import model_version, prepare
from tradewind.workload.exchange import Exchange

BYTE = 100
"""Picoseconds at 10 GB/s."""
TRIP = 200 * NS
"""Latency of a head, from NIC to NIC."""
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


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_connections_cost_time_at_both_ends(model):
    """Each rank of n has one to every rank of other nodes, n - 1 or n - 3."""
    file = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns", mpi={"connection_overhead": "5ns"})
    alone = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns")
    one = run(pair(100), file, model=model).time_ps
    assert one == run(pair(100), alone, model=model).time_ps + 2 * 5 * NS == TRIP + 800 * BYTE + 110 * NS
    many = all_to_all(6, "burst")
    for ranks_per_node, connections in ((1, 5), (3, 3), (6, 0)):
        costs = {"send_overhead": f"{40 + 5 * connections}ns", "receive_overhead": f"{60 + 5 * connections}ns"}
        options = {"model": model, "ranks_per_node": ranks_per_node}
        found, wanted = run(many, file, **options), run(many, machine(CROSSBAR, **costs), **options)
        assert found.time_ps == wanted.time_ps
    assert file.identity != alone.identity == machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns").identity


@pytest.mark.parametrize("ranks_per_node", [1, 3])
@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
@pytest.mark.parametrize(("topology", "routing"), [(TORUS, "dimension-order"), (DRAGONFLY, "ugal")])
def test_rendezvous_moves_every_byte_with_the_same_bits_on_any_threads(topology, routing, buffers, ranks_per_node):
    """Ranks run ahead of each other, so that requests come before their stage."""
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), algorithm="ring-2", times=3)
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
    exchange = Exchange("halo", 24, (24, 20, 1), (24, 1), algorithm="sweep", width=1)
    for topology in (TORUS, DRAGONFLY):
        alone = run(exchange, machine(topology))
        assert run(exchange, machine(topology, mpi={"bypass": "1KiB"})).time_ps <= alone.time_ps


@pytest.mark.parametrize("target", [1, 4, 7, 13, 40, 63])
def test_in_sst_71_a_bypass_travels_the_last_dimension_of_a_torus_alone(target):
    """Switch x + 4 (y + 4 z) of a torus of 4 x 4 x 4; each dimension the shorter way."""
    torus = {"kind": "torus", "shape": [4, 4, 4], "nodes_per_switch": 1}
    links = [min(c, 4 - c) for c in (target % 4, target // 4 % 4, target // 16)]
    for distance, travelled in (("path", sum(links)), ("last-dimension", links[2])):
        file = machine(torus, latency="70ns", nic_latency="100ns", mpi={"bypass": "1KiB", "bypass_distance": distance})
        result = simulated(file, 64, [{(0, target): 800}])
        assert result.time_ps == TRIP + travelled * 70 * NS + 800 * BYTE


def test_elsewhere_it_travels_a_path_as_ever():
    exchange = Exchange("halo", 24, (24, 20, 1), (24, 1), algorithm="sweep", width=1)
    for topology in (FATTREE, DRAGONFLY):
        path, last = (
            run(exchange, machine(topology, mpi={"bypass": "1KiB", "bypass_distance": distance}))
            for distance in ("path", "last-dimension")
        )
        assert bits(path) == bits(last)


# ------------------------------------------------------------------------------------ what comes before its receive

THREE = {"kind": "complete", "switches": 3, "nodes_per_switch": 1}
"""Rank 2 keeps rank 1 in its first step; rank 0 sends to rank 1 in the second, and begins that at once."""


@pytest.mark.parametrize("receives", ["stage", "start"])
@pytest.mark.parametrize("buffers", [False, True])
def test_what_came_before_its_receive_is_copied_when_that_is_posted(receives, buffers):
    """1024 bytes of rank 0 are there when the 8192 of rank 2 are, and both have shared rank 1's link."""
    mpi = {"unexpected_bandwidth": "1GB/s", "receives": receives}
    result = simulated(machine(THREE, packet="512B", mpi=mpi), 3, [{(2, 1): 8192}, {(0, 1): 1024}], finite=buffers)
    assert result.unexpected_bytes == 1024
    assert result.time_ps == 3 * 100 * NS + (8192 + 1024) * BYTE + 1024 * NS


def test_it_costs_nothing_unless_the_machine_says_so():
    steps = [{(2, 1): 8192}, {(0, 1): 1024}]
    result = simulated(machine(THREE, packet="512B"), 3, steps)
    assert result.unexpected_bytes == 0
    assert result.time_ps == 3 * 100 * NS + (8192 + 1024) * BYTE
    start = simulated(machine(THREE, packet="512B", mpi={"receives": "start"}), 3, steps)
    assert bits(start) == bits(result)


def test_only_what_came_before_is_copied_not_the_rest_of_its_message():
    """Packets of ranks 0 and 2 come to rank 1 in turns, those of rank 0 first, which has the lower port: when the last
    of 4 of rank 2's has come, the 8th of all, 4 of rank 0's have. The other 12 come while these are copied."""
    mpi = {"unexpected_bandwidth": "100MB/s"}
    result = simulated(machine(THREE, packet="512B", mpi=mpi), 3, [{(2, 1): 4 * 512}, {(0, 1): 16 * 512}])
    assert result.unexpected_bytes == 4 * 512
    assert result.time_ps == 3 * 100 * NS + 8 * 512 * BYTE + 4 * 512 * 10 * NS


def test_a_long_message_waits_for_its_receive_and_is_not_copied():
    mpi = {"unexpected_bandwidth": "1GB/s", "eager_limit": "1KiB"}
    assert simulated(machine(THREE, packet="512B", mpi=mpi), 3, [{(2, 1): 512}, {(0, 1): 2048}]).unexpected_bytes == 0
    exchange = all_to_all(32, "ring-1", 1000)
    file = machine(TORUS, mpi={"unexpected_bandwidth": "1GB/s"})
    assert core(prepare(exchange, file)).unexpected_bytes > 0
    assert core(prepare(exchange, file, protocol="put")).unexpected_bytes == 0


@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
@pytest.mark.parametrize("algorithm", ["ring-1", "ring-4"])
def test_receives_that_are_all_posted_at_the_start_are_never_late(algorithm, buffers):
    """Ranks of a torus drift apart, so that most messages of a ring come before their stage; of one exchange none comes
    before that has begun, since all begin at once."""
    exchange = all_to_all(40, algorithm, 700)
    mpi = {"unexpected_bandwidth": "5GB/s"}
    results = {
        receives: run(exchange, machine(TORUS, mpi=mpi | {"receives": receives}), buffers=buffers)
        for receives in ("stage", "start")
    }
    plain = run(exchange, machine(TORUS), buffers=buffers)
    assert results["start"].unexpected_bytes == 0
    assert results["start"].time_ps == plain.time_ps
    assert results["stage"].unexpected_bytes > 0.1 * plain.bytes
    assert results["stage"].time_ps > plain.time_ps


@pytest.mark.parametrize("receives", ["stage", "start"])
@pytest.mark.parametrize("compute", [0, 5e-6])
@pytest.mark.parametrize(("topology", "routing"), [(TORUS, "dimension-order"), (DRAGONFLY, "ugal")])
def test_copies_of_what_came_early_have_the_same_bits_on_any_threads(topology, routing, compute, receives):
    mpi = {"unexpected_bandwidth": "3GB/s", "receives": receives, "eager_limit": "2KiB"}
    file = machine(topology, routing, packet="512B", receive_overhead="50ns", mpi=mpi)
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), algorithm="ring-2")
    simulation = prepare(exchange, file)
    steps = []
    for step in exchange.steps():
        steps.append(_core.Step(step.name, step.schedule, 2))
        steps.append(_core.Step("computes", step.schedule, 1, _core.Compute(seconds=compute)))
    program = _core.Program(steps, exchange.bytes_per_point)
    results = []
    for threads in (1, 2, 3):
        options = _core.SimulationOptions(
            packet_bytes=512, threads=threads, adaptive=False, finite_buffers=True, seed=simulation.seed
        )
        results.append(_core.simulate_packets(simulation.machine, program, simulation.placement, options))
    assert results[0].unexpected_bytes > 0
    for other in results[1:]:
        assert bits(other) == bits(results[0])
        assert other.unexpected_bytes == results[0].unexpected_bytes


def test_a_request_for_a_receive_that_is_posted_is_computed_before_its_stage():
    """With all receives posted at the start nobody waits for a rank that is behind in its ring."""
    exchange = all_to_all(40, "ring-1", 700)
    stage, start = (
        run(exchange, machine(TORUS, mpi={"eager_limit": "1KiB", "receives": receives})).time_ps
        for receives in ("stage", "start")
    )
    assert start < stage


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
        exchange = Exchange("halo", 64, (32, 32, 1), (8, 8), algorithm=algorithm, width=9, periodic="xy")
        simulation = prepare(exchange, machine(topology), ranks_per_node=8)
        found.append(terminal_bytes(core(simulation), simulation.machine.topology)[:8])
    assert straight[0].tolist() == [2 * 9 * 8 * (4 + 2 * 9) * 8] * 8
    assert [received.tolist() for received in once] == [[2 * 9 * 32 * 8] * 8] * 2


@pytest.mark.parametrize("nics", [1, 2, 4])
def test_messages_share_the_nics_of_a_node(nics):
    """Four messages to four others; NIC (a + b) mod n carries what ranks a and b send each other."""
    exchange = all_to_all(5, "burst", 1000)
    result = run(exchange, machine(CROSSBAR, nic={"count": nics}), packet="message")
    maximum = max([(a + b) % nics for b in range(5) if b != a].count(nic) for a in range(5) for nic in range(nics))
    assert result.time_ps == maximum * 8000 * BYTE + TRIP
    assert maximum < 4 or nics == 1
    assert result.bytes == 5 * 4 * 8000


@pytest.mark.parametrize("buffers", ["unbounded", "credits"])
def test_several_nics_give_the_same_bits_for_any_threads(buffers):
    exchange = Exchange("transpose", 24, (24, 40, 24), (6, 4), algorithm="ring-2")
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
    maximum = max([(a + b) % 2 for b in range(ranks) if b != a].count(nic) for a in range(ranks) for nic in range(2))
    assert result.time_ps == maximum * 8000 * BYTE + TRIP


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
    exchange = Exchange("halo", 64, (320, 320, 16), (8, 8), algorithm="direct", width=9, periodic="x")
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


def test_results_of_an_older_model_are_not_used_again():
    """Only of cases that use what has changed since: other studies need not be simulated anew."""
    assert model_version(machine(CROSSBAR), 1) == 2
    assert (
        model_version(machine(DRAGONFLY, "ugal-sst71"), 1)
        == model_version(machine(DRAGONFLY), 2, routing="ugal-sst71")
        == 6
    )
    assert model_version(machine(CROSSBAR), 2) == model_version(machine(CROSSBAR, mpi={"eager_limit": "1KiB"}), 1) == 3
