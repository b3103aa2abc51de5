"""The load of every link as a file."""

import csv

import pytest
from small import machine

from tradewind.base.errors import InputError
from tradewind.simulation import simulate
from tradewind.workload.exchange import Exchange

TORUS = {"kind": "torus", "shape": [4, 4], "nodes_per_switch": 2}
EXCHANGE = Exchange("transpose", 32, (64, 16, 32), (8, 4), algorithm="ring-2")


def test_every_byte_is_on_a_line(tmp_path):
    file = machine(TORUS, "dimension-order")
    result = simulate(EXCHANGE, file, links=tmp_path / "links.csv")
    with (tmp_path / "links.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    for kind in ("injection", "ejection"):
        assert sum(int(row["bytes"]) for row in rows if row["kind"] == kind) == result["bytes"]
    assert max(float(row["busy_s"]) for row in rows) == pytest.approx(result["bound_s"], rel=1e-4)
    local = [int(row["bytes"]) for row in rows if row["kind"] == "local"]
    assert max(local) * len(local) / sum(local) == pytest.approx(result["imbalance"])
    nodes = {row["node"] for row in rows if row["kind"] == "ejection"}
    assert nodes == {str(node) for node in range(32)}


def test_refusals(tmp_path):
    file = machine(TORUS, "dimension-order")
    with pytest.raises(InputError, match="only the packet model"):
        simulate(EXCHANGE, file, model="loggp", links=tmp_path / "links.csv")
    with pytest.raises(InputError, match="cannot write"):
        simulate(EXCHANGE, file, links=tmp_path / "nowhere" / "links.csv")
