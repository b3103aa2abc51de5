"""Traces written in the forms of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.files import make_folder, replaced
from tradewind.base.names import unknown
from tradewind.replay.calls import DEFAULT_ALLREDUCE, calls_of
from tradewind.replay.goal import goal_lines
from tradewind.replay.one_sided import accesses_of
from tradewind.replay.time_independent import TimeIndependent
from tradewind.replay.workload import not_replayed
from tradewind.trace.forms import Form
from tradewind.trace.model import Trace
from tradewind.trace.write import save_trace

SUFFIXES = {".goal": Form.GOAL, ".ti": Form.TIME_INDEPENDENT, ".txt": Form.TIME_INDEPENDENT, ".trace": Form.RECORDED}
"""The form of a file by its suffix, where none is named."""
_LINES = 4096
"""Lines that are written at once."""
_GOAL_COMMENTS = (
    "Calls that tradewind recorded or read, as messages and computing; times in ns.",
    "Collective calls are messages, by the algorithms of a replay. Communicators, tags, datatypes and the functions",
    "that were called are not kept: tags distinguish messages of two ranks where one overtakes another.",
    "Synchronous sends are sends; receives from any source are those that happened.",
)
_ACTION_COMMENTS = (
    "Calls that tradewind recorded or read, as actions; sizes in bytes, computing in operations: 1 per ns.",
    "Collective calls that do not block, of some of the ranks, or with blocks of their own are messages.",
    "Communicators, tags and datatypes are not kept: tags distinguish requests of two ranks, by which waits find them.",
    "Synchronous, buffered and persistent sends are sends; receives from any source are those that happened.",
)


def form_named(name: str | None, path: Path) -> Form:
    """Return the form of a name, or of a file's suffix. Raises InputError."""
    names = {form.value: form for form in Form}
    if name is not None:
        if name not in names:
            raise InputError(unknown("form of traces", name, names))
        return names[name]
    if path.suffix not in SUFFIXES:
        suffixes = ", ".join(SUFFIXES)
        raise InputError(f"{path}: which form? name it ({', '.join(names)}), or a file that ends in one of {suffixes}")
    return SUFFIXES[path.suffix]


def export_trace(trace: Trace, path: Path, form: Form, allreduce: str = DEFAULT_ALLREDUCE) -> dict[str, Any]:
    """Write a trace in a form; return what was written: ``messages``, ``bytes``, and ``not_replayed``, what was not.

    In GOAL collective calls are messages by the algorithms of a replay; `allreduce`: that of MPI_Allreduce. In the form
    of SimGrid, `path` becomes the list of the files of the ranks, which stand in a folder beside it. Raises InputError
    for a trace that cannot be replayed, or written: so one with replies to one-sided accesses, as in these two forms
    each send begins whether it is asked for or not.
    """
    if form is Form.RECORDED:
        save_trace(trace, path)
        return {}
    if reply := accesses_of(trace).first_reply:
        rank, function = reply
        raise InputError(
            f"rank {rank}: {function} needs a reply of its target, which the form {form.value!r} cannot hold: "
            "of one-sided accesses, puts between fences or between start and complete are allowed"
        )
    replayed = calls_of(trace, allreduce=allreduce)
    if form is Form.GOAL:
        _write_lines(path, goal_lines(replayed.calls, _GOAL_COMMENTS))
    else:
        _write_time_independent(trace, path, TimeIndependent(trace, replayed))
    calls = replayed.calls
    return {"messages": calls.messages, "bytes": calls.bytes, "not_replayed": not_replayed(replayed)}


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    left = iter(lines)
    with replaced(path, "trace") as file:
        while some := "".join(islice(left, _LINES)):
            file.write(some.encode("utf-8", "surrogateescape"))  # of names of files, whatever bytes they have


def _write_time_independent(trace: Trace, path: Path, actions: TimeIndependent) -> None:
    actions.check()
    folder = path.with_name(f"{path.name}_files")
    make_folder(folder, "trace")
    _write_lines(path, ())  # no list names files of two traces, if this one is never finished
    places = [folder / f"rank-{rank}.txt" for rank in range(trace.size)]
    for rank, place in enumerate(places):
        _write_lines(place, chain((f"# {comment}\n" for comment in _ACTION_COMMENTS), actions.lines(rank)))
    _write_lines(path, (f"{place}\n" for place in places))
