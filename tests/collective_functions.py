"""The public functions and methods whose docstrings say that they are collective."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tradewind

SAYS_SO = re.compile(r"\bCollective\b|; collective\b|All ranks call it|[Mm]ade[^.]* by all ranks")


def documented() -> Iterator[tuple[str, Any]]:
    """Return names of public functions and methods that say they are collective, and the functions."""
    root = Path(tradewind.__file__).parent
    for file in sorted(root.rglob("*.py")):
        if not SAYS_SO.search(file.read_text(encoding="utf-8")):
            continue
        module = ".".join(("tradewind", *file.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for name, thing in vars(importlib.import_module(module)).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module:
                continue
            if inspect.isfunction(thing):
                yield from _if_it_says_so(f"{module}.{name}", thing, thing)
            elif inspect.isclass(thing):
                yield from _if_it_says_so(f"{module}.{name}", thing, thing.__init__)
                for own, method in vars(thing).items():
                    method = getattr(method, "__func__", method)  # of class methods
                    if inspect.isfunction(method) and (own == "__init__" or not own.startswith("_")):
                        yield from _if_it_says_so(f"{module}.{name}.{own}", method, method)


def _if_it_says_so(name: str, thing: Any, function: Any) -> Iterator[tuple[str, Any]]:
    if SAYS_SO.search(inspect.getdoc(thing) or "") and not getattr(thing, "__isabstractmethod__", False):
        yield name, function
