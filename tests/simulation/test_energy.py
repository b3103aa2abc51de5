"""Joules of simulations, computed by hand: nodes, ranks that compute and wait, bytes, switches."""

import pytest
from validation.machines import CROSSBAR, TORUS, machine, pair

import tradewind as tw
from tradewind.simulation import simulate
from tradewind.simulation.energy import NO_HOPS, NO_POWER, NO_USAGE, energy_of
from tradewind.workload.exchange import Exchange
from tradewind.workload.program import ProgramWorkload, WholeExchange

WATTS = {"idle": "100W", "waiting": "150W", "busy": "300W"}
BLOCKS = tw.Blocks(tw.Grid(nx=4, ny=2, nz=1), split=(2, 1))


class OnFourThreads(ProgramWorkload):
    threads = 4


def power(topology, **tables):
    return machine(topology, power={**WATTS, **tables.pop("power", {})}, **tables)


def uneven(*seconds, **more):
    return tw.Compute("physics", points=list(seconds), point_s=1.0, **more)


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_nodes_ranks_that_compute_and_ranks_that_wait(model):
    """Two nodes for 3 s: 600 J idle; 4 s of computing add 200 W, 2 s of waiting add 50 W."""
    result = tw.Program(uneven(3.0, 1.0)).simulate(power(CROSSBAR), model=model)
    parts = {"idle": 600, "computing": 800, "waiting": 100, "memory": 0, "network": 0, "switches": 0}
    assert result["energy_parts_j"] == pytest.approx(parts)
    assert result["energy_j"] == pytest.approx(1500)
    assert result["node_power_w"] == pytest.approx(250)
    assert result["rank_power_w"] == pytest.approx({"minimum": 200, "mean": 250, "maximum": 300})


@pytest.mark.parametrize("model", ["packet", "loggp"])
@pytest.mark.parametrize("per", ["rank", "step"])
def test_ranks_draw_busy_power_as_long_as_imbalance_makes_them_compute(model, per):
    """1000 ranks with factors 1 - 0.2 x ln(random) - 0.2: the sum is that of the means, to a hundredth; who computes
    longest never waits; and a repetition has a new draw, so that 16 of them leave a quarter of the spread."""
    drawn = tw.Imbalance("exponential", 0.2, per)
    step = tw.Program(uneven(*[1.0] * 1000, imbalance=drawn, repeat=16))
    result = step.simulate(power({**CROSSBAR, "nodes": 1000}), model=model)
    usage, time_s = result["usage"], result["time_s"]
    assert usage["computing_s"] == pytest.approx(16 * 1000, rel=0.02)
    assert usage["computing_maximum_s"] == pytest.approx(time_s)
    spread = (usage["computing_maximum_s"] - usage["computing_minimum_s"]) / 16
    assert (0.05 < spread < 0.5) if per == "step" else spread > 1
    assert result["rank_power_w"]["maximum"] == pytest.approx(300)
    joules = 1000 * 150 * time_s + 150 * usage["computing_s"]
    assert result["energy_j"] == pytest.approx(joules)


def test_computations_between_named_exchanges_and_of_groups_have_the_factors_that_are_simulated():
    """Busy time without noise is computed, with detours of 1 ns in each millisecond it is measured. Sums of two ranks
    take microseconds, so that who computes longest hardly waits."""
    drawn = tw.Imbalance("exponential", 0.2, "step")
    sums = tw.Exchanged("sums", tw.AllReduce(ranks=2, count=1).schedule("recursive-2"))
    work, more = (tw.Compute(name, seconds=1.0, imbalance=drawn, repeat=2) for name in ("work", "more"))
    steps = [
        tw.Program(uneven(3.0, 1.0, imbalance=drawn), sums, work, repeat=4),
        tw.Program(groups=[tw.Group("a", 1, [work], repeat=3), tw.Group("b", 2, [work, more])]),
    ]
    for step in steps:
        computed, measured = (step.simulate(power(CROSSBAR), noise=noise, seed=9) for noise in (None, "1kHz,1ns"))
        for key in ("computing_s", "computing_minimum_s", "computing_maximum_s"):
            assert computed["usage"][key] == pytest.approx(measured["usage"][key], rel=1e-5)
        assert computed["usage"]["computing_maximum_s"] <= computed["time_s"]


def test_detours_of_the_operating_system_are_computed_through():
    """A quarter of each millisecond is taken: 0.75 s become 1 s of busy power on one rank, 1.5 s become 2 s on the
    other; the rest of the time, 1 s, the first one waits."""
    result = tw.Program(uneven(0.75, 1.5)).simulate(power(CROSSBAR), noise="1kHz,250us", seed=3)
    assert result["time_s"] == pytest.approx(2, abs=3e-4)
    assert result["energy_parts_j"]["computing"] == pytest.approx(200 * 3, rel=3e-4)
    assert result["energy_parts_j"]["waiting"] == pytest.approx(50 * 1, rel=1e-3)
    assert result["rank_power_w"]["maximum"] == pytest.approx(300)


