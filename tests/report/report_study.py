"""The study that the tests of the report run, and the command line that runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Answer:
    """What the command line said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Answer]


def run_tradewind(*arguments: object) -> Answer:
    code = "import sys; from tradewind.cli import main; sys.argv[0] = 'tradewind'; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "200"})
    return Answer(done.returncode, done.stdout, done.stderr)
