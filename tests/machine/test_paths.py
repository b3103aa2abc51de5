"""Every routing on every small network: its paths end, are no longer than they may be, and cannot deadlock."""

import functools
import graphlib
import itertools
import random

import pytest
from networks import NETWORKS, ROUTED, build, machine, network_id

from tradewind import _core

SHORTEST = {"dimension-order", "minimal", "d-mod-k", "round-robin", "round-robin-staggered", "adaptive"}
FIRST_WITH_GROUPS = NETWORKS["dragonfly"][0]


@functools.cache
def packets(count):
    """Random bits of packets, and what queues they find: all empty, then drawn."""
    draw = random.Random(1)
    return [(draw.getrandbits(30), queues) for queues in range(count) for _ in range(4)]


def walks(values, routing):
    """(source switch, destination switch, path) of many packets between all switches that hold nodes."""
    walker, topology = _core.Walker(machine(values, routing)), build(values)
    each = topology.nodes_per_switch
    count = 12 if topology.switches < 40 else 3
    targets = range(topology.nodes) if values["kind"] == "fattree" else range(0, topology.nodes, each)
    for source, target in itertools.product(range(0, topology.nodes, each), targets):
        for word, queues in packets(count):
            yield source // each, target // each, walker.walk(source, target, word, queues)


def order_of_waits(paths):
    """All (switch, port, channel), each after those that a packet which holds it may wait for; else CycleError."""
    waits = graphlib.TopologicalSorter()
    for path in paths:
        for here, ahead in itertools.pairwise(path):
            waits.add(here, ahead)
    return list(waits.static_order())


