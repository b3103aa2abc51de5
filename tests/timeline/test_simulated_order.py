"""Time lines of programs whose steps start exchanges and wait for them, computed by hand."""

from __future__ import annotations

import pytest
from perfetto_read import read, structure
from validation.machines import CROSSBAR, machine

import tradewind as tw
from tradewind.base.errors import InputError

FILE = machine(CROSSBAR, send_overhead="7ns", receive_overhead="9ns", memory_bandwidth="100GB/s")
"""100 ns to the switch and 100 ns on, 10 GB/s."""


def summed(name: str, count: int = 1000) -> tw.Exchanged:
    """Two stages, in each of which a rank sends one message of 8 bytes times the count."""
    return tw.Exchanged(name, tw.AllReduce(4, count).schedule("recursive-2"))


def summed_in(group: str) -> tw.Exchanged:
    return tw.Exchanged("sum", tw.AllReduce(4, 1000).schedule("recursive-2"), groups=[group])


def drawn(tmp_path, program, ranks="0", **options):
    program.simulate(FILE, buffers="unbounded", timeline=tmp_path / "line", timeline_ranks=ranks, **options)
    return structure(read(tmp_path / "line"))


def computing(name: str, seconds: float) -> tw.Compute:
    return tw.Compute(name, seconds=seconds)


def poked() -> tw.Program:
    """The message of stage 0 has come at 1007 ns, after the poke."""
    a = summed("a")
    return tw.Program(a.start(), computing("inner", 6e-7), tw.Poke(), computing("more", 6e-7), a.wait())


def test_the_next_stage_is_posted_in_the_wait(tmp_path):
    assert drawn(tmp_path, poked()) == [
        "program on 4 ranks of small, simulated",
        "  rank 0",
        "    CPU",
        "      [0, 7] 1 start a",
        "        [0, 7] post",
        "      [7, 607] inner",
        "      [607, 1207] more",
        "      [1207, 2232] 5 wait a",
        "        [1207, 1216] match",
        "        [1216, 1223] post",
        "        [1223, 2223] wait",
        "        [2223, 2232] match",
        "    exchange a",
        "      [0, 2232] a",
        "        [0, 1216] stage 0",
        "        [1216, 2232] stage 1",
        "    NIC",
        "      [7, 807] to 1",
        "      [1223, 2023] to 2",
        "    arrivals",
        "      [1007, 1007] from others",
        "      [2223, 2223] from others",
    ]


def test_a_thread_posts_it_at_once(tmp_path):
    found = drawn(tmp_path, poked(), mpi_progress="thread")
    assert found[6:18] == [
        "      [607, 1207] more",
        "      [1207, 2032] 5 wait a",
        "        [1207, 2032] wait",
        "    thread",
        "      [1007, 1016] match",
        "      [1016, 1023] post",
        "      [2023, 2032] match",
        "    exchange a",
        "      [0, 2032] a",
        "        [0, 1016] stage 0",
        "        [1016, 2032] stage 1",
        "    NIC",
    ]


def test_two_open_exchanges_have_rows_of_their_own(tmp_path):
    """Packets of 4096 bytes take turns: 409.6 ns of a, 400 of b, 390.4 of a. The wait for b deals with both."""
    a, b = summed("a"), summed("b", 500)
    found = drawn(tmp_path, tw.Program(a.start(), b.start(), computing("inner", 3e-6), b.wait(), a.wait()))
    assert found[2:-4] == [
        "    CPU",
        "      [0, 7] 1 start a",
        "        [0, 7] post",
        "      [7, 14] 2 start b",
        "        [7, 14] post",
        "      [14, 3014] inner",
        "      [3014, 3648] 4 wait b",
        "        [3014, 3023] match",
        "        [3023, 3032] match",
        "        [3032, 3039] post",
        "        [3039, 3639] wait",
        "        [3639, 3648] match",
        "      [3648, 4664] 5 wait a",
        "        [3648, 3655] post",
        "        [3655, 4655] wait",
        "        [4655, 4664] match",
        "    exchange a",
        "      [0, 4664] a",
        "        [0, 3032] stage 0",
        "        [3648, 4664] stage 1",
        "    exchange b",
        "      [7, 3648] b",
        "        [7, 3023] stage 0",
        "        [3032, 3648] stage 1",
        "    NIC",
        "      [7, 1207] to 1",
        "        [416, 816] to 1",
        "      [3039, 3439] to 2",
        "      [3655, 4455] to 2",
        "    arrivals",
    ]


def test_groups_have_steps_of_their_own(tmp_path):
    model = tw.Group("model", 4, [summed_in("model"), computing("physics", 5e-6)], repeat=2)
    server = tw.Group("server", 2, [computing("writing", 1e-6)])
    found = drawn(tmp_path, tw.Program(groups=[model, server]), "0,5")
    of_model, of_server = found[: found.index("  rank 5")], found[found.index("  rank 5") :]
    assert of_server == ["  rank 5", "    CPU", "      [0, 1000] server: writing"]
    assert [row.split("] ")[1] for row in of_model if row.startswith("      [") and "physics" in row] == [
        "model: physics",
        "model: physics",
    ]
    assert sum(row.endswith("] sum") for row in of_model) == 2


def test_too_much_to_keep():
    steps = [summed("a"), computing("inner", 1e-9)]
    program = tw.Program(groups=[tw.Group("all", 4, steps, repeat=100_000)])
    with pytest.raises(InputError, match="time line of 4 ranks: more than 500000 stages and messages"):
        program.simulate(FILE, timeline="never.pftrace")
