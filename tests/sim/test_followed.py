"""Packets that are followed: the result has the same bits, and they are seen at every switch of their way."""

from collections import Counter

import pytest
from small import DRAGONFLY, FATTREE, TORUS, machine, messages
from test_threads import bits

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

EXCHANGE = Exchange("transpose", 24, (30, 26, 25), (6, 4), algorithm="ring-2")


def simulate(simulation, followed, threads=1):
    options = _core.SimulationOptions(
        packet_bytes=simulation.packet_bytes,
        threads=threads,
        adaptive=False,
        finite_buffers=simulation.buffers == "credits",
        followed=followed,
    )
    return _core.simulate_packets(simulation.machine, simulation.program(), simulation.placement, options)


@pytest.mark.parametrize("limit", [{}, {"switch": {"bandwidth": "40GB/s"}}, {"mpi": {"eager_limit": "200B"}}])
@pytest.mark.parametrize("buffers", ["credits", "unbounded"])
@pytest.mark.parametrize(
    ("topology", "routing"),
    [(TORUS, "dimension-order"), (FATTREE, "d-mod-k"), (FATTREE, "adaptive"), (DRAGONFLY, "ugal")],
    ids=lambda value: value if isinstance(value, str) else value["kind"],
)
def test_following_changes_nothing(topology, routing, buffers, limit):
    simulation = prepare(EXCHANGE, machine(topology, routing, **limit), buffers=buffers, packet="256B")
    alone = simulate(simulation, -1)
    assert alone.passages == []
    for threads in (1, 2):
        result = simulate(simulation, 5, threads)
        assert bits(result) == bits(alone)
        assert result.passages == simulate(simulation, 5).passages
        times = [time for *_, time in result.passages]
        assert times == sorted(times)


def test_every_packet_is_seen_at_every_switch():
    simulation = prepare(EXCHANGE, machine(DRAGONFLY), packet="256B")
    topology, place = simulation.machine.topology, simulation.placement
    walker, each, followed = _core.Walker(simulation.machine), topology.nodes_per_switch, 5
    expected = Counter()
    for sender, receiver, size in messages(EXCHANGE):
        if receiver == followed:
            way = [(s, p) for s, p, _ in walker.walk(place.node(sender), place.node(receiver))]
            way.append((place.node(receiver) // each, topology.first_terminal + place.node(receiver) % each))
            expected.update({at: size for at in way})
    seen = Counter()
    for switch, port, size, _ in simulate(simulation, followed).passages:
        seen[switch, port] += size
    assert seen == expected


@pytest.mark.parametrize("rank", [24, -2])
def test_a_rank_that_is_not_there(rank):
    with pytest.raises(InputError, match=rf"followed rank {rank}: 0 to 23 are allowed, or -1 for none"):
        simulate(prepare(EXCHANGE, machine(TORUS)), rank)
