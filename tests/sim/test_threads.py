"""Simulations beside the interpreter: other threads, progress and signals."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small import CROSSBAR, all_to_all, core, machine

from tradewind.simulation import prepare


def test_other_python_threads_run_meanwhile():
    """One that waits for a simulation to go on would not tick once while it runs."""
    torus = {"kind": "torus", "shape": [8, 8, 4], "nodes_per_switch": 4}
    simulation = prepare(all_to_all(512, "ring-4", 10), machine(torus))
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
    exchange = all_to_all(256, "ring-1", 4, times=60)
    simulation = prepare(exchange, machine(CROSSBAR | {"nodes": 256}, packet="8B"), buffers="unbounded")
    result = core(simulation, 1, lambda *values: seen.append(values), skip=False)
    assert seen
    assert seen == sorted(seen)
    assert seen[-1][0] <= result.time_s
    assert seen[-1][1] <= result.bytes
    assert seen[-1][2] <= result.packet_hops

    def refuse(seconds, arrived, hops):
        raise ZeroDivisionError

    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError):
            core(simulation, threads, refuse, skip=False)


def test_ctrl_c_stops_a_long_simulation():
    """Full windows, and minutes to go."""
    command = ["simulate", "transpose", "--ranks", "100000", "--split", "100x1000", "--slab", "xy"]
    command += ["--algorithm", "ring-1", "--grid", "28800x14400x256", "--machine", "torus-M"]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("tradewind"), *command, "--threads", "2"],
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
