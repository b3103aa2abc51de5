"""Each routing serves its purpose."""

import numpy as np
import pytest
from small import FATTREE, NS, all_to_all, core, machine, run
from test_threads import bits

from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

BYTE = 100
DRAGONFLY = {"kind": "dragonfly", "rows": 2, "columns": 4, "groups": 9, "nodes_per_switch": 2, "global_links": 2}


def loads(result, topology, kind):
    """Bytes of all ports of one kind of link."""
    ports = result.port_bytes.reshape(topology.switches, topology.radix)
    return np.array(
        [ports[s, p] for s in range(topology.switches) for p in range(topology.radix) if topology.port(s, p)[0] == kind]
    )


@pytest.mark.parametrize("levels", [2, 3])
def test_d_mod_k_carries_shift_permutations_without_contention(levels):
    """Every stage of ring-1 is a shift of all ranks; a fat-tree carries it as a crossbar would, but for latency."""
    tree = {"kind": "fattree", "levels": levels, "down_ports": 4}
    ranks = 4**levels
    file = machine(tree, "d-mod-k")
    result = run(all_to_all(ranks, "ring-1", 2000), file)
    longest = 2 * levels * 100 * NS  # not every rank waits for the longest path in every stage
    assert (ranks - 1) * (16000 * BYTE + 200 * NS) < result.time_ps <= (ranks - 1) * (16000 * BYTE + longest)
    assert len(np.unique(loads(result, file.machine.build().topology, "local"))) == levels - 1  # one per level
    if levels == 3:  # dealt out in turn, packets meet on the way down
        dealt = run(all_to_all(ranks, "ring-1", 2000), machine(tree, "round-robin"))
        assert dealt.time_ps > result.time_ps
        assert sum(dealt.delay_counts[1:]) > sum(result.delay_counts[1:])


def test_round_robin_deals_evenly():
    """Every switch gives its uplinks the same number of packets, or one more to some."""
    file = machine(FATTREE, "round-robin", packet="64B")
    simulation = prepare(all_to_all(64, "ring-3", 8), file)
    result, topology = core(simulation), simulation.machine.topology
    ports = result.port_bytes.reshape(topology.switches, topology.radix) // 64
    up = ports[:32, 4:]
    assert up.min() > 0
    assert (up.max(axis=1) - up.min(axis=1) <= 1).all()


def test_a_taper_of_two_halves_the_speed_of_what_goes_up():
    """Rank r exchanges with rank r + 8, which is below another switch."""
    tree = {"kind": "fattree", "levels": 2, "down_ports": [8, 4]}
    exchange = Exchange("transpose", 16, (8, 2, 20_000), (8, 2), algorithm="burst", slab="xy")
    full, tapered = (run(exchange, machine(tree | {"up_ports": up}, "d-mod-k")) for up in (8, 4))
    assert tapered.bound_s == pytest.approx(2 * full.bound_s)
    assert tapered.time_ps > 1.9 * full.time_ps


def test_adaptive_goes_round_the_conflicts_of_d_mod_k():
    """With random placement, several ranks below one switch send to nodes with the same digit."""
    tree = {"kind": "fattree", "levels": 2, "down_ports": 8}
    d_mod_k, adaptive = (
        run(all_to_all(64, "ring-1", 2000), machine(tree, name, packet="512B"), placement="random", seed=1)
        for name in ("d-mod-k", "adaptive")
    )
    assert adaptive.time_ps < 0.9 * d_mod_k.time_ps


def test_gpus_without_a_link_pass_through_the_host_or_a_third_gpu():
    box = {"kind": "cubemesh", "gpu": "V100"}
    loaded = {}
    for routing in ("direct", "minimal"):
        file = machine(box, routing, global_link={"bandwidth": "1GB/s"})
        simulation = prepare(all_to_all(8, "burst", 50_000), file)
        result, topology = core(simulation), simulation.machine.topology
        loaded[routing] = (
            loads(result, topology, "global").sum(),
            loads(result, topology, "local").sum(),
            result.time_ps,
        )
    pair = 8 * 50_000
    joined, apart = 8 * 4, 8 * 3  # pairs of GPUs with and without a link
    # From each GPU three messages go up to the PCIe switch, across the host unless they stay below it, and down.
    assert loaded["direct"][:2] == (4 * apart * pair, joined * pair)
    assert loaded["minimal"][:2] == (0, (joined + 2 * apart) * pair)
    assert loaded["direct"][2] > 2 * loaded["minimal"][2]


def test_both_links_of_a_pair_of_gpus_are_used_alike():
    """GPU g exchanges with GPU g + 4; 0 and 1 have two links there, 2 and 3 one."""
    exchange = Exchange("transpose", 8, (4, 2, 20_000), (4, 2), algorithm="burst", slab="xy")
    simulation = prepare(exchange, machine({"kind": "cubemesh", "gpu": "V100"}, "direct", packet="512B"))
    result, topology = core(simulation), simulation.machine.topology
    ports = result.port_bytes.reshape(topology.switches, topology.radix)
    for gpu in range(4):
        lanes = ports[gpu, 2 * (gpu + 4) : 2 * (gpu + 4) + 2]
        assert lanes.sum() == ports[gpu, :16].sum() == result.bytes / 8
        if gpu < 2:
            assert lanes.min() > 0.8 * lanes.max()


def neighbour_groups(elements):
    """Rank r exchanges with rank r + 16, which is in the next group."""
    return Exchange("transpose", 32, (16, 2, 2 * elements), (16, 2), algorithm="burst", slab="xy")


