"""Tradewind: the communication of weather and climate models, verified, run, measured and simulated.

A pattern (`Halo`, `Transpose`, `Fetch`, `AllReduce`) says what must move, an algorithm in which stages; together
they give a `Schedule`, which is verified in one process, run on MPI (`Schedule.plan`) and simulated on a network.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tradewind.base.errors import (
        InputError,
        MissingMPIError,
        NotFiniteError,
        OutOfMemoryError,
        PacketWarning,
        PlanError,
        TradewindError,
        TuningWarning,
        VerificationError,
        WriteError,
    )
    from tradewind.fieldserver.model.field_server import FieldServer as FieldServer
    from tradewind.launch.trials import tune as tune
    from tradewind.machine import load_machine
    from tradewind.method.method import Choice, Method
    from tradewind.mpi import empty as empty
    from tradewind.mpi import plan as plan
    from tradewind.pattern import (
        Adjoint,
        AllReduce,
        Bands,
        Blocks,
        BrickGatherScatter,
        Fetch,
        GatherScatter,
        Grid,
        Halo,
        Lists,
        Pencils,
        Placed,
        Program,
        Redistribution,
        ReducedGrid,
        Schedule,
        Transpose,
        Wavenumbers,
        Whole,
    )
    from tradewind.points import Points as Points
    from tradewind.points import renumbered as renumbered
    from tradewind.recording import record as record
    from tradewind.simulation import forecast, simulate
    from tradewind.simulation.advice import advise, compare_machines
    from tradewind.spectral import DistributedTransform, GaussianGrid, SpectralTransform
    from tradewind.verification import verify
    from tradewind.workload.exchange import Exchange
    from tradewind.workload.program import Compute, Exchanged, Group, Poke
    from tradewind.workload.program_file import load_program

# Imported when first used: `tradewind --help` must not wait for NumPy and pydantic.
_HOMES = {
    "tradewind.simulation.advice": ("advise", "compare_machines"),
    "tradewind.base.errors": (
        "InputError",
        "MissingMPIError",
        "NotFiniteError",
        "OutOfMemoryError",
        "PacketWarning",
        "PlanError",
        "TradewindError",
        "TuningWarning",
        "VerificationError",
        "WriteError",
    ),
    "tradewind.workload.exchange": ("Exchange",),
    "tradewind.launch.trials": ("tune",),  # needs MPI, as the next line does, so a star does not import them
    "tradewind.mpi": ("empty", "plan"),
    "tradewind.fieldserver.model.field_server": ("FieldServer",),
    "tradewind.machine": ("load_machine",),
    "tradewind.pattern": (
        "Adjoint",
        "AllReduce",
        "Bands",
        "Blocks",
        "BrickGatherScatter",
        "Fetch",
        "GatherScatter",
        "Grid",
        "Halo",
        "Lists",
        "Pencils",
        "Placed",
        "Program",
        "Redistribution",
        "ReducedGrid",
        "Schedule",
        "Transpose",
        "Wavenumbers",
        "Whole",
    ),
    "tradewind.points": ("Points", "renumbered"),  # needs MPI too
    "tradewind.recording": ("record",),  # and so does this
    "tradewind.workload.program": ("Compute", "Exchanged", "Group", "Poke"),
    "tradewind.workload.program_file": ("load_program",),
    "tradewind.simulation": ("forecast", "simulate"),
    "tradewind.verification": ("verify",),
    "tradewind.method.method": ("Choice", "Method"),
    "tradewind.spectral": ("DistributedTransform", "GaussianGrid", "SpectralTransform"),
}

__all__ = [
    "Adjoint",
    "AllReduce",
    "Bands",
    "Blocks",
    "BrickGatherScatter",
    "Choice",
    "Compute",
    "DistributedTransform",
    "Exchange",
    "Exchanged",
    "Fetch",
    "GatherScatter",
    "GaussianGrid",
    "Grid",
    "Group",
    "Halo",
    "InputError",
    "Lists",
    "Method",
    "MissingMPIError",
    "NotFiniteError",
    "OutOfMemoryError",
    "PacketWarning",
    "Pencils",
    "Placed",
    "PlanError",
    "Poke",
    "Program",
    "Redistribution",
    "ReducedGrid",
    "Schedule",
    "SpectralTransform",
    "TradewindError",
    "Transpose",
    "TuningWarning",
    "VerificationError",
    "Wavenumbers",
    "Whole",
    "WriteError",
    "advise",
    "compare_machines",
    "forecast",
    "load_machine",
    "load_program",
    "simulate",
    "verify",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'tradewind' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for names in _HOMES.values() for name in names)})
