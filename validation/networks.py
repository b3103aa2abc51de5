"""A network of each kind with about 256 nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PETERSEN = str(Path(__file__).parents[1] / "tests" / "machine" / "petersen.links")

NETWORKS: dict[str, dict[str, Any]] = {
    "crossbar": {"kind": "crossbar", "nodes": 256},
    "torus": {"kind": "torus", "shape": [8, 8, 4], "nodes_per_switch": 1},
    "fattree": {"kind": "fattree", "levels": 2, "down_ports": 16},
    "tapered fattree": {"kind": "fattree", "levels": 2, "down_ports": 16, "up_ports": 8},
    "dragonfly": {
        "kind": "dragonfly", "rows": 2, "columns": 4, "groups": 9, "nodes_per_switch": 4, "global_links": 1,
    },
    "dragonflyplus": {
        "kind": "dragonflyplus", "leaves": 4, "spines": 4, "groups": 8, "nodes_per_switch": 8, "global_links": 4,
    },
    "hyperx": {"kind": "hyperx", "shape": [8, 8], "nodes_per_switch": 4},
    "complete": {"kind": "complete", "switches": 16, "nodes_per_switch": 16},
    "hypercube": {"kind": "hypercube", "dimensions": 6, "nodes_per_switch": 4},
    "slimfly": {"kind": "slimfly", "q": 5, "nodes_per_switch": 6},
    "cubemesh": {"kind": "cubemesh", "gpu": "V100", "boxes": 32},
    "graph": {"kind": "graph", "file": PETERSEN, "nodes_per_switch": 26},
}  # fmt: skip
