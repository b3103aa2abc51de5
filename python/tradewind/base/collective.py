"""Collective calls of the ranks of a communicator: an error on one rank is an error on all."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tradewind.base.errors import InputError, PlanError, as_utf8, quoted

if TYPE_CHECKING:
    from mpi4py import MPI

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")
SendError = Callable[[str], None]
"""Tells the other ranks, which would wait for this one, why it cannot go on."""


def check_communicator(comm: MPI.Intracomm) -> None:
    """Raises InputError for what is no communicator, which this rank could ask others by, PlanError without MPI."""
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm):
        raise InputError(f"comm is {quoted(comm)}: an intracommunicator of mpi4py is allowed")
    require_mpi()
    if comm == MPI.COMM_NULL:
        raise InputError("comm is the null communicator: it has been freed, or this rank is not part of it")


def require_mpi() -> None:
    """Raises PlanError before MPI is initialized and after it is finalized."""
    from mpi4py import MPI

    if MPI.Is_finalized():
        raise PlanError("MPI is finalized: nothing can be exchanged any more")
    if not MPI.Is_initialized():
        raise PlanError("MPI is not initialized: call MPI.Init() before")


def send_error(comm: MPI.Intracomm, problem: str, limit_s: float = 0.0) -> None:
    """Send the other ranks, which begin something together, the error of this one: they raise PlanError.

    Collective, in place of their next agreement. `limit_s`: how long it waits for them; 0: no limit.
    """
    from tradewind import _mpi

    with suppress(PlanError):  # the caller has an error of its own to raise
        _mpi.agree(comm.py2f(), "", as_utf8(problem), limit_s)


def proceed(comm: MPI.Intracomm, what: str = "", *, recording: bool = False) -> None:
    """All ranks have got this far, to do the same. Collective.

    Raises PlanError where another one has sent an error, and where `what` the ranks do differs. `recording`: they begin
    a recording, and no plan.
    """
    from tradewind import _mpi

    _mpi.agree(comm.py2f(), as_utf8(what), "", recording=recording)


class CollectiveErrors:
    """Run local code before the ranks agree: an error of any kind is sent to the others and raised here."""

    def __init__(self, send_error: SendError) -> None:
        self._send_error = send_error

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None:
            self._send_error(error_text(error))


def collective_errors(comm: MPI.Intracomm, limit_s: float = 0.0) -> CollectiveErrors:
    """Run local code on a rank of `comm` before its next agreement with the others."""
    return CollectiveErrors(lambda problem: send_error(comm, problem, limit_s))


def error_text(error: BaseException) -> str:
    """Return the text of an error for other ranks."""
    return as_utf8(str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}")


def collective(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Make a function collective: all ranks of its argument `comm` call it, or it is a method beside `send_error`.

    An error of any kind that a rank raises before the first agreement of the ranks in the call is raised on the others:
    arguments that do not fit the function, or that it refuses, and memory that is not there. So what the ranks do
    together in the function must begin with an agreement: `proceed`, or one of the core.
    """
    return _gate(function, throughout=False)


def collective_throughout(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Make a function collective that consists of several steps of the ranks together.

    An error that a rank raises at any place of it is raised on the others. Each step must begin with an agreement on
    the same communicator; the ranks agree once more at the end.
    """
    return _gate(function, throughout=True)


def is_collective(function: Any) -> bool:
    """Whether a function is one of `collective`."""
    return hasattr(function, _MARK)


def _gate(function: Callable[Arguments, Value], *, throughout: bool) -> Callable[Arguments, Value]:
    of_comm = "comm" in function.__code__.co_varnames[: function.__code__.co_argcount]

    @functools.wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        comm = _communicator([*args, *kwargs.values()]) if of_comm else None
        if of_comm and comm is None:  # of one process; or this rank cannot inform the others
            return function(*args, **kwargs)
        before = _agreements()
        try:
            value = function(*args, **kwargs)
            if throughout and comm is not None:
                proceed(comm)
            return value
        except BaseException as error:
            if _agreements()[throughout] == before[throughout]:
                with suppress(InputError, PlanError):
                    if comm is None:
                        args[0].send_error(error_text(error))  # type: ignore[attr-defined]
                    else:
                        require_mpi()
                        send_error(comm, error_text(error))
            raise

    setattr(called, _MARK, True)
    return called


_MARK = "_is_collective"


def _agreements() -> tuple[int, int]:
    """Return the agreements of this thread so far, and those of them that have failed."""
    from tradewind import _mpi

    return _mpi.agreements()


def _communicator(arguments: Sequence[Any]) -> MPI.Intracomm | None:
    """Return the first communicator among the arguments, at any position; None without one, or for one that is gone."""
    library = sys.modules.get("mpi4py.MPI")
    if library is None:
        return None
    comm = next((each for each in arguments if isinstance(each, library.Intracomm)), None)
    return None if comm == library.COMM_NULL else comm


def on_root(comm: MPI.Intracomm, make: Callable[[], Value]) -> Value:
    """Return the result of rank 0 on all ranks; an InputError of rank 0 is raised on all. Collective.

    Where that error ends the ranks, rank 0 alone prints it.

    Any other error of rank 0 is raised there, and PlanError with its text on the other ranks.
    """
    made: Any = None
    problems: list[str] | None = None
    failure: BaseException | None = None
    if comm.Get_rank() == 0:
        try:
            made = make()
        except InputError as error:
            problems = list(error.problems)
        except BaseException as error:
            failure = error
    made, problems, text = comm.bcast((made, problems, "" if failure is None else error_text(failure)))
    if failure is not None:
        raise failure
    if text:
        raise PlanError(f"rank 0 cannot go on: {text}")
    if problems is not None:
        raise InputError(*problems) if comm.Get_rank() == 0 else _printed_by_root(InputError(*problems))
    first: Value = made
    return first


def _printed_by_root(error: InputError) -> InputError:
    """Let Python print nothing about an error of rank 0 where it ends another rank: one rank prints it, not all."""
    setattr(error, _OF_ROOT, True)
    before = sys.excepthook
    if not hasattr(before, _OF_ROOT):

        def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
            if not hasattr(error, _OF_ROOT):
                before(kind, error, where)

        setattr(hook, _OF_ROOT, True)
        sys.excepthook = hook
    return error


_OF_ROOT = "_is_of_root"


def attempt(comm: MPI.Intracomm, make: Callable[[], Value]) -> tuple[Value | None, str]:
    """Return each rank's own result; or None on all ranks, and the InputError of one. Collective.

    Any other error of a rank is raised there, and PlanError with its text on the other ranks.
    """
    made: Value | None = None
    refusal, text = "", ""
    failure: BaseException | None = None
    try:
        made = make()
    except InputError as error:
        refusal = str(error)
    except PlanError as error:  # another rank refused, with its reason
        failure = error
    except BaseException as error:
        failure, text = error, error_text(error)
    found = comm.allgather((refusal, text))
    failed = [(rank, each) for rank, (_, each) in enumerate(found) if each]
    refusals = [each for each, _ in found if each]
    if failure is not None and (text or not (refusals or failed)):
        raise failure
    if failed:
        raise PlanError("rank {} cannot go on: {}".format(*failed[0]))
    if refusals:
        return None, refusals[0]
    return made, ""
