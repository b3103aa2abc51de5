"""Modules that are imported when they are first used.

Most commands never make an array, and NumPy alone takes longer to load than such a command to run.
"""

from __future__ import annotations

import importlib
from typing import Any


class Deferred:
    """Stands for a module, and imports it when one of its names is first used.

    Type checkers take the module itself: ``if TYPE_CHECKING: import numpy as np`` and else ``np = Deferred("numpy")``.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)  # found without this function from now on
        return value
