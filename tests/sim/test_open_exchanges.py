"""Programs with several exchanges open at once, in closed form: who brings them on, and what that takes."""

import pytest
from small import CROSSBAR, machine
from test_threads import bits

import tradewind as tw
from tradewind import _core
from tradewind.simulation import prepare
from tradewind.verification import verify
from tradewind.workload.program import Whole

TRIP, BYTE = 200e-9, 1e-10
COUNT = 1000
STAGE = TRIP + COUNT * 8 * BYTE
"""Each of the two stages of a sum over four ranks is one message to another rank."""
PROGRESS = ("calls", "pokes", "thread")


def summed(name, count=COUNT):
    return tw.Exchanged(name, tw.AllReduce(4, count).schedule("recursive-2"))


def run(*steps, progress="pokes", topology=CROSSBAR, machine_tables=None, **options):
    file = machine(topology, memory_bandwidth="100GB/s", **(machine_tables or {}))
    return tw.Program(*steps).simulate(file, buffers="unbounded", mpi_progress=progress, **options)


def time(*steps, **more):
    return run(*steps, **more)["time_s"]


def computing(seconds, name="computing"):
    return tw.Compute(name, seconds=seconds)


@pytest.mark.parametrize("seconds", [0.3 * STAGE, 1.4 * STAGE, 5 * STAGE])
@pytest.mark.parametrize("overlap", PROGRESS)
def test_the_second_stage_is_posted_in_the_wait_or_by_a_thread(overlap, seconds):
    a = summed("a")
    wanted = max(seconds, 2 * STAGE) if overlap == "thread" else max(seconds, STAGE) + STAGE
    found = time(a.start(), computing(seconds), a.wait(), progress=overlap)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("half", [0.5 * STAGE, 1.2 * STAGE, 3 * STAGE])
@pytest.mark.parametrize("overlap", PROGRESS)
def test_a_poke_posts_the_second_stage_where_the_first_is_over(overlap, half):
    a = summed("a")
    poked = half + STAGE if half >= STAGE else max(2 * half, STAGE) + STAGE
    wanted = {
        "calls": max(2 * half, STAGE) + STAGE,
        "pokes": max(2 * half, poked),
        "thread": max(2 * half, 2 * STAGE),
    }[overlap]
    found = time(a.start(), computing(half), tw.Poke(), computing(half, "more"), a.wait(), progress=overlap)
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("overlap", PROGRESS)
def test_what_a_message_costs_the_cpu_waits_for_a_call(overlap):
    """A message costs its receiver 0.5 us and its sender 0.2 us: of the CPU, or of the thread."""
    send, receive, seconds = 0.2e-6, 0.5e-6, 10e-6
    tables = {"send_overhead": "200ns", "receive_overhead": "500ns"}
    a = summed("a")
    found = time(a.start(), computing(seconds), a.wait(), progress=overlap, machine_tables=tables)
    wanted = send + seconds  # the thread does the rest meanwhile
    if overlap != "thread":
        wanted += receive + send + STAGE + receive
    assert found == pytest.approx(wanted, rel=1e-9)


def test_a_poke_deals_with_what_has_come_before_it_posts():
    send, receive, half = 0.2e-6, 0.5e-6, 10e-6
    tables = {"send_overhead": "200ns", "receive_overhead": "500ns"}
    a = summed("a")
    steps = (a.start(), computing(half), tw.Poke(), computing(half, "more"), a.wait())
    # In the poke: one message is taken, one is posted. The last one is taken in the wait.
    wanted = send + half + receive + send + half + receive
    assert time(*steps, machine_tables=tables) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("overlap", PROGRESS)
def test_a_long_message_is_asked_for_in_a_call(overlap):
    tables = {"mpi": {"eager_limit": "1kB", "header": "8B"}}
    a = summed("a")
    alone = time(a, machine_tables=tables)
    seconds = 10 * alone
    found = time(a.start(), computing(seconds), a.wait(), progress=overlap, machine_tables=tables)
    if overlap == "thread":
        assert found == pytest.approx(seconds, rel=1e-9)
    else:  # the request has come, and is granted when the wait begins
        trip = TRIP + 8 * BYTE
        assert found == pytest.approx(seconds + alone - trip, rel=1e-6)


@pytest.mark.parametrize(("overhead", "limit"), [("0s", None), ("300ns", None), ("0s", "1kB"), ("300ns", "1kB")])
def test_one_exchange_after_another_is_as_in_a_plain_program(overhead, limit):
    tables = {"send_overhead": overhead, "receive_overhead": overhead} | (
        {"mpi": {"eager_limit": limit, "header": "8B"}} if limit else {}
    )
    blocks = tw.Blocks(tw.Grid(nx=8, ny=6, nz=10), split=(2, 2))
    halo = tw.Halo(blocks, width=1, periodic="xy").schedule("sweep")
    swap = tw.AllReduce(4, 500).schedule("ring")
    plain = run(halo, computing(3e-6), swap, machine_tables=tables)
    a, b = tw.Exchanged("a", halo), tw.Exchanged("b", swap)
    for steps in ((a, computing(3e-6), b), (a.start(), a.wait(), computing(3e-6), b.start(), b.wait())):
        found = run(*steps, machine_tables=tables)
        assert found["time_s"] == pytest.approx(plain["time_s"], rel=1e-12)
        assert (found["messages"], found["bytes"]) == (plain["messages"], plain["bytes"])


