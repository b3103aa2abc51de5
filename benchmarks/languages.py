"""Overhead of a call of a plan from C, C++ and Fortran over C++ inside the core."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
GOAL_NS = 100


def built(target: str) -> Path | None:
    """A program of the main build that is made when it is asked for; None where there is no Fortran module."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}-*"
    folders = [path.parent for path in ROOT.glob(f"build/{tag}/libtradewind_fortran.so")]
    if not folders:
        return None
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    build = ["cmake", "--build", str(folders[0]), "--target", target]
    subprocess.run(build, env=environment, check=True, stdout=subprocess.DEVNULL)
    return folders[0] / "benchmarks" / target


def languages(samples: int = 25, calls: int = 200_000) -> None:
    """A plan with nothing to do on one rank: some seconds, and the time to compile the program."""
    if (program := built("call_from_languages")) is None:
        print("skipped: libtradewind or its Fortran module was not built (no MPI, or no gfortran)")
        return
    command = [str(program), str(samples), str(calls)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    core = [row["core"] for row in found]
    print(f"a plan with nothing to do, called in the core: {statistics.median(core):.1f} ns")
    for language in ("c", "c++", "fortran"):
        more = [row[language] - row["core"] for row in found]
        low, middle, high = statistics.quantiles(more, n=4)
        print(
            f"  {language}: {middle:+.1f} ns per call (middle half {low:+.1f} to {high:+.1f} of {len(more)}); "
            f"goal: at most {GOAL_NS}{' (missed)' * (middle > GOAL_NS)}"
        )


if __name__ == "__main__":
    languages()
