"""A machine file of which a test writes the tables that it is about."""

from pathlib import Path

_REST = """
title = "made up"
routing = "direct"
source = "imaginary"

[topology]
kind = "crossbar"
nodes = 4

[link]
bandwidth = "10GB/s"
latency = "1us"

[nic]
injection_bandwidth = "10GB/s"
ejection_bandwidth = "10GB/s"
latency = "1us"
send_overhead = "1us"
receive_overhead = "1us"

[packet]
size = "4KiB"
"""


def written(folder: Path, tables: str) -> Path:
    """Return the file mine.toml with these tables, among them `node`."""
    path = folder / "mine.toml"
    path.write_text(f"{_REST}\n{tables}")
    return path
