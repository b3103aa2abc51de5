"""Programs with several exchanges open at once, from Python to the core and back."""

import pytest
from small import CROSSBAR, machine

import tradewind as tw
from tradewind.dwarfs import find
from tradewind.verification import verify
from tradewind.workload.program import WholeExchange

TRIP, BYTE = 200e-9, 1e-10
COUNT = 1000
STAGE = TRIP + COUNT * 8 * BYTE
"""Each of the two stages of a sum over four ranks is one message to another rank."""
PROGRESS = ("calls", "pokes", "thread")
MODELS = ("packet", "loggp")
OVERLAP = {
    "helmholtz": {"strategy": "pipelined", "grid": (128, 128, 8), "rtol": 0.0, "iterations": 6},
    "nekbone": {"strategy": "overlap", "elements": (8, 8, 4)},
    "semi_lagrangian": {"strategy": "overlap", "grid": (128, 128, 8)},
}
"""Dwarfs whose strategies start exchanges, compute and wait."""


def summed(name, count=COUNT):
    return tw.Exchanged(name, tw.AllReduce(4, count).schedule("recursive-2"))


def run(*steps, progress="pokes", topology=CROSSBAR, machine_tables=None, model="packet", **options):
    file = machine(topology, memory_bandwidth="100GB/s", **(machine_tables or {}))
    return tw.Program(*steps).simulate(file, buffers="unbounded", mpi_progress=progress, model=model, **options)


def time(*steps, **more):
    return run(*steps, **more)["time_s"]


def computing(seconds, name="computing"):
    return tw.Compute(name, seconds=seconds)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seconds", [1.4 * STAGE])
@pytest.mark.parametrize("overlap", PROGRESS)
def test_the_second_stage_is_posted_in_the_wait_or_by_a_thread(overlap, seconds, model):
    a = summed("a")
    wanted = max(seconds, 2 * STAGE) if overlap == "thread" else max(seconds, STAGE) + STAGE
    found = time(a.start(), computing(seconds), a.wait(), progress=overlap, model=model)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("half", [0.7 * STAGE, 1.2 * STAGE])
@pytest.mark.parametrize("overlap", PROGRESS)
def test_a_poke_posts_the_second_stage_where_the_first_is_over(overlap, half, model):
    a = summed("a")
    poked = half + STAGE if half >= STAGE else max(2 * half, STAGE) + STAGE
    wanted = {
        "calls": max(2 * half, STAGE) + STAGE,
        "pokes": max(2 * half, poked),
        "thread": max(2 * half, 2 * STAGE),
    }[overlap]
    steps = [a.start(), computing(half), tw.Poke(), computing(half, "more"), a.wait()]
    assert time(*steps, progress=overlap, model=model) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [0.3, 0.8, 1.5])
def test_exchanges_that_are_open_at_once_share_the_nic_of_a_rank_and_hide_behind_computing(share, model):
    """Two swaps of pairs: their messages leave one after the other, and computing takes the rest of the time."""
    pair = tw.AllReduce(2, COUNT).schedule("recursive-2")
    a, b = tw.Exchanged("a", pair), tw.Exchanged("b", pair)
    moved = TRIP + 2 * COUNT * 8 * BYTE
    found = run(
        a.start(), b.start(), computing(share * moved), a.wait("a has ended"), b.wait(), model=model, packet="message"
    )
    assert found["time_s"] == pytest.approx(max(share, 1) * moved, rel=1e-9)
    assert found["step_end_s"]["a has ended"] == pytest.approx(max(share * moved, STAGE), rel=1e-9)


@pytest.mark.parametrize("dwarf", OVERLAP)
def test_the_models_agree_where_nothing_is_congested(dwarf):
    """Take 16 ranks, which meet at links of a fat tree now and then: 2%, as docs/explanation/loggp.md has it."""
    request = find(dwarf)(ranks=16, **OVERLAP[dwarf])
    for progress in PROGRESS:
        options = {"settings": {"nic.latency": "20us"}, "mpi_progress": progress, "buffers": "unbounded"}
        packet, loggp = (request.simulate("barbora", model=model, **options) for model in MODELS)
        assert loggp["time_s"] == pytest.approx(packet["time_s"], rel=0.02)
        assert (loggp["messages"], loggp["bytes"]) == (packet["messages"], packet["bytes"])
        assert loggp["usage"]["computing_s"] == packet["usage"]["computing_s"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("overhead", ["0s", "300ns"])
def test_computing_during_an_exchange_is_as_in_a_plain_program(overhead, model):
    tables = {"send_overhead": overhead, "receive_overhead": overhead}
    swap = tw.AllReduce(4, COUNT).schedule("recursive-2")
    plain = time(tw.Compute("c", seconds=4e-6, during=swap, repeat=2), machine_tables=tables, model=model)
    a = tw.Exchanged("a", swap)
    for steps in (
        [tw.Compute("c", seconds=4e-6, during=a, repeat=2)],
        [WholeExchange(a, "w", 2, tw.Compute("c", seconds=4e-6))],
        [a.start("1"), computing(4e-6, "2"), a.wait("3"), a.start("4"), computing(4e-6, "5"), a.wait("6")],
    ):
        assert time(*steps, machine_tables=tables, model=model) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_groups_have_steps_of_their_own(model):
    """Two servers take what six ranks send, and are free while these compute."""
    own = tw.Exchanged("own", tw.AllReduce(6, 10).schedule("ring"), groups=("model",))
    both = tw.Exchanged("both", tw.AllReduce(8, 10).schedule("recursive-2"))
    program = tw.Program(
        groups=[
            tw.Group("model", 6, [own, computing(30e-6), both], repeat=2),
            tw.Group("servers", 2, [both, computing(40e-6, "encode")], repeat=2),
        ]
    )
    file = machine(CROSSBAR, memory_bandwidth="100GB/s")
    result = program.simulate(file, buffers="unbounded", model=model)
    proved = verify(program)
    assert (result["messages"], result["bytes"]) == (proved["messages"], proved["bytes"])
    ends = result["step_end_s"]
    assert list(ends) == [
        *("model: 1 own", "model: computing", "model: 3 both", "servers: 1 both", "servers: encode"),
    ]
    # The second sum waits for the servers, which have encoded for 40 us since the first one.
    assert ends["servers: 1 both"] > 70e-6
    assert result["time_s"] == pytest.approx(ends["servers: 1 both"] + 40e-6, rel=1e-3)


def test_points_are_those_of_any_layout():
    """Whole levels on two servers of four ranks: the others compute nothing."""
    grid = tw.Grid(nx=8, ny=6, nz=5)
    levels = tw.Whole(grid, 4, 2)
    found = run(tw.Compute("levels", layout=levels, point_s=1e-8), summed("a", 1))
    assert found["step_end_s"]["levels"] == pytest.approx(3 * 48 * 1e-8, rel=1e-9)
    plain = run(tw.Compute("levels", layout=levels, point_s=1e-8))
    assert plain["time_s"] == pytest.approx(3 * 48 * 1e-8, rel=1e-9)


def test_what_the_models_do_not_know_is_refused():
    a = summed("a")
    with pytest.raises(tw.InputError, match="unknown progress of MPI 'never'"):
        run(a.start(), a.wait(), progress="never")
