"""Programs in several languages on several MPI libraries: a trace has the counts and bytes that they print."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import run_tradewind
from trace_cells import CELLS, FAST, MPICH, OPEN_MPI, OWN, PROGRAMS, printed_counts

from tradewind.launch.record import environment
from tradewind.replay.buffering import verify_trace
from tradewind.trace.counts import counts
from tradewind.trace.model import NONE
from tradewind.trace.read import open_trace
from tradewind.trace.source_lines import SourceLines

pytestmark = pytest.mark.ranks
ENVIRONMENT = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")
"""Functions that programs do not count."""


def recorded(command, folder, *options, **variables):
    """Run a command under `tradewind record`, whose output is in `run.trace` of a folder."""
    tradewind = [sys.executable, "-m", "tradewind", "record", "-o", "run.trace", "--json", *options, "--"]
    return subprocess.run(
        [*tradewind, *command], cwd=folder, capture_output=True, text=True, env=os.environ | variables, timeout=300
    )


def traced_counts(trace):
    table = counts(trace)
    rows = table[table["recorded"] & ~table["call"].isin(ENVIRONMENT)].itertuples()
    return {(row.rank, row.call): (row.calls, row.bytes, row.received) for row in rows}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in CELLS])
def test_counts_are_those_of_the_program(name, tmp_path):
    cell = CELLS[name]
    command, variables = cell.build(tmp_path)
    run = recorded(command, tmp_path, **variables)
    assert run.returncode == 0, run.stderr
    trace = open_trace(tmp_path / "run.trace")
    printed = printed_counts(run.stdout)
    assert len(printed) > 30
    assert traced_counts(trace) == printed
    assert trace.problems == ()
    assert {info.abi for info in trace.infos.values()} == {name.partition("-")[0]}
    assert json.loads(run.stdout.splitlines()[-1])["events"] == len(trace)
    check_places(trace, cell)


def check_places(trace, cell):
    """Each call stands on a line with its name, also behind wrappers of Fortran; of Python, in a function of mpi4py.

    Gfortran has the first line of the procedure for some calls.
    """
    source_lines = SourceLines()
    for rank in trace.ranks:
        events = trace.events(rank)
        for operation in range(len(events.operations)):
            name, place = events.call(operation).name, source_lines.of(events, operation)
            if name in ENVIRONMENT:  # called by the interpreter, or in place of the program's last instruction
                continue
            if cell.source.endswith(".py"):
                assert "mpi4py" in place.object
                assert place.function.startswith("mpi4py.MPI.")
            else:
                source = Path(place.file)
                assert source.parent == PROGRAMS
                if source.suffix == ".cpp":  # binutils may name it in place of the file that is included there
                    source = source.with_suffix(".c")
                lines = source.read_text().lower().splitlines()[place.line - 1 : place.line + 2]
                assert name.lower().removeprefix("mpi_") in "".join(lines) or "subroutine" in lines[0], place


@pytest.fixture(scope="module")
def endings(tmp_path_factory):
    """A program that ends as its argument says."""
    folder = tmp_path_factory.mktemp("endings")
    subprocess.run([OWN / "mpicc", PROGRAMS / "endings.c", "-o", folder / "endings"], check=True)
    return [OWN / "mpiexec", "-n", "2", folder / "endings"]


def test_a_program_that_never_finalizes(endings, tmp_path):
    """On one rank: of several, the launcher may kill the others when the first has ended so."""
    mpiexec, option, _, program = endings
    run = recorded([mpiexec, option, "1", program, "exit"], tmp_path)
    trace = open_trace(tmp_path / "run.trace")
    assert run.returncode == 0
    assert trace.problems == ("rank 0: ended without MPI_Finalize",)
    assert traced_counts(trace) == {(0, "MPI_Barrier"): (100, 0, 0)}


def test_a_program_that_is_killed(endings, tmp_path):
    """All that was written before is whole: a second goes by before the signal."""
    run = recorded([*endings, "kill"], tmp_path)
    trace = open_trace(tmp_path / "run.trace")
    assert run.returncode == 1
    assert trace.problems == ("rank 0, and 1 more: was killed: up to a second of its last calls is missing",)
    assert traced_counts(trace)[0, "MPI_Barrier"] == (101, 0, 0)
    assert 1.19 < trace.table(0)["gap_ns"].max() / 1e9 < 2.2  # the program sleeps for 1.2 s


def test_a_full_disk(endings, tmp_path):
    """The program goes on, and the trace says that it does not: a limit of the size of files stands for the disk."""
    run = recorded([*endings, "many"], tmp_path)
    assert run.returncode == 0
    assert "the program has reached its end" in run.stdout
    assert "the program goes on: File too large" in run.stderr
    trace = open_trace(tmp_path / "run.trace")
    assert trace.problems == ("rank 0, and 1 more: has events until its disk was full",)
    assert 100 < len(trace.events(0)) < 20_000


@pytest.mark.slow
def test_a_rank_whose_disk_is_full_from_the_beginning_leaves_no_file(tmp_path):
    """The recorder writes by a function of the program here, which fails."""
    (tmp_path / "full.c").write_text(
        "#include <errno.h>\n#include <mpi.h>\n#include <stdlib.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
        "ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {\n"
        '    if (atoi(getenv("PMI_RANK")) == 0) return syscall(SYS_pwrite64, file, bytes, count, at);\n'
        "    errno = ENOSPC;\n"
        "    return -1;\n"
        "}\n"
        "int main(void) { return MPI_Init(NULL, NULL) || MPI_Finalize(); }\n"
    )
    subprocess.run([OWN / "mpicc", "-rdynamic", tmp_path / "full.c", "-o", tmp_path / "full"], check=True)
    folder = tmp_path / "ranks"
    folder.mkdir()
    command = [OWN / "mpiexec", "-n", "2", tmp_path / "full"]
    run = subprocess.run(command, env=os.environ | environment(folder), check=True, capture_output=True, text=True)
    assert "rank 1 is not recorded: cannot write into" in run.stderr
    assert [each.name for each in folder.iterdir()] == ["rank-0.part"]


def test_refused_before_it_starts(tmp_path):
    setuid = tmp_path / "setuid"
    setuid.write_bytes((OWN / "mpiexec").resolve().read_bytes())
    setuid.chmod(0o4755)
    static = tmp_path / "static"
    static.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00" + bytes(200))
    static.chmod(0o755)
    run = run_tradewind("record", "--", OWN / "mpiexec", "-n", "2", setuid, ":", static, folder=tmp_path)
    assert run.code == 2
    assert "setuid is setuid or setgid" in run.err
    assert "static is linked statically" in run.err
    assert "'no-such': there is no such command" in run_tradewind("record", "--", "no-such", folder=tmp_path).err


def test_no_rank(tmp_path):
    run = run_tradewind("record", "--", "true", folder=tmp_path)
    assert run.code == 1
    assert "no rank of 'true' was recorded" in run.err
    assert list(tmp_path.iterdir()) == []


def test_files_of_an_earlier_run_are_joined(endings, tmp_path):
    """As after a batch job: only the library was preloaded."""
    folder = tmp_path / "run.trace.ranks"
    folder.mkdir()
    subprocess.run([*endings, "exit"], env=os.environ | environment(folder), check=True, capture_output=True)
    refused = run_tradewind("record", "--", "true", folder=tmp_path)
    assert refused.code == 2
    assert f"`tradewind record --join {folder.name} -o run.trace` joins them" in refused.err
    joined = run_tradewind("record", "--join", folder, "-o", tmp_path / "run.trace")
    assert "2 ranks, " in joined.out  # one may be killed when the other has ended
    assert not folder.exists()


@pytest.mark.slow
def test_threads(tmp_path):
    """Each thread has its events in order, its messages by its tag, and requests that it alone ends."""
    subprocess.run([OWN / "mpicc", PROGRAMS / "threads.c", "-o", tmp_path / "threads", "-pthread"], check=True)
    assert recorded([OWN / "mpiexec", "-n", "2", tmp_path / "threads"], tmp_path).returncode == 0
    trace = open_trace(tmp_path / "run.trace")
    assert trace.infos[0].thread_level == "multiple"
    table = trace.table(1)
    sends = table[table["call"] == "MPI_Isend"]
    assert sends.groupby("tag").size().tolist() == [400] * 3
    assert sends.groupby("thread")["tag"].nunique().tolist() == [1] * 3
    assert (table["gap_ns"] >= 0).all()
    events = trace.events(1)
    waits = np.array([len(events.ended_of(number)) for number in range(len(events.operations))])[events.order]
    assert waits[table["call"] == "MPI_Waitall"].tolist() == [2] * 1200
    for rank in trace.ranks:
        events = trace.events(rank)
        begun = np.arange(len(events)) - events.overtakers
        for thread in np.unique(events.column("thread")):
            mine = np.flatnonzero(events.column("thread") == thread)
            assert (begun[mine[1:]] > mine[:-1]).all()
    assert any(trace.events(rank).overtakers.any() for rank in trace.ranks)
    found = verify_trace(trace)
    assert (
        found["eager_limit"],
        found["threaded_ranks"],
        found["unmatched_messages"],
        found["requests_never_awaited"],
    ) == (0, 2, 0, 0)


@pytest.mark.slow
def test_a_wait_for_one_of_two_sends_of_another_thread_that_have_one_handle(tmp_path):
    """It ends the one that began first: the program needs no buffers."""
    subprocess.run([OWN / "mpicc", PROGRAMS / "one_handle.c", "-o", tmp_path / "one_handle", "-pthread"], check=True)
    run = recorded([OWN / "mpiexec", "-n", "2", tmp_path / "one_handle"], tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "one handle: 1"
    found = verify_trace(open_trace(tmp_path / "run.trace"))
    assert (found["eager_limit"], found["requests_never_awaited"]) == (0, 0)


@pytest.mark.slow
def test_a_program_that_ends_while_its_threads_call_mpi(tmp_path):
    """A call of a thread is whole in the file, or not there."""
    subprocess.run([OWN / "mpicc", PROGRAMS / "threads.c", "-o", tmp_path / "threads", "-pthread"], check=True)
    recorded([OWN / "mpiexec", "-n", "1", tmp_path / "threads", "exit"], tmp_path)
    trace = open_trace(tmp_path / "run.trace")
    assert trace.problems == ("rank 0: ended without MPI_Finalize",)
    calls = trace.table(0).groupby("call").size()
    assert 0 <= calls["MPI_Irecv"] - calls["MPI_Waitall"] <= 3


def test_calls_of_a_library_at_the_addresses_of_one_that_was_closed(tmp_path):
    """Each has its own places, of which one that is opened again has the same."""
    (tmp_path / "step.c").write_text("#include <mpi.h>\nvoid step(void) { MPI_Barrier(MPI_COMM_WORLD); }\n")
    libraries = [tmp_path / name for name in ("ocean.so", "ice.so")]
    for each in libraries:
        subprocess.run([OWN / "mpicc", "-shared", "-fPIC", tmp_path / "step.c", "-o", each], check=True)
    subprocess.run([OWN / "mpicc", PROGRAMS / "plugins.c", "-o", tmp_path / "plugins", "-ldl"], check=True)
    ocean, ice = map(str, libraries)
    run = recorded([OWN / "mpiexec", "-n", "1", tmp_path / "plugins", ocean, ice, ocean], tmp_path)
    assert run.returncode == 0, run.stderr
    assert len(set(run.stdout.splitlines()[:3])) == 1, "the libraries were not loaded at the same addresses"
    events = open_trace(tmp_path / "run.trace").events(0)
    places = [events.sites[events.operations["site"][number]] for number in events.order]
    assert [each.path for each in places[1:-1]] == [ocean, ice, ocean]
    assert places[1] is places[3]


def test_a_program_of_sessions_is_not_seen(tmp_path):
    (tmp_path / "sessions.c").write_text(
        "#include <mpi.h>\n"
        "int main(void) {\n"
        "    MPI_Session session;\n"
        "    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);\n"
        "    return MPI_Session_finalize(&session);\n"
        "}\n"
    )
    subprocess.run([OWN / "mpicc", tmp_path / "sessions.c", "-o", tmp_path / "sessions"], check=True)
    run = recorded([OWN / "mpiexec", "-n", "2", tmp_path / "sessions"], tmp_path)
    assert run.returncode == 1
    assert "no program in it called MPI_Init" in run.stdout


@pytest.mark.slow
def test_calls_with_ranks_that_were_spawned_are_left_out(tmp_path):
    subprocess.run([OWN / "mpicc", PROGRAMS / "spawned.c", "-o", tmp_path / "spawned"], check=True)
    run = recorded([OWN / "mpiexec", "-n", "1", tmp_path / "spawned"], tmp_path)
    assert run.returncode == 0, run.stderr
    trace = open_trace(tmp_path / "run.trace")
    *_, spawned, merged = trace.communicators
    assert (spawned.members.tolist(), spawned.remote.tolist()) == ([0], [NONE])
    assert merged.members.tolist() == [NONE, 0]
    assert verify_trace(trace)["not_replayed"] == dict.fromkeys(("MPI_Send", "MPI_Intercomm_merge", "MPI_Allreduce"), 1)


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "launcher"), [(OWN / "mpicc", MPICH), ("mpicc.openmpi", OPEN_MPI)])
def test_calls_that_fail_end_their_requests_and_types_are_freed_in_callbacks(compiler, launcher, tmp_path):
    """So the next requests have the same slots, and the next type of the same handle its own size."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    subprocess.run([compiler, PROGRAMS / "failures.c", "-o", tmp_path / "failures"], check=True)
    run = recorded([*launcher, "-n", "2", tmp_path / "failures"], tmp_path)
    assert run.returncode == 0, run.stderr
    trace = open_trace(tmp_path / "run.trace")
    table = trace.table(0)
    assert table[table["call"] == "MPI_Irecv"]["request"].tolist() == [0] * 5
    assert table[table["call"] == "MPI_Sendrecv"]["bytes"].tolist() == [16, 33 * 8]
    failures = {name: calls for name, (calls, _) in trace.infos[0].counted.items() if name.endswith("(failed)")}
    assert failures == {f"MPI_{name} (failed)": 1 for name in ("Wait", "Waitall", "Waitany", "Waitsome", "Test")}
    assert verify_trace(trace)["eager_limit"] == 0


