"""The study that the tests of the report run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import h5py

STUDY = """\
title = "A <small> study"
description = "Real cases, as small as they can be."

[[sweep]]
name = "proof"
kind = "verify"
pattern = "transpose"
grid = "24x20x16"
slab = "xz"
ranks = 4
split = "4x1"
algorithm = ["ring-1", "bruck"]

[[sweep]]
name = "network"
kind = "simulate"
pattern = "transpose"
grid = "240x200x160"
slab = "xz"
ranks = [4, 32]
split = { 4 = "4x1", 32 = "32x1" }
algorithm = ["ring-1", "ring-7", "bruck"]
machine = ["torus-M", "dragonfly-MM"]
packet = "4KiB"

[[plot]]
title = "Time </script> of it"
of = { sweep = "network" }
curve = "algorithm"
panel = "machine"

[[plot]]
kind = "delay"
title = "Delay (as in Fig. 8)"
of = { sweep = "network", ranks = 32, machine = "torus-M" }
curve = "algorithm"

[[plot]]
title = "Nothing to see"
of = { sweep = "network", ranks = 17 }

[[finding]]
figure = "1"
claim = "it falls"
where = { sweep = "network", machine = "torus-M" }
falls = { algorithm = "ring-1" }

[[finding]]
figure = "2"
claim = "it rises"
where = { sweep = "network", machine = "torus-M" }
rises = { algorithm = "ring-1" }

[[finding]]
figure = "3"
claim = "it flies"
untestable = "no wings"
"""

MEASURE = """
[[sweep]]
name = "timing"
kind = "measure"
pattern = "transpose"
grid = "24x20x16"
slab = "xz"
ranks = 2
split = "2x1"
algorithm = ["burst", "native"]
repeat = 2

[[plot]]
kind = "bars"
title = "Measured"
of = { sweep = "timing" }
curve = "algorithm"
"""


def halved(results: Path, folder: Path) -> Path:
    """Write the results of the study into a folder with all times halved, but for the first simulated one, which takes
    three times as long, and with a claim that is contradicted now; return the folder."""
    shutil.copyfile(results / "results.nc", folder / "results.nc")
    with h5py.File(folder / "results.nc", "r+") as file:
        times = file["time"][()]
        first = next(i for i, time in enumerate(times) if time == time)
        times /= 2
        times[first] *= 6
        file["time"][...] = times
        findings = json.loads(file.attrs["findings"])
        findings[0]["verdict"] = "contradicted"
        file.attrs["findings"] = json.dumps(findings)
    return folder
