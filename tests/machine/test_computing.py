"""Time of computations on a node: NUMA domains, threads, kernels. By hand."""

from __future__ import annotations

import pytest
from small_machine import written

from tradewind.base.errors import InputError
from tradewind.machine import load_machine

NODE = """
[node]
cores = 8
memory_bandwidth = "80GB/s"
flow_memory_bandwidth = "16GB/s"
core_flops = "2Gflop/s"
"""
NUMA = NODE + "numa_domains = 4\n"
GB, GFLOP = 1e9, 1e9


def seconds(tables, ranks, threads=1, flops=0.0, copied=0.0, kernel="", tmp_path=None, has_points=True):
    machine = load_machine(written(tmp_path, tables)).machine
    return machine.compute_s(flops, copied, kernel, has_points, ranks, threads)


@pytest.mark.parametrize(
    ("node", "ranks", "threads", "bandwidth"),
    [
        (NODE, 8, 1, 80 * GB / 8),
        (NODE, 1, 1, 16 * GB),  # one core alone
        (NODE, 1, 8, 80 * GB),
        (NUMA, 8, 1, 20 * GB / 2),
        (NUMA, 4, 1, 16 * GB),  # alone on its domain of 20 GB/s, one core
        (NUMA, 4, 2, 20 * GB),
        (NUMA, 5, 1, 20 * GB / 2),  # two share the fullest domain, and the others wait for them
        (NUMA, 2, 2, 20 * GB),  # its two threads fill one domain
        (NUMA, 2, 4, 40 * GB),
        (NUMA, 1, 8, 80 * GB),
        (NUMA, 3, 2, 20 * GB),
    ],
)
def test_ranks_share_the_memory_of_their_domain(node, ranks, threads, bandwidth, tmp_path):
    found = seconds(node, ranks, threads, copied=GB, tmp_path=tmp_path)
    assert found == pytest.approx(GB / bandwidth, rel=1e-12)


def test_a_share_of_the_peak_without_rates_of_cores_and_domains(tmp_path):
    node = '[node]\nmemory_bandwidth = "80GB/s"\nflops = "8Gflop/s"\nnuma_domains = 2\n'
    assert seconds(node, 3, copied=GB, flops=1.0, tmp_path=tmp_path) == pytest.approx(GB / (20 * GB))
    assert seconds(node, 1, copied=GB, flops=1.0, tmp_path=tmp_path) == pytest.approx(GB / (80 * GB))
    assert seconds(node, 4, flops=GFLOP, tmp_path=tmp_path) == pytest.approx(0.5)


@pytest.mark.parametrize(("threads", "speedup"), [(1, 1.0), (2, 1 / 0.55), (4, 1 / 0.325), (8, 1 / 0.2125)])
def test_threads_do_not_speed_up_the_serial_fraction(threads, speedup, tmp_path):
    serial = NODE + "serial_fraction = 0.1\n"
    assert seconds(serial, 1, threads, flops=2 * GFLOP, tmp_path=tmp_path) == pytest.approx(1 / speedup)
    own = NODE + '[kernel]\nit = { flops = "2Gflop/s", serial_fraction = 0.1 }\n'
    assert seconds(own, 1, threads, flops=2 * GFLOP, kernel="it", tmp_path=tmp_path) == pytest.approx(1 / speedup)
    assert seconds(own, 1, threads, flops=2 * GFLOP, tmp_path=tmp_path) == pytest.approx(1 / threads)


KERNELS = (
    NODE
    + """
[kernel]
plain = "4Gflop/s"
shared = { flops = "4Gflop/s", busy_flops = "2Gflop/s" }
streams = { bandwidth = "5GB/s" }
points = { point_time = "1us", bandwidth = "4GB/s" }
single-f4 = "4Gflop/s"
"""
)


