"""Agreement of the ranks of a model: all have made the same calls without an error, or all raise one.

A rank that meets an error raises it at once, and sends it in place of its part in the next agreement. So it waits for
no other rank, and the others raise the error before they do anything together.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.collective import error_text as error_text
from tradewind.base.errors import InputError, PlanError, TradewindError, as_utf8
from tradewind.mpi.library import MPI

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT_BYTES = 2000
_INPUT, _OTHER = "i", "o"


class Agreement:
    """Agreement of the ranks of `comm`, which is copied. Collective."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm: MPI.Intracomm = comm.Dup()
        self._rank, self._ranks = comm.Get_rank(), comm.Get_size()
        self._calls = self._agreed = self._digest = 0
        self._last = "none"
        self._left: tuple[_States, _Text] | None = None
        """States and error that this rank has sent."""
        self._last_word: tuple[_States, _Text] | None = None
        """Its part in the agreement after a broken one: whether it goes on to `end`, or has left."""
        self.broken: TradewindError | None = None
        """Error after which the ranks do nothing more together, but end."""
        self.deserted = False
        """A rank has left for good: nothing is done together any more."""
        self._ended = self._raised = False
        """Whether this rank has raised it, or the error that it has sent."""

    def note(self, call: str) -> None:
        """Count a call, which all ranks make in the same order."""
        self._calls += 1
        self._digest = zlib.crc32(call.encode(errors="surrogatepass"), self._digest)
        self._last = call

    def check(self) -> None:
        """Raises InputError or PlanError, on all ranks, where one has met an error or has made other calls.

        Collective, where a call was noted since the last time.
        """
        if self._ended:
            return
        self._settle()
        if self._calls == self._agreed:
            return
        states = _States(self._comm, self._state(failed=False))
        states.wait()
        if states.failed < self._ranks:
            self._break(_Text(self._comm, self._ranks, "").wait(), states.failed, gone=states.gone)
        if not states.same:
            self._break_by_other_calls()
        self._agreed = self._calls

    @contextmanager
    def collective_errors(self) -> Iterator[None]:
        """Send an error of the body to the other ranks; it is raised with the number of this rank."""
        try:
            yield
        except Exception as error:
            self._settle()
            self._send_error(error)
            if self._ranks > 1 and isinstance(error, InputError):
                raise type(error)(*(f"rank {self._rank}: {each}" for each in error.problems)) from None
            raise

    def leave(self, error: BaseException) -> None:
        """Send an error after which this rank takes part in nothing more; waits for nobody.

        After an agreement that an error has broken, each rank takes part in exactly one more, from here or from `end`:
        so a rank that goes on to `end` finds out whether another one has left since then.
        """
        if self._ended:
            return
        self._ended = True
        if self.broken is None and self._left is None:
            self._send_error(error, gone=True)
        self._last_word = self._word(error, gone=True)

    def part(self) -> None:
        """Wait until what this rank has sent has been combined with the others' parts, before MPI is finalized."""
        if self._last_word is None:
            return
        words, self._last_word = [self._last_word], None
        if self._left is not None:
            states, text = self._left
            self._left = None
            states.wait()
            text.wait()
            if states.all_failed and states.same and not states.gone:  # all met one: it is the next that breaks
                words.append(self._word(PlanError("it has left"), gone=True))
        for states, text in words:
            states.wait()
            text.wait()

    def end(self) -> bool:
        """Agree for the last time; returns whether all is well. Collective."""
        raised = self._raised
        with suppress(TradewindError):
            self.check()
        if self.broken is not None:
            states, text = self._last_word = self._word(None)
            if not self.deserted:  # those that have met it may have left since then
                states.wait()
                text.wait()
                self._last_word, self.deserted = None, states.gone
        self._raised, self._ended = raised, True
        return self.broken is None

    def raise_broken(self) -> None:
        """Raise what has broken the agreement, where this rank has not done so yet."""
        if self.broken is not None and not self._raised:
            self._raised = True
            raise self.broken

    def _send_error(self, error: BaseException, *, gone: bool = False) -> None:
        self._raised = True
        self._left = self._word(error, gone=gone)

    def _word(self, error: BaseException | None, *, gone: bool = False) -> tuple[_States, _Text]:
        kind = _INPUT if isinstance(error, InputError) and not gone else _OTHER
        states = _States(self._comm, self._state(failed=error is not None, gone=gone))
        text = "" if error is None else kind + error_text(error)
        return states, _Text(self._comm, self._ranks if error is None else self._rank, text)

    def _settle(self) -> None:
        """Raise what has broken the agreement, also if this rank has sent it."""
        if self._left is not None:
            (states, text), self._left = self._left, None
            states.wait()
            found = text.wait()
            if states.gone or not (states.all_failed and states.same):
                self._break(found, states.failed, gone=states.gone)
            self._raised = False
        if self.broken is not None:
            self._raised = True
            raise self.broken

    def _state(self, *, failed: bool, gone: bool = False) -> NDArray[np.int64]:
        """Return the values of which the minimum over the ranks is taken; of a negated value that is the maximum."""
        first = self._rank if failed else self._ranks
        return np.array([first, failed, self._calls, -self._calls, self._digest, -self._digest, -gone], np.int64)

    def _break(self, text: str, rank: int, *, gone: bool = False) -> None:
        self.deserted = gone
        problem = f"rank {rank}: {text[1:]}"
        self.broken = InputError(problem) if text[0] == _INPUT else PlanError(problem)
        self._raised = True
        raise self.broken

    def _break_by_other_calls(self) -> None:
        everyone = self._comm.allgather((self._calls, self._digest, self._last))
        rank = next(rank for rank, each in enumerate(everyone) if each[:2] != everyone[0][:2])
        calls, last = [everyone[each][0] for each in (rank, 0)], [everyone[each][2] for each in (rank, 0)]
        self._break(
            f"{_INPUT}its call {calls[0]} is {last[0]!r}, and call {calls[1]} of rank 0 is {last[1]!r}: all ranks of "
            "the model make the same calls in the same order",
            rank,
        )


