"""The switches and links of a topology."""

import networkx


def links(topology, switches=None):
    """(kind, switch, port, other switch, other port) of all ports that lead to a switch."""
    for switch in range(topology.switches) if switches is None else switches:
        for port in range(topology.radix):
            kind, other, other_port = topology.port(switch, port)
            if kind in ("local", "global"):
                yield kind, switch, port, other, other_port


def graph(topology, kinds=("local", "global")):
    """The switches and their links, parallel ones as one."""
    network = networkx.Graph()
    network.add_nodes_from(range(topology.switches))
    network.add_edges_from((switch, other) for kind, switch, _, other, _ in links(topology) if kind in kinds)
    return network
