"""Transports within a node, simulated: against values computed by hand from the tables."""

from __future__ import annotations

import pytest

from tradewind.base.errors import InputError
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.machine import load_machine
from tradewind.simulation import model_version, prepare, simulate
from tradewind.workload.exchange import Exchange

LATENCY, OVERHEAD, RATE, COPY = 1e-6, 4e-7, 2e9, 10e9
MACHINE = """\
title = "two ranks"
routing = "direct"
[topology]
kind = "crossbar"
nodes = 2
[link]
bandwidth = "1GB/s"
latency = "1us"
[nic]
injection_bandwidth = "1GB/s"
ejection_bandwidth = "1GB/s"
latency = "1us"
send_overhead = "100ns"
receive_overhead = "200ns"
[node]
memory_bandwidth = "10GB/s"
[packet]
size = "1MiB"
[copy]
sizes = ["1KiB"]
whole = ["10GB/s"]
[source]
topology = "chosen"
link = "chosen"
nic = "chosen"
node = "chosen"
packet = "chosen"
copy = "chosen"
intranode = "chosen"
[[intranode]]
transport = "isend-irecv"
packing = "buffer"
latency = "1us"
overhead = "400ns"
sizes = ["1KiB"]
whole = ["2GB/s"]
runs = { "24B" = ["0.5GB/s"] }
[[intranode]]
transport = "shared"
packing = "direct"
latency = "100ns"
overhead = "0s"
sizes = ["1KiB"]
whole = ["4GB/s"]
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(MACHINE)
    return load_machine(path)


def halo(split, periodic="", algorithm="direct", **more):
    return Exchange("halo", 2, grid=(64, 32, 1), split=split, width=3, periodic=periodic, algorithm=algorithm, **more)


def seconds(exchange, machine, transport="isend-irecv", packing="buffer", ranks_per_node=2, **options):
    options = {"transport": transport, "packing": packing, "ranks_per_node": ranks_per_node, **options}
    return simulate(exchange, machine, threads=1, **options)["time_s"]


def test_one_message_each_way(machine):
    bytes_ = 3 * 32 * 8  # three columns, in runs of 24 B
    assert seconds(halo((2, 1)), machine) == pytest.approx(LATENCY + OVERHEAD + bytes_ / 0.5e9, rel=1e-9)


def test_shorter_elements_are_shorter_runs(machine):
    bytes_ = 3 * 32 * 4  # in runs of 12 B, each of which takes as long as one of 24 B
    expected = LATENCY + OVERHEAD + 2 * bytes_ / 0.5e9
    assert seconds(halo((2, 1), dtype="f4"), machine) == pytest.approx(expected, rel=1e-9)


def test_a_fetch_costs_what_its_runs_do_at_both_ends(machine):
    """32 runs of 24 bytes at their owner, which are copied one by one to where they lie behind the points."""
    exchange = Exchange("fetch", 2, grid=(64, 32, 1), split=(2, 1), width=3, algorithm="direct")
    assert seconds(exchange, machine) == pytest.approx(LATENCY + OVERHEAD + 3 * 32 * 8 / 0.5e9, rel=1e-9)
    rows = Exchange("fetch", 2, grid=(64, 32, 1), split=(1, 2), width=3, algorithm="direct")
    assert seconds(rows, machine) == pytest.approx(LATENCY + OVERHEAD + 3 * 64 * 8 / RATE, rel=1e-9)


def test_the_result_says_what_was_simulated(machine):
    carried = simulate(halo((2, 1)), machine, transport="isend-irecv", ranks_per_node=2)
    plain = simulate(halo((2, 1)), machine, ranks_per_node=2)
    assert (carried["transport"], carried["packing"]) == ("isend-irecv", "buffer")
    assert not {"transport", "packing"} & set(plain)
    assert carried["messages"] == plain["messages"] == 2
    assert carried["bytes"] == plain["bytes"] == 2 * 3 * 32 * 8


@pytest.mark.parametrize(
    ("named", "options", "method"),
    [
        ({"transport": "isend-irecv"}, {}, ("isend-irecv", "buffer")),
        ({}, {}, None),
        ({"transport": "isend-irecv", "packing": "datatype"}, {}, None),  # of which the file says nothing
        ({"transport": "isend-irecv"}, {"model": "loggp"}, None),
    ],
)
def test_a_dwarf_is_carried_by_the_transport_that_it_names(named, options, method, machine):
    assert (
        prepare(Diffusion(2, (64, 32, 1), point_s=1e-9, **named), machine, ranks_per_node=2, **options).method == method
    )


def test_a_machine_with_tables_is_any_machine_while_no_transport_is_named(machine):
    without = machine.machine.model_copy(update={"intranode": [], "copy_": None})
    plain = type(machine)(machine.name, without)
    assert seconds(halo((2, 1)), machine, None, None) == seconds(halo((2, 1)), plain, None, None)
    assert (model_version(machine, 2), model_version(plain, 2)) == (5, 3)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"transport": "alltoallv"}, "transport alltoallv, packing buffer: the machine has no intranode table"),
        ({"packing": "datatype"}, "transport isend-irecv, packing datatype: the machine has no intranode table"),
        ({"transport": "isend-irecv", "model": "loggp"}, "only the packet model knows transports, not loggp"),
    ],
)
def test_refused(options, problem, machine):
    with pytest.raises(InputError, match=problem):
        prepare(halo((2, 1)), machine, **options)


def test_a_machine_without_tables_refuses_transports():
    with pytest.raises(InputError, match="none; tradewind calibrate measures them"):
        prepare(halo((2, 1)), "torus-M", transport="shared")
