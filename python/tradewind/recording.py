"""Record what a model's plans do in a time step, as a program that is verified, simulated and saved.

>>> with tw.record(comm) as program:  # doctest: +SKIP
...     model.step()
>>> program.verify()  # doctest: +SKIP
>>> program.simulate("fugaku")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.collective import check_communicator, collective, error_text, proceed
from tradewind.base.errors import InputError, PlanError
from tradewind.base.files import write_atomically
from tradewind.pattern import Program
from tradewind.workload.program_file import load_program

if TYPE_CHECKING:
    from mpi4py import MPI


class RecordedProgram(Program):
    """Program of a recorded time step; it is there on all ranks when the block of `record` has ended."""

    def __init__(self, writes: bool) -> None:
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        if "text" in self.__dict__:
            raise AttributeError(f"a recorded program has no attribute {name!r}")
        raise PlanError(f"{name} of a program that is being recorded: it is there when the block of record() has ended")

    def _take(self, text: str) -> None:
        made = load_program("the recorded program", text)
        super().__init__(groups=made.groups, name=made.name)
        self.split = made.split
        self.text = text
        """Text of its program file."""

    def save(self, path: str | Path) -> None:
        """Write its program file, which `load_program` and ``tradewind simulate program`` read.

        Rank 0 writes; the others return at once. Raises WriteError.
        """
        text = self.text
        if self._writes:
            write_atomically(Path(path), text.encode(), "program")


@collective
def record(comm: MPI.Intracomm) -> AbstractContextManager[RecordedProgram]:
    """Record what all plans of a model do in a block, most often a time step. Collective over `comm`.

    Starts, waits, pokes and calls of plans become the steps of the program, in their order, with the messages that the
    plans send; the time between them is computation, of each rank its own. Plans may be on communicators of some of
    the ranks of `comm`. Ranks with equal steps are a group of the program. Exchanges that other libraries make are
    computation.
    Halos and transpositions between blocks, and reductions, keep their patterns, so that `Program.verify` proves that
    each point arrives; of other exchanges it proves that messages match and that the ranks cannot deadlock.

    Raises InputError for an exchange that is started in the block and awaited outside of it, or the reverse, and where
    the ranks of a plan do not carry it out as often; PlanError inside another recording, and if the block of another
    rank fails.
    """
    check_communicator(comm)
    proceed(comm, "a recording", recording=True)
    return _recorded(comm)


@contextmanager
def _recorded(comm: MPI.Intracomm) -> Iterator[RecordedProgram]:
    from tradewind.mpi.library import _mpi

    program = RecordedProgram(comm.Get_rank() == 0)
    _mpi.record_begin(comm.py2f())
    try:
        yield program
    except BaseException as error:
        with suppress(InputError, PlanError):  # the others end their recordings, too; the error of the block is raised
            _mpi.record_end(error_text(error))
        raise
    program._take(_mpi.record_end())
