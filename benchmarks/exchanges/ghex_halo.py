"""The same halo by GHEX (https://github.com/ghex-org/GHEX, ``pip install ghex``), which may be missing."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.mpi import MPI


def installed() -> bool:
    return importlib.util.find_spec("ghex") is not None


class Ghex:
    """Periodic in x and y. `array` is dense, [z][y][x], as a rank of the pattern has it."""

    def __init__(self, comm: MPI.Intracomm, pattern: _core.Halo, array: Any) -> None:
        from ghex.context import make_context
        from ghex.structured.cartesian_sets import ProductSet, UnitRange
        from ghex.structured.regular import (
            DomainDescriptor,
            HaloGenerator,
            make_communication_object,
            make_field_descriptor,
            make_pattern,
        )

        layout, width = pattern.layout, pattern.width
        begin, end = layout.box(comm.Get_rank())
        whole = ProductSet(*(UnitRange(0, n) for n in layout.grid.points))
        own = ProductSet(*(UnitRange(b, e) for b, e in zip(begin, end, strict=True)))
        context = make_context(comm, False)
        domain = DomainDescriptor(context.rank(), own)
        halos = HaloGenerator(whole, (width, width, 0), (True, True, False))
        made = make_pattern(context, halos, [domain])
        field = make_field_descriptor(domain, np.transpose(array), (width, width, 0), array.shape[::-1])
        self.kept = (context, array, made)
        self.field = made(field)
        self.object = make_communication_object(context)

    def __call__(self) -> None:
        self.object.exchange([self.field]).wait()
