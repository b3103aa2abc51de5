"""The labels of a case: what selections, plots and the dataset call its inputs."""

from __future__ import annotations

LABELS: dict[str, str] = {
    "sweep": "sweep of the study",
    "kind": "how the case was answered",
    "exchange": "pattern, its size and algorithm",
    "pattern": "what must move",
    "algorithm": "in which stages it moves",
    "ranks": "number of ranks",
    "grid": "grid points along x, y, z",
    "split": "ranks along x, y",
    "slab": "transpositions",
    "width": "halo width",
    "periodic": "periodic directions",
    "count": "elements of a reduction",
    "times": "repetitions in a row",
    "fields": "fields in a message",
    "dtype": "element type",
    "transport": "how messages are carried",
    "packing": "how messages are packed",
    "machine": "simulated machine",
    "routing": "routing of packets",
    "model": "network model",
    "buffers": "buffers of the switches",
    "packet": "largest packet",
    "placement": "placement of ranks on nodes",
    "ranks_per_node": "ranks on each node",
    "seed": "seed of the random numbers",
    "settings": "changed values of the machine",
}
"""Each label with its long name."""

INTEGER_LABELS = frozenset({"ranks", "width", "count", "times", "fields", "ranks_per_node", "seed"})
