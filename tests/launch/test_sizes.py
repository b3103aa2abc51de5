"""Messages of many sizes: what sizes are, which exchanges they give, and that these are measured."""

from __future__ import annotations

import json

import pytest
from command_line import run_tradewind

from tradewind.base.errors import InputError
from tradewind.cli.bench_sizes import sizes_table
from tradewind.cli.screen import table_lines
from tradewind.dataset.open_table import open_table
from tradewind.launch.sizes import parse_sizes
from tradewind.workload.exchange import Exchange
from tradewind.workload.registry import pattern_named


def test_sizes():
    assert parse_sizes("8:64") == [8, 16, 32, 64]
    assert parse_sizes("8:100B") == [8, 16, 32, 64]
    assert parse_sizes("1:64MiB") == [2**i for i in range(27)]
    assert parse_sizes("1KiB,8,1KiB") == [1024, 8]


@pytest.mark.parametrize("text", ["", "x", "8:", "64:8", "0:8", "8,,16", "1.5", "8B:1PiB", "-8", "8:16:32"])
def test_no_sizes(text):
    with pytest.raises(InputError, match="sizes "):
        parse_sizes(text)


@pytest.mark.parametrize(
    ("pattern", "ranks", "options"),
    [
        ("halo", 2, {}),
        ("halo", 5, {"width": 3, "fields": 2, "dtype": "f4"}),
        ("transpose", 3, {"fields": 2}),
        ("transpose", 4, {"dtype": "c16"}),
    ],
)
def test_the_largest_message_has_the_size(pattern, ranks, options):
    """Algorithms that send straight have messages of this size alone, between all ranks."""
    size = 3 * 16 * 8
    sized = pattern_named(pattern).sized(size, ranks, options)
    exchange = Exchange(pattern, ranks, algorithm="direct" if pattern == "halo" else "burst", **{**options, **sized})
    (schedule,) = exchange.schedules().values()
    sent = {send.count * exchange.bytes_per_point for rank in range(ranks) for send in schedule.sends(rank, 0)}
    assert sent - {0} == {size}


def test_an_allreduce_has_the_size_of_its_vector():
    assert pattern_named("allreduce").sized(64, 4, {"dtype": "f4"}) == {"count": 16}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("halo --sizes 8 --grid 8x8x8", "grid follows from the sizes: leave it out"),
        ("halo --sizes 8 --width 3", "size 8: a multiple of 24 bytes is allowed"),
        ("fetch --sizes 8", "those of halo, transpose and allreduce can have any size"),
        ("halo --sizes 8 --predict here.toml", "--predict does not go with --sizes"),
        ("halo --sizes many", "sizes 'many'"),
        ("halo --sizes 8 --transport put", "unknown transport 'put'"),
    ],
)
def test_bad_input(arguments, message):
    result = run_tradewind("bench", *arguments.split(), "-n", 2, "--json")
    assert result.code == 2
    assert message in result.json["error"]


def test_sizes_are_measured(tmp_path):
    """Short messages several in a row; the table has each size, and so has the tidy one."""
    pytest.importorskip("mpi4py.MPI")
    methods = ["--algorithm", "direct", "--transport", "isend-irecv,shared", "--repeat", "6", "--warmup", "0"]
    result = run_tradewind("bench", "halo", "-n", 2, "--sizes", "8,4KiB", *methods, "--json")
    assert result.code == 0, result.out
    small, large = result.json["sizes"]
    assert (small["message_bytes"], small["bytes"], large["bytes"]) == (8, 8, 4096)
    for row in (*small["results"], *large["results"]):
        assert 1 <= row["exchanges_per_sample"] <= 1000
        assert row["interval_s"][0] == row["min_s"] <= row["median_s"] <= row["interval_s"][1]
    assert result.json["checked"] is True
    (tmp_path / "sizes.json").write_text(json.dumps(result.json))
    table = open_table(tmp_path / "sizes.json")
    assert (table["case"].nunique(), set(table["grid"])) == (4, {"1x2x1", "512x2x1"})
    lines = table_lines(sizes_table(result.json), 80)
    assert [line.split()[0] for line in lines[2:] if not line.startswith("#")] == ["8", "4096"] * 2
    assert "latency us  95 % within" in lines[0]
