"""The dwarfs: small models with the communication of large ones, each a folder with its time loop.

`DWARFS` lists them. A new one has a subclass of `tradewind.dwarfs.frame.dwarf.Dwarf`, or of that on a grid,
`tradewind.dwarfs.frame.on_grid.GridDwarf`, and of `tradewind.dwarfs.frame.running.Running`; and a row here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError

if TYPE_CHECKING:
    from tradewind.dwarfs.frame.dwarf import Dwarf

__all__ = ["DWARFS", "Entry", "find", "from_plain"]


@dataclass(frozen=True)
class Entry:
    """A row of the registry: "module:Class" of a dwarf, what it is, and where it comes from."""

    home: str
    description: str
    source: str

    def load(self) -> type[Dwarf]:
        """Return the class of the dwarf, whose module is imported now."""
        module, _, name = self.home.partition(":")
        kind: type[Dwarf] = getattr(importlib.import_module(module), name)
        return kind


DWARFS = {
    "diffusion": Entry(
        "tradewind.dwarfs.diffusion:Diffusion",
        "fourth-order diffusion on a doubly periodic grid: a stencil, with a halo of 2 points, or of 2 k every k steps",
        "Fuhrer, High Performance Computing for Weather and Climate (HPC4WC), ETH Zurich 2024; Xue 2000",
    ),
    "spherical_harmonics": Entry(
        "tradewind.dwarfs.spherical_harmonics:SphericalHarmonics",
        "the transform of a spectral model on an octahedral grid, to spectral space and back, with linear waves",
        "ESCAPE D3.4 2018, dwarf Spherical Harmonics; Wedi, Hamrud & Mozdzynski 2013, doi:10.1175/MWR-D-13-00016.1",
    ),
    "mpdata": Entry(
        "tradewind.dwarfs.mpdata:Mpdata",
        "advection by MPDATA on the finite volumes of an octahedral mesh: an unstructured halo, two exchanges per step",
        "Kuehnlein & Smolarkiewicz 2017, doi:10.1016/j.jcp.2016.12.054; ESCAPE project, dwarf D-advection-MPDATA",
    ),
    "bifourier": Entry(
        "tradewind.dwarfs.bifourier:Bifourier",
        "the transform of a spectral limited area, FFT along x and y, to full columns and back, with linear waves",
        "Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018; ALADIN and AROME",
    ),
    "hirlam": Entry(
        "tradewind.dwarfs.hirlam:Hirlam",
        "a semi-implicit step of a limited area: halos; then blocks, FFT along x, tridiagonal solves along y, and back",
        "Boerhout 2004, Parallelization of HIRLAM",
    ),
    "helmholtz": Entry(
        "tradewind.dwarfs.helmholtz:Helmholtz",
        "sound waves, implicit in three dimensions: a Helmholtz problem per step by GCR(k), with reductions",
        "Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018, Algorithm 1; Sanan, Schnepp & May 2016",
    ),
    "semi_lagrangian": Entry(
        "tradewind.dwarfs.semi_lagrangian:SemiLagrangian",
        "semi-Lagrangian advection of many tracers, on a plane or across the poles: a wide halo, or columns on demand",
        "Hortal 2002, doi:10.1002/qj.200212858314; Zheng & Marguinaud 2018, doi:10.5194/gmd-11-3409-2018",
    ),
    "nekbone": Entry(
        "tradewind.dwarfs.nekbone:Nekbone",
        "conjugate gradients on spectral elements: a gather-scatter and three sums of one number per iteration",
        "Nekbone, Argonne National Laboratory; Ivanov et al. 2015, Evaluating new communication models in the Nek5000 "
        "code for exascale, EASC 2015",
    ),
}


def find(name: str) -> type[Dwarf]:
    """Return the class of a dwarf. Raises InputError for an unknown name."""
    from tradewind.base.names import unknown

    if name not in DWARFS:
        raise InputError(unknown("dwarf", name, DWARFS))
    return DWARFS[name].load()


def from_plain(name: str, values: Mapping[str, Any]) -> Dwarf:
    """The dwarf of the plain values of ``asdict``, also after a way through JSON, which makes tuples lists.

    Raises InputError, also for keys that it does not have.
    """
    from tradewind.workload import options

    made: Dwarf = options.from_plain(find(name), values)
    return made
