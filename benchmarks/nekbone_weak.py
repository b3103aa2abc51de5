"""Weak scaling of the dwarf nekbone, in the lines that Nekbone prints.

As Nekbone's driver does, each number of elements per rank takes 100 iterations twice, of which the second time counts;
elements and ranks are bricks nearest to cubes. ``python benchmarks/nekbone_weak.py --ranks 1,2 --elements 32,64`` runs
them here, and with ``--machine beskow`` simulates them. Behind the lines: MFlops per rank as a share of the first ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tradewind.dwarfs.nekbone import Nekbone
from tradewind.launch.dwarf import run
from tradewind.workload.patterns.gather_scatter import cubic

ITERATIONS = 100


def seconds(dwarf: Nekbone, machine: str | None) -> float:
    """Return the time of the iterations: here, or on a machine of the simulator."""
    if machine is not None:
        return ITERATIONS * float(dwarf.simulate(machine)["time_s"])
    return float(run(dwarf, ITERATIONS, repeat=2)["samples_s"][-1])


def weak(ranks: Sequence[int], elements: Sequence[int], nx1: int, strategy: str, machine: str | None) -> None:
    """Print the lines of Nekbone for each number of elements per rank and of ranks, and its mean rates."""
    rates: dict[int, list[float]] = {count: [] for count in ranks}
    for each in elements:
        for count in ranks:
            dwarf = Nekbone(count, elements=cubic(each), nx1=nx1, strategy=strategy)
            taken = seconds(dwarf, machine)
            rates[count].append(dwarf.flops * dwarf.points * ITERATIONS / taken / 1e6)
            share = rates[count][-1] / count / (rates[ranks[0]][-1] / ranks[0])
            print(f"\n{dwarf.printed(ITERATIONS, taken)}\n  MFlops per rank: {share:.2f} of those of {ranks[0]} ranks")
    for count, found in rates.items():
        print(f"\n{count} ranks:\nAvg MFlops = {sum(found) / len(found):12.4E}")


def nekbone_weak() -> None:
    """Read the command line, and print."""
    parser = argparse.ArgumentParser(description=__doc__)

    def numbers(text: str) -> list[int]:
        return [int(word) for word in text.split(",")]

    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--elements", type=numbers, default=[32, 64])
    parser.add_argument("--nx1", type=int, default=10)
    parser.add_argument("--strategy", default="pairwise")
    parser.add_argument("--machine")
    given = parser.parse_args()
    weak(given.ranks, given.elements, given.nx1, given.strategy, given.machine)


if __name__ == "__main__":
    nekbone_weak()
