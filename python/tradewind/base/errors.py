"""The errors that Tradewind raises, one class a family, each with the exit code of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class TradewindError(Exception):
    """Something failed. Exit code 1."""

    exit_code = 1


MAX_SHOWN = 50
"""Problems that the text of an error lists; the others are counted."""
MAX_QUOTED = 200
"""Characters of a value that an error quotes."""
_LONG = re.compile(
    rf"\S{{{MAX_QUOTED + 1},}}|(['\"])(?:(?!\1).){{{MAX_QUOTED + 1},}}\1|\[[^\[\]\n]{{{MAX_QUOTED + 1},}}\]"
)
"""A word, a text in quotes or a list that is longer."""


def as_utf8(text: str) -> str:
    """Return a text that can be sent and printed: Python keeps bytes of file names that are not UTF-8 as surrogates."""
    return text.encode(errors="backslashreplace").decode()


def brief(problem: str) -> str:
    """A problem in which every value is quoted by its first and last characters where it is long."""
    problem = as_utf8(problem)
    if len(problem) <= MAX_QUOTED:
        return problem
    return _LONG.sub(lambda match: _shortened(match[0]), problem)


def _shortened(value: str) -> str:
    end = 30
    return f"{value[: MAX_QUOTED - end - 30]}... ({len(value)} characters) ...{value[-end:]}"


def quoted(value: object) -> str:
    """Return a value as an error quotes it, in one line; of what cannot be shown its type."""
    try:
        return " ".join(repr(value).split())
    except Exception:  # of a class that is not ours, or a whole number of thousands of digits
        return f"a value of type {type(value).__name__}"


class InputError(TradewindError, ValueError):
    """Invalid input. The text names the problem, its place, and what is allowed. Exit code 2."""

    exit_code = 2

    def __init__(self, *problems: str) -> None:
        self.problems: Sequence[str] = tuple(map(brief, problems))
        more = [f"and {len(problems) - MAX_SHOWN} more"] if len(problems) > MAX_SHOWN else []
        super().__init__("\n".join([*self.problems[:MAX_SHOWN], *more]))


class WriteError(InputError):
    """A file cannot be written although its name is right: the disk is full, or fails. Exit code 1."""

    exit_code = 1


@contextmanager
def gathered(problems: list[str]) -> Iterator[None]:
    """Add the problems of an InputError of its body to `problems`, so that all can be reported at once."""
    try:
        yield
    except InputError as error:
        problems += error.problems


class VerificationError(TradewindError):
    """A schedule does not do what its pattern asks, or can deadlock."""


class NotFiniteError(TradewindError):
    """A field holds a NaN or an infinity. The text names the rank and the place."""


class ConvergenceError(TradewindError):
    """A solver has not reached its tolerance. The text has the number of iterations and the residuals."""


class MissingMPIError(TradewindError):
    """No MPI, or not the one that Tradewind was built with. The text names what to install."""


INSTALL_MPI = (
    "install one with  pip install 'tradewind[mpich]'  (a laptop), or on a cluster, in Tradewind's folder and with the "
    "cluster's compiler wrapper,  pip install '.[mpi]' -Ccmake.define.MPI_C_COMPILER=mpicc"
)


class OutOfMemoryError(TradewindError):
    """A simulation was ended because it would not have fitted the memory. The text has a remedy."""


class PeerError(TradewindError):
    """Another of the processes that share something has failed, and has the reason."""


class PlanError(TradewindError):
    """A plan was used in a way that it cannot be (for example after its communicator was freed)."""


class PacketWarning(UserWarning):
    """Packets are so coarse that a simulated time misleads."""


class TuningWarning(UserWarning):
    """A tuning result of another host is used here."""
