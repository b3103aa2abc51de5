"""The best algorithm, against simulating them all; what a time is made of, against formulas."""

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from slow_tests import slow

import tradewind as tw
from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.machine import MachineFile
from tradewind.simulation.advice import HOPELESS, SLOWER, Screened, advise, in_order, pareto
from tradewind.simulation.energy import NO_HOPS
from tradewind.simulation.machine_comparison import compare_machines
from tradewind.workload.candidates import Candidate, candidates
from tradewind.workload.exchange import Exchange

sys.path.insert(0, str(Path(__file__).parents[1] / "sim"))
from small import CROSSBAR, DRAGONFLY, FATTREE, NS, TORUS, all_to_all, machine

BYTE = 100
"""Picoseconds a byte at 10 GB/s."""

REQUESTS = [
    (Exchange("allreduce", 23, count=3), TORUS, {}),
    *slow((Exchange("allreduce", 24, count=50_000), DRAGONFLY, {})),
    (Exchange("transpose", 24, (48, 48, 24), (6, 4)), FATTREE, {"ranks_per_node": 3}),
    (Exchange("transpose", 16, (16, 4, 16), (16, 1), slab="xz"), CROSSBAR, {"packet": "message", "ranks_per_node": 4}),
    (Exchange("halo", 20, (50, 40, 3), (5, 4), width=7, periodic="x"), TORUS, {"placement": "random", "seed": 3}),
]


@pytest.mark.parametrize(("exchange", "topology", "options"), REQUESTS, ids=lambda v: getattr(v, "pattern", None))
def test_the_best_is_the_best_of_all(exchange, topology, options):
    file = machine(topology, send_overhead="50ns", receive_overhead="70ns")
    advice = advise(exchange, file, budget_s=600, **options)
    chosen, _ = candidates(exchange, None, options.get("ranks_per_node", 1))
    times = {}
    for candidate in chosen:
        one = Exchange(**(vars(exchange) | {"algorithm": candidate.algorithm}))
        times[candidate.algorithm] = tw.simulate(one, file, buffers="unbounded", **options)["time_s"]
    assert advice["model"] == "packet"
    assert times[advice["best"]] == min(times.values())
    found = {result["algorithm"]: result["time_s"] for result in advice["results"]}
    assert found == {name: times[name] for name in found}
    assert list(found.values()) == sorted(found.values())
    left = {item["algorithm"]: item for item in advice["left_out"] if item["algorithm"] in times}
    assert found.keys() | left.keys() == times.keys()
    for name, item in left.items():
        assert item["reason"] == SLOWER
        assert times[name] > times[advice["best"]]
        assert item["loggp_s"] > HOPELESS * times[advice["best"]]


def parts(exchange, file, algorithm, **options):
    (result,) = advise(exchange, file, algorithms=[algorithm], **options)["results"]
    assert sum(result[f"{part}_s"] for part in ("latency", "bandwidth", "congestion")) == pytest.approx(
        result["time_s"], rel=1e-12
    )
    return result


def test_latency_and_bandwidth_of_an_exchange_without_congestion():
    """log2 n stages of one message: each 2 x 100 ns and its bytes."""
    for count, reason in ((1, "latency"), (100_000, "bandwidth")):
        result = parts(Exchange("allreduce", 16, count=count), machine(CROSSBAR), "recursive-2")
        assert result["latency_s"] == pytest.approx(4 * 200 * NS * 1e-12, rel=0.01)
        assert result["bandwidth_s"] == pytest.approx(4 * 8 * count * BYTE * 1e-12, rel=0.01)
        assert result["congestion_s"] == pytest.approx(0, abs=1e-12)
        assert (result["reason"], result["stages"], result["ratio"]) == (reason, 4, 1.0)


def test_congestion_of_a_ring_of_switches():
    """All to all on a ring of 16 switches: a link carries the blocks of 28 to 36 pairs, a NIC those of 15."""
    ring = machine({"kind": "torus", "shape": [16], "nodes_per_switch": 1})
    result = parts(all_to_all(16, "burst", 5000), ring, "burst")
    assert result["bound_by"] == "link"
    assert result["bandwidth_s"] == pytest.approx(15 * 40_000 * BYTE * 1e-12, rel=0.02)
    assert result["time_s"] > 28 * 40_000 * BYTE * 1e-12
    assert result["reason"] == "congestion"