def test_minimal_takes_one_link_between_two_groups():
    simulation = prepare(neighbour_groups(1000), machine(DRAGONFLY | {"global_links": 1}, "minimal"))
    result = core(simulation)
    used = loads(result, simulation.machine.topology, "global")
    assert (used > 0).sum() == 2
    assert used.sum() == result.bytes
    assert result.bound_by == "global link"
    assert result.time_s == pytest.approx(result.bound_s, rel=0.1)


@pytest.mark.parametrize("routing", ["valiant", "valiant-router", "ugal", "par"])
def test_detours_beat_one_crowded_link(routing):
    minimal, other = (
        run(neighbour_groups(10_000), machine(DRAGONFLY | {"global_links": 1}, name), seed=7)
        for name in ("minimal", routing)
    )
    assert other.time_ps < minimal.time_ps / 2
    assert other.imbalance < minimal.imbalance


def test_ugal_of_sst_71_never_takes_a_detour_and_has_a_third_of_the_room():
    """Its packets go as minimal ones; of a port's buffer each of its 6 channels has a sixth, of minimal routing's 2 a
    half."""
    exchange = neighbour_groups(10_000)
    minimal, ugal = (
        run(exchange, machine(DRAGONFLY | {"global_links": 1}, name)) for name in ("minimal", "ugal-sst71")
    )
    assert bits(ugal) == bits(minimal)
    switch = {"port_buffer": "48KiB"}
    rooms = [
        machine(DRAGONFLY, routing, switch=switch).machine.build().buffer_sizes[0]
        for routing in ("minimal", "ugal-sst71")
    ]
    assert rooms == [24 << 10, 8 << 10]
    finite = [
        run(exchange, machine(DRAGONFLY | {"global_links": 1}, routing, switch=switch), buffers="credits")
        for routing in ("minimal", "ugal-sst71")
    ]
    as_much = machine(DRAGONFLY | {"global_links": 1}, "minimal", switch={"buffer": "8KiB"})
    assert bits(finite[1]) == bits(run(exchange, as_much, buffers="credits"))
    assert finite[1].port_bytes.tolist() == finite[0].port_bytes.tolist()


def test_valiant_spreads_over_all_other_groups():
    simulation = prepare(neighbour_groups(10_000), machine(DRAGONFLY | {"global_links": 1}, "valiant", packet="256B"))
    result, topology = core(simulation), simulation.machine.topology
    ports = result.port_bytes.reshape(topology.switches, topology.radix)
    out = np.zeros((9, 9), np.int64)  # [from group, to group]
    for switch, port in zip(*np.nonzero(ports), strict=True):
        kind, peer, _ = topology.port(int(switch), int(port))
        if kind == "global":
            out[switch // 8, peer // 8] += ports[switch, port]
    assert out[0, 1] == 0, "a valiant path never takes the direct link"
    assert out[0, 2:].min() > 0.8 * out[0, 2:].mean()
    assert out[0, 2:].max() < 1.2 * out[0, 2:].mean()
    np.testing.assert_array_equal(out[0, 2:], out[2:, 1])
    # Two links between groups, and of the first at least one per packet.
    assert out.sum() == 2 * result.bytes


def test_valiant_spreads_within_a_group():
    """Two switches of one group exchange: by way of random switches, a third of the load or less on the direct link."""
    exchange = Exchange("transpose", 4, (2, 2, 20_000), (2, 2), algorithm="ring-1", slab="xy")
    simulation = prepare(exchange, machine(DRAGONFLY, "valiant", packet="256B"))
    result = core(simulation)
    local = loads(result, simulation.machine.topology, "local")
    assert (local > 0).sum() > 10
    assert loads(result, simulation.machine.topology, "global").sum() == 0


def test_parallel_links_between_groups_are_used_alike():
    """Two groups with 64 links."""
    wide = {"kind": "dragonfly", "rows": 4, "columns": 4, "groups": 2, "nodes_per_switch": 16, "global_links": 4}
    for routing in ("minimal", "valiant"):
        simulation = prepare(all_to_all(512, "burst"), machine(wide, routing))
        used = loads(core(simulation), simulation.machine.topology, "global")
        assert len(used) == 128
        assert used.min() > 0.8 * used.mean()
        assert used.max() < 1.2 * used.mean()


def test_ugal_is_minimal_on_an_empty_network_and_detours_under_load():
    file = machine(DRAGONFLY | {"global_links": 1}, "ugal")
    topology = file.machine.build().topology
    exchange = Exchange("allreduce", 2, algorithm="recursive-2", count=4)
    for seed in range(20):
        simulation = prepare(exchange, file, placement="random", seed=seed)
        a, b = (simulation.placement.node(rank) // 2 for rank in range(2))
        assert core(simulation).packet_hops == 2 * (2 + sum(topology.distance(a, b)))
    loaded = core(prepare(neighbour_groups(10_000), file))
    out = loads(loaded, topology, "global")
    assert (out > 0).sum() > 10


@pytest.mark.parametrize("routing", ["minimal", "valiant", "valiant-router", "ugal", "ugal-sst71", "par"])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_few_groups(routing, groups):
    """Nothing to detour through."""
    tiny = {"kind": "dragonfly", "rows": 1, "columns": 2, "groups": groups, "nodes_per_switch": 2, "global_links": 1}
    result = run(all_to_all(4 * groups, "burst", 100), machine(tiny, routing))
    assert result.bytes == 4 * groups * (4 * groups - 1) * 800
    single = tiny | {"columns": 1, "global_links": 2}
    result = run(all_to_all(2 * groups, "burst", 100), machine(single, routing))
    assert result.bytes == 2 * groups * (2 * groups - 1) * 800
