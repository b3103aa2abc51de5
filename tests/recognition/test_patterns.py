"""Patterns of recorded messages: the program file has the same messages, here and on other ranks."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_exchange import add_exchange, trace_of
from sent_messages import of_program, of_schedule, sent

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.layout.names import blocks
from tradewind.recognition.parsing import VAIN
from tradewind.recognition.recognise import Recognised, recognise
from tradewind.recognition.streams import streams_of
from tradewind.recognition.text import program_text
from tradewind.trace.builder import TraceBuilder
from tradewind.trace.model import NONE, Trace
from tradewind.workload.box_halo import DIRECTIONS, BoxHalo, box_halo
from tradewind.workload.program import ProgramWorkload
from tradewind.workload.program_file import load_program
from tradewind.workload.program_scaling import load_scaled

FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]


def read(found: Recognised) -> ProgramWorkload:
    return load_program("found.toml", program_text(found, "found"))


def check_whole(trace: Trace) -> Recognised:
    """All of a trace is recognised, and its file has its messages."""
    found = recognise(trace)
    assert (found.share_of_messages, found.share_of_bytes, found.unexplained) == (1.0, 1.0, [])
    assert of_program(read(found)) == sent(trace)
    return found


HALOS = [
    ("24x1x10", "4x1x1", "x", None, "direct"),
    ("25x8x10", "5x1", "", None, "direct"),
    ("24x18x5", "4x3", "xy", ["-x", "+x", "-y", "+y"], "direct"),
    ("26x20x5", "4x3", "x", None, "direct"),
    ("26x20x5", "4x3", "", ["-x", "+x", "-y", "+y"], "direct"),
    ("26x20x5", "4x3", "y", None, "sweep"),
    ("64x48x8", "2x2", "xy", None, "direct"),
    ("24x24x24", "2x2x2", "", FACES, "direct"),
    ("25x19x18", "3x3x3", "xyz", FACES, "direct"),
    ("26x20x13", "3x2x3", "z", None, "direct"),
    ("26x20x13", "3x2x3", "x", None, "sweep"),
    ("40x8x4", "8x1", "x", ["+x"], "direct"),
]


@pytest.mark.parametrize(("grid", "split", "periodic", "toward", "algorithm"), HALOS)
def test_halos_are_those_that_were_recorded(
    grid: str, split: str, periodic: str, toward: list[str] | None, algorithm: str
) -> None:
    nx, ny, nz = map(int, grid.split("x"))
    box = box_halo((nx, ny, nz), tuple(map(int, split.split("x"))), 2, periodic, toward, algorithm)
    found = check_whole(trace_of(box.schedule(), 8, 4))
    (exchange,) = found.exchanges
    assert exchange.kind == "halo"
    assert exchange.box is not None
    assert exchange.box.split == box.split
    assert found.repeats == 4


@pytest.mark.parametrize(
    ("grid", "split", "legs"),
    [
        ("32x32x32", (4, 4), ("xy-zy", "zy-zx")),
        ("30x21x13", (4, 3), ("xy-zy",)),
        ("30x21x13", (3, 4), ("zy-zx",)),
        ("40x40x10", (5, 1), ("xy-zy",)),
    ],
)
@pytest.mark.parametrize("algorithm", ["ring-1", "burst"])
def test_transpositions_are_those_that_were_recorded(
    grid: str, split: tuple[int, int], legs: tuple[str, ...], algorithm: str
) -> None:
    nx, ny, nz = map(int, grid.split("x"))
    points = _core.Grid(nx, ny, nz)
    for leg in legs:
        before, after = leg.split("-")
        pattern = _core.Transpose(blocks(points, split, before), blocks(points, split, after))
        found = check_whole(trace_of(_core.make_schedule(pattern, algorithm), 16, 3))
        assert [each.kind for each in found.exchanges] == ["transposition"]


@pytest.mark.parametrize(
    ("ranks", "count", "algorithm"), [(8, 3, "recursive-2"), (6, 4, "recursive-3"), (8, 4096, "rabenseifner")]
)
def test_reductions_by_messages(ranks: int, count: int, algorithm: str) -> None:
    schedule = _core.make_schedule(_core.AllReduce(ranks, count), algorithm)
    found = check_whole(trace_of(schedule, 8, 5))
    assert [each.kind for each in found.exchanges] == ["allreduce"]


@pytest.mark.parametrize("brick", [(2, 2, 2), (3, 2, 1)])
def test_gather_scatters_of_elements(brick: tuple[int, int, int]) -> None:
    pattern = _core.BrickGatherScatter((4, 2, 2), 10, brick, [False, False, False], "add")
    found = check_whole(trace_of(_core.make_schedule(pattern, "pairwise"), 8, 3))
    (exchange,) = found.exchanges
    assert exchange.table["gather_scatter"] == "4x2x2"
    assert exchange.table["element_points"] == 10


def test_random_messages_have_no_pattern() -> None:
    draw = random.Random(3)
    for ranks in (4, 16):
        builder = TraceBuilder(ranks)
        for _ in range(200):
            source, peer = draw.sample(range(ranks), 2)
            size = 8 * draw.randrange(1, 1000)
            builder.rank(source).call("MPI_Send", gap_ns=draw.randrange(1000), peer=peer, tag=0, bytes=size)
        found = recognise(builder.trace())
        assert (found.explained_messages, found.exchanges) == (0, [])
        assert sum(each.messages for each in found.unexplained) == 200
        assert {each.why for each in found.unexplained} == {"no pattern"}
        with pytest.raises(InputError, match="no pattern was recognised"):
            program_text(found, "random")


def halo(grid: tuple[int, int, int], split: tuple[int, int], algorithm: str) -> _core.Schedule:
    return _core.make_schedule(_core.Halo(blocks(_core.Grid(*grid), split, "xy"), 2, [True, False]), algorithm)


def transposition(grid: tuple[int, int, int], split: tuple[int, int], algorithm: str) -> _core.Schedule:
    before, after = (blocks(_core.Grid(*grid), split, name) for name in ("zy", "zx"))
    return _core.make_schedule(_core.Transpose(before, after), algorithm)


@pytest.mark.parametrize(
    ("make", "algorithm", "before", "after", "known"),
    [
        (halo, "direct", (2, 2), (4, 4), None),
        (halo, "direct", (8, 2), (16, 4), None),
        (halo, "sweep", (4, 4), (8, 8), (64, 48, 32)),
        (transposition, "ring-1", (4, 4), (8, 8), None),
    ],
)
@pytest.mark.parametrize("scale", ["strong", "weak"])
def test_scaled_files_have_the_messages_of_the_program_there(
    tmp_path: Path, make, algorithm: str, before: tuple[int, int], after: tuple[int, int], known, scale: str
) -> None:
    grid, grown = (64, 48, 32), (128, 96, 32)
    found = recognise(trace_of(make(grid, before, algorithm), 8, 3), known)
    (tmp_path / "step.toml").write_text(program_text(found, "step"))
    scaled = load_scaled(tmp_path / "step.toml", after[0] * after[1], scale)
    there = make(grid if scale == "strong" else grown, after, algorithm)
    assert of_program(scaled) == of_schedule(there, 8, 3)


@pytest.mark.parametrize("make", [halo, transposition])
def test_a_grid_that_does_not_fit_is_noted(make: Callable[..., _core.Schedule]) -> None:
    (exchange,) = recognise(
        trace_of(make((64, 48, 32), (4, 4), "burst" if make is transposition else "direct"), 8, 3), (60, 48, 36)
    ).exchanges
    assert exchange.notes[-1] == "the grid of --grid does not have these messages: another one was taken"


def test_two_ranks_along_a_direction_leave_it_open() -> None:
    faces = box_halo((64, 48, 4), (2, 2), 1, "", FACES[:4], None).schedule()
    (exchange,) = recognise(trace_of(faces, 8, 3)).exchanges
    assert "may be a transposition as well" in exchange.notes[-1]


def test_a_cartesian_communicator_names_the_ranks() -> None:
    """Messages of 12 ranks in two directions that are those of 4 x 3 as well as of 2 x 6 ranks, until it is named."""
    faces = box_halo((40, 30, 4), (4, 3), 1, "xy", FACES[:2], None).schedule()
    builder = TraceBuilder(12)
    grid = builder.communicator(range(12), "MPI_Cart_create", dims=(3, 4), periodic=(True, True))
    for rank in range(12):
        calls = builder.rank(rank).call("MPI_Cart_create", communicator=0, created=grid)
        for message in (*faces.sends(rank, 0), *faces.sends(rank, 0)):
            calls.call("MPI_Send", communicator=grid, peer=message.peer, bytes=message.count * 8)
    (exchange,) = recognise(builder.trace()).exchanges
    assert exchange.table["split"] == "4x3"


def test_a_division_of_another_kind_is_noted() -> None:
    """The last parts are larger; the file has as many bytes."""
    parts = ((5, 5, 6, 6), (7, 7, 8), (10,))
    box = BoxHalo(parts, 1, toward=tuple(DIRECTIONS[each] for each in FACES[:4]))
    found = recognise(trace_of(box.schedule(), 8, 3))
    assert found.share_of_bytes == 1
    assert found.exchanges[0].notes[-1].startswith("points are divided among the ranks otherwise")


def test_exchanges_of_calls_on_communicators_and_computing_between_them() -> None:
    """Rows transpose by MPI_Alltoallv, all sum up; a setup and a broadcast are named with what they are not in."""
    builder = TraceBuilder(9)
    rows = [builder.communicator(range(3 * row, 3 * row + 3)) for row in range(3)]
    for rank in range(9):
        calls = builder.rank(rank)
        calls.call("MPI_Comm_split", communicator=0, created=rows[rank // 3])
        calls.call("MPI_Bcast", bytes=64 if rank == 0 else 0, received=0 if rank == 0 else 64, peer=0)
        for _ in range(5):
            blocks_ = [0 if peer == rank % 3 else 960 for peer in range(3)]
            total = {"bytes": 1920, "received": 1920}
            calls.call("MPI_Alltoallv", gap_ns=2000, communicator=rows[rank // 3], blocks=blocks_, **total)
            calls.call("MPI_Allreduce", gap_ns=1000 + 100 * rank, bytes=16, received=16)
    found = recognise(builder.trace())
    assert [each.kind for each in found.exchanges] == ["transposition", "allreduce"]
    assert (found.repeats, found.uses) == (5, {"transposition": 5, "allreduce": 5})
    assert (found.messages, found.explained_messages) == (9 + 5 * (9 * 2 + 9), 5 * (9 * 2 + 9))
    assert [(each.call, each.size, each.messages, each.why) for each in found.unexplained] == [
        ("MPI_Bcast", 64, 9, "no pattern")
    ]
    assert found.computing_s == pytest.approx(3.4e-6)
    text = program_text(found, "calls")
    assert "9 MPI_Bcast of 64 B: no pattern" in text
    assert 'seconds = "1.4us"\nimbalance = { distribution = "normal", spread = 0.184 }' in text
    assert of_program(read(found)).total() == 5 * (
        9 * 2 + 8 * 3 + 2
    )  # also recursive doubling on 8 ranks, and one folded


def test_a_command_of_several_lines_stays_a_comment_and_quotes_stay_in_a_name() -> None:
    builder = TraceBuilder(4, command=["python", "-c", "import a\nranks = 7"])
    for _ in range(3):
        for rank in range(4):
            builder.rank(rank).call("MPI_Allreduce", bytes=16, received=16)
    program = load_program("found.toml", program_text(recognise(builder.trace()), 'a "b" \\ c'))
    assert (program.name, program.ranks) == ('a "b" \\ c', 4)


def test_solvers_with_other_numbers_of_iterations_are_loops_in_a_step() -> None:
    builder = TraceBuilder(4)
    for iterations in (4, 6, 5):
        for rank in range(4):
            calls = builder.rank(rank)
            calls.call("MPI_Allreduce", bytes=800, received=800)
            for _ in range(iterations):
                calls.call("MPI_Allreduce", gap_ns=500, bytes=8, received=8)
    found = recognise(builder.trace())
    assert found.repeats == 3
    assert "repeat = 5\n" in program_text(found, "solver")


@pytest.mark.parametrize(("iterations", "missing"), [((3, 3, 4), 1), ((4, 4, 3), 0)])
def test_iterations_that_a_file_rounds_away_are_not_explained(iterations: tuple[int, ...], missing: int) -> None:
    builder = TraceBuilder(4)
    for times in iterations:
        for rank in range(4):
            calls = builder.rank(rank)
            calls.call("MPI_Allreduce", bytes=800, received=800)
            for _ in range(times):
                calls.call("MPI_Allreduce", gap_ns=500, bytes=8, received=8)
    found = recognise(builder.trace())
    assert sum(each.messages for each in found.unexplained) == 4 * missing
    assert found.messages - found.explained_messages == 4 * missing


def test_missing_ranks_are_an_error() -> None:
    trace = TraceBuilder(2).trace()
    trace.infos = {0: trace.infos[0]}
    with pytest.raises(InputError, match="the trace has 1 of 2 ranks: rank 1 is missing"):
        recognise(trace)


def test_computing_during_an_exchange_is_between_its_start_and_its_wait() -> None:
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank)
        for _ in range(3):
            calls.call("MPI_Irecv", gap_ns=4000, source=(rank - 1) % 4, received=80, request=0)
            calls.call("MPI_Isend", peer=(rank + 1) % 4, bytes=80, request=1)
            calls.call("MPI_Iallreduce", gap_ns=3000, bytes=8, received=8, request=2)
            calls.call("MPI_Waitall", gap_ns=7000, asked=[0, 1, 2], ended=[(n, NONE, NONE, 0) for n in range(3)])
    found = recognise(builder.trace())
    assert found.computing_s == pytest.approx(14e-6)
    steps = program_text(found, "overlap").split("[[step]]\n")[1:]
    wanted = ["4us", "start halo", "3us", "wait halo", "start allreduce", "7us", "wait allreduce"]
    for text, step in zip(steps, wanted, strict=True):
        word, _, name = step.rpartition(" ")
        assert (f'{word} = "{name}"' if word else f'seconds = "{name}"') in text
    program = read(found)
    assert {each.name: program.times(each) for each in program.exchanges} == {"halo": 3, "allreduce": 3}


def kinds_after(before: Callable[[TraceBuilder], None]) -> tuple[list[str], int]:
    """Exchanges, and repetitions, of 20 halos with sums, which come after something else."""
    builder = TraceBuilder(4)
    before(builder)
    faces = box_halo((64, 48, 4), (4, 1), 1, "x", FACES[:2], None).schedule()
    for _ in range(20):
        add_exchange(builder, faces, 8)
        for rank in range(4):
            builder.rank(rank).call("MPI_Allreduce", bytes=8, received=8)
    found = recognise(builder.trace())
    return [each.kind for each in found.exchanges], found.repeats


def test_a_long_setup_does_not_hide_the_loop() -> None:
    def broadcasts(builder: TraceBuilder) -> None:
        for rank in range(4):
            for _ in range(3 * VAIN):
                sent = {"bytes": 64} if rank == 0 else {"received": 64}
                builder.rank(rank).call("MPI_Bcast", peer=0, **sent)

    def messages(builder: TraceBuilder) -> None:
        for number in range(3 * VAIN):
            builder.rank(number % 3).call("MPI_Send", gap_ns=10_000, peer=3, tag=0, bytes=8 * number + 4)
        for rank in range(4):
            builder.rank(rank).call("MPI_Barrier", gap_ns=10_000_000)

    for before in (broadcasts, messages):
        assert kinds_after(before) == (["halo", "allreduce"], 20)


def test_a_shift_without_period_comes_before_a_sum() -> None:
    """The last rank sends nothing: it calls the sum while others still send."""
    builder = TraceBuilder(4)
    for rank in range(4):
        calls = builder.rank(rank)
        for _ in range(5):
            if rank > 0:
                calls.call("MPI_Recv", source=rank - 1, received=800)
            if rank < 3:
                calls.call("MPI_Send", peer=rank + 1, bytes=800)
            calls.call("MPI_Allreduce", bytes=8, received=8)
    found = recognise(builder.trace())
    assert [each.kind for each in found.exchanges] == ["halo", "allreduce"]
    assert (found.repeats, found.unexplained) == (5, [])


def test_messages_do_not_pass_blocking_collective_calls() -> None:
    builder = TraceBuilder(2)
    calls = builder.rank(0)
    for name in ("MPI_Send", "MPI_Barrier", "MPI_Send", "MPI_Barrier", "MPI_Allreduce"):
        given = {"MPI_Send": {"peer": 1, "bytes": 8}, "MPI_Barrier": {}}.get(name, {"bytes": 8, "received": 8})
        calls.call(name, **given)
    (stream,) = streams_of(builder.trace())
    assert stream.sent[0].events.tolist() == [0, 1, 2, 3, 4]
    assert (stream.sent[0].phases[1:] > stream.sent[0].phases[:-1]).all()