def test_a_nic_that_ranks_share_is_bandwidth():
    """8 ranks of a node send all they have for the other node through one NIC."""
    exchange = all_to_all(16, "burst", 5000)
    result = parts(exchange, machine(CROSSBAR), "burst", ranks_per_node=8)
    assert result["bandwidth_s"] == pytest.approx(64 * 40_000 * BYTE * 1e-12, rel=1e-2)
    assert result["reason"] == "bandwidth"


def names(exchange, *asked, ranks_per_node=1):
    return [c.algorithm for c in candidates(exchange, asked or None, ranks_per_node)[0]]


@pytest.mark.parametrize(
    ("ranks", "radices"), [(16, [1, 2, 4, 8]), (17, [1, 2, 4, 8]), (18, [1, 2, 4, 8, 16]), (2, [1])]
)
def test_everything_at_once_is_tried_by_one_name(ranks, radices):
    """The largest radix of a ring is the burst."""
    exchange = Exchange("transpose", ranks, (ranks, 4, ranks), (ranks, 1), slab="xz", algorithm="burst")
    chosen = [each.algorithm for each in candidates(exchange)[0]]
    assert [name for name in chosen if name.startswith("ring-")] == [f"ring-{k}" for k in radices]
    assert chosen.count("burst") == 1


def test_radices_that_are_tried():
    transpose = Exchange("transpose", 40, (40, 40, 40), (20, 2), slab="xz")
    assert names(transpose, "ring-k") == ["ring-1", "ring-2", "ring-4", "ring-8", "ring-16"]
    assert names(transpose, "ring-3", "ring-k", "ring-4")[0] == "ring-3"
    assert names(transpose, "two-level-k") == []
    assert names(transpose, "two-level-k", ranks_per_node=6) == ["two-level-6"]
    halo = Exchange("halo", 40, (40, 40, 40), (20, 2))
    assert names(halo) == ["sweep", "direct"]
    assert names(halo, ranks_per_node=8) == ["sweep", "direct", "two-level-8", "leaders-8"]
    assert names(Exchange("transpose", 2, (4, 4, 4), (2, 1), slab="xz"), "ring-k") == ["ring-1"]
    assert names(Exchange("allreduce", 9), "recursive-k") == [f"recursive-{k}" for k in range(2, 10)]
    assert names(Exchange("allreduce", 1000), "recursive-k")[-1] == "recursive-32"
    every = {entry.name for entry in _core.algorithms() if entry.pattern == "allreduce"}
    assert {c.family for c in candidates(Exchange("allreduce", 9))[0]} == every


def test_the_best_of_each_family_comes_first():
    times = {"ring-1": 5, "ring-2": 2, "ring-4": 3, "burst": 4, "bruck": 1}
    family = {"burst": "burst", "bruck": "bruck"}
    screened = [Screened(Candidate(name, family.get(name, "ring-k")), t, 0, {}) for name, t in times.items()]
    order = [item.candidate.algorithm for item in in_order(screened)]
    assert order == ["bruck", "ring-2", "burst", "ring-4", "ring-1"]


def test_what_takes_longer_than_can_be_simulated_is_left_out():
    """Each rank sends a vector of 16,000 s to one other at a time, or to three."""
    file = machine(CROSSBAR, bandwidth="1MB/s", latency="1us")

    def advised(times):
        exchange = Exchange("allreduce", 4, count=2_000_000_000, times=times)
        return advise(exchange, file, algorithms=["recursive-2", "recursive-4"], packet="message", budget_s=60)

    advice = advised(200)
    assert advice["best"] == "recursive-2"
    assert [item["algorithm"] for item in advice["left_out"]] == ["recursive-4"]
    assert "9600000 s (111 days); times of at most" in advice["left_out"][0]["reason"]
    with pytest.raises(InputError, match=r"recursive-2: the messages .* 12800000 s .*\nrecursive-4: "):
        advised(400)


