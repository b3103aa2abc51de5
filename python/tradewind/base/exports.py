"""Public names of a package that are imported when they are first used.

The stub beside the package's `__init__.py` lists them, one per line: ``from MODULE import NAME as NAME``. Type checkers
read them there, too, so each name is written once. (To parse it as Python would take as long as to start Python.)
"""

from __future__ import annotations

import importlib
from functools import cache


@cache
def exports(file: str) -> dict[str, str]:
    """Return the module of each public name of a package, whose `__init__.py` is `file`."""
    with open(f"{file}i", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in lines}


def exported(package: str, file: str, name: str) -> object:
    """Return a public name of a package from the module that has it, or `__all__`. Raises AttributeError."""
    if name == "__all__":
        return list(exports(file))
    if name.startswith("_") or name not in exports(file):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(exports(file)[name]), name)
    return value
