"""Fits to made-up measurements of known latencies, overheads and rates give these back."""

from __future__ import annotations

import random
import statistics
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from tradewind.base.errors import InputError
from tradewind.machine import load_machine
from tradewind.machine.calibration import calibrated, copy_rates, fitted, refusals, spread, unexpected
from tradewind.machine.calibration_file import text_of

SIZES = (8192, 65536, 1048576)
RUNS = (8, 512)
LATENCY, OVERHEAD, COPY = 0.9e-6, 0.35e-6, 14e9
WHOLE = {8192: 2e9, 65536: 12e9, 1048576: 5e9}
GATHER, SCATTER = {8: 4e-10, 512: 1e-10}, {8: 2e-10, 512: 0.5e-10}
"""Seconds a byte more, at either end."""
EAGER = 8000
KERNELS = {"diffusion": 4e9, "nekbone-sums": 0.5e9}
LATE, UNEXPECTED = 40e-9, 5.3e9
"""The extra cost of a message that came before its receive: seconds for each, and bytes per second."""


def noisy(seconds: float, noise: float, rng: random.Random) -> dict[str, Any]:
    """Samples about a time, the median being exactly that."""
    off = [rng.uniform(0, noise) for _ in range(10)]
    samples = [seconds * (1 + x) for x in off] + [seconds] + [seconds * (1 - x) for x in off]
    return {"samples_s": samples, "spread": spread(samples), "best_s": seconds}


def receives(late: Mapping[int, float], posted: float = 150e-9) -> list[dict[str, Any]]:
    """Rows of receives, posted in time and late: by size the seconds that late ones take more."""
    return [
        {"posted": in_time, "bytes": size, **noisy(posted + (0 if in_time else more), 0, random.Random(1))}
        for size, more in late.items()
        for in_time in (True, False)
    ]


def copied(noise_s: float = 0, rate: float = UNEXPECTED, seed: int = 1) -> list[dict[str, Any]]:
    """Rows of receives whose late messages are copied at this rate, with normally distributed errors."""
    rng = random.Random(seed)
    sizes = range(1000, EAGER + 1, 1000)
    return receives({size: LATE + size / rate + rng.gauss(0, noise_s) for size in sizes})


def made_up(noise: float = 0.05, transport: str = "isend-irecv", latency: float = LATENCY) -> dict[str, Any]:
    """Return the result of a probe of a machine with these properties."""
    rng = random.Random(7)
    method = {"transport": transport, "packing": "buffer"}
    inside: list[dict[str, Any]] = []
    scattered: list[dict[str, Any]] = []
    copies: list[dict[str, Any]] = []
    for messages in (1, 6):
        seconds = latency + messages * OVERHEAD
        row = {"messages": messages, "bytes": 8, "run": 0, **noisy(seconds, noise, rng)}
        inside.append(method | row)
    for size in SIZES:
        for run in (0, *RUNS):
            one = latency + OVERHEAD + size / WHOLE[size]
            both = one + size * (GATHER.get(run, 0) + SCATTER.get(run, 0))
            shape = {"messages": 1, "bytes": size, "run": run}
            inside.append(method | shape | noisy(both, noise, rng))
            copies.append({"bytes": size, "run": run, **noisy(size / COPY, noise, rng)})
            if run:
                at_one_end = one + size * SCATTER[run] + size / COPY
                scattered.append(method | shape | noisy(at_one_end, noise, rng))
    return {
        "inside": inside,
        "outside": [],
        "scattered": scattered,
        "copies": copies,
        "unexpected": copied(),
        "eager_bytes": EAGER,
        "copy_bytes_per_s": 8e9,
        "copy_alone_bytes_per_s": 9e9,
        "core_flops": 2.5e9,
        "kernels": dict(KERNELS),
        "busy_kernels": {},
        "nodes": 1,
        "ranks_per_node": 2,
        "cores": 2,
        "ranks_per_core": 1.0,
        "site": {"host": "h", "cpu": "a processor", "mpi": 'an "MPI"', "ranks_per_node": 2},
        "provenance": {},
    }


