"""Times that are too long for the clock of the simulator, picoseconds in 64 bits: one error, and never a wrong time."""

import pytest
from small import CROSSBAR, core, machine

import tradewind as tw
from tradewind.simulation import forecast, prepare, simulate
from tradewind.workload.exchange import Exchange

LATEST_S = 9_000_000
ALLOWED = r"times of at most 9000000 s \(104 days\) can be simulated"
DAY_S = 86400
FAR = Exchange("allreduce", 2, algorithm="recursive-2", count=2_000_000_000)
"""A message of 16 GB, which takes 16,000 s each time."""


def slow(**tables):
    return machine(CROSSBAR, bandwidth="1MB/s", latency="1us", **tables)


@pytest.fixture(params=["packet", "loggp"])
def model(request):
    return request.param


def options(model):
    return {"model": model, "packet": "message", "buffers": "unbounded"} if model == "packet" else {"model": model}


def repeated(times):
    return Exchange("allreduce", 2, algorithm="recursive-2", count=FAR.count, times=times)


@pytest.mark.parametrize("ask", [simulate, forecast])
def test_what_is_too_long_is_refused_before_it_begins(model, ask):
    wanted = rf"the messages and computations of rank 0 take at least 9008000 s \(104 days\); {ALLOWED}"
    with pytest.raises(tw.InputError, match=wanted):
        ask(repeated(563), slow(), **options(model))


def test_the_longest_is_simulated(model):
    result = simulate(repeated(562), slow(), **options(model))
    assert result["time_s"] == pytest.approx(562 * 16_000, rel=1e-9)


def test_computations_count(model):
    halo = tw.Halo(tw.Blocks(tw.Grid(nx=8, ny=6, nz=10), split=(2, 1)), width=1).schedule()
    month = 30 * DAY_S
    for steps, good in (
        ((tw.Compute("a", seconds=month, repeat=3), halo), True),
        ((tw.Compute("a", seconds=month, repeat=4), halo), False),
        ((tw.Compute("a", seconds=2 * month), halo, tw.Compute("b", seconds=2 * month)), False),
        ((tw.Compute("a", seconds=1e300), halo), False),
        ((tw.Compute("a", seconds=float("inf")), halo), False),
    ):
        if good:
            assert tw.Program(*steps).simulate(slow(), model=model)["time_s"] == pytest.approx(3 * month, rel=1e-6)
            continue
        with pytest.raises(tw.InputError, match=ALLOWED):
            tw.Program(*steps).simulate(slow(), model=model)


def one_after_another(ranks, count, model):
    """Each rank sends to the next once it has heard from the one before: nobody alone is busy for long."""
    messages = [tw._core.fetch_of_messages([count] * ranks, [(r, r + 1, count)]) for r in range(ranks - 1)]
    steps = [tw._core.Step(f"{r}", tw._core.make_schedule(fetch, "direct")) for r, fetch in enumerate(messages)]
    simulation = prepare(Exchange("allreduce", ranks), slow(), **options(model))
    chosen = tw._core.SimulationOptions(packet_bytes=0)
    go = tw._core.simulate_packets if model == "packet" else tw._core.simulate_loggp
    return go(simulation.machine, tw._core.Program(steps, 1), simulation.placement, chosen)


def test_what_only_the_whole_shows_is_found_on_the_way(model):
    ranks, seconds = 12, 1_000_000
    with pytest.raises(
        tw.InputError, match=rf"(the simulation reaches|a stage ends at) \d+ s \(1\d\d days\); {ALLOWED}"
    ):
        one_after_another(ranks, seconds * 10**6, model)
    assert one_after_another(9, seconds * 10**6, model).time_s == pytest.approx(8 * seconds, rel=1e-6)


def test_a_crowd_before_one_port_is_found_on_the_way():
    """Twenty ranks each send for six days to one rank: its port, and no rank, is busy for longer than allowed."""
    days, ranks = 6, 21
    count = days * DAY_S * 10**6
    fetch = tw._core.fetch_of_messages([count] * ranks, [(r, 5, count) for r in range(ranks) if r != 5])
    simulation = prepare(Exchange("allreduce", ranks), slow(), **options("packet"))
    program = tw._core.Program([tw._core.Step("crowd", tw._core.make_schedule(fetch, "direct"))], 1)
    for compact_from_bytes in (1, 512 << 20):
        chosen = tw._core.SimulationOptions(packet_bytes=0, compact_from_bytes=compact_from_bytes)
        with pytest.raises(
            tw.InputError, match=rf"(a packet arrives at|the simulation reaches) \d+ s \(10\d days\); {ALLOWED}"
        ):
            tw._core.simulate_packets(simulation.machine, program, simulation.placement, chosen)


def test_links_that_are_slower_than_nics_count(model):
    """No rank is busy for long by itself, but 16 GB take hours through the link."""
    ring = {"kind": "torus", "shape": [2], "nodes_per_switch": 1}
    file = machine(ring, bandwidth="1MB/s", nic_bandwidth="1000TB/s", latency="1us")
    assert simulate(repeated(500), file, **options(model))["time_s"] == pytest.approx(500 * 16_000, rel=1e-6)
    with pytest.raises(tw.InputError, match=ALLOWED):
        simulate(repeated(600), file, **options(model))


def test_copies_and_overheads_count(model):
    file = slow(memory_bandwidth="1MB/s")
    with pytest.raises(tw.InputError, match=ALLOWED):
        simulate(repeated(1000), file, ranks_per_node=2, **options(model))
    file = slow(send_overhead="1h", receive_overhead="1h")
    with pytest.raises(tw.InputError, match=ALLOWED):
        simulate(Exchange("allreduce", 2, count=1, times=2600), file, **options(model))


def test_threads_agree_on_the_refusal():
    simulation = prepare(Exchange("allreduce", 2, count=1), slow(), buffers="unbounded", threads=2)
    assert core(simulation, threads=2, adaptive=False).time_s < 1
    halo = tw.Halo(tw.Blocks(tw.Grid(nx=8, ny=6, nz=10), split=(2, 1)), width=1).schedule()
    month = 30 * DAY_S
    with pytest.raises(tw.InputError, match=ALLOWED):
        tw.Program(*(tw.Compute(f"{i}", seconds=month) for i in range(4)), halo).simulate(slow(), threads=2)


def test_extrapolated_repetitions_count():
    """Five hundred repetitions would be known from eight."""
    exchange = Exchange("allreduce", 2, algorithm="recursive-2", count=FAR.count, times=600)
    with pytest.raises(tw.InputError, match=ALLOWED):
        simulate(exchange, slow(), steady=True, **options("packet"))
