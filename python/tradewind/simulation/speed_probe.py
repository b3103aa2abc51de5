"""Speed of the simulator on this machine: its processor time over what forecasts assume.

Forecasts assume one rate for all simulations, as it was on one machine. A few small simulations of different kinds
measure the ratio here, once for each processor and version of the simulator; the result is kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.files import make_folder, write_atomically
from tradewind.simulation import prepare
from tradewind.workload.exchange import Exchange

_TRANSPOSE: Mapping[str, Any] = {"grid": (256, 256, 128), "slab": "xz", "algorithm": "ring-4"}
_PROBES: tuple[tuple[Exchange, str, Mapping[str, Any]], ...] = (
    (Exchange("transpose", 400, **_TRANSPOSE), "torus-M", {"packet": "512B"}),
    (Exchange("transpose", 1024, **_TRANSPOSE), "dragonfly-MM", {"packet": "512B"}),
    (Exchange("halo", 1024, grid=(1024, 1024, 32), width=3), "fattree-M", {"packet": "512B", "buffers": "unbounded"}),
    (Exchange("allreduce", 2048, count=2, times=3), "dragonfly-MM", {"routing": "valiant"}),
)
"""Finite and unbounded buffers, few and many stages, three topologies."""


def measured_ratios() -> list[float]:
    """Return for each probe its processor time over the forecast; a second or so of processor time."""
    ratios = []
    for exchange, machine, options in _PROBES:
        simulation = prepare(exchange, machine, threads=1, **options)
        began = time.process_time()
        simulation.run(None)
        ratios.append((time.process_time() - began) / simulation.forecast()["wall_s"])
    return ratios


def known_ratios(measure: Callable[[], list[float]] = measured_ratios) -> list[float]:
    """Return the ratios from the cache of this user, or measure and keep them."""
    file = _cache() / "tradewind" / f"simulator-speed-{_mark()}.json"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        ratios = [float(each) for each in kept["ratios"]]
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or of another form
        ratios = measure()
        with suppress(InputError):  # without a cache it is measured each time
            make_folder(file.parent, "cache")
            write_atomically(file, json.dumps({"ratios": ratios}).encode(), "the speed of the simulator", durable=False)
    return ratios


def _cache() -> Path:
    """The folder of the user's caches (XDG Base Directory Specification)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _mark() -> str:
    """A hash of what the speed depends on: the processor and the compiled core."""
    core = Path(str(_core.__file__))
    return hashlib.sha256(f"{_core.cpu_name()} {core.stat().st_size}".encode()).hexdigest()[:16]