@pytest.mark.parametrize("overhead", ["0s", "300ns"])
def test_computing_during_an_exchange_is_as_in_a_plain_program(overhead):
    tables = {"send_overhead": overhead, "receive_overhead": overhead}
    swap = tw.AllReduce(4, COUNT).schedule("recursive-2")
    plain = time(tw.Compute("c", seconds=4e-6, during=swap, repeat=2), machine_tables=tables)
    a = tw.Exchanged("a", swap)
    for steps in (
        [tw.Compute("c", seconds=4e-6, during=a, repeat=2)],
        [Whole(a, "w", 2, tw.Compute("c", seconds=4e-6))],
        [a.start("1"), computing(4e-6, "2"), a.wait("3"), a.start("4"), computing(4e-6, "5"), a.wait("6")],
    ):
        assert time(*steps, machine_tables=tables) == pytest.approx(plain, rel=1e-12)


def test_exchanges_that_are_open_together_share_the_nic():
    """Twice the bytes leave through one NIC; the second stages follow without a pause."""
    a, b = summed("a"), summed("b")
    alone = 2 * STAGE
    both = time(a.start(), b.start(), a.wait(), b.wait())
    assert alone < both <= 2 * alone
    assert both >= TRIP + 4 * COUNT * 8 * BYTE  # what each NIC has to send
    run_alone = run(a, b)
    together = run(a.start(), b.start(), b.wait(), a.wait())
    assert (together["messages"], together["bytes"]) == (run_alone["messages"], run_alone["bytes"])


def test_a_message_may_come_for_an_exchange_that_its_rank_has_not_started():
    """Rank 3 of four computes for long before it starts anything; the others' messages wait for it."""
    a, b = summed("a"), summed("b")
    late = tw.Compute("late", point_s=1e-6, points=lambda rank: 50 if rank == 3 else 0)
    result = run(late, a.start(), b.start(), b.wait(), a.wait(), a.start("x"), a.wait("y"))
    assert result["messages"] == 3 * 8
    assert 50e-6 < result["time_s"] < 60e-6


def test_groups_have_steps_of_their_own():
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
    result = program.simulate(file, buffers="unbounded")
    proved = verify(program)
    assert (result["messages"], result["bytes"]) == (proved["messages"], proved["bytes"])
    ends = result["step_end_s"]
    assert list(ends) == [
        *("model: 1 own", "model: computing", "model: 3 both", "servers: 1 both", "servers: encode"),
    ]
    # The second sum waits for the servers, which have encoded for 40 us since the first one.
    assert ends["servers: 1 both"] > 70e-6
    assert result["time_s"] == pytest.approx(ends["servers: 1 both"] + 40e-6, rel=1e-3)


TORUS = {"kind": "torus", "shape": [4, 4, 2], "nodes_per_switch": 2}


def large(threads, ranks_per_node=1, progress="pokes", **options):
    blocks = tw.Blocks(tw.Grid(nx=64, ny=64, nz=10), split=(8, 8))
    winds = tw.Exchanged("winds", tw.Halo(blocks, width=2, periodic="xy").schedule("sweep"), 4)
    sums = tw.Exchanged("sums", tw.AllReduce(64, 300).schedule("recursive-4"), dtype="f4")
    swap = tw.Exchanged("swap", tw.Transpose(blocks, tw.Pencils(blocks.grid, "x", (8, 8))).schedule("ring-2"))
    uneven = tw.Compute("uneven", flops=100, bytes=50, points=lambda rank: 100 + 7 * (rank % 5))
    steps = [
        *(winds.start("1"), sums.start("2"), uneven, tw.Poke("3"), computing(1e-6), swap, winds.wait("4")),
        *(winds.start("5"), tw.Poke("6"), sums.wait("7"), sums.start("8"), winds.wait("9"), sums.wait("10")),
    ]
    node = {"flops": "1TFlop/s", "memory_bandwidth": "100GB/s"}
    overheads = {"send_overhead": "100ns", "receive_overhead": "150ns"}
    file = machine(TORUS, memory_bandwidth="100GB/s", node=node, mpi={"eager_limit": "4kB"}, **overheads, **options)
    one = prepare(
        tw.Program(*steps, repeat=2), file, ranks_per_node=ranks_per_node, mpi_progress=progress, threads=threads
    )
    arguments = one._arguments()
    return _core.simulate_packets(*arguments, None)


@pytest.mark.parametrize("progress", PROGRESS)
@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_the_same_bits_for_any_number_of_threads(progress, ranks_per_node):
    wanted = bits(large(1, ranks_per_node, progress))
    assert bits(large(3, ranks_per_node, progress)) == wanted
    assert bits(large(1, ranks_per_node, progress)) == wanted


def test_a_program_is_never_slower_by_a_thread_than_by_its_pokes_alone():
    times = [large(1, progress=progress).time_ps for progress in ("thread", "calls")]
    assert times[0] < times[1]


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
    with pytest.raises(tw.InputError, match="simulated by the model 'packet'"):
        run(a.start(), a.wait(), model="loggp")
    with pytest.raises(tw.InputError, match="unknown progress of MPI 'never'"):
        run(a.start(), a.wait(), progress="never")
