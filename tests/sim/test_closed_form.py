"""Simulated times against formulas, to the picosecond: 10 GB/s are 100 ps per byte, latencies 100 ns.

Most formulas, and what they are held against, stand in validation/forms.py, and run in tests/validation; here are those
that are about one particular of the model.
"""

import pytest
from small import CROSSBAR, DRAGONFLY, NS, TORUS, all_to_all, machine, pair, run
from validation.forms import BYTE, halves, placed

from tradewind.workload.exchange import Exchange


@pytest.mark.parametrize("packet", ["message", "8B", "1KiB", "1MiB"])
def test_one_message_in_packets_of_any_size(packet):
    file = machine(TORUS)
    result = run(pair(1000), file, packet=packet, **placed(file, (3, 0)))
    assert result.time_ps == 5 * 100 * NS + 8000 * BYTE


def test_links_between_groups_have_a_latency_of_their_own():
    file = machine(DRAGONFLY, global_link={"latency": "1us"})
    result = run(pair(1), file, **placed(file, (2, 1)))
    assert result.time_ps == (4 * 100 + 1000) * NS + 8 * BYTE


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
    exchange = Exchange("halo", 9, (60, 30, 4), (3, 3), algorithm=algorithm, width=2, periodic="xy")
    result = run(exchange, machine(CROSSBAR))
    # The corners travel with the second sweep, or by themselves: as many points either way.
    points = 2 * (2 * 10) + 2 * (24 * 2)
    assert points == 2 * (2 * 10) + 2 * (20 * 2) + 4 * (2 * 2)
    assert result.time_ps == points * 4 * 8 * BYTE + stages * 200 * NS


def test_ring_allreduce_of_uneven_chunks():
    """A block of 7 among chunks of 6 is in one rank's hands at a time: it delays whoever waits for it."""
    ring = {"kind": "torus", "shape": [6], "nodes_per_switch": 1}
    uneven = Exchange("allreduce", 6, algorithm="ring", count=6 * 1000 + 1)
    assert run(uneven, machine(ring)).time_ps == 10 * (8008 * BYTE + 300 * NS)


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
    """Rank 0 of 3 ranks plays two roles. Ranks 1 and 2 exchange halves, then each a quarter with one role of rank 0;
    on the way back rank 0 sends one quarter after the other, then ranks 1 and 2 exchange halves again."""
    size = 64 * 800
    exchange = Exchange("allreduce", 3, algorithm="halving-doubling", count=size // 8)
    loggp, packet = (run(exchange, machine(CROSSBAR), model=model).time_ps for model in ("loggp", "packet"))
    assert loggp == (2 * size // 2 + 3 * size // 4) * BYTE + 4 * 200 * NS
    assert loggp < packet < loggp + 2 * size * BYTE


@pytest.mark.parametrize("packet", ["4KiB", "message"])
@pytest.mark.parametrize("width", [2, 3, 4])
def test_two_level_on_nodes(width, packet):
    """W + 1 nodes of W ranks: each rank deals with one other node. Each rank copies at 10 ps per byte; then the ranks
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
    exchange = Exchange("transpose", 3, (3, 1, 4), (3, 1), algorithm="burst", slab="xz", times=2)
    file = machine(CROSSBAR, memory_bandwidth="1MB/s")
    result = run(exchange, file, ranks_per_node=2, placement="round-robin")
    copy = 16 * NS * 1000
    assert result.time_ps == 2 * copy


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


@pytest.mark.parametrize("elements", [1, 1000])
def test_what_is_put_is_not_asked_for_and_costs_its_receiver_nothing(elements):
    """With both models: the sender's overhead, two latencies, and the bytes."""
    file = machine(CROSSBAR, send_overhead="40ns", receive_overhead="60ns", mpi={"eager_limit": "100B"})
    for model in ("packet", "loggp"):
        put, sent = (run(pair(elements), file, model=model, protocol=protocol) for protocol in ("put", "send"))
        assert put.time_ps == (40 + 2 * 100) * NS + 8 * elements * BYTE
        assert sent.time_ps >= put.time_ps + 60 * NS


def test_one_rank_has_nothing_to_do():
    for model in ("packet", "loggp"):
        result = run(Exchange("allreduce", 1, algorithm="ring"), machine(CROSSBAR), model=model)
        assert (result.time_ps, result.messages, result.bytes) == (0, 0, 0)


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("algorithm", ["ring-1", "burst", "pairwise"])
@pytest.mark.parametrize("split", [(4, 1), (1, 4), (2, 2)])
def test_a_step_without_messages_takes_no_time(split, algorithm, model):
    """One slab of a transposition of 4 x 1 ranks has groups of one rank."""
    exchange = Exchange("transpose", 4, (8, 8, 8), split, algorithm=algorithm)
    ends = run(exchange, machine(CROSSBAR), model=model).step_end_s
    times = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    names = [step.name for step in exchange.steps()]
    for name, time, step in zip(names, times, exchange.steps(), strict=True):
        assert time >= 0, name
        assert (time > 0) == any(step.schedule.sends(0, stage) for stage in range(step.schedule.stages)), name
