"""Tables of how transports carry messages within a node: what is read, what is refused, what lies between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tradewind.base.errors import InputError
from tradewind.machine import load_machine

MACHINE = """\
title = "two ranks"
routing = "direct"
[topology]
kind = "crossbar"
nodes = 1
[link]
bandwidth = "1GB/s"
latency = "1us"
[nic]
injection_bandwidth = "1GB/s"
ejection_bandwidth = "1GB/s"
latency = "1us"
send_overhead = "0s"
receive_overhead = "0s"
[node]
memory_bandwidth = "10GB/s"
[packet]
size = "4KiB"
[copy]
sizes = ["1KiB", "1MiB"]
whole = ["10GB/s", "5GB/s"]
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
sizes = ["1KiB", "1MiB"]
whole = ["4GB/s", "2GB/s"]
runs = { "8B" = ["1GB/s"], "64B" = ["2GB/s", "1GB/s"] }
"""


def read(tmp_path: Path, *changes: tuple[str, str]):
    text = MACHINE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "two.toml"
    path.write_text(text)
    return load_machine(path)


def test_a_table_is_read(tmp_path):
    machine = read(tmp_path).machine
    intranode = machine.intranode_transport("isend-irecv", "buffer", 8)
    assert intranode.send_seconds(1024) == pytest.approx(1024 / 4e9 / 2)
    assert intranode.receive_seconds(2**20, 2**20 / 64) == pytest.approx(2**20 / 1e9 / 2)
    with pytest.raises(
        InputError, match=r"transport shared, packing buffer: .* \(it has those of: isend-irecv buffer\)"
    ):
        machine.intranode_transport("shared", "buffer", 8)


def test_what_runs_cost_is_the_receivers_where_it_was_measured_so(tmp_path):
    scattered = 'scattered = { "64B" = ["2.5GB/s", "2GB/s"] }\n'
    file = read(tmp_path, ('runs = { "8B"', scattered + 'runs = { "8B"'))
    intranode = file.machine.intranode_transport("isend-irecv", "buffer", 8)
    whole, both, receiver, copy = 1024 / 4e9, 1024 / 2e9, 1024 / 2.5e9, 1024 / 10e9
    assert intranode.receive_seconds(1024, 16) == intranode.send_seconds(1024, 16) == pytest.approx(both / 2)
    assert intranode.receive_seconds(1024, 16, alike=False) == pytest.approx(receiver - whole / 2)
    assert intranode.send_seconds(1024, 16, alike=False) == pytest.approx(both - copy - whole / 2)
    assert intranode.send_seconds(1024) == intranode.receive_seconds(1024, alike=False) == pytest.approx(whole / 2)


def test_what_is_combined_and_not_gathered_counts_as_if_it_were(tmp_path):
    """Runs that are sent one by one say nothing of one long one, nor does one that is still in the caches."""
    before, gathered = "[[intranode]]\n", MACHINE[MACHINE.index("[[intranode]]") :]
    direct = gathered.replace("buffer", "direct").replace("GB/s", "MB/s")
    both = read(tmp_path, (before, direct + before)).machine.intranode_transport("isend-irecv", "direct", 8)
    assert both.combined_seconds(1024) == pytest.approx(1024 / 2e9 / 2)
    assert both.send_seconds(1024) == pytest.approx(1024 / 4e6 / 2)
    alone = read(tmp_path, (gathered, direct)).machine.intranode_transport("isend-irecv", "direct", 8)
    assert alone.combined_seconds(1024) == pytest.approx(1024 / 2e6 / 2)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"isend-irecv"', '"isend-irec"', "did you mean 'isend-irecv'"),
        ('"buffer"', '"bufer"', "did you mean 'buffer'"),
        ('latency = "1us"\noverhead', 'latency = "2s"\noverhead', "0s to 1s are allowed"),
        ('["4GB/s", "2GB/s"]', '["4GB/s", "2GB/s", "1GB/s"]', "whole has 3 rates for 2 sizes"),
        ('sizes = ["1KiB", "1MiB"]\nwhole = ["4', 'sizes = ["1MiB", "1KiB"]\nwhole = ["4', "not in ascending order"),
        ('"8B" = ["1GB/s"]', '"8B" = ["1GB"]', "not a unit of a bandwidth"),
        ('"8B" = ["1GB/s"]', '"8" = ["1GB/s"]', "has no unit"),
        ('"8B" = ["1GB/s"]', '"0B" = ["1GB/s"]', "runs of less than 1 B"),
        ('"8B" = ["1GB/s"]', '"8B" = []', "a list of 1 or more"),
        ("\noverhead = ", "\noverheads = ", "did you mean 'overhead'"),
        ('[copy]\nsizes = ["1KiB", "1MiB"]\nwhole = ["10GB/s", "5GB/s"]\n', "", "intranode needs copy"),
        ('intranode = "chosen"\n', "", "intranode has no source"),
    ],
)
def test_refused(old, new, problem, tmp_path):
    with pytest.raises(InputError) as error:
        read(tmp_path, (old, new))
    assert problem in str(error.value)
    assert "two.toml:" in str(error.value)


def test_two_tables_of_one_way_are_refused(tmp_path):
    second = MACHINE[MACHINE.index("[[intranode]]") :]
    with pytest.raises(InputError, match="another one is of isend-irecv buffer"):
        read(tmp_path, ("[[intranode]]", second + "[[intranode]]"))


def test_machines_without_tables_are_what_they_were():
    """Their hash is part of the key of every simulated case."""
    assert load_machine("dragonfly-MM").identity == "998637a08d0a3278"


def test_the_tables_are_part_of_a_machine(tmp_path):
    one, other = read(tmp_path), read(tmp_path, ('overhead = "400ns"', 'overhead = "500ns"'))
    assert one.identity != other.identity


def test_the_key_of_earlier_versions_is_read(tmp_path):
    earlier = (("[[intranode]]", "[[carriage]]"), ('intranode = "chosen"', 'carriage = "chosen"'))
    assert read(tmp_path, *earlier).machine.intranode == read(tmp_path).machine.intranode
    assert read(tmp_path, *earlier).identity == read(tmp_path).identity == "fdd421ad9026a1c1"


def test_errors_name_the_line_of_the_earlier_key(tmp_path):
    earlier = (("[[intranode]]", "[[carriage]]"), ('intranode = "chosen"', 'carriage = "chosen"'))
    line = MACHINE.splitlines().index('overhead = "400ns"') + 1
    with pytest.raises(InputError, match=rf"two.toml:{line}: intranode.0.overhead = "):
        read(tmp_path, *earlier, ('overhead = "400ns"', 'overhead = "2s"'))


def test_both_keys_at_once_are_refused(tmp_path):
    second = MACHINE[MACHINE.index("[[intranode]]") :].replace("[[intranode]]", "[[carriage]]")
    with pytest.raises(InputError, match="carriage: unknown key"):
        read(tmp_path, ("[[intranode]]", second + "[[intranode]]"))