class _States:
    """The states of all ranks, put together when all have come so far."""

    def __init__(self, comm: MPI.Intracomm, state: NDArray[np.int64]) -> None:
        self._sent, self._found = state, np.empty_like(state)
        self._request = comm.Iallreduce(self._sent, self._found, MPI.MIN)

    def wait(self) -> None:
        """Wait for all ranks."""
        self._request.Wait()
        self.failed = int(self._found[0])
        """The first rank that failed."""
        self.all_failed = bool(self._found[1])
        self.same = bool(self._found[2] == -self._found[3] and self._found[4] == -self._found[5])
        """Whether all have made the same calls."""
        self.gone = bool(self._found[6])
        """Whether a rank takes part in nothing more."""


class _Text:
    """The text of the first rank, which is given as `rank`; those without one give the number of ranks."""

    def __init__(self, comm: MPI.Intracomm, rank: int, text: str) -> None:
        self._sent = np.zeros(_TEXT_BYTES, np.uint8)
        data = rank.to_bytes(8, "big") + as_utf8(text).encode()[: _TEXT_BYTES - 8]
        self._sent[: len(data)] = np.frombuffer(data, np.uint8)
        self._found = np.empty_like(self._sent)
        kind, operation = _first_text()
        self._request = comm.Iallreduce([self._sent, 1, kind], [self._found, 1, kind], operation)

    def wait(self) -> str:
        """Return the text when all ranks have come so far."""
        self._request.Wait()
        return bytes(self._found[8:]).rstrip(b"\0").decode(errors="replace")


@functools.cache
def _first_text() -> tuple[MPI.Datatype, MPI.Op]:
    """The element type of texts with the ranks before them, and the operation that finds the first."""

    def first(one: Any, other: Any, kind: Any) -> None:
        if bytes(one[:8]) < bytes(other[:8]):
            other[:] = one

    return MPI.BYTE.Create_contiguous(_TEXT_BYTES).Commit(), MPI.Op.Create(first, commute=True)