def test_latency_overhead_and_rates_come_back():
    result = made_up()
    (method,) = fitted(result["inside"], result["scattered"], result["copies"])
    assert method.latency_s == pytest.approx(LATENCY)
    assert method.overhead_s == pytest.approx(OVERHEAD)
    assert method.rates.sizes == list(SIZES)
    assert method.rates.whole == pytest.approx([WHOLE[size] for size in SIZES])
    for run in RUNS:
        both = [1 / (1 / WHOLE[size] + GATHER[run] + SCATTER[run]) for size in SIZES]
        assert method.rates.runs[run] == pytest.approx(both)
        assert method.scattered[run] == pytest.approx([1 / (1 / WHOLE[size] + SCATTER[run]) for size in SIZES])
    rates = copy_rates(result["copies"])
    assert rates is not None
    assert rates.whole == pytest.approx([COPY] * len(SIZES))


def test_a_list_ends_where_a_size_was_left_out():
    result = made_up()
    rows = [row for row in result["inside"] if (row["run"], row["bytes"]) != (8, 65536)]
    (method,) = fitted(rows)
    assert len(method.rates.runs[8]) == 1
    assert len(method.rates.runs[512]) == 3


def test_noise_never_makes_a_rate_negative_or_an_overhead_more_than_all():
    result = made_up()
    for row in result["inside"]:
        row["best_s"] = 1e-6 if row["messages"] == 1 else 1e-3
    (method,) = fitted(result["inside"])
    assert method.overhead_s == pytest.approx(1e-6)
    assert method.latency_s == 0
    assert all(rate > 0 for rate in method.rates.whole)


def test_scattering_is_never_quicker_than_one_run_or_a_copy_of_one():
    """Where a copy took longer alone than within the message beside it, nothing is left of the time."""
    result = made_up()
    for row in result["scattered"]:
        if row["run"] == 8:
            row["best_s"] = next(c["best_s"] for c in result["copies"] if (c["run"], c["bytes"]) == (8, row["bytes"]))
    for row in result["copies"]:
        if (row["run"], row["bytes"]) == (0, 65536):
            row["best_s"] = 65536 / 9e9
    (method,) = calibrated(result, 21, 3).methods
    assert method.scattered[8] == pytest.approx([2e9, 9e9, 5e9])
    assert method.scattered[512] == pytest.approx([1 / (1 / WHOLE[size] + SCATTER[512]) for size in SIZES])


def test_the_file_is_a_machine_with_these_values(tmp_path):
    text = text_of(calibrated(made_up(), 21, 3), "mine")
    path = tmp_path / "mine.toml"
    path.write_text(text)
    machine = load_machine(path).machine
    intranode = machine.intranode_transport("isend-irecv", "buffer", 8)
    assert machine.intranode[0].latency == pytest.approx(LATENCY, rel=1e-3)
    assert machine.intranode[0].overhead == pytest.approx(OVERHEAD, rel=1e-3)
    assert intranode.send_seconds(65536) == pytest.approx(65536 / 12e9 / 2, rel=1e-3)
    scattered = 65536 * (1 / 12e9 / 2 + SCATTER[8])
    assert intranode.receive_seconds(65536, 65536 / 8, alike=False) == pytest.approx(scattered, rel=2e-3)
    both = 65536 * (1 / 12e9 + GATHER[8] + SCATTER[8])
    assert intranode.receive_seconds(65536, 65536 / 8) == pytest.approx(both / 2, rel=2e-3)
    assert (machine.node.cores, machine.topology.kind, machine.topology.nodes) == (2, "crossbar", 1)
    assert machine.node.memory_bandwidth == pytest.approx(16e9)
    assert machine.node.flow_memory_bandwidth == pytest.approx(9e9)
    assert (machine.node.core_flops, {name: each.flops for name, each in machine.kernel.items()}) == (2.5e9, KERNELS)
    sources = tomllib.loads(text)["source"]
    assert sources["nic"] == "not measured, as there is one node: taken from what is within it"
    assert "measured by tradewind calibrate" in sources["intranode"]
    assert 'an "MPI"' in sources["intranode"]
    assert "up to 21 samples" in sources["copy"]
    assert machine.mpi.unexpected_bandwidth == pytest.approx(UNEXPECTED, rel=1e-3)
    source = sources["mpi.unexpected_bandwidth"]
    assert "eager messages, up to 8000B, in the caches; standard error 0%; medians of the best of 3 rounds" in source
    assert "; measured by tradewind calibrate" in source


