"""The choices that are open in the question, each with the values that are taken, and who published them.

A choice has several parameters where these go together. The first value of each is the base, under which the page's
first answer stands; the others say how far the published models lie apart.
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
"""Of 0.0125 degrees along a meridian."""
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
        return " and ".join(f"{values[i]:g}" for values in self.parameters.values())


CHOICES = (
    Choice(
        "semi-Lagrangian step",
        {"long_step_s": (50, 30, 120)},
        "s",
        "50 s: AROME-France at 1.3 km (Brousseau et al. 2016); 30 s: Zheng & Marguinaud (2018); 120 s: IFS at 1.25 km (Schulthess et al. 2019)",
    ),
    Choice(
        "split-explicit step",
        {"short_step_s": (8, 6, 12)},
        "s",
        "8 s: 6 s per km (WRF, Skamarock et al. 2008); 6 s: COSMO at 0.93 km (Fuhrer et al. 2018); 12 s: 9 s per km, assumed: what a diffusive scheme may bear",
    ),
    Choice(
        "acoustic substeps in a step",
        {"substeps": (7, 5, 13)},
        "",
        "7: Runge-Kutta stages of 1, 2 and 4 (WRF's default, Skamarock et al. 2008); 13: stages of 1, 4 and 8; 5: as many as ICON's dynamics (Zängl et al. 2015)",
    ),
    Choice(
        "3-D fields that are transposed, forth and back",
        {"forth": (5, 3, 10), "back": (12, 5, 24)},
        "",
        "5: two winds, temperature, and the two nonhydrostatic variables (Bénard et al. 2010); 12: they and derivatives, our count; 3 and 5: hydrostatic, derivatives by differences; "
        "10 and 24: a predictor and a corrector (Bénard et al. 2010)",
    ),
    Choice(
        "semi-Lagrangian halo",
        {"on_demand": (0, 1)},
        "",
        "0: of the strongest wind, step x 200 m/s / 1390 m + 2 points (Zheng & Marguinaud 2018); 1: on demand, as they propose: as far as what the points of a rank need together, 2 points",
    ),
    Choice(
        "tracers",
        {"tracers": (7, 3, 20)},
        "",
        "7: water vapour, five hydrometeors, turbulent energy (AROME, Seity et al. 2011); 3: vapour, liquid, ice; 20: assumed, for chemistry",
    ),
    Choice(
        "memory traffic of a semi-Lagrangian step",
        {"long_traffic": (40e3, 20e3, 69e3)},
        "B/point",
        "69 kB: from IFS at 1.25 km (0.088 years a day on 4880 nodes of 60 GB/s, communication included; Schulthess et al. 2019); less: a half and a quarter or so, as communication is in it",
    ),
    Choice(
        "memory traffic of a split-explicit step",
        {"short_traffic": (20e3, 10e3, 30e3)},
        "B/point",
        "20 kB: from COSMO at 0.93 km (0.043 years a day on 4888 GPUs at 362 GB/s; Fuhrer et al. 2018); 10 kB: the same in single precision; 30 kB: assumed, for more physics",
    ),
    Choice(
        "iterations of the Helmholtz solver in a step",
        {"iterations": (25, 10, 100)},
        "",
        "25: Zheng & Marguinaud (2018); 100: four solves, two outer times two inner (ENDGame, Wood et al. 2014); 10: a good preconditioner (Kühnlein et al. 2019, Maynard et al. 2020)",
    ),
    Choice(
        "node: memory and links",
        {"memory": (100e9, 50e9, 1e12), "faster_links": (1, 1, 5)},
        "B/s and times 10 GB/s",
        "100 GB/s and 10 GB/s: the machine files; 50 GB/s: half a socket; 1 TB/s and 50 GB/s: a GPU with a 400 Gbit/s NIC",
    ),
)
"""What is varied. Combinations take every value of each with every value of all others."""

FIXED = {
    "transform_flops": 2.5,  # of a real FFT: 2.5 log2 n per point and field
    "column_flops": 6.0 * LEVELS,  # three products with a matrix of levels x levels: 2 flops each
    "legendre": 0.0,  # 1: spherical harmonics in place of the second FFT
    "iteration_traffic": 240.0,  # of GCR with 3 directions and a tridiagonal preconditioner: 30 doubles
    "pipelined_traffic": 360.0,  # of its pipelined form: 45 doubles
    "thin_fields": 5.0,  # winds, temperature, pressure, which a Runge-Kutta stage exchanges beside tracers
    "long_fields": 6.0,  # and those that are interpolated, beside tracers
    "flops_per_byte": 0.5,  # of FFTs, against memory: they are bound by it
    "product_flops_per_byte": 5.0,  # of matrix products
}
"""What is taken, and not varied in combinations."""


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
