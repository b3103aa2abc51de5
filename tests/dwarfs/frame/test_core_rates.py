"""Dwarfs on a machine whose cores have rates, as `tradewind calibrate` measures them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tradewind.base.errors import InputError
from tradewind.dwarfs import DWARFS, find
from tradewind.launch.probe_kernels import SIZES, rates_of
from tradewind.machine import load_machine
from tradewind.simulation import simulate
from tradewind.workload.program import Compute, ProgramWorkload

CORE, KERNEL, ALONE, MEMORY = 2e9, 5e9, 10e9, 16e9
RATES = {
    "topology": '{ kind = "crossbar", nodes = 1 }',
    "node": f'{{ cores = 2, memory_bandwidth = "{MEMORY / 1e9}GB/s", flow_memory_bandwidth = "{ALONE / 1e9}GB/s" }}',
    "link": '{ bandwidth = "10GB/s", latency = "1us" }',
    "nic": '{ injection_bandwidth = "10GB/s", ejection_bandwidth = "10GB/s", latency = "1us", send_overhead = "1us", '
    'receive_overhead = "1us" }',
    "packet": '{ size = "4KiB" }',
}
SMALL: dict[str, dict[str, Any]] = {
    "spherical_harmonics": {"truncation": 15},
    "mpdata": {"grid": "O8"},
    "helmholtz": {"grid": (16, 16, 8), "rtol": 0.0, "iterations": 2},
    "nekbone": {"elements": (2, 2, 2)},
}
SETTINGS = {"node.core_flops": f"{CORE / 1e9}Gflop/s"}


@pytest.fixture
def here(tmp_path):
    path = tmp_path / "here.toml"
    lines = ['title = "made up"', 'routing = "direct"', 'source = "imaginary"']
    path.write_text("\n".join([*lines, *(f"{key} = {value}" for key, value in RATES.items())]) + "\n")
    return path


def small(kind: str, ranks: int) -> Any:
    return find(kind)(ranks, **SMALL.get(kind, {"grid": (16, 16, 8)}))


@pytest.mark.parametrize("kind", DWARFS)
def test_every_dwarf_is_simulated_at_the_rates_of_its_kernels(kind, here):
    """Computations of flops alone take twice as long at half the rates, of kernels as of cores."""
    for ranks in (1, 2):
        dwarf = small(kind, ranks)
        kernels = {compute.kernel for compute in dwarf.program().computes if compute.flops}
        assert kernels
        assert all(name.startswith(kind) for name in kernels)
        single = replace(dwarf, precision="f4").program().computes
        assert {compute.kernel for compute in single if compute.flops} == {f"{name}-f4" for name in kernels}
        slow, slower = (
            dwarf.simulate(here, ranks_per_node=ranks, settings={f"kernel.{name}": rate for name in kernels})["time_s"]
            for rate in ("2Mflop/s", "1Mflop/s")
        )
        cores = dwarf.simulate(here, ranks_per_node=ranks, settings={"node.core_flops": "2Mflop/s"})["time_s"]
        assert slower == pytest.approx(2 * slow, rel=0.05)
        assert cores == pytest.approx(slow, rel=0.05)


@pytest.mark.parametrize(
    ("compute", "ranks", "threads", "seconds"),
    [
        ({"flops": 4e9}, 1, 1, 4e9 / CORE),
        ({"flops": 4e9}, 1, 2, 4e9 / (2 * CORE)),
        ({"flops": 4e9}, 2, 1, 4e9 / CORE),
        ({"flops": 4e9}, 2, 2, 4e9 / CORE),  # each rank has one of the two cores
        ({"flops": 4e9, "kernel": "fast"}, 1, 1, 4e9 / KERNEL),
        ({"flops": 4e9, "kernel": "other"}, 1, 1, 4e9 / CORE),
        ({"bytes": 4e9}, 1, 1, 4e9 / ALONE),
        ({"bytes": 4e9}, 1, 2, 4e9 / MEMORY),
        ({"bytes": 4e9}, 2, 1, 4e9 / (MEMORY / 2)),
        ({"bytes": 4e9, "flops": 1.0}, 1, 1, 4e9 / ALONE),
        ({"bytes": 4e9, "flops": 1.0, "kernel": "fast"}, 1, 1, 4e9 / MEMORY),  # its rate includes what a core gets
    ],
)
def test_a_rank_has_its_cores_and_its_share_of_the_memory(compute, ranks, threads, seconds, here):
    machine = load_machine(here, SETTINGS | {"kernel.fast": f"{KERNEL / 1e9}Gflop/s"})
    program = ProgramWorkload(Compute("it", points=[1.0] * ranks, **compute)).at_rates(machine.machine, 2, threads)
    assert simulate(program, machine, ranks_per_node=ranks)["time_s"] == pytest.approx(seconds)


def test_the_peak_of_a_node_is_shared(here):
    settings = SETTINGS | {"node.flops": "3Gflop/s"}
    program = ProgramWorkload(Compute("it", flops=3e9, points=[1.0, 1.0]))
    assert simulate(program, here, settings=settings, ranks_per_node=2)["time_s"] == pytest.approx(2)


def test_a_machine_without_rates_names_the_remedy(here):
    with pytest.raises(InputError, match=r"kernel\.diffusion, node\.core_flops .* `tradewind calibrate` measures"):
        small("diffusion", 1).simulate(here)


def test_rates_in_double_precision_are_not_those_in_single(here):
    """A machine with the first alone is refused; with both, or with that of any loop, each has its own."""
    single, double = (replace(small("diffusion", 1), precision=precision) for precision in ("f4", "f8"))
    rate = {"kernel.diffusion": "1Mflop/s"}
    problem = (
        r"the rate of kernel\.diffusion in double precision alone, and none for kernel\.diffusion-f4: `tradewind "
        r"calibrate` measures both; or assume one, such as --set kernel\.diffusion-f4\.flops=10Gflop/s"
    )
    with pytest.raises(InputError, match=problem):
        single.simulate(here, settings=rate)
    slow = double.simulate(here, settings=rate)["time_s"]
    for settings in (rate | {"kernel.diffusion-f4": "2Mflop/s"}, {"node.core_flops": "2Mflop/s"}):
        assert single.simulate(here, settings=settings)["time_s"] == pytest.approx(slow / 2, rel=0.01)


def test_rates_are_a_part_of_the_identity(here):
    plain, core, kernel = (load_machine(here, each).identity for each in ({}, SETTINGS, {"kernel.x": "1Gflop/s"}))
    assert len({plain, core, kernel}) == 3


class Counted:
    """A run whose books say what is made up."""

    def __init__(self) -> None:
        self.samples = [2.0, 0.5, 1.0]

    def advance(self, steps: int) -> int:
        return steps

    def reset(self) -> None: ...

    def seconds(self) -> dict[str, float]:
        sample = self.samples.pop()
        return {"compute": sample, "compute-sums": sample, "halo-wait": 7.0}


def test_kernels_are_measured_in_flops_of_the_program_per_second():
    """The shortest sample counts; parts that no other kernel names belong to the dwarf's own."""
    seconds = {"diffusion": 1.0, "helmholtz": 1.0, "nekbone": 0.5, "nekbone-sums": 0.5}
    for kind, precision, end in (
        ("diffusion", "f8", ""),
        ("helmholtz", "f8", ""),
        ("nekbone", "f8", ""),
        ("nekbone", "f4", "-f4"),
    ):
        dwarf = replace(small(kind, 1), precision=precision)
        flops: dict[str, float] = {}
        for compute in dwarf.program().computes:
            flops[compute.kernel] = flops.get(compute.kernel, 0.0) + compute.flops * compute.points_of(0)
        found = rates_of(dwarf, Counted(), 0.0)
        assert all(name.endswith(end) for name in found)
        assert found == pytest.approx({name: flops[name] / seconds[name.removesuffix(end)] for name in flops})


def test_a_calibration_measures_every_dwarf():
    assert set(SIZES) == set(DWARFS)