@pytest.mark.parametrize(
    ("kernel", "ranks", "threads", "flops", "copied", "wanted"),
    [
        ("plain", 8, 1, GFLOP, 0, 1 / 4),
        ("shared", 1, 1, GFLOP, 0, 1 / 4),
        ("shared", 8, 1, GFLOP, 0, 1 / 2),
        ("shared", 4, 2, GFLOP, 0, 1 / 4),  # all are busy, two for each rank
        ("shared", 4, 1, GFLOP, 0, 4 / 7 / 4 + 3 / 7 / 2),  # three of seven others
        ("streams", 1, 1, GFLOP, GB, 0.5),  # flops at the rate of other loops
        ("streams-f4", 1, 1, GFLOP, 0, 0.5),  # which the rate of copies in double precision does not bound
        ("streams", 1, 1, 0, GB, 1 / 5),
        ("streams", 8, 1, 0, 2 * GB, 2 / 5),
        ("points", 1, 1, 0, 1000.0, 1e-6),
        ("points", 1, 2, 0, 1000.0, 5e-7),
        ("points", 1, 1, 0, 8000.0, 2e-6),
    ],
)
def test_kernels_have_rates_of_their_own(kernel, ranks, threads, flops, copied, wanted, tmp_path):
    found = seconds(KERNELS, ranks, threads, flops, copied, kernel, tmp_path)
    assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("kernel", "known"),
    [
        ("plain-f4", "kernel.plain in double precision alone"),
        ("points-f4", "kernel.points in double precision alone"),
        ("single", "kernel.single-f4 in single precision alone"),
    ],
)
def test_the_rate_of_another_precision_is_not_taken(kernel, known, tmp_path):
    with pytest.raises(InputError, match=rf"has the rate of {known}, and none for kernel\.{kernel}: "):
        seconds(KERNELS, 1, flops=GFLOP, kernel=kernel, tmp_path=tmp_path)


def test_a_time_per_point_needs_points(tmp_path):
    with pytest.raises(InputError, match=r"kernel\.points\.point_time is that of a point"):
        seconds(KERNELS, 1, kernel="points", tmp_path=tmp_path, has_points=False)


@pytest.mark.parametrize(
    ("more", "line", "problem"),
    [
        ("numa_domains = 3\n", "numa_domains", "node.numa_domains: 3 do not divide the 8 of node.cores"),
        ("serial_fraction = -0.1\n", "serial_fraction", "node.serial_fraction = -0.1: "),
        ("[kernel]\nit = { flops = 4 }\n", "it", "4 has no unit"),
        ("[kernel]\nit = { flop = '4Gflop/s' }\n", "it", "unknown key 'flop'; did you mean 'flops'?"),
        ("[kernel]\nit = { serial_fraction = 0.5 }\n", "it", "one of flops, bandwidth and point_time is needed"),
        ("[kernel]\nit = { point_time = '1ns', flops = '1Gflop/s' }\n", "it", "in place of flops"),
        ("[kernel]\nit = { flops = '1Gflop/s', busy_flops = '2Gflop/s' }\n", "it", "which are as many or more"),
        ("[noise]\nfrequency = '100Hz'\nduration = '20ms'\n", "duration", "takes 200% of the time"),
        ("[noise]\nfrequency = '100'\nduration = '20us'\n", "frequency", "'100' has no unit"),
        ("[noise]\nfrequency = '1Hz'\nduration = '1us'\narrival = 'sometimes'\n", "arrival", "unknown arrival"),
    ],
)
def test_rates_that_cannot_be_are_refused_with_their_line(more, line, problem, tmp_path):
    path = written(tmp_path, NODE + more)
    number = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if text.startswith(line))
    with pytest.raises(InputError) as error:
        load_machine(path)
    (found,) = error.value.problems
    assert f"mine.toml:{number}: " in found
    assert problem in found


def test_new_keys_at_their_defaults_are_no_part_of_the_identity(tmp_path):
    plain, same, other = (
        load_machine(written(tmp_path, NODE + more)).identity
        for more in ("", "serial_fraction = 0.0\n", "numa_domains = 2\n")
    )
    assert plain == same != other