@pytest.mark.slow
def test_counts_that_a_library_cannot_take_are_errors(tmp_path):
    """Programs find functions with large counts where the recorder is, also on a library without them.

    Counts that mean nothing on a rank may be anything there.
    """
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("mpicc.openmpi is not installed")
    subprocess.run(["mpicc.openmpi", PROGRAMS / "large.c", "-o", tmp_path / "large", "-ldl"], check=True)
    run = recorded([*OPEN_MPI, "-n", "2", tmp_path / "large", tmp_path / "file"], tmp_path)
    assert run.returncode == 0, run.stderr
    refused = ["Send", "Alltoallv", "Ialltoallv", "Win_create", "Put", "File_write"]
    assert run.stdout.splitlines()[:-1] == [*refused, "6 handled", "7 received", "0 failed"]
    for info in open_trace(tmp_path / "run.trace").infos.values():
        failed = {name for name in info.counted if name.endswith("(failed)")}
        assert failed == {f"MPI_{name} (failed)" for name in refused}


@pytest.mark.slow
def test_a_handle_that_another_thread_gets_while_it_is_freed(tmp_path):
    """Objects are forgotten before they are freed, and not again behind; where that fails they are known again."""
    mpicc = [OWN / "mpicc", PROGRAMS / "frees.c"]
    shared = ["-DLIBRARY", "-shared", "-fPIC", "-Wl,--no-as-needed", "-ldl"]
    subprocess.run([*mpicc, *shared, "-o", tmp_path / "libmpi_frees.so"], check=True)
    linked = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-lmpi_frees", "-pthread"]
    subprocess.run([*mpicc, "-o", tmp_path / "frees", *linked], check=True)
    run = recorded([OWN / "mpiexec", "-n", "1", tmp_path / "frees"], tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[:-1] == ["failed: 1", "same handle: 1"] * 2
    trace = open_trace(tmp_path / "run.trace")
    table = trace.table(0).set_index("call")
    assert [each.call for each in trace.communicators] == ["", "", "MPI_Comm_dup", "MPI_Comm_dup"]
    made, windows = (table.loc[name, "created"].tolist() for name in ("MPI_Comm_dup", "MPI_Win_create"))
    assert table.loc["MPI_Barrier", "communicator"].tolist() == made
    assert table.loc["MPI_Win_fence", "window"].tolist() == windows


def test_a_program_after_another_in_one_command_is_not_recorded_and_does_not_hang(tmp_path):
    """The file of its rank 0 is there already: then its other ranks are not recorded, either."""
    barrier = f"{sys.executable} -c 'from mpi4py import MPI; MPI.COMM_WORLD.barrier()'"
    (tmp_path / "both.sh").write_text(f"{barrier}\n{OWN / 'mpiexec'} -n 2 {barrier}\n")
    run = recorded(["bash", "both.sh"], tmp_path)
    assert run.returncode == 0, run.stderr
    assert "rank 0 is not recorded: cannot create its file" in run.stderr
    assert open_trace(tmp_path / "run.trace").size == 1


def test_a_copy_that_a_request_completes_has_the_topology_of_its_communicator(tmp_path):
    (tmp_path / "ring.py").write_text(
        "from mpi4py import MPI\n"
        "ring = MPI.COMM_WORLD.Create_cart([2], [True])\n"
        "copy, request = ring.Idup()\n"
        "request.Wait()\n"
        "copy.neighbor_allgather(1)\n"
    )
    run = recorded([OWN / "mpiexec", "-n", "2", sys.executable, "ring.py"], tmp_path)
    assert run.returncode == 0, run.stderr
    trace = open_trace(tmp_path / "run.trace")
    (ring,), (copy,) = (
        [(each.dims, each.periodic) for each in trace.communicators if each.call == name]
        for name in ("MPI_Cart_create", "MPI_Comm_idup")
    )
    assert copy == ring == ((2,), (True,))