def test_a_budget_too_small_for_packets_leaves_loggp():
    """Forecasts are about 12 M packet-hops per second: of 8-byte packets this is too much, of messages it is not."""
    exchange = all_to_all(64, "ring-1", 120_000)
    file = machine(CROSSBAR, packet="8B")
    advice = advise(exchange, file, budget_s=30.0, packet="8B", algorithms=["ring-k", "burst"])
    assert advice["model"] == "loggp"
    assert advice["best"] in names(exchange, "ring-k", "burst")
    assert {result["algorithm"] for result in advice["results"]} == set(names(exchange, "ring-k", "burst"))
    assert advise(exchange, file, budget_s=30.0, algorithms=["ring-1"])["packet_bytes"] == "message"
    assert advise(all_to_all(4, "ring-1"), file, budget_s=30.0)["packet_bytes"] == 8


def test_no_budget_at_all_gives_no_result():
    advice = advise(Exchange("allreduce", 60, count=3), machine(CROSSBAR), budget_s=1e-9)
    assert advice["best"] is None
    assert advice["results"] == []
    assert len(advice["left_out"]) == len(candidates(Exchange("allreduce", 60))[0])
    assert all("not screened" in item["reason"] for item in advice["left_out"])


def test_the_budget_is_processor_time():
    """Another program may have the processor for longer than the budget."""
    advice = advise(
        Exchange("allreduce", 8),
        machine(CROSSBAR),
        algorithms=["ring", "recursive-2"],
        budget_s=0.9,
        progress=lambda _: time.sleep(0.4),
    )
    assert advice["model"] == "packet"
    assert [item["reason"] for item in advice["left_out"]] in ([], [SLOWER])


def test_machines_are_compared_by_the_best_algorithm_of_each():
    exchange, link = Exchange("allreduce", 24, count=50_000), {"algorithms": ["ring", "recursive-2"], "budget_s": 60}
    files = {
        "slow": machine(CROSSBAR, bandwidth="1GB/s", node={"cores": 4, "memory_bandwidth": "100GB/s"}),
        "fast": machine(CROSSBAR, node={"cores": 2, "memory_bandwidth": "100GB/s"}),
        "small": machine(CROSSBAR | {"nodes": 2}, node={"cores": 4, "memory_bandwidth": "100GB/s"}),
    }
    named = [MachineFile(name, file.machine) for name, file in files.items()]
    compared = compare_machines(exchange, named, ranks_per_node="cores", **link)
    assert compared["best"] == "fast"
    assert [(each["machine"], each["ranks_per_node"]) for each in compared["machines"]] == [("fast", 2), ("slow", 4)]
    best = [each["results"][0]["time_s"] for each in compared["machines"]]
    assert [each["ratio"] for each in compared["machines"]] == [1.0, best[1] / best[0]]
    for each in compared["machines"]:
        alone = advise(exchange, files[each["machine"]], ranks_per_node=each["ranks_per_node"], **link)
        assert each["best"] == alone["best"]
        assert each["results"][0]["time_s"] == alone["results"][0]["time_s"]
    fast, slow = compared["machines"]
    assert fast["ratio_range"] == [1.0, 1.0]
    low, high = slow["ratio_range"]
    assert 1 < low <= slow["ratio"] <= high
    assert low == slow["spread_s"][0] / fast["spread_s"][1]
    (left,) = compared["left_out"]
    assert left["machine"] == "small"
    assert "24 ranks with 4 per node need 6 nodes; the machine has 2" in left["reason"]
    with pytest.raises(InputError, match=r"^unknown allreduce algorithm 'brook'[^\n]*$"):
        compare_machines(exchange, named, algorithms=["brook"])
    with pytest.raises(InputError, match=r"slow: .* need 100 nodes[^\n]*\nfast: .*\nsmall: "):
        compare_machines(replace(exchange, ranks=100), named)


def test_stages_without_messages_cost_time_too():
    """2 x 19,999 stages of 20,000 ranks, in which hardly anybody sends anything."""
    exchange = Exchange("allreduce", 20_000, count=1)
    began = time.perf_counter()
    advice = advise(exchange, machine(CROSSBAR | {"nodes": 20_000}), algorithms=["ring"], budget_s=3)
    assert advice["best"] is None
    assert re.search("not screened: .* takes about .* s, and .* are left", advice["left_out"][0]["reason"])
    assert time.perf_counter() - began < 30


