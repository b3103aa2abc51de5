"""The options of the semi-Lagrangian dwarf, and what follows from them: its time step, winds and exact solution."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError, gathered
from tradewind.base.names import unknown
from tradewind.device.names import HOST_NAME
from tradewind.dwarfs.frame.advection import DIAGNOSTICS, shear_option, step_option
from tradewind.dwarfs.frame.dwarf import PRECISIONS, device_option
from tradewind.dwarfs.frame.on_grid import GridDwarf, width_option
from tradewind.dwarfs.semi_lagrangian.flows import FLOWS, SPEEDS, TRACERS, Wind, profile, risen_from, rising
from tradewind.dwarfs.semi_lagrangian.lattice import BEYOND, Lattice, Surroundings
from tradewind.dwarfs.semi_lagrangian.octahedral import Octahedral
from tradewind.dwarfs.semi_lagrangian.region import Region
from tradewind.dwarfs.semi_lagrangian.uniform_demand import widths
from tradewind.layout.grid_names import named_grid
from tradewind.layout.mesh import octahedral_problems
from tradewind.layout.named_grids import is_name, mesh_grid
from tradewind.layout.regions import Regions
from tradewind.method.method import Method
from tradewind.workload.exchange import Exchange
from tradewind.workload.on_grid import GridOption
from tradewind.workload.options import option, options_of

if TYPE_CHECKING:
    from tradewind.mpi.library import Array

LISTS = "-lists"
"""End of the name of the exchange of lists of columns, before columns are fetched on demand."""
MINIMUM_POINTS = 4
"""Points of a stencil along each direction."""
_MAX_TRACERS = 10_000
_OF_THE_WAY = ("wind", "alpha", "courant", "dt_s", "spacing_m")
"""Options that say how many points the air passes in a step."""
STENCILS = ("quasi-cubic", "cubic")


def _winds_method_problems(text: str) -> list[str]:
    """The winds travel by a halo, or are fetched."""
    try:
        method = Method.parse(text)
    except InputError as error:
        return list(error.problems)
    found = [method.problems(pattern) for pattern in ("halo", "fetch")]
    return [] if [] in found else found[0]


@dataclass(frozen=True)
class SemiLagrangianOptions(GridDwarf, ABC):
    """The options of a request, and all that follows from them."""

    grid: tuple[int, int, int] = option(
        "Points NXxNYxNZ, or an octahedral grid with its levels, like O80x137.",
        offered="128x128x64",
        by_name=False,
        of=GridOption,
    )
    """(nx, ny, nz); of an octahedral grid (1, rows, levels)."""
    geometry: str = option(
        "plane, periodic in x and y; sphere, NX longitudes and NY latitudes; octahedral, of a grid by its name.",
        None,
        known=lambda: tuple(FLOWS),
        shown="plane, or octahedral for a grid by its name",
        label="geometry",
    )
    flow: str | None = option(
        "On a plane uniform or swirl, on a sphere rotation or deformation.",
        None,
        known=lambda: tuple(SPEEDS),
        shown="the first of these",
        label="flow",
    )
    wind: float | None = option(
        "Maximum speed of the wind in m/s.",
        None,
        minimum=0.0,
        maximum=1e6,
        shown="50, or a rotation in 12 days",
        label="maximum wind in m/s",
    )
    alpha: float = option(
        "Angle of the wind to the x axis, or of the rotation's axis to the poles, in radians.",
        math.pi / 4,
        minimum=-math.pi,
        maximum=math.pi,
        shown="pi/4",
        label="angle of the wind",
    )
    shear: float = shear_option("wind")
    lift: float = option(
        "Levels that the air rises per step at most; more than 0: in three dimensions, with 32 or 64 points.",
        0.0,
        minimum=0.0,
        maximum=1e3,
        label="levels that the air rises per step",
    )
    tracers: int = option("Number of tracers.", 1, minimum=1, maximum=_MAX_TRACERS, label="tracers")
    tracer: str = option(f"Their form: {', '.join(TRACERS)}.", "hill", known=lambda: TRACERS, label="form of tracers")
    stencil: str = option(
        "quasi-cubic, of 12 points (32), or cubic, of 16 (64).",
        "quasi-cubic",
        known=lambda: STENCILS,
        label="stencil",
    )
    limiter: bool = option("Keep values between those of the nearest 4 (8) points.", False, label="limiter")
    iterations: int = option("Iterations of each trajectory after its first guess.", 2, minimum=1, maximum=100)
    courant: float = option(
        "Points (of the sphere: rows) that the wind passes in a step.",
        2.5,
        minimum=0.0,
        maximum=1e6,
        label="Courant number",
    )
    dt_s: float | None = step_option("30s", label="seconds of a step")
    spacing_m: float = option(
        "Meters between points of a plane.", 10_000.0, minimum=1e-3, maximum=1e9, label="meters between points"
    )
    width: int | None = width_option("by the maximum wind")
    winds_method: str | None = option(
        "Method of the winds: ALGORITHM,TRANSPORT,PACKING; parts may be empty.",
        None,
        problems=_winds_method_problems,
        shown="what plan() chooses",
        label="method of the winds",
    )

    device: str = device_option()

    diagnostics: ClassVar = DIAGNOSTICS
    host_only: ClassVar = ("on-demand",)

    def __post_init__(self) -> None:
        if is_name(self.grid):
            self._take_octahedral(str(self.grid))
        self._choose(geometry="plane")
        super().__post_init__()

    def _take_octahedral(self, grid: str) -> None:
        """Set points and geometry by the name of a grid. Raises InputError for others than octahedral ones."""
        if named_grid(grid.strip().partition("x")[0]).kind != "octahedral":
            raise InputError(f"grid {grid}: of grids by name octahedral ones are allowed, like O80x137")
        named = mesh_grid(grid)
        if self.geometry not in (None, named.mesh):
            raise InputError(f"geometry {self.geometry}: the grid {grid} is {named.mesh}; leave out the geometry")
        object.__setattr__(self, "grid", named.points)
        object.__setattr__(self, "geometry", named.mesh)

    def as_dict(self) -> dict[str, Any]:
        """Return the request as plain values, an octahedral grid by its name."""
        values = super().as_dict()
        return values if self.in_blocks else values | {"grid": f"O{self.grid[1] // 2}x{self.grid[2]}"}

    @property
    def in_blocks(self) -> bool:
        """Whether ranks have blocks of columns; else they have regions of an octahedral grid."""
        return self.geometry != "octahedral"

    @property
    def plans(self) -> dict[str, str]:  # type: ignore[override]
        """The exchanges, each with its pattern."""
        kind = "fetch" if self.fetches else "halo"
        return {"tracers": kind, "winds": kind}

    @property
    def fetches(self) -> bool:
        """Whether columns are listed: on demand, and around the poles."""
        return self.strategy == "on-demand" or self.geometry != "plane"

    def _problems(self) -> list[str]:
        if self.geometry not in FLOWS or self.strategy not in self.strategies:
            return []
        options = options_of(type(self))
        if any(options[name].wrong(getattr(self, name)) for name in _OF_THE_WAY):
            return []
        flows = FLOWS[self.geometry]
        problems = []
        if self.flow is not None and self.flow not in flows:
            problems.append(unknown(f"flow of the {self.geometry}", self.flow, flows))
        else:
            self._choose(flow=flows[0])
            assert self.flow is not None
            self._choose(wind=SPEEDS[self.flow])
        if self.work > 1:
            problems.append(f"work {self.work}: 1 is allowed, as the loops replace what they read")
        if self.device != HOST_NAME and not self.in_blocks:
            problems.append(f"geometry {self.geometry}: with device {self.device} plane and sphere are allowed")
        too_small = self._size_problems() if self.in_blocks else self._octahedral_problems()
        problems += too_small
        if problems or too_small or min(self.grid) < 1:
            return problems or [f"grid {self.grid}: positive extents are allowed"]
        if self.strategy != "on-demand":
            self._choose(width=self.needed_width)
        if not self.fetches:
            assert self.width is not None
            problems += self.exchange_problems("tracers", width=max(self.width, 0), periodic="xy")
            problems += self.transport_problems("winds", {})
        elif self.in_blocks:
            problems += self._split_problems()
        if not problems and self.strategy != "on-demand":
            problems += self._width_problems()
        return problems

    def _size_problems(self) -> list[str]:
        nx, ny, nz = self.grid
        found = []
        if min(nx, ny) < MINIMUM_POINTS:
            found.append(
                f"grid {nx}x{ny}x{nz}: a stencil has {MINIMUM_POINTS} points along x and y: as many are needed"
            )
        if self.geometry == "sphere" and nx % 2:
            found.append(f"grid {nx}x{ny}x{nz}: an even number of longitudes is needed, which meet across the poles")
        return found + self._lift_problems(f"{nx}x{ny}x{nz}")

    def _octahedral_problems(self) -> list[str]:
        _, rows, levels = self.grid
        found = octahedral_problems(rows, self.ranks)
        if self.grid[0] != 1 or levels < 1:
            found.append(f"grid {self.grid}: (1, rows, levels) is allowed of an octahedral grid, or its name")
        if self.split is not None:
            found.append(f"split {self.split}: an octahedral grid is divided into regions; leave it out")
        return found + self._lift_problems(f"O{rows // 2}x{levels}")

    def _lift_problems(self, grid: str) -> list[str]:
        found = []
        if self.lift > 0 and self.grid[2] < MINIMUM_POINTS:
            found.append(f"grid {grid}: a stencil has {MINIMUM_POINTS} levels where the wind lifts")
        if self.lift > 0 and self.shear > 0:
            found.append(f"shear {self.shear:g}: 0 is allowed where the wind lifts")
        return found

    def _split_problems(self) -> list[str]:
        """Return the problems that a halo would have, whatever its width."""
        problems: list[str] = []
        with gathered(problems):
            exchange = Exchange("halo", self.ranks, self.grid, self.split, width=1, periodic="")
            self._choose(split=exchange.split)
        return problems

    def _width_problems(self) -> list[str]:
        """Return why a halo of this width does not reach as far as the wind."""
        assert self.width is not None
        if self.geometry != "sphere":
            if self.width >= self.needed_width:
                return []
            return [
                f"width {self.width}: in a step of {self.dt:g} s a wind of {self.wind:g} m/s passes "
                f"{self.passed:.4g} points; a halo of {self.needed_width} points would do, or the strategy on-demand"
            ]
        row, need = self._pole_width
        if self.width >= need:
            return []
        latitude = math.degrees(float(self.lattice.latitudes(row)))
        return [
            f"strategy {self.strategy}, width {self.width}: near the poles (latitude {latitude:.4g}) a wind of "
            f"{self.wind:g} m/s passes {need - BEYOND} points in a step of {self.dt:g} s; a halo of {need} points "
            f"would do, or the strategy on-demand"
        ]

    @property
    def _pole_width(self) -> tuple[int, int]:
        """The row where the wind passes most points of a parallel, and the halo that it needs."""
        angle = self.passed * math.pi / self.grid[1]
        row = self.grid[1] - 1
        cosine = math.cos(float(self.lattice.latitudes(row)))
        most = math.pi if angle >= cosine else math.asin(min(1.0, math.sin(angle) / cosine))
        return row, max(self.needed_width, math.ceil(most * self.grid[0] / (2 * math.pi) - 1e-9) + BEYOND)

    @cached_property
    def lattice(self) -> Lattice | Octahedral:
        """The columns of its grid, on a plane or a sphere."""
        nx, ny, _ = self.grid
        if not self.in_blocks:
            return Octahedral(ny // 2)
        return Lattice.on_sphere(nx, ny) if self.geometry == "sphere" else Lattice(nx, ny, False, self.spacing_m)

    @property
    def flow_wind(self) -> Wind:
        """The wind of the flow."""
        assert self.flow is not None
        assert self.wind is not None
        return Wind(self.lattice, self.flow, self.wind, self.alpha)

    @property
    def dt(self) -> float:
        """Seconds of a step."""
        assert self.wind is not None
        if self.dt_s is not None:
            return self.dt_s
        return self.courant * self.lattice.spacing_m / self.wind if self.wind > 0 else 1.0

    @property
    def passed(self) -> float:
        """Points (of the sphere: rows) that the fastest wind passes in a step."""
        assert self.wind is not None
        wind = self.flow_wind
        return self.wind * wind.growth(self.dt) * self.dt / self.lattice.spacing_m if self.wind > 0 else 0.0

    @property
    def needed_width(self) -> int:
        """The halo that the fastest wind needs: as many points as it passes, rounded up, and 2 of the stencil."""
        return math.ceil(self.passed - 1e-9) + BEYOND

    @property
    def level_speeds(self) -> Array:
        """Speed of the wind by level, as a share."""
        return 1 - self.shear * np.linspace(0, 1, self.grid[2])

    @property
    def components(self) -> int:
        """Fields of the wind that are exchanged: u and v, or the Cartesian ones; and the vertical one."""
        return (2 if self.geometry == "plane" else 3) + (1 if self.lift > 0 else 0)

    @property
    def directions(self) -> int:
        """Coordinates of a departure point."""
        return 3 if self.lift > 0 else 2

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        halo = "" if self.width is None or self.strategy == "on-demand" else f", halo {self.width}"
        return f"{super().name} {self.geometry}, {self.tracers} tracers{halo}"

    @property
    def points(self) -> int:
        """Values of all tracers."""
        if not self.in_blocks:
            return int(self.columns_of_ranks.sum()) * self.grid[2] * self.tracers
        return math.prod(self.grid) * self.tracers

    def imbalance(self) -> float:
        """Return the load imbalance: the maximum columns of a rank over the mean."""
        counts = self.columns_of_ranks
        return super().imbalance() if self.in_blocks else float(counts.max() / counts.mean())

    @cached_property
    def columns_of_ranks(self) -> Any:
        """Columns of each rank."""
        if not self.in_blocks:
            return self.regions.counts()
        x, y = widths(self.layout_of(1))
        return np.outer(y, x).ravel()

    @cached_property
    def regions(self) -> Regions:
        """The regions of an octahedral grid."""
        assert isinstance(self.lattice, Octahedral)
        return Regions(self.lattice.lengths, self.ranks)

    def part(self, rank: int) -> Surroundings | Region:
        """Return the columns of a rank, and those around them."""
        if isinstance(self.lattice, Octahedral):
            return Region(self.lattice, self.regions, rank)
        return Surroundings(self.lattice, self.layout_of(1), rank)

    def all_columns(self) -> Surroundings | Region:
        """Return the columns of the whole grid as those of one rank."""
        if isinstance(self.lattice, Octahedral):
            return Region(self.lattice, Regions(self.lattice.lengths, 1), 0)
        nx, ny, _ = self.grid
        return Surroundings(self.lattice, _core.Blocks(_core.Grid(nx, ny, 1), (1, 1)), 0)

    @property
    def tolerance(self) -> float:
        """The reference computes angles by NumPy, with other roundings."""
        return 1e-9 if self.precision == PRECISIONS[-1] else 1e-4

    def layout_of(self, fields: int) -> _core.Blocks:
        """Return the columns of each rank, with the levels of some fields."""
        assert self.split is not None
        nx, ny, nz = self.grid
        return _core.Blocks(_core.Grid(nx, ny, nz * fields), self.split)

    def winds_at(self, wind: Wind, x: Array, y: Array, t: float) -> Array:
        """Wind [component][z][y][x] of columns [y][x] at a time."""
        flat = wind.components(x, y, t)
        speeds = self.level_speeds[:, None, None]
        found = [each * speeds for each in flat]
        if self.lift > 0:
            rise = rising(self.grid[2], self.lift / self.dt)
            found.append(np.broadcast_to(rise[:, None, None], found[0].shape))
        return np.stack(found).astype(self.precision)

    def exact(self, wind: Wind, x: Array, y: Array, t: float) -> Array:
        """The exact solution [z][y][x] of the first tracer at columns [y][x]."""
        lattice, nz = self.lattice, self.grid[2]
        form = TRACERS[self.tracer]
        if self.lift > 0:
            heights = risen_from(np.arange(nz, dtype=np.float64), nz, self.lift / self.dt, t)
            return np.asarray(profile(heights, nz)[:, None, None] * form(lattice, wind.starts(x, y, t)))
        distinct, level = np.unique(self.level_speeds, return_inverse=True)
        return np.stack([form(lattice, wind.starts(x, y, t, share)) for share in distinct])[level]
