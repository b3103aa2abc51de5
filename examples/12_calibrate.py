"""Measures this machine, in haste, and compares a simulation on it with a measurement."""

import tempfile
from pathlib import Path

from tradewind import Exchange
from tradewind.launch import bench
from tradewind.launch.calibrate import calibrate, write

TRANSPORTS = ["isend-irecv", "shared"]

with tempfile.TemporaryDirectory() as folder:
    machine = Path(folder) / "here.toml"
    write(calibrate(2, transports=TRANSPORTS, packings=["buffer"], largest=65536, repeat=9, force=True), machine)
    halo = Exchange("halo", 2, grid=(64, 64, 16), split=(2, 1), width=3)
    measured = bench(halo, transports=TRANSPORTS, repeat=9, predict=machine)

for row in measured["results"]:
    print(
        f"{row['transport']}: measured {row['median_s'] * 1e6:.1f} us, simulated {row['predicted_s'] * 1e6:.1f} us "
        f"({row['predicted_ratio']:.2f} of it)"
    )