def test_kernels_have_a_rate_for_all_cores_at_the_same_time_which_is_no_faster_than_one_alone(tmp_path):
    result, path = made_up(), tmp_path / "mine.toml"
    result["busy_kernels"] = {
        name: rate * factor for (name, rate), factor in zip(KERNELS.items(), (0.6, 1.2), strict=True)
    }
    path.write_text(text_of(calibrated(result, 21, 3), "mine"))
    kernels = load_machine(path).machine.kernel
    found = [each.busy_flops / each.flops for name, each in kernels.items() if name in result["busy_kernels"]]
    assert found == pytest.approx([0.6, 1.0], rel=1e-3)
    assert "busy_flops: the same by all ranks" in tomllib.loads(path.read_text())["source"]["kernel"]


def test_between_nodes_the_network_takes_what_was_measured_there(tmp_path):
    result = made_up(latency=5e-6)
    result |= {"outside": result["inside"], "inside": made_up(transport="shared")["inside"], "nodes": 2}
    path = tmp_path / "nodes.toml"
    path.write_text(text_of(calibrated(result, 21, 3), "nodes"))
    machine = load_machine(path).machine
    assert machine.nic.latency == pytest.approx(2.5e-6, rel=1e-3)
    assert machine.nic.send_overhead == machine.nic.receive_overhead == pytest.approx(OVERHEAD / 2, rel=1e-3)
    assert machine.nic.injection_bandwidth == pytest.approx(2 * WHOLE[SIZES[-1]], rel=1e-3), "two ranks at a time"
    assert machine.topology.nodes == 2
    by_size = "of a pair 2GB/s with 8KiB, 12GB/s with 64KiB, 5GB/s with 1MiB, of which the last counts"
    assert by_size in tomllib.loads(path.read_text())["source"]["nic"]
    assert [each.transport for each in machine.intranode] == ["shared"]


def test_spread():
    assert spread([1.0]) == 0
    assert spread([1.0, 1.0, 1.0]) == 0
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((4 - 2) / 3)


def test_a_busy_machine_is_refused():
    assert refusals(calibrated(made_up(noise=0.05), 21, 3), 0.25) == []
    (problem,) = refusals(calibrated(made_up(noise=0.9), 21, 3), 0.25)
    assert problem.startswith("the machine is busy: in one of four measurements half of the samples lie ")
    shared = made_up() | {"ranks_per_core": 2.0}
    assert "2 ranks per core: at most 1 is allowed" in refusals(calibrated(shared, 21, 3), 0.25)[0]


def test_nothing_measured_is_refused():
    with pytest.raises(InputError, match="nothing could be measured"):
        calibrated(made_up() | {"inside": []}, 21, 3)


def test_the_rate_of_unexpected_messages_comes_back():
    found = unexpected(copied(), EAGER)
    assert found.bytes_per_s == pytest.approx(UNEXPECTED)
    assert found.more is not None
    assert found.more.start_s == pytest.approx(LATE)
    assert found.reason is None


def test_noise_is_no_rate():
    """Where late messages cost nothing, 5 of 400 measurements look like a copy: Student's t of 6 is over 3 in 1.2 %."""
    nothing = [unexpected(copied(5e-9, float("inf"), seed), EAGER) for seed in range(400)]
    rates = [found.bytes_per_s for found in nothing if found.bytes_per_s is not None]
    assert len(rates) <= 12
    assert all(rate > 0 for rate in rates)
    unknown = next(found for found in nothing if found.bytes_per_s is None)
    assert unknown.reason is not None
    assert "not distinguishable from nothing" in unknown.reason


