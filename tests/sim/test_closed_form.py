"""Simulated times against formulas, to the picosecond: 10 GB/s are 100 ps a byte, latencies 100 ns."""

from typing import Any

import pytest
from small import CROSSBAR, DRAGONFLY, FATTREE, NS, TORUS, all_to_all, machine, pair, run

from tradewind import _core
from tradewind.exchange import Exchange

BYTE = 100
"""Picoseconds a byte at 10 GB/s."""


def placed(topology, links):
    """The seed of a random placement that puts two ranks (local, global) links apart, 0 for the same switch."""
    for seed in range(2000):
        place = _core.Placement("random", 2, 1, topology.nodes, seed)
        a, b = (place.node(rank) // topology.nodes_per_switch for rank in range(2))
        if topology.distance(a, b) == links:
            return seed
    raise AssertionError(f"no two nodes are {links} apart")


PATHS = (
    [(TORUS, (h, 0)) for h in range(5)]
    + [(FATTREE, (h, 0)) for h in (0, 2, 4)]
    # same switch, same row, another row, and between groups with 0 to 4 links within them
    + [(DRAGONFLY, links) for links in ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 1), (4, 1))]
    + [(CROSSBAR, (0, 0))]
)


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("elements", [1, 512, 513, 100_000])
@pytest.mark.parametrize(("topology", "links"), PATHS, ids=lambda p: p["kind"] if isinstance(p, dict) else str(p))
def test_one_message(topology, links, elements, model):
    """All latencies of the path and the size over the bandwidth, in one packet or many."""
    file = machine(topology, latency="70ns", nic_latency="90ns")
    network = file.machine.build().topology
    seed = placed(network, links)
    result = run(pair(elements), file, placement="random", seed=seed, model=model)
    assert result.time_ps == 2 * 90 * NS + sum(links) * 70 * NS + 8 * elements * BYTE
    if model == "packet":
        assert result.packet_hops == 2 * (2 + sum(links)) * -(-8 * elements // 4096)


@pytest.mark.parametrize("packet", ["message", "8B", "1KiB", "1MiB"])
def test_one_message_in_packets_of_any_size(packet):
    file = machine(TORUS)
    seed = placed(file.machine.build().topology, (3, 0))
    result = run(pair(1000), file, placement="random", seed=seed, packet=packet)
    assert result.time_ps == 5 * 100 * NS + 8000 * BYTE


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("elements", [100, 10_000])
@pytest.mark.parametrize("slow", ["injection", "link", "global", "ejection"])
def test_the_tail_leaves_the_slowest_link_last(slow, elements, model):
    """One link of 1 GB/s among links of 10 GB/s: the message passes at 1 GB/s, wherever it stands."""
    rates: dict[str, Any] = {
        "injection": {"nic_bandwidth": "1GB/s", "ejection_bandwidth": "10GB/s"},
        "link": {"bandwidth": "1GB/s", "nic_bandwidth": "10GB/s", "global_link": {"bandwidth": "10GB/s"}},
        "global": {"global_link": {"bandwidth": "1GB/s"}},
        "ejection": {"nic_bandwidth": "10GB/s", "ejection_bandwidth": "1GB/s"},
    }[slow]
    file = machine(DRAGONFLY, **rates)
    seed = placed(file.machine.build().topology, (2, 1))
    result = run(pair(elements), file, placement="random", seed=seed, model=model)
    assert result.time_ps == 5 * 100 * NS + 8 * elements * 10 * BYTE


def test_links_between_groups_have_a_latency_of_their_own():
    file = machine(DRAGONFLY, global_link={"latency": "1us"})
    seed = placed(file.machine.build().topology, (2, 1))
    result = run(pair(1), file, placement="random", seed=seed)
    assert result.time_ps == (4 * 100 + 1000) * NS + 8 * BYTE


@pytest.mark.parametrize("k", [3, 5])
def test_a_burst_of_many_senders_into_one_port(k):
    """k^2 - 1 ranks: k - 1 ranks fold onto one, k ranks exchange, and one unfolds to k - 1: each time k - 1 messages
    share one port."""
    size = 80_000
    exchange = Exchange("allreduce", k * k - 1, algorithm=f"recursive-{k}", count=size // 8)
    result = run(exchange, machine(CROSSBAR))
    assert result.time_ps == 3 * ((k - 1) * size * BYTE + 200 * NS)


@pytest.mark.parametrize("size", [8, 20_000])
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_all_to_all_on_a_crossbar(ranks, size):
    file = machine(CROSSBAR)
    one = size * BYTE + 200 * NS
    for algorithm in ("ring-1", "pairwise"):
        assert run(all_to_all(ranks, algorithm, size // 8), file).time_ps == (ranks - 1) * one
    # All messages of a burst one behind another, to all other ranks in turn.
    burst = run(all_to_all(ranks, "burst", size // 8), file)
    assert burst.time_ps == (ranks - 1) * size * BYTE + 200 * NS
    if ranks > 4:
        ring = run(all_to_all(ranks, "ring-3", size // 8), file)
        stages, rest = divmod(ranks - 1, 3)
        expected = (stages + (rest > 0)) * 200 * NS + (ranks - 1) * size * BYTE
        assert ring.time_ps == expected


def test_bruck_on_a_crossbar():
    """log2 n stages, each with half of the data."""
    result = run(all_to_all(8, "bruck", 100), machine(CROSSBAR))
    assert result.time_ps == 3 * (4 * 800 * BYTE + 200 * NS)


@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_steps_are_repeated_one_after_another(ranks_per_node):
    file = machine(CROSSBAR)
    once, thrice = (
        run(all_to_all(4, "ring-1", 10, times=times), file, ranks_per_node=ranks_per_node) for times in (1, 3)
    )
    assert thrice.time_ps == 3 * once.time_ps
    assert thrice.step_end_s == pytest.approx([once.time_s * i for i in (1, 2, 3)])


@pytest.mark.parametrize(("algorithm", "stages"), [("sweep", 2), ("direct", 1)])
def test_halo_on_a_crossbar(algorithm, stages):
    """3 x 3 blocks of 20 x 10 x 4 points, periodic, 2 wide."""
    exchange = Exchange("halo", 9, (60, 30, 4), (3, 3), algorithm, width=2, periodic="xy")
    result = run(exchange, machine(CROSSBAR))
    # The corners travel with the second sweep, or by themselves: as many points either way.
    points = 2 * (2 * 10) + 2 * (24 * 2)
    assert points == 2 * (2 * 10) + 2 * (20 * 2) + 4 * (2 * 2)
    assert result.time_ps == points * 4 * 8 * BYTE + stages * 200 * NS


@pytest.mark.parametrize(("send", "receive"), [(0, 0), (50, 20), (20, 50), (30, 30)])
@pytest.mark.parametrize(("k", "digits"), [(2, 5), (3, 3), (8, 2)])
def test_allreduce_of_tiny_messages(k, digits, send, receive):
    """Each stage: k - 1 messages of 8 bytes, each with its overheads; the receiver's begin as messages arrive."""
    file = machine(CROSSBAR, send_overhead=f"{send}ns", receive_overhead=f"{receive}ns")
    exchange = Exchange("allreduce", k**digits, algorithm=f"recursive-{k}", count=1)
    last_of = max(send * NS, 8 * BYTE)  # a message leaves so long after the one before
    gap = max(last_of, receive * NS)
    stage = send * NS + 8 * BYTE + 200 * NS + (k - 2) * gap + receive * NS
    assert run(exchange, file).time_ps == digits * stage


def test_ring_allreduce():
    """2 (n - 1) stages of a chunk each; a chunk goes to the next rank only."""
    exchange = Exchange("allreduce", 6, algorithm="ring", count=6 * 1000)
    ring = {"kind": "torus", "shape": [6], "nodes_per_switch": 1}
    assert run(exchange, machine(ring)).time_ps == 10 * (8000 * BYTE + 300 * NS)
    # A block of 7 among chunks of 6 is in one rank's hands at a time: it delays whoever waits for it.
    uneven = Exchange("allreduce", 6, algorithm="ring", count=6 * 1000 + 1)
    assert run(uneven, machine(ring)).time_ps == 10 * (8008 * BYTE + 300 * NS)


def halves(size, bits):
    """Among 2^bits ranks: messages of a half, a quarter, ... of the vector, and back."""
    return 2 * sum((size >> bit) * BYTE + 200 * NS for bit in range(1, bits + 1))


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("bits", [1, 2, 5])
def test_halving_and_doubling(bits, model):
    size = 2**bits * 800
    for algorithm in ("rabenseifner", "halving-doubling"):
        exchange = Exchange("allreduce", 2**bits, algorithm=algorithm, count=size // 8)
        assert run(exchange, machine(CROSSBAR), model=model).time_ps == halves(size, bits)


@pytest.mark.parametrize(("ranks", "bits"), [(3, 1), (6, 2), (7, 2), (40, 5)])
def test_the_fold_of_rabenseifner(ranks, bits):
    """In pairs: half of the vector either way, half of it back, all of it at the end. Ranks without a partner are
    early, and only packets get in each other's way."""
    size = 64 * 800
    exchange = Exchange("allreduce", ranks, algorithm="rabenseifner", count=size // 8)
    pairs = (size // 2 + size // 2 + size) * BYTE + 3 * 200 * NS
    loggp, packet = (run(exchange, machine(CROSSBAR), model=model).time_ps for model in ("loggp", "packet"))
    assert loggp == pairs + halves(size, bits)
    assert loggp < packet < loggp + size * BYTE


def test_two_roles_send_one_after_the_other():
    """Of 3 ranks, rank 0 plays two roles. Ranks 1 and 2 exchange halves, then each a quarter with one role of rank 0;
    on the way back rank 0 sends one quarter after the other, then ranks 1 and 2 exchange halves again."""
    size = 64 * 800
    exchange = Exchange("allreduce", 3, algorithm="halving-doubling", count=size // 8)
    loggp, packet = (run(exchange, machine(CROSSBAR), model=model).time_ps for model in ("loggp", "packet"))
    assert loggp == (2 * size // 2 + 3 * size // 4) * BYTE + 4 * 200 * NS
    assert loggp < packet < loggp + 2 * size * BYTE


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_a_binomial_tree_there_and_back(levels, model):
    exchange = Exchange("allreduce", 2**levels, algorithm="binomial", count=100)
    assert run(exchange, machine(CROSSBAR), model=model).time_ps == 2 * levels * (800 * BYTE + 200 * NS)


@pytest.mark.parametrize("packet", ["4KiB", "message"])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_two_level_on_nodes(width, packet):
    """W + 1 nodes of W ranks: each rank deals with one other node. Copies at 10 ps a byte, by each rank; then the ranks
    of a node share its NIC for W messages of W^2 blocks; then copies of what has come."""
    block = 4096
    exchange = all_to_all(width * (width + 1), f"two-level-{width}", block // 8)
    result = run(exchange, machine(CROSSBAR), ranks_per_node=width, packet=packet)
    gather, scatter = (width - 1) * (1 + width) * block * 10, (width - 1) * width * block * 10
    between = width * width**2 * block * BYTE + 200 * NS
    assert result.time_ps == gather + between + scatter


def test_ranks_of_one_node_copy_at_memory_bandwidth():
    """No network at all: 8 ns for 800 bytes at 100 GB/s, whatever the latency."""
    result = run(pair(100), machine(CROSSBAR, memory_bandwidth="100GB/s"), ranks_per_node=2)
    assert result.time_ps == 8 * NS
    assert result.packet_hops == 0
    assert result.bytes == 1600
    for bandwidth, time in (("1GB/s", 800), ("100GB/s", 8)):
        loggp = run(pair(100), machine(CROSSBAR, memory_bandwidth=bandwidth), ranks_per_node=2, model="loggp")
        assert loggp.time_ps == time * NS


def test_a_stage_lasts_until_its_copies_are_done():
    """Ranks 0 and 2 share a node. Rank 2 copies 2 of 4 levels to rank 0 at 1 MB/s, then sends 1 level to rank 1 at
    10 GB/s; its second exchange begins when the copy is done, so two exchanges take two such copies."""
    exchange = Exchange("transpose", 3, (3, 1, 4), (3, 1), "burst", slab="xz", times=2)
    file = machine(CROSSBAR, memory_bandwidth="1MB/s")
    result = run(exchange, file, ranks_per_node=2, placement="round-robin")
    copy = 16 * NS * 1000
    assert result.time_ps == 2 * copy


@pytest.mark.parametrize("packets", [1, 4, 50])
def test_ranks_of_one_node_share_its_nic_fairly(packets):
    """Two ranks of node 0 exchange with two of node 1: both have half the bandwidth and end together."""
    exchange = Exchange("allreduce", 4, algorithm="recursive-2", count=512 * packets)
    file = machine(CROSSBAR)
    result = run(exchange, file, ranks_per_node=2)
    size = 4096 * packets
    copies = size * 10  # the first stage is within a node
    assert result.time_ps == copies + 2 * size * BYTE + 200 * NS


@pytest.mark.parametrize("overheads", [(0, 0), (40, 60)])
@pytest.mark.parametrize("elements", [1, 1000])
@pytest.mark.parametrize("algorithm", ["ring-1", "pairwise", "bruck"])
def test_loggp_is_packet_where_nothing_contends(algorithm, elements, overheads):
    send, receive = (f"{t}ns" for t in overheads)
    file = machine(CROSSBAR, send_overhead=send, receive_overhead=receive)
    exchange = all_to_all(8, algorithm, elements)
    packet, loggp = (run(exchange, file, model=model) for model in ("packet", "loggp"))
    assert packet.time_ps == loggp.time_ps
    assert (packet.messages, packet.bytes) == (loggp.messages, loggp.bytes)
    assert packet.step_end_s == loggp.step_end_s


def test_one_rank_has_nothing_to_do():
    for model in ("packet", "loggp"):
        result = run(Exchange("allreduce", 1, algorithm="ring"), machine(CROSSBAR), model=model)
        assert (result.time_ps, result.messages, result.bytes) == (0, 0, 0)


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("algorithm", ["ring-1", "burst", "pairwise"])
@pytest.mark.parametrize("split", [(4, 1), (1, 4), (2, 2)])
def test_a_step_without_messages_takes_no_time(split, algorithm, model):
    """Of a transposition of 4 x 1 ranks one slab has groups of one rank."""
    exchange = Exchange("transpose", 4, (8, 8, 8), split, algorithm)
    ends = run(exchange, machine(CROSSBAR), model=model).step_end_s
    times = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    names = [step.name for step in exchange.steps()]
    for name, time, step in zip(names, times, exchange.steps(), strict=True):
        assert time >= 0, name
        assert (time > 0) == any(step.schedule.sends(0, stage) for stage in range(step.schedule.stages)), name