@functools.cache
def diameter(name):
    topology = build(NETWORKS[name[0]][name[1]])
    holders = range(topology.nodes // topology.nodes_per_switch)
    return max(sum(topology.distance(a, b)) for a in holders for b in holders)


def longest(values, routing, distance):
    """Links of the longest path that a routing may take."""
    kind = values["kind"]
    if kind == "dragonfly":  # two links in a group, one between two: not always a shortest path
        return {"minimal": 5, "ugal-sst71": 5, "par": 10}.get(routing, 8 if routing in ("valiant", "ugal") else 10)
    if kind == "cubemesh" and routing == "direct":
        return 4
    if routing in SHORTEST:
        return distance
    return 2 * diameter((kind, NETWORKS[kind].index(values)))


@pytest.mark.parametrize(("values", "routing"), ROUTED, ids=network_id)
def test_every_path_ends_and_no_packets_wait_in_a_circle(values, routing):
    topology, channels = build(values), _core.Walker(machine(values, routing)).channels
    assert 1 <= channels <= 16
    paths = set()
    for source, target, path in walks(values, routing):
        at = source
        for switch, port, channel in path:
            assert switch == at
            assert 0 <= channel < channels
            kind, at, _ = topology.port(switch, port)
            assert kind in ("local", "global")
        assert at == target
        distance = sum(topology.distance(source, target))
        assert len(path) <= longest(values, routing, distance)
        # Over two global links a way may be shorter than the shortest over one.
        if sum(topology.port(switch, port)[0] == "global" for switch, port, _ in path) < 2:
            assert distance <= len(path)
        paths.add(tuple(path))
    order_of_waits(paths)
    if values is NETWORKS[values["kind"]][0] and (values["kind"], routing) != ("cubemesh", "minimal"):  # no use of PCIe
        used = {(switch, port) for path in paths for switch, port, _ in path}
        ports = {(s, p) for s in range(topology.switches) for p in range(topology.radix)}
        assert used == {at for at in ports if topology.port(*at)[0] in ("local", "global")}, "some links are never used"
        if used:
            used_channels = (
                2 if routing == "ugal-sst71" else channels
            )  # the others share the port's buffer, and stay empty
            assert {channel for path in paths for _, _, channel in path} == set(range(used_channels))


@pytest.mark.parametrize(
    ("kind", "routing"),
    [
        ("torus", "dimension-order"),
        ("torus", "valiant"),
        ("dragonfly", "minimal"),
        ("dragonfly", "par"),
        ("hyperx", "valiant"),
        ("hypercube", "ugal"),
        ("dragonflyplus", "valiant"),
        ("complete", "valiant"),
        ("slimfly", "minimal"),
        ("graph", "minimal"),
        ("cubemesh", "minimal"),
    ],
)
def test_with_one_channel_packets_could_wait_in_a_circle(kind, routing):
    """The test above can fail: all of these need their channels."""
    paths = {tuple((s, p, 0) for s, p, _ in path) for _, _, path in walks(NETWORKS[kind][0], routing)}
    with pytest.raises(graphlib.CycleError):
        order_of_waits(paths)


def test_every_registered_topology_and_routing_is_among_the_networks():
    assert list(NETWORKS) == [entry.name for entry in _core.topologies()]
    assert {entry.topology for entry in _core.routings()} == set(NETWORKS)


MASK = 2**64 - 1


def mix(x):
    """splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def waiting(queues, switch, port):
    """Return the far end of a port for a packet on its path."""
    return 1024 * (mix(mix(mix(mix(queues) ^ switch)) ^ port) >> 62) if queues else 0


def decisions(routing, detour, detour_length):
    """Compares what an adaptive routing does, packet by packet, with the rule; returns how many took the detour."""
    minimal, aside, chosen = (_core.Walker(machine(FIRST_WITH_GROUPS, name)) for name in ("minimal", detour, routing))
    each, size = 2, 6
    detours = 0
    for source, target in itertools.permutations(range(0, 48, each), 2):
        if source // each // size == target // each // size:
            continue
        for word, queues in packets(5):
            straight, around = minimal.walk(source, target, word), aside.walk(source, target, word)
            cost = waiting(queues, *straight[0][:2]) * len(straight)
            other = waiting(queues, *around[0][:2]) * detour_length(minimal, source, target, word, around)
            path = chosen.walk(source, target, word, queues)
            expected = around if other < cost else straight
            assert [step[:2] for step in path] == [step[:2] for step in expected]
            detours += expected is around
    return detours


def test_ugal_compares_bytes_times_links_of_both_ways():
    assert decisions("ugal", "valiant", lambda *arguments: len(arguments[-1])) > 100


def test_ugal_sst71_never_takes_a_detour_whatever_its_queues():
    ugal, minimal = (_core.Walker(machine(FIRST_WITH_GROUPS, name)) for name in ("ugal-sst71", "minimal"))
    assert (ugal.channels, minimal.channels) == (6, 2)
    for source, target in itertools.permutations(range(0, 48, 2), 2):
        for word, queues in packets(5):
            assert ugal.walk(source, target, word, queues) == minimal.walk(source, target, word)


@pytest.mark.parametrize("values", NETWORKS["fattree"], ids=network_id)
def test_switches_that_are_staggered_begin_at_unlike_ports(values):
    """The first packet that leaves each lowest switch: by its first port up, or by port i mod ports, of switch i."""
    topology = build(values)
    if "fat-tree of 1 level" in topology.describe():
        return
    each, first = topology.nodes_per_switch, topology.nodes - 1
    starts = {}
    for routing in ("round-robin", "round-robin-staggered"):
        walker = _core.Walker(machine(values, routing))
        leaves = range(topology.nodes // each - 1)
        starts[routing] = [walker.walk(leaf * each, first)[0][1] for leaf in leaves]
        assert starts[routing][0] == min(starts[routing])
    ups = [port for port in range(topology.radix) if topology.port(0, port)[0] == "local"]
    assert set(starts["round-robin"]) == {ups[0]}
    assert starts["round-robin-staggered"] == [ups[leaf % len(ups)] for leaf in leaves]


@pytest.mark.parametrize("values", NETWORKS["fattree"], ids=network_id)
def test_adaptive_goes_up_where_the_fewest_bytes_wait(values):
    topology, ups = build(values), 0
    walker, each = _core.Walker(machine(values, "adaptive")), topology.nodes_per_switch
    for source, target in itertools.product(range(0, topology.nodes, each), repeat=2):
        for word, queues in packets(6):
            path = walker.walk(source, target, word, queues)
            for switch, port, _ in path[: len(path) // 2]:  # as many links up as down
                level_up = [p for p in range(topology.radix) if topology.port(switch, p)[1] > switch]
                assert waiting(queues, switch, port) == min(waiting(queues, switch, p) for p in level_up)
                ups += 1
    assert ups > 100 or topology.switches == 1


def test_par_may_still_change_its_way_within_the_source_group():
    """Channel 0 is that of packets which go the minimal way, 1 that of those on a detour, in the source group."""
    topology, changed, stayed = build(FIRST_WITH_GROUPS), 0, 0
    for source, target, path in walks(FIRST_WITH_GROUPS, "par"):
        if source // 6 == target // 6:
            continue
        kinds = [topology.port(switch, port)[0] for switch, port, _ in path]
        channels = [channel for _, _, channel in path]
        inside = channels[: kinds.index("global") + 1]
        changed += inside[0] == 0 and 1 in inside
        stayed += 1 not in inside
    assert changed > 50
    assert stayed > 50


@pytest.mark.parametrize("kind", [kind for kind in NETWORKS if (NETWORKS[kind][0], "ugal") in ROUTED])
def test_ugal_on_an_empty_network_is_minimal(kind):
    values = NETWORKS[kind][0]
    topology, walker = build(values), _core.Walker(machine(values, "ugal"))
    plain = _core.Walker(machine(values, "dimension-order" if kind == "torus" else "minimal"))
    for source, target in itertools.product(range(0, topology.nodes, topology.nodes_per_switch), repeat=2):
        for word, _ in packets(1):
            path = walker.walk(source, target, word)
            assert [step[:2] for step in path] == [step[:2] for step in plain.walk(source, target, word)]


def test_a_walk_between_nodes_that_are_not_there():
    walker = _core.Walker(machine(NETWORKS["crossbar"][0], "direct"))
    assert walker.walk(0, 6) == []
    with pytest.raises(IndexError, match=r"node 7: 0\.\.6 are allowed"):
        walker.walk(0, 7)
