"""The same bits for any number of threads, on repeat, and beside another simulation."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from networks import PETERSEN
from small import CROSSBAR, all_to_all, core, machine, pair, run

from tradewind.base.errors import InputError
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

# A thousand ranks, small packets: full windows.
TORUS = {"kind": "torus", "shape": [8, 8, 4], "nodes_per_switch": 4}
FATTREE = {"kind": "fattree", "levels": 3, "down_ports": 10}
DRAGONFLY = {"kind": "dragonfly", "rows": 4, "columns": 4, "groups": 16, "nodes_per_switch": 4, "global_links": 2}
PLUS = {"kind": "dragonflyplus", "leaves": 8, "spines": 8, "groups": 9, "nodes_per_switch": 14, "global_links": 4}
CASES = [
    (TORUS, "dimension-order"),
    (FATTREE, "d-mod-k"),
    (FATTREE, "round-robin"),
    (DRAGONFLY, "minimal"),
    (DRAGONFLY, "valiant"),
    (DRAGONFLY, "ugal"),
    (DRAGONFLY, "par"),
    (DRAGONFLY, "ugal-sst71"),
    (TORUS, "valiant"),
    ({"kind": "fattree", "levels": 3, "down_ports": [16, 8, 8], "up_ports": [8, 6]}, "adaptive"),
    (PLUS, "ugal"),
    ({"kind": "hyperx", "shape": [8, 8], "links": 2, "nodes_per_switch": 16}, "minimal"),
    ({"kind": "slimfly", "q": 5, "nodes_per_switch": 20}, "ugal"),
    ({"kind": "cubemesh", "gpu": "V100", "boxes": 125}, "minimal"),
    ({"kind": "graph", "file": PETERSEN, "nodes_per_switch": 100}, "minimal"),
]
TRANSPOSE = Exchange("transpose", 1000, (400, 50, 40), (20, 50), algorithm="ring-4", slab="xy")


def bits(result):
    return (
        result.time_ps,
        result.messages,
        result.bytes,
        result.packet_hops,
        result.step_end_s,
        result.delay_counts,
        result.port_bytes.tobytes(),
        result.nic_bytes.tobytes(),
        result.bound_s,
    )


@pytest.mark.parametrize(
    ("topology", "routing", "ranks_per_node"),
    [(*case, 1 + 2 * (i % 2)) for i, case in enumerate(CASES)] + [(*CASES[0], 3), (*CASES[1], 1)],
    ids=lambda v: v["kind"] if isinstance(v, dict) else str(v),
)
def test_same_bits_for_any_number_of_threads(topology, routing, ranks_per_node):
    file = machine(topology, routing, latency="300ns", packet="64B", send_overhead="7ns", receive_overhead="9ns")
    simulation = prepare(TRANSPOSE, file, ranks_per_node=ranks_per_node, placement="random", seed=3)
    one = core(simulation, 1)
    assert bits(core(simulation, 1)) == bits(one)
    for threads in (2, 3, 4):
        several = core(simulation, threads, adaptive=False)
        assert bits(several) == bits(one), threads
        assert several.windows == one.windows
        assert (several.solo_windows, one.solo_windows) == (0, one.windows), "did not run in parallel"
    # And where the threads change between working together and one working for all.
    assert bits(core(simulation, 3)) == bits(one)


def test_threads_without_ranks_of_their_own():
    """More threads than switches that hold ranks, and windows with few events."""
    file = machine(TORUS, packet="8B", latency="1us")
    simulation = prepare(all_to_all(6, "burst", 50), file)
    assert bits(core(simulation)) == bits(core(simulation, 16, adaptive=False))


def test_same_bits_where_a_thread_has_several_runs_of_switches():
    """From 100,000 ranks per thread on, each has several."""
    halo = Exchange("halo", 300_000, (28800, 14400, 16), (500, 600), width=20)
    simulation = prepare(halo, "dragonfly-ML", packet="message", buffers="unbounded")
    one = core(simulation)
    for threads in (2, 3):
        several = core(simulation, threads, adaptive=False)
        assert bits(several) == bits(one)
        assert several.solo_windows == 0


def test_another_seed_changes_random_routing_only():
    results = {
        (routing, seed): core(prepare(TRANSPOSE, machine(DRAGONFLY, routing), seed=seed))
        for routing in ("valiant", "ugal")
        for seed in (1, 2)
    }
    assert bits(results["valiant", 1]) != bits(results["valiant", 2])
    assert bits(results["ugal", 1]) != bits(results["ugal", 2])
    for topology, routing in CASES[:3]:
        one, two = (run(TRANSPOSE, machine(topology, routing), seed=seed) for seed in (1, 2))
        assert bits(one) == bits(two)
    # Where two groups have one link, a minimal path has nothing to choose.
    single = DRAGONFLY | {"groups": 33}
    one, two = (run(TRANSPOSE, machine(single, "minimal"), seed=seed) for seed in (1, 2))
    assert bits(one) == bits(two)


def test_two_simulations_at_one_time():
    simulations = [prepare(TRANSPOSE, machine(topology, routing)) for topology, routing in CASES]
    alone = [bits(core(simulation, 2, adaptive=False)) for simulation in simulations]
    with ThreadPoolExecutor(len(simulations)) as pool:
        together = list(pool.map(lambda simulation: bits(core(simulation, 2, adaptive=False)), simulations))
    assert together == alone


def test_other_python_threads_run_meanwhile():
    """One that waits for a simulation to go on would not tick once while it runs."""
    simulation = prepare(all_to_all(512, "ring-4", 10), machine(DRAGONFLY))
    done = threading.Event()
    ticks, most = 0, 0

    def tick():
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick, daemon=True)  # ends with the tests, should the simulation fail
    thread.start()
    try:
        for _ in range(100):  # on a busy machine one simulation may be over before the other thread has its turn
            before = ticks
            core(simulation)
            most = max(most, ticks - before)
            if most > 5:
                break
    finally:  # else a run that fails would leave the thread, and the interpreter waits for it at its end
        done.set()
        thread.join()
    assert most > 5


def test_progress_is_told_and_may_raise():
    seen = []
    exchange = all_to_all(256, "ring-1", 4, times=20)
    simulation = prepare(exchange, machine(CROSSBAR | {"nodes": 256}, packet="8B"), buffers="unbounded")
    result = core(simulation, 1, lambda *told: seen.append(told))
    assert seen
    assert seen == sorted(seen)
    assert seen[-1][0] <= result.time_s
    assert seen[-1][1] <= result.bytes
    assert seen[-1][2] <= result.packet_hops

    def refuse(seconds, arrived, hops):
        raise ZeroDivisionError

    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError):
            core(simulation, threads, refuse)


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_threads_have_limits(threads):
    with pytest.raises(InputError, match="1 to 256"):
        core(prepare(pair(1), machine(CROSSBAR)), threads)


@pytest.mark.parametrize(("threads", "model"), [("1", "packet"), ("2", "packet"), ("1", "loggp")])
def test_ctrl_c_stops_a_long_simulation(threads, model):
    """Full windows, and minutes to go."""
    ranks, split, algorithm = {
        "packet": ("100000", "100x1000", "ring-1"),
        "loggp": ("14000", "1x14000", "burst"),
    }[model]
    command = ["simulate", "transpose", "--ranks", ranks, "--split", split, "--slab", "xy", "--algorithm", algorithm]
    command += ["--grid", "28800x14400x256", "--machine", "torus-M"]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("tradewind"), *command, "--threads", threads, "--model", model],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Processes that a shell starts in the background ignore the signal, and so would this child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stderr is not None
        assert "messages" in process.stderr.readline()  # the forecast: the simulation begins
        time.sleep(1.5)
        assert process.poll() is None, "it should take minutes"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=240)
        assert process.returncode == 1
        assert "interrupted" in err
        assert "Traceback" not in err
    finally:
        process.kill()
