"""Counts of points and bytes that 64 bits do not hold: one error that says what, how many, and how many can be."""

import json

import pytest
from validation.machines import machine

import tradewind as tw
from tradewind import _core
from tradewind.cli import make_app, output
from tradewind.plot.matrix import communication_matrix
from tradewind.verification import verify
from tradewind.workload.exchange import Exchange
from tradewind.workload.workload import Step, Workload

POINTS, BYTES = 2**60, 2**63 - 1
HUGE = 2**31 - 1


def test_messages_of_a_fetch():
    half = 2**58
    fetch = _core.fetch_of_messages([half, half], [(0, 1, half), (1, 0, half)])
    assert fetch.points == 2 * half
    with pytest.raises(tw.InputError, match=r"arrays of a fetch: .* points; at most 1152921504606846976"):
        _core.fetch_of_messages([half, half + 1], [(0, 1, half), (1, 0, half)])
    with pytest.raises(tw.InputError, match="source arrays of a fetch"):
        _core.fetch_of_messages([2**62, 2**62], [])


def test_bytes_of_all_arrays():
    """2^57 points: of 63 bytes they can be counted, of 64 they cannot."""
    pattern = tw.AllReduce(ranks=4, count=2**55)
    step = _core.Step("a", pattern.schedule().core)
    words = r"arrays of the .*: 144115188075855872 x 64 bytes; at most 9223372036854775807 can be counted"
    for check in (lambda size: _core.Program([step], size), lambda size: _core.check_bytes(pattern, size)):
        check(63)
        with pytest.raises(tw.InputError, match=words):
            check(64)
    with pytest.raises(tw.InputError, match=words):
        pattern.schedule().simulate("torus-M", fields=8)


def test_sums_over_messages():
    """Each of 128 ranks sends 2^53 elements to all others: 2^67 in all."""
    exchange = Exchange("allreduce", 2**7, algorithm="recursive-128", count=HUGE)
    assert verify(exchange)["bytes"] == 128 * 127 * HUGE * 8
    schedule = _core.make_schedule(_core.AllReduce(2**7, 2**53), "recursive-128")
    with pytest.raises(tw.InputError, match=r"communication matrix: \d+ \+ 9007199254740992 points; at most"):
        _core.communication_matrix(schedule, 128, 0, 1)
    with pytest.raises(tw.InputError, match=r"communication matrix: \d+ x 800 bytes; at most"):
        communication_matrix([_core.make_schedule(_core.AllReduce(2**7, 2**42), "recursive-128")], 800)


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_bytes_of_a_simulation(model):
    """On the fastest machine that there is 2^69 bytes take less than the longest time."""
    schedule = tw.Schedule(_core.make_schedule(_core.AllReduce(2**7, 2**52), "recursive-128"))
    fast = machine({"kind": "crossbar", "nodes": 2**7}, bandwidth="1000TB/s", memory_bandwidth="1000TB/s")
    with pytest.raises(tw.InputError, match=r"messages of the simulation: about \d+\.\d+ bytes; at most"):
        schedule.simulate(fast, model=model)
    if model == "loggp":
        with pytest.raises(tw.InputError, match=r"messages of all ranks: \d+ \+ 36028797018963968 bytes; at most"):
            schedule.simulate(fast, model=model, force=True)


def test_bytes_of_verified_messages():
    points, schedule = 2**45, _core.make_schedule(_core.AllReduce(2**7, 2**45), "recursive-128")

    class Wide(Workload):
        bytes_per_point, ranks = 32, 2**7

        def steps(self):
            return [Step("a", schedule)]

        def as_dict(self):
            return {}

    with pytest.raises(tw.InputError, match=f"a: all messages: {128 * 127 * points} x 32 bytes; at most {BYTES}"):
        verify(Wide())


def test_packets_of_a_stage():
    """A rank counts those that are to come in 31 bits."""
    fetch = _core.fetch_of_messages([2**50, 2**50], [(0, 1, 2**45)])
    schedule = tw.Schedule(_core.make_schedule(fetch, "direct"))
    wanted = r"a stage of rank 1, with packets of 4096 bytes: 68719476736 packets to receive; at most 2147483647"
    with pytest.raises(tw.InputError, match=wanted):
        schedule.simulate("torus-M", packet="4KiB")


def test_messages_that_bypass_the_network_fit_an_event():
    with pytest.raises(tw.InputError, match=r"mpi\.bypass = '129MiB': 0B to 128MiB are allowed"):
        tw.load_machine("torus-M", {"mpi.bypass": "129MiB"})


def command_line(capsys, *arguments):
    """Exit code, output and errors of the command line, in this process."""
    code = output.run(make_app(), list(arguments))
    return code, *capsys.readouterr()


HUGE_GRID = ["--ranks", "4", "--grid", f"{HUGE}x{HUGE}x{HUGE}"]
HUGE_VECTOR = ["--ranks", str(HUGE), "--count", str(HUGE)]
MANY_FIELDS = ["--ranks", "4", "--grid", "1000000x1000000x1000", "--fields", str(HUGE)]


@pytest.mark.parametrize(
    "command", [["verify"], ["show"], ["simulate", "--machine", "torus-M"], ["advise", "--machine", "torus-M"]]
)
@pytest.mark.parametrize(
    "asked",
    [
        ["halo", *HUGE_GRID],
        ["transpose", *HUGE_GRID],
        ["fetch", *HUGE_GRID],
        ["allreduce", *HUGE_VECTOR],
        ["halo", *MANY_FIELDS],
        ["transpose", *MANY_FIELDS],
        ["allreduce", "--ranks", "1000", "--count", str(HUGE), "--fields", str(HUGE)],
    ],
    ids=" ".join,
)
def test_commands_refuse_what_cannot_be_counted(capsys, command, asked):
    name, *more = command
    code, _, error = command_line(capsys, name, *asked, *more)
    assert code == 2, error
    assert "can be counted" in error or "are allowed" in error


def test_a_large_halo_is_counted_right(capsys):
    """As many points as can be: the columns at the seam go from each rank to its neighbours."""
    grid = ["--grid", "536870912x536870912x2", "--fields", "1", "--split", "2x2", "--width", "3"]
    code, output, _ = command_line(capsys, "verify", "halo", "--ranks", "4", *grid, "--json")
    assert code == 0
    half = 2**28
    edges = 4 * 2 * 3 * half * 2 + 4 * 9 * 2
    assert json.loads(output)["bytes"] == edges * 8
