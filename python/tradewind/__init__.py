"""Tradewind: the communication of weather and climate models, verified, run, measured and simulated.

A pattern (`Halo`, `Transpose`, `Fetch`, `AllReduce`) says what must move, an algorithm in which stages; together
they give a `Schedule`, which is verified in one process, run on MPI (`Schedule.plan`) and simulated on a network.
"""

from __future__ import annotations

_NEED_MPI = ("fieldserver", "launch", "mpi", "points", "recording")
"""Packages and modules whose names a star does not import, as they need MPI."""


def __getattr__(name: str) -> object:
    """Import a name of the stub, __init__.pyi, when it is first used: the command line needs none of them."""
    from tradewind.base.exports import exported, exports

    if name == "__all__":
        return [each for each, module in exports(__file__).items() if module.split(".")[1] not in _NEED_MPI]
    return exported(__name__, __file__, name)


def __dir__() -> list[str]:
    from tradewind.base.exports import exports

    return sorted({*globals(), *exports(__file__)})