def test_detours_of_each_group_and_of_exchanges_that_compute_beside():
    """As without noise, but for a third more; a sum that waits for the slower rank of two computes nothing."""
    sums = tw.Exchanged("sums", tw.AllReduce(ranks=2, count=1).schedule("recursive-2"), groups=["b"])
    beside = WholeExchange(sums, "beside", compute=tw.Compute("beside", points=[0.75, 1.5], point_s=1.0))
    groups = [tw.Group("a", 1, [tw.Compute("work", seconds=0.75, repeat=2)], repeat=3), tw.Group("b", 2, [beside])]
    result = tw.Program(groups=groups).simulate(power(CROSSBAR), noise="1kHz,250us")
    usage = result["usage"]
    assert usage["computing_s"] == pytest.approx(6 + 1 + 2, rel=1e-3)
    assert usage["computing_minimum_s"] == pytest.approx(1, rel=1e-3)
    assert usage["computing_maximum_s"] == pytest.approx(6, rel=1e-3)


def test_cores_that_no_rank_uses_stay_idle():
    """4 threads of 16 cores: a rank adds a quarter of what the cores of its node add; 3 ranks hold two nodes."""
    file = power(CROSSBAR, node={"cores": 16, "core_flops": "1Gflop/s", "memory_bandwidth": "100GB/s"})
    step = OnFourThreads(tw.Compute("physics", points=[1.0, 1.0, 1.0], flops=8e9))
    result = simulate(step, file, ranks_per_node=2)
    assert result["time_s"] == pytest.approx(2)
    assert result["energy_j"] == pytest.approx(2 * (2 * 100 + 3 * 200 / 4))


@pytest.mark.parametrize("more", [{}, {"cores": 16, "numa_domains": 4}])
def test_without_rates_of_cores_ranks_share_their_node(more):
    file = power(CROSSBAR, node={"memory_bandwidth": "100GB/s", **more})
    result = tw.Program(uneven(1.0, 1.0)).simulate(file, ranks_per_node=4)
    assert result["energy_j"] == pytest.approx(100 + 2 * 200 / 4)


def test_bytes_and_hops_memory_and_switches():
    """A message of 8000 bytes each way, through injection and ejection: 32,000 byte-hops; one switch of 24, by 2 of 48
    nodes; 8 points of 50 bytes, copied twice."""
    more = {"power": {"network": "2nJ/B", "memory": "1nJ/B", "switch": "60W"}}
    result = simulate(pair(1000), power(TORUS, **more), placement="linear")
    assert result["energy_parts_j"]["network"] == pytest.approx(2e-9 * 32_000)
    assert result["energy_parts_j"]["switches"] == pytest.approx(60 * result["time_s"])
    assert result["energy_parts_j"]["memory"] == 0
    copies = tw.Compute("copies", bytes=50, layout=BLOCKS, repeat=2)
    halo = tw.Halo(BLOCKS, width=1, periodic="x").schedule("sweep")
    for step in (tw.Program(copies), tw.Program(copies, tw.Exchanged("halo", halo))):
        assert step.simulate(power(CROSSBAR, **more))["energy_parts_j"]["memory"] == pytest.approx(8 * 50 * 2 * 1e-9)


def test_repetitions_that_are_extrapolated_have_the_joules_of_all():
    file = power(CROSSBAR, power={"network": "1nJ/B"})
    halo = Exchange("halo", 16, grid=(64, 64, 4), split=(4, 4), periodic="xy", times=40)
    whole, steady = simulate(halo, file), simulate(halo, file, steady=True)
    assert steady["simulated_times"] < 40
    for key in ("idle", "waiting", "network"):
        assert steady["energy_parts_j"][key] == pytest.approx(whole["energy_parts_j"][key], rel=5e-3)


def test_energies_that_are_not_known_have_a_reason():
    assert simulate(pair(10), machine(CROSSBAR))["no_energy"] == NO_POWER
    counted = power(CROSSBAR, power={"network": "1nJ/B"})
    assert simulate(pair(10), counted, model="loggp")["no_energy"] == NO_HOPS
    assert energy_of(counted.machine.power, None, 1.0) == {"no_energy": NO_USAGE}


def test_groups_repeat_their_computations_and_exchanges_compute_beside():
    """Group a computes 2 x 3 x 1 s on one rank, b 3 s on two, beside an exchange that is nothing against it."""
    sums = tw.Exchanged("sums", tw.AllReduce(ranks=2, count=1).schedule("recursive-2"), groups=["b"])
    beside = WholeExchange(sums, "beside", compute=tw.Compute("beside", seconds=3.0))
    step = tw.Program(
        groups=[tw.Group("a", 1, [tw.Compute("work", seconds=1.0, repeat=2)], repeat=3), tw.Group("b", 2, [beside])]
    )
    result = step.simulate(power(CROSSBAR))
    assert result["usage"]["computing_s"] == pytest.approx(12)
    assert result["usage"]["computing_maximum_s"] == pytest.approx(6)
    assert result["energy_j"] == pytest.approx(3 * 600 + 200 * 12 + 50 * 6)
