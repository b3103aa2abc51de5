"""Which node a rank runs on."""

from collections import Counter

import pytest

from tradewind import _core
from tradewind.errors import InputError


def nodes(kind, ranks, ranks_per_node, count, seed=1):
    place = _core.Placement(kind, ranks, ranks_per_node, count, seed)
    return [place.node(rank) for rank in range(ranks)]


def test_linear_fills_node_after_node():
    assert nodes("linear", 7, 3, 3) == [0, 0, 0, 1, 1, 1, 2]


def test_round_robin_deals_to_the_nodes_it_needs():
    assert nodes("round-robin", 7, 3, 9) == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("ranks_per_node", [1, 3])
def test_random_uses_each_node_once(ranks_per_node):
    found = nodes("random", 90, ranks_per_node, 100, seed=4)
    assert Counter(Counter(found).values()) == {ranks_per_node: 90 // ranks_per_node}
    assert max(found) < 100
    assert found == nodes("random", 90, ranks_per_node, 100, seed=4)
    assert found != nodes("random", 90, ranks_per_node, 100, seed=5)
    linear = nodes("linear", 90, ranks_per_node, 100)
    assert sum(a == b for a, b in zip(found, linear, strict=True)) < 15


def test_random_reaches_all_nodes():
    hits = Counter(node for seed in range(400) for node in nodes("random", 5, 1, 20, seed))
    assert len(hits) == 20
    assert min(hits.values()) > 50


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("linear", 11, 1, 10, 1), "11 ranks with 1 a node need 11 nodes; the machine has 10"),
        (("random", 31, 3, 10, 1), "31 ranks with 3 a node need 11 nodes; the machine has 10"),
        (("liner", 1, 1, 10, 1), "linear, round-robin, random"),
        (("linear", 1, 0, 10, 1), "ranks per node"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        _core.Placement(*arguments)
