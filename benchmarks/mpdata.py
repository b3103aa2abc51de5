"""The loops of the dwarf mpdata on one core beside a memory copy, and the dwarf on all cores, in one run.

``python benchmarks/mpdata.py roofline.svg`` also draws the roofline.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from turns import seconds

from tradewind import _core
from tradewind.dwarfs.frame.advection import exact, outflow_rates, stream_fluxes
from tradewind.dwarfs.frame.step import Call
from tradewind.dwarfs.mpdata import LOOPS, Mpdata
from tradewind.dwarfs.mpdata import sweep as swept
from tradewind.dwarfs.mpdata.winds import Wind
from tradewind.launch.dwarf import run
from tradewind.layout.mesh_part import part_of
from tradewind.layout.mesh_rows import rows_of

GRID, LEVELS = "O320", 60
SAMPLES, SLOW_SAMPLES = 9, 2
PLAIN_FLOPS = {"divergence": 22, "tracer": 46}
"""Per node and level: each face once, and the sums of the nodes."""
GOAL = 0.6


class Case:
    """All arrays of a step on the whole mesh, on one core."""

    def __init__(self, grid: str, levels: int) -> None:
        rows = rows_of(grid)
        own = np.arange(rows.nodes)
        part = part_of(rows, own)
        mesh = part.dual
        fluxes = stream_fluxes(mesh, 0.8)
        self.dt = 0.8 / outflow_rates(mesh.edges, fluxes, 1 / mesh.volume).max()
        self.graph = _core.MeshGraph(part.offsets, part.neighbours, part.faces, part.edges, 1 / mesh.volume, mesh.nodes)
        self.all = _core.Nodes((0, mesh.nodes))
        self.flux = np.repeat(fluxes[:, None], levels, axis=1)
        self.q = exact(mesh, own, "hill", 0.8, np.zeros(levels))
        self.divergence, self.out = np.zeros_like(self.q), np.zeros_like(self.q)
        self.through = np.zeros_like(self.flux)
        self.team = _core.Team()
        self.kept = np.zeros((self.graph.kept_rows, levels))
        self.points = mesh.nodes * levels
        request = Mpdata(1, grid, levels=levels, flow="overturning")
        self.wind = Wind(request, mesh)
        across, down = self.wind.at(0.0)
        assert down is not None
        assert self.wind.mass is not None
        self.across, self.columns = across, (down, 1 / self.wind.mass)

    def loops_in_three_dimensions(self) -> dict[str, tuple[Callable[[], object], int, float]]:
        """By name a loop, its samples, and the bytes that it must move: beside the others two fields, fluxes down and
        masses."""
        field, flux = self.q.nbytes, self.flux.nbytes
        args = self.graph, self.all, self.across, self.q
        last = self.dt / 4, True, None, self.team
        weights = self.wind.weights(0.0)
        terms = np.ascontiguousarray(weights * self.wind.across.rows), self.wind.across.levels
        return {
            "divergence": (
                lambda: _core.mpdata_divergence(*args, self.divergence, self.team, *self.columns),
                *(SAMPLES, flux + 4 * field),
            ),
            "tracer": (
                lambda: _core.mpdata_corrected(*args, self.divergence, self.out, *last, *self.columns),
                *(SAMPLES, flux + 5 * field),
            ),
            "swept": (
                lambda: _core.mpdata_swept(
                    *(self.graph, (0, self.graph.nodes), self.across, self.q, self.kept, self.out, self.dt / 4),
                    *(self.team, *self.columns),
                ),
                *(SAMPLES, flux + 4 * field),
            ),
            "one pass": (
                lambda: _core.mpdata_upwind(*args, self.out, self.dt / 4, self.team, *self.columns),
                *(SAMPLES, flux + 4 * field),
            ),
            "flow": (lambda: _core.mpdata_flow(*terms, self.across, self.team), SAMPLES, flux),
        }

    def loops(self) -> dict[str, tuple[Callable[[], object], int, float, float]]:
        """By name a loop, its samples, the bytes that it must move, and its flops."""
        field, flux = self.q.nbytes, self.flux.nbytes
        args = self.graph, self.all, self.flux, self.q
        plainly = self.graph, self.flux, self.q
        flat = Mpdata(1, "O8")
        costs = (Call(loop, "own", ()).cost(flat)[0] for loop in (LOOPS["divergence"], LOOPS["tracer"], swept))
        divergence, tracer, sweep = (self.points * flops for flops in costs)
        plain_divergence, plain_tracer = (self.points * PLAIN_FLOPS[name] for name in ("divergence", "tracer"))
        last = self.dt, True, None, self.team
        return {
            "plain divergence": (
                lambda: _core.mpdata_plain(*plainly, None, self.through, self.divergence, self.dt, self.team),
                *(SLOW_SAMPLES, flux + 2 * field, plain_divergence),
            ),
            "plain tracer": (
                lambda: _core.mpdata_plain(*plainly, self.divergence, self.through, self.out, self.dt, self.team),
                *(SLOW_SAMPLES, flux + 3 * field, plain_tracer),
            ),
            "divergence": (
                lambda: _core.mpdata_divergence(*args, self.divergence, self.team),
                *(SAMPLES, flux + 2 * field, divergence),
            ),
            "tracer": (
                lambda: _core.mpdata_corrected(*args, self.divergence, self.out, *last),
                *(SAMPLES, flux + 3 * field, tracer),
            ),
            "swept": (
                lambda: _core.mpdata_swept(
                    self.graph, (0, self.graph.nodes), self.flux, self.q, self.kept, self.out, self.dt, self.team
                ),
                *(SAMPLES, flux + 2 * field, sweep),
            ),
        }


def kernels(picture: Path | None = None) -> None:
    """Each loop, and the whole step by each kind of loops, in CPU time."""
    case = Case(GRID, LEVELS)
    loops = case.loops()
    samples_s = seconds(
        {"copy": lambda: np.copyto(case.out, case.q), **{name: loop for name, (loop, *_) in loops.items()}},
        SAMPLES,
        {name: samples for name, (_, samples, *_) in loops.items()},
    )
    copied = samples_s["copy"]
    copy_s, field = min(copied), case.q.nbytes
    rate = 2 * field / copy_s
    print(f"{GRID} x {LEVELS} levels, doubles, one core; a field of {field / 1e6:.0f} MB is copied in", end=" ")
    print(f"{1e3 * copy_s:.1f} ms (median {1e3 * statistics.median(copied):.1f}), {rate / 1e9:.1f} GB/s")
    step_bytes = case.flux.nbytes + 2 * field
    taken: dict[str, float] = {}
    rows = []
    for name, (_, _, moved, flops) in loops.items():
        times = samples_s[name]
        taken[name] = min(times)
        rows.append({"loop": name, "intensity": flops / moved, "gflops": flops / min(times) / 1e9})
        print(
            f"  {name:>16}: median {1e3 * statistics.median(times):.1f} ms of {len(times)}, "
            f"least {1e3 * min(times):.1f}: {moved / min(times) / rate:.2f} of the copy's bandwidth"
        )
    steps = {
        "plain": taken["plain divergence"] + taken["plain tracer"],
        "loops over nodes": taken["divergence"] + taken["tracer"],
        "one sweep": taken["swept"],
    }
    for name, step_s in steps.items():
        goal = f"; goal: {GOAL}" if name == "one sweep" else ""
        print(
            f"  step, {name}: {1e3 * step_s:.1f} ms, {step_s / copy_s:.1f} copies of a field, "
            f"{steps['plain'] / step_s:.1f} times as fast as plain, "
            f"{step_bytes / step_s / rate:.2f} of the copy's bandwidth{goal}"
        )
    if picture is not None:
        roofline(rows, rate, picture)


def columns(grid: str = "O160", levels: int = LEVELS) -> None:
    """The loops in three dimensions beside a copy, and beside those in two."""
    case = Case(grid, levels)
    flat, solid = case.loops(), case.loops_in_three_dimensions()
    names = ("divergence", "tracer", "swept")
    loops: dict[str, Callable[[], object]] = {"copy": lambda: np.copyto(case.out, case.q)}
    loops |= {f"flat {name}": flat[name][0] for name in names} | {name: loop for name, (loop, *_) in solid.items()}
    taken = {name: min(samples) for name, samples in seconds(loops, SAMPLES).items()}
    rate = 2 * case.q.nbytes / taken["copy"]
    print(f"{grid} x {levels} levels in three dimensions, doubles, one core; a copy at {rate / 1e9:.1f} GB/s")
    for name, (_, _, moved) in solid.items():
        beside = f", {taken[name] / taken[f'flat {name}']:.2f} times that in two" if name in names else ""
        share = moved / taken[name] / rate
        print(f"  {name:>16}: {1e3 * taken[name]:.1f} ms, {share:.2f} of the copy's bandwidth{beside}")


def roofline(rows: list[dict[str, Any]], bytes_per_s: float, path: Path) -> None:
    """Draw the loops under the roof of the copy's bandwidth (Williams, Waterman & Patterson 2009)."""
    import altair as alt

    from tradewind.plot.export import picture

    roof = [{"intensity": x, "gflops": x * bytes_per_s / 1e9} for x in (0.3, 6.0)]
    x = alt.X("intensity:Q", title="flops per byte that must move", scale=alt.Scale(type="log"))
    y = alt.Y("gflops:Q", title="Gflop/s", scale=alt.Scale(type="log"))
    line = alt.Chart(alt.InlineData(roof)).mark_line(color="#888").encode(x=x, y=y)
    points = alt.Chart(alt.InlineData(rows)).mark_point(filled=True, size=70).encode(x=x, y=y, color="loop:N")
    drawn = (line + points).properties(title=f"MPDATA, {GRID} x {LEVELS}, one core").to_dict()
    path.write_bytes(picture(drawn, path.suffix, 2))


def dwarf() -> None:
    """The whole dwarf on as many ranks as there are cores, which share the memory's bandwidth."""
    cores = len(os.sched_getaffinity(0))
    print(f"the dwarf on {cores} ranks, {GRID} x {LEVELS}")
    for strategy in ("exchange", "mask", "indirection", "renumbered", "fused"):
        result = run(Mpdata(ranks=cores, grid=GRID, levels=LEVELS, strategy=strategy), 2, repeat=5)
        setup = ", ".join(f"{part} {seconds:.2f} s" for part, seconds in result["setup_s"].items())
        print(
            f"  {strategy:>11}: {1e3 * result['wall_s'] / 2:.0f} ms a step, "
            f"{1 / result['ratio_to_copy']:.2f} of a memory copy; set-up: {setup}"
        )


def mpdata() -> None:
    """Goals of a quiet machine."""
    kernels()
    columns()
    dwarf()


if __name__ == "__main__":
    kernels(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
