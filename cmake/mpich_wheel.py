"""Prints where the compiler wrapper of the mpich wheel is, and whether it stays there: ``PATH;ON`` or ``PATH;OFF``.

pip builds in an environment that has vanished when the package is installed; there the wheel is not below the prefix
of the Python that runs. Prints nothing where there is no such wheel.
"""

import importlib.metadata
import sys
from contextlib import suppress
from pathlib import Path

with suppress(importlib.metadata.PackageNotFoundError):
    files = importlib.metadata.files("mpich") or []
    for wrapper in [Path(file.locate()).resolve() for file in files if file.name == "mpicc"]:
        print(wrapper, "ON" if wrapper.is_relative_to(Path(sys.prefix).resolve()) else "OFF", sep=";")
