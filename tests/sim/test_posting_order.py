"""The posting order of sendrecv, in closed form: one exchange after another takes the sum of their times."""

import pytest
from small import CROSSBAR, machine

import tradewind as tw
from tradewind import _core
from tradewind.simulation import simulate
from tradewind.workload.patterns.gather_scatter import GatherScatterExchange

TRIP, BYTE = 200e-9, 1e-10
POINTS = 20
SIZE = POINTS * POINTS * 8
"""Bytes of a face of one element."""
FILE = machine(CROSSBAR, memory_bandwidth="100GB/s")


def line(ranks, periodic="", algorithm="cartesian"):
    return tw.BrickGatherScatter((1, 1, 1), POINTS, (ranks, 1, 1), periodic).schedule(algorithm)


def carried(transport="isend-irecv", ranks=3, name="faces"):
    return tw.Exchanged(name, line(ranks), transport=transport)


def time(*steps, **options):
    return tw.Program(*steps).simulate(FILE, buffers="unbounded", packet="message", **options)["time_s"]


TOGETHER = TRIP + 2 * SIZE * BYTE
"""Both messages of a rank go through its NIC, one behind the other."""
ONE_BY_ONE = 2 * (TRIP + SIZE * BYTE)


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize(("ranks", "periodic"), [(4, "x")])
def test_two_exchanges_take_the_sum_of_their_times(ranks, periodic, model):
    found = {
        posting: line(ranks, periodic).simulate(
            FILE, buffers="unbounded", packet="message", posting=posting, model=model
        )
        for posting in ("together", "sendrecv")
    }
    assert found["sendrecv"]["time_s"] == pytest.approx(ONE_BY_ONE, rel=1e-9)
    if model == "packet":
        assert found["together"]["time_s"] == pytest.approx(TOGETHER, rel=1e-9)
    for key in ("messages", "bytes"):
        assert found["sendrecv"][key] == found["together"][key]
    assert found["sendrecv"]["posting"] == "sendrecv"
    assert "posting" not in found["together"]


def test_each_exchange_of_a_program_is_posted_as_its_transport_does():
    a, b = carried("sendrecv", name="a"), carried("isend-irecv", name="b")
    assert time(a, b) == pytest.approx(2 * TOGETHER, rel=1e-9)
    assert time(a, b, posting="transport") == pytest.approx(ONE_BY_ONE + TOGETHER, rel=1e-9)
    assert time(a, b, posting="sendrecv") == pytest.approx(2 * ONE_BY_ONE, rel=1e-9)


def test_all_ranks_of_an_exchange_or_a_program_begin_with_the_first_one():
    """Each of 4 ranks sends 3 messages without a gap; the last 3 of all go to rank 3, through one port."""
    grid = tw.Grid(16, 1, 16)
    burst = tw.Transpose(tw.Blocks(grid, (4, 1), "xy"), tw.Blocks(grid, (4, 1), "zy")).schedule("burst")
    size = 4 * 4 * 8 * BYTE
    options = {"buffers": "unbounded", "packet": "message"}
    for posting, messages in (("together", 3), ("ascending", 5)):
        assert burst.simulate(FILE, posting=posting, **options)["time_s"] == pytest.approx(
            TRIP + messages * size, rel=1e-9
        )
        assert time(tw.Exchanged("turn", burst), posting=posting) == pytest.approx(TRIP + messages * size, rel=1e-9)


def test_a_computation_hides_the_first_exchange_alone():
    """The second one is posted in the wait, as MPI makes no progress by itself."""
    a, trip = carried("sendrecv"), ONE_BY_ONE / 2
    for seconds in (0.5 * trip, 3 * trip):
        steps = (a.start(), tw.Compute("inner", seconds=seconds), a.wait())
        assert time(*steps, posting="transport") == pytest.approx(max(seconds, trip) + trip, rel=1e-9)


def test_repetitions_until_they_are_steady():
    options = {"buffers": "unbounded", "packet": "message", "posting": "sendrecv"}
    asked = {"elements": (1, 1, 1), "points": POINTS, "brick": (4, 1, 1), "periodic": "x", "algorithm": "cartesian"}
    many = simulate(
        GatherScatterExchange(pattern="gather-scatter", ranks=4, times=100, **asked), FILE, steady=True, **options
    )
    assert many["time_s"] == pytest.approx(100 * ONE_BY_ONE, rel=1e-9)


def test_a_time_line_shows_both_exchanges(tmp_path):
    path = tmp_path / "line.svg"
    result = tw.Program(carried("sendrecv")).simulate(FILE, posting="transport", timeline=path)
    assert result["timeline"] == str(path)
    assert path.stat().st_size > 0


def test_what_has_no_such_order_is_refused():
    halving = tw.AllReduce(12, 30).schedule("halving-doubling")
    with pytest.raises(tw.InputError, match=r"posting sendrecv: message 1 that rank 0 .* both ends number alike"):
        halving.simulate(FILE, posting="sendrecv")
    with pytest.raises(tw.InputError, match="posting transport: of a program"):
        line(3).simulate(FILE, posting="transport")
    with pytest.raises(tw.InputError, match="unknown posting 'sendrec'; did you mean 'sendrecv'"):
        line(3).simulate(FILE, posting="sendrec")


def test_it_is_simulated_and_nothing_else():
    with pytest.raises(tw.InputError, match="is simulated alone"):
        _core.verify(_core.one_by_one(line(3).core), ["sendrecv"])