def test_a_run_that_takes_longer_than_expected_is_stopped(monkeypatch):
    monkeypatch.setattr("tradewind.simulation.prepared.HOPS_PER_SECOND", 1e15)
    exchange = all_to_all(64, "burst", 400_000)
    advice = advise(exchange, machine(CROSSBAR), algorithms=["burst"], budget_s=9.0, packet="8B")
    assert advice["model"] == "loggp"
    assert "stopped after" in advice["left_out"][0]["reason"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithms": ["brook"]}, "unknown allreduce algorithm 'brook'"),
        ({"algorithms": ["recursive-99"]}, "out of range"),
        ({"algorithms": ["bruck"]}, "unknown allreduce algorithm 'bruck'"),
        ({"budget_s": 0}, "budget 0"),
        ({"placement": "best"}, "unknown placement 'best'"),
        ({"routing": "valiant"}, "valiant"),
        ({"packet": "5"}, "'5' has no unit"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        advise(Exchange("allreduce", 8), machine(CROSSBAR), **options)


def test_the_fewest_joules_and_what_no_other_algorithm_beats_in_both():
    """On links that cost much per byte the algorithm with the fewest byte-hops has the fewest joules."""
    watts = {"idle": "1W", "waiting": "1W", "busy": "1W", "network": "1uJ/B"}
    exchange = Exchange("allreduce", 16, count=20_000)
    file = machine(TORUS, power=watts)
    fastest, thriftiest = (
        advise(exchange, file, algorithms=["recursive-4", "ring"], by=by) for by in ("time", "energy")
    )
    joules = {each["algorithm"]: each["energy_j"] for each in thriftiest["results"]}
    assert thriftiest["best"] == min(joules, key=joules.get)
    assert [each["energy_j"] for each in thriftiest["results"]] == sorted(joules.values())
    assert thriftiest["results"][1]["ratio"] == pytest.approx(max(joules.values()) / min(joules.values()))
    assert fastest["results"][0]["time_s"] == min(each["time_s"] for each in fastest["results"])
    rows = [{"algorithm": name, "time_s": t, "energy_j": j} for name, t, j in (("a", 1, 9), ("b", 2, 9), ("c", 3, 1))]
    assert pareto(rows) == ["a", "c"]
    with pytest.raises(InputError, match=r"energy: no power in this machine file, small"):
        advise(exchange, machine(TORUS), by="energy")
    with pytest.raises(InputError, match=r"unknown quantity to advise by 'energie'; did you mean 'energy'"):
        advise(exchange, file, by="energie")


def test_joules_that_the_loggp_model_cannot_give_are_left_out():
    """Forecasts leave the budget to loggp alone, which counts no hops."""
    exchange, watts = all_to_all(64, "ring-1", 120_000), {"idle": "100W", "waiting": "150W", "busy": "300W"}
    asked = {"budget_s": 30.0, "packet": "8B", "algorithms": ["ring-1", "burst"], "by": "energy"}
    counted = machine(CROSSBAR, packet="8B", power={**watts, "network": "10pJ/B"})
    advice = advise(exchange, counted, **asked)
    assert (advice["best"], advice["results"], advice["model"]) == (None, [], "loggp")
    assert sorted(item["algorithm"] for item in advice["left_out"]) == ["burst", "ring-1"]
    assert all(re.search(f"are left; {NO_HOPS}$", item["reason"]) for item in advice["left_out"])
    both = [counted, MachineFile("other", machine(CROSSBAR, packet="8B", power=watts).machine)]
    compared = compare_machines(exchange, both, **asked)
    assert (compared["best"], [each["machine"] for each in compared["left_out"]]) == ("other", [counted.name])


def test_what_is_slower_is_simulated_for_its_joules_only_where_bytes_cost_some():
    exchange, watts = Exchange("allreduce", 16, count=1), {"idle": "1W", "waiting": "1W", "busy": "1W"}
    simulated = [
        {each["algorithm"] for each in advise(exchange, machine(TORUS, power=power), by="energy",
                                              algorithms=["ring", "recursive-4"])["results"]}
        for power in (watts, watts | {"network": "1nJ/B"})
    ]  # fmt: skip
    assert simulated == [{"recursive-4"}, {"ring", "recursive-4"}]
