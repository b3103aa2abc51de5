"""The loops of dwarfs under the roofline of a GPU, by their counts of flops and bytes.

``python benchmarks/devices/roofline.py FILE.svg [device-results.json]``: points on the roof are what the counts allow
on a V100; those of a device are drawn where `compare.py` has measured them there, under the rate of copies it found.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from tradewind.dwarfs.diffusion import Diffusion, diffuse
from tradewind.dwarfs.frame.step import Call
from tradewind.dwarfs.mpdata import LOOPS, Mpdata
from tradewind.dwarfs.semi_lagrangian import SemiLagrangian
from tradewind.dwarfs.semi_lagrangian.run import interpolate, trace_all
from tradewind.machine.machine import load_machine

MACHINE = "dgx-1v"
COPIED = 2
"""A copy reads each byte and writes it; machine files have the rate of copies."""
SPAN = (0.25, 32.0)
"""Flops per byte that are drawn."""


def loops() -> list[dict[str, Any]]:
    """Return flops per byte of each loop, in double precision."""
    flat, sphere = Mpdata(1, "O8"), SemiLagrangian(1, (36, 18, 4), geometry="sphere", width=20)
    plane = SemiLagrangian(1, (36, 18, 4))
    found = [("diffusion", Diffusion(1, (8, 8, 2)), diffuse)]
    found += [(f"mpdata {name}", flat, loop) for name, loop in LOOPS.items()]
    found += [("trajectories, plane", plane, trace_all), ("trajectories, sphere", sphere, trace_all)]
    found += [("interpolation", plane, interpolate)]
    rows = []
    for name, dwarf, loop in found:
        flops, moved = Call(loop, "own", ()).cost(dwarf)
        rows.append({"loop": name, "flops per byte": flops / moved})
    return rows


def roof(intensity: float, bytes_per_s: float, flops_per_s: float) -> float:
    """Return Gflop/s that memory and peak allow."""
    return min(intensity * bytes_per_s, flops_per_s) / 1e9


def main(picture: Path, results: Path | None) -> None:
    """Draw the picture, and print what is in it."""
    node = load_machine(MACHINE).machine.node
    memory, peak = COPIED * float(node.memory_bandwidth), float(node.flops)
    rows = [
        {**row, "Gflop/s": roof(row["flops per byte"], memory, peak), "points": "allowed on a V100, by counts"}
        for row in loops()
    ]
    corners = [SPAN[0], peak / memory, SPAN[1]]
    lines = [{"flops per byte": x, "Gflop/s": roof(x, memory, peak), "roof": "V100"} for x in corners]
    if results is not None:
        kept = json.loads(results.read_text())
        measured = f"measured: {kept['device']['device']}"
        for name, each in kept["kernels"]["kernels"].items():
            gflops = each["flops_per_s"] / 1e9
            rows.append({"loop": name, "flops per byte": each["flops_per_byte"], "Gflop/s": gflops, "points": measured})
        copied = kept["kernels"]["copy"]
        lines += [{"flops per byte": x, "Gflop/s": x * copied / 1e9, "roof": "its copies"} for x in SPAN]
    x = alt.X("flops per byte:Q", scale=alt.Scale(type="log", domain=list(SPAN)))
    y = alt.Y("Gflop/s:Q", scale=alt.Scale(type="log"))
    drawn = alt.Chart(pd.DataFrame(lines)).mark_line(color="black").encode(x=x, y=y, detail="roof:N")
    points = alt.Chart(pd.DataFrame(rows))
    drawn += points.mark_point(filled=True, size=70).encode(x=x, y=y, color="loop:N", shape="points:N")
    drawn.properties(width=520, height=320).save(str(picture))
    for row in rows:
        print(
            f"{row['loop']}: {row['flops per byte']:.2f} flops per byte, {row['Gflop/s']:.0f} Gflop/s ({row['points']})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
