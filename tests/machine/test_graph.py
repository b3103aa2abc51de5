"""Graphs that are read from a file."""

import networkx
import pytest
from networks import PETERSEN
from wiring import graph

from tradewind import _core
from tradewind.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 1\n1 2 3\n", "f:2: '1 2 3': two switches"),
        ("0 1\n1\n", "f:2: '1': two switches"),
        ("0 1\n\n# 5 5\n1 x\n", "f:4: switch 'x': 0 to 4095"),
        ("0 4096\n", "f:1: switch '4096': 0 to 4095"),
        ("0 -1\n", "f:1: switch '-1'"),
        ("0 99999999999999999999\n", "f:1: switch '9999"),
        ("0 1\n1 1\n", "f:2: a link from switch 1 to itself"),
        ("0 1\n1 2\n1 0 global\n", "f:3: the link between switches 1 and 0 is there already"),
        ("0 1\n2 3 # far\n3 4\n", "f:2: switch 2 cannot be reached from switch 0"),
        ("0 1\n1 3\n", "f: switch 2 of 4 has no link"),
        ("# nothing\n", "f: no links"),
        ("0 1\n1 2\n", "f: nodes on 4 switches, but it has only 3"),
    ],
)
def test_refuses_a_graph_with_its_line(text, says):
    with pytest.raises(InputError) as error:
        _core.Graph(text, "f", 1, 4)
    assert says in str(error.value)


def test_a_graph_is_read_with_its_kinds_of_links():
    read = _core.Graph("0 1\t# first\r\n\n2   1 global\n", "f", 3, 2)
    assert (read.switches, read.nodes, read.radix) == (3, 6, 5)
    assert read.port(1, 1) == ("global", 2, 0)
    assert read.distance(0, 2) == (1, 1)


def test_a_graph_has_limits_that_keep_it_quick():
    pairs = ((a, b) for a in range(1000) for b in range(a))
    text = "".join(f"{a} {b}\n" for a, b in pairs)
    with pytest.raises(InputError, match="f:100001: at most 100000 links"):
        _core.Graph(text, "f", 1, 0)


def test_a_long_line_of_switches_needs_one_channel_and_a_long_ring_two():
    line = "".join(f"{a} {a + 1}\n" for a in range(299))
    for text, channels in ((line, 1), (line + "299 0\n", 2)):
        ring = _core.Graph(text, "f", 1, 0)
        assert max(sum(ring.distance(0, s)) for s in range(300)) == (299 if channels == 1 else 150)
        latencies = dict.fromkeys(("link", "global", "injection", "ejection"), 1e-7)
        machine = _core.Machine(
            topology=ring,
            routing="minimal",
            send_overhead=0,
            receive_overhead=0,
            memory_bandwidth=1e11,
            **{f"{key}_latency": value for key, value in latencies.items()},
            **{f"{key}_bandwidth": 1e10 for key in latencies},
        )
        assert _core.Walker(machine).channels == channels


def test_a_graph_is_that_of_its_file():
    with open(PETERSEN) as file:
        read = _core.Graph(file.read(), PETERSEN, 2, 0)
    assert networkx.is_isomorphic(graph(read), networkx.petersen_graph())
