"""Where a command that measures on MPI ranks stands: alone, or as one of the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where this process stands: alone, or one of the ranks of a job that somebody else has started."""

    ranks: int
    rank: int | None = None

    @property
    def answers(self) -> bool:
        return not self.rank

    @contextmanager
    def together(self, as_json: bool) -> Iterator[None]:
        """Among ranks an error of one ends all: the others would wait for it."""
        from tradewind.cli.answer import refuse
        from tradewind.errors import PlanError, TradewindError
        from tradewind.launch.worker import leave_together

        try:
            yield
        except TradewindError as error:
            if self.rank is None:
                raise
            if not isinstance(error, PlanError):  # else another rank has a reason to tell
                refuse(str(error), as_json)
            leave_together(error)


def place_of(ranks: int | None) -> Place:
    """`ranks`: those that -n asks for. Raises InputError where a process alone is not told how many to start."""
    from tradewind.errors import InputError
    from tradewind.launch import is_rank

    if not is_rank():
        if ranks is None:
            raise InputError("how many ranks? Say -n RANKS, or start this command with mpiexec or srun")
        return Place(ranks)
    from tradewind.launch.worker import abort_on_error
    from tradewind.mpi import MPI

    abort_on_error()
    running = MPI.COMM_WORLD.Get_size()
    place = Place(running, MPI.COMM_WORLD.Get_rank())
    if ranks not in (None, running):
        with place.together(as_json=False):
            raise InputError(f"-n {ranks}, but {running} ranks are running: leave it out under mpiexec or srun")
    return place


@contextmanager
def busy(text: str, *, quiet: bool) -> Iterator[None]:
    """A sign of life while ranks are at work, where a terminal looks on."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(text):
        yield