def test_noise_moves_a_rate_by_its_standard_error():
    """8 ns of noise a size, of 1000 to 8000 B: by the formula of the straight line 8 ns / sqrt(42) for 1000 B."""
    lines = [found.more for seed in range(400) if (found := unexpected(copied(8e-9, seed=seed), EAGER))]
    slopes = [line.s_per_byte for line in lines if line]
    error = 8e-12 / 42**0.5
    assert statistics.fmean(slopes) == pytest.approx(1 / UNEXPECTED, abs=4 * error / 400**0.5)
    assert statistics.stdev(slopes) == pytest.approx(error, rel=0.15)
    squares = statistics.fmean(line.error_s_per_byte**2 for line in lines if line)
    assert squares**0.5 == pytest.approx(error, rel=0.1)


def test_the_straight_line_is_that_computed_by_hand():
    """Sums of squares: 5 of x, 4 of x y, 1.8 of the residuals."""
    found = unexpected(receives({1: 1.0, 2: 3.0, 3: 2.0, 4: 4.0}, posted=10.0), 4)
    assert found.more is not None
    assert found.more.s_per_byte == pytest.approx(0.8)
    assert found.more.start_s == pytest.approx(0.5)
    assert found.more.error_s_per_byte == pytest.approx((1.8 / 2 / 5) ** 0.5)
    assert found.bytes_per_s is None, "0.8 is less than three times 0.42"


@pytest.mark.parametrize(
    ("rows", "eager", "reason"),
    [
        ([], 0, "no message is eager"),
        ([], EAGER, "messages did not come before their receive was posted"),
        (copied()[:4], EAGER, "messages did not come before their receive was posted"),
        (
            receives({1000: 50e-9, 2000: 45e-9, 3000: 30e-9, 4000: 25e-9}),  # computed by hand: -9 ns and 2**0.5 ns
            4000,
            "the bytes of a message of 3.91 KiB took -36 ns more, with a standard error of 5.66 ns: not distinguish",
        ),
    ],
)
def test_what_is_not_known_is_left_out_and_the_file_says_why(rows, eager, reason, tmp_path):
    calibration = calibrated(made_up() | {"unexpected": rows, "eager_bytes": eager}, 21, 3)
    assert calibration.unexpected.bytes_per_s is None
    path = tmp_path / "unknown.toml"
    path.write_text(text_of(calibration, "unknown"))
    assert f"# mpi.unexpected_bandwidth was measured, and is not known: {reason}" in path.read_text()
    assert "mpi" not in tomllib.loads(path.read_text())
    assert load_machine(path).machine.mpi.unexpected_bandwidth is None


@pytest.mark.parametrize(
    ("six_s", "latency", "overhead"),
    [
        (1e-6, None, "not distinguishable from 0: 6 messages took no longer than one"),
        (6e-6, "not distinguishable from 0: 6 messages took 6 times as long as one, or longer", None),
        (9e-6, "not distinguishable from 0: 6 messages took 6 times as long", None),
        (3e-6, None, None),
    ],
)
def test_what_cannot_be_distinguished_from_0_has_a_reason(six_s, latency, overhead):
    method = {"transport": "shared", "packing": "buffer", "run": 0}
    times = ((1, 8, 1e-6), (6, 8, six_s), (1, 8192, 5e-6))
    (found,) = fitted([{**method, "messages": n, "bytes": size, "best_s": s} for n, size, s in times])
    for reason, expected, seconds in (
        (found.latency_reason, latency, found.latency_s),
        (found.overhead_reason, overhead, found.overhead_s),
    ):
        assert (reason is None) == (expected is None) == (seconds > 0)
        assert (reason or "").startswith(expected or "")
