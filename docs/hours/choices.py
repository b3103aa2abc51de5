"""The choices that are open in the question, each with the values that are taken, and who published them.

A choice has several parameters where these go together. The first value of each is the base, under which the page's
first answer stands; the others show how far the published models lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

Values = dict[str, npt.NDArray[np.float64]]
"""Parameters of the models. All arrays have one length: one value for each combination of choices."""

POINTS = (28800, 14400)
"""Columns of the kilometre-scale grid along x and y, of Zheng & Marguinaud (2018), Table 3."""
LEVELS = 256
SPACING_M = 1390.0
"""Length of 0.0125 degrees along a meridian."""
WIND_M_PER_S = 200.0
"""The strongest wind, which decides how wide a halo is: Zheng & Marguinaud (2018), section 4.3."""


@dataclass(frozen=True)
class Choice:
    """One open choice: its parameters with their values, the base first, and what is published."""

    name: str
    parameters: dict[str, tuple[float, ...]]
    unit: str
    source: str

    @property
    def count(self) -> int:
        """Number of values."""
        return len(next(iter(self.parameters.values())))

    def shown(self, i: int) -> str:
        """Return the values of all parameters at place `i`."""
        values = (options[i] for options in self.parameters.values())
        return " and ".join(f"{value / 1e9:g} G" if value >= 1e9 else f"{value:g}" for value in values)


CHOICES = (
    Choice(
        "semi-Lagrangian step",
        {"long_step_s": (50, 30, 120)},
        "s",
        "50: AROME-France at 1.3 km (Brousseau et al. 2016); 30: Zheng & Marguinaud (2018); "
        "120: IFS at 1.25 km (Schulthess et al. 2019)",
    ),
    Choice(
        "split-explicit step",
        {"short_step_s": (8, 6, 12)},
        "s",
        "8: 6 s per km (WRF, Skamarock et al. 2008); 6: COSMO, though at 0.93 km (Fuhrer et al. 2018); "
        "12: 9 s per km, assumed",
    ),
    Choice(
        "acoustic substeps in a step",
        {"substeps": (7, 5, 13)},
        "",
        "7: 1, 2 and 4 in three Runge-Kutta stages, and 13: 1, 4 and 8 (Skamarock et al. 2008); "
        "5: as many as ICON's dynamics (Zängl et al. 2015)",
    ),
    Choice(
        "3-D fields transposed, forth and back",
        {"forth": (5, 3, 10), "back": (12, 5, 24)},
        "",
        "5 and 12: winds, temperature, the two nonhydrostatic variables (Bénard et al. 2010), and, our count, "
        "derivatives; 3 and 5: hydrostatic, derivatives by differences; 10 and 24: a predictor and a corrector",
    ),
    Choice(
        "semi-Lagrangian halo on demand",
        {"on_demand": (0, 1)},
        "",
        "0: as wide as the strongest wind asks, step x 200 m/s / 1390 m + 2 points (Zheng & Marguinaud 2018); "
        "1: on demand, as they propose; taken as a list of points and a halo of 3",
    ),
    Choice(
        "tracers",
        {"tracers": (7, 3, 20)},
        "",
        "7: vapour, five hydrometeors, turbulent energy (AROME, Seity et al. 2011); 3: vapour, liquid, ice; "
        "20: assumed, for chemistry",
    ),
    Choice(
        "memory traffic of a semi-Lagrangian step",
        {"long_traffic": (40e3, 20e3, 69e3)},
        "B/point",
        "69 kB: derived from IFS at 1.25 km: 62 levels, 0.088 years per day on 4880 nodes (Schulthess et al. 2019) are "
        "1.15 us per point and node, at 60 GB/s; communication is in it, so 40 kB; 20 kB: single precision",
    ),
    Choice(
        "memory traffic of a split-explicit step",
        {"short_traffic": (20e3, 10e3, 30e3)},
        "B/point",
        "20 kB: derived from COSMO at 0.93 km: 36000 x 16001 x 60 points, 0.043 years per day on 4888 GPUs (Fuhrer et "
        "al. 2018) are 54 ns per point and GPU, at 370 GB/s; 10 kB: single precision; 30 kB: assumed",
    ),
    Choice(
        "solver iterations in a step",
        {"iterations": (25, 10, 100)},
        "",
        "25: Zheng & Marguinaud (2018); 100: four solves, two outer times two inner (ENDGame, Wood et al. 2014); "
        "10: a better preconditioner, such as multigrid (Maynard et al. 2020)",
    ),
    Choice(
        "node: memory, and links as multiples of 10 GB/s",
        {"memory": (200e9, 68e9, 4e12), "faster_links": (1, 1, 2.5)},
        "B/s, -",
        "read and written: 200 GB/s and 10 GB/s are the machine files, whose 100 GB/s count each byte of a copy once; "
        "68 GB/s: a processor of Piz Daint; 4 TB/s and 25 GB/s: a GH200",
    ),
)
"""The choices that are varied. Combinations take every value of each with every value of all others."""

FIXED = {
    "transform_flops": 2.5,  # of a real FFT: 2.5 log2 n per point and field
    "column_flops": 6.0 * LEVELS,  # three products with a matrix of levels x levels: 2 flops each
    "packing_traffic": 96.0,  # of a field in three transpositions: gathered and scattered, 8 bytes read and written
    "legendre": 0.0,  # 1: spherical harmonics in place of the second FFT
    "iteration_traffic": 240.0,  # of GCR with 3 directions and a tridiagonal preconditioner: 30 doubles
    "pipelined_traffic": 360.0,  # of its pipelined form: 45 doubles
    "thin_fields": 5.0,  # winds, temperature, pressure, which a Runge-Kutta stage exchanges beside tracers
    "long_fields": 6.0,  # and those that are interpolated, beside tracers
    "flops_per_byte": 0.5,  # of FFTs, against memory: they are bound by it
    "product_flops_per_byte": 5.0,  # of matrix products
}
"""Parameters that combinations do not vary."""


@dataclass(frozen=True)
class Node:
    """A node, or one GPU with its share of the links: bytes per second of its memory, read and written, and of its
    links."""

    name: str
    memory: float
    network: float
    source: str

    @property
    def balance(self) -> float:
        """Bytes that memory moves while the links move one."""
        return self.memory / self.network

    def values(self) -> Values:
        """Return the base on this node."""
        own = {"memory": self.memory, "faster_links": self.network / LINKS}
        return base() | {name: np.array([value]) for name, value in own.items()}


LINKS = 10e9
"""Bytes per second of the links of the studies."""
NODES = (
    Node("processor of Piz Daint", 68e9, 10e9, "4 channels of DDR4-2133; Aries, as `piz-daint`"),
    Node("two AMD EPYC 7742", 410e9, 25e9, "16 channels of DDR4-3200; two NICs of 100 Gbit/s, as `archer2`"),
    Node("base of this page", 200e9, 10e9, "the machine files of the three networks"),
    Node("two Gold 6148, ESCAPE 2018", 256e9, 12.1e9, "12 channels of DDR4-2666; EDR, as `escape-edr`"),
    Node("A64FX of Fugaku", 1024e9, 40.8e9, "HBM2; six Tofu interfaces, as `fugaku`"),
    Node("H100", 3.35e12, 50e9, "HBM3; 400 Gbit/s for each GPU, assumed"),
    Node("half an MI250X, LUMI-G", 1.6e12, 12.5e9, "HBM2e; one NIC of 200 Gbit/s for two halves"),
    Node("GH200, Alps", 4e12, 25e9, "HBM3; one NIC of 200 Gbit/s"),
)
"""Nodes by their balance, from data sheets: none reaches all of it."""


OVERRIDES: dict[str, float] = {}
"""Values in place of the base's: of ``python docs/hours --set``."""


def base() -> Values:
    """Return the parameters of the base: arrays of one value."""
    chosen = {name: values[0] for choice in CHOICES for name, values in choice.parameters.items()}
    return {name: np.array([value], dtype=float) for name, value in {**FIXED, **chosen, **OVERRIDES}.items()}


def changed(choice: Choice, i: int) -> Values:
    """Return the base with one choice at its value `i`."""
    return base() | {name: np.array([values[i]], dtype=float) for name, values in choice.parameters.items()}


def combinations() -> Values:
    """Return every value of each choice with every value of all others."""
    places = np.array(list(product(*(range(choice.count) for choice in CHOICES))))
    values = {name: np.full(len(places), value) for name, value in FIXED.items()}
    for column, choice in zip(places.T, CHOICES, strict=True):
        for name, options in choice.parameters.items():
            values[name] = np.array(options, dtype=float)[column]
    return values
