"""Choice of the method of a plan at run time.

Each part of a choice (algorithm, transport, packing) is that of the first of these that names it:

1. the argument of the call;
2. the environment: ``TRADEWIND_HALO``, ``TRADEWIND_TRANSPOSE``, ``TRADEWIND_FETCH``, ``TRADEWIND_GATHER_SCATTER`` or
   ``TRADEWIND_ALLREDUCE``, each
   ``ALGORITHM,TRANSPORT,PACKING`` with parts that may be empty;
3. the tuning file, of the argument ``tuning`` or of ``TRADEWIND_TUNING``: its entry about this very exchange, if that
   does not contradict 1 and 2, for it was measured as a whole;
4. the default.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from tradewind import _core
from tradewind.base.errors import InputError, TuningWarning, as_utf8
from tradewind.base.names import unknown
from tradewind.method.host import Host
from tradewind.method.memories import MEMORIES, PRIVATE
from tradewind.method.method import PARTS, Method

TUNING = "TRADEWIND_TUNING"
ARGUMENT = "argument"


@dataclass(frozen=True)
class Chosen:
    """Method of a plan. Transport and packing of native stay open: they are the library's own."""

    choice: Method
    origin: Mapping[str, str] = field(default_factory=dict)
    """Origin of each part: "argument", the variable, the tuning file, or "default"."""


def choose(
    pattern: _core.Pattern,
    dtype: str,
    fields: int,
    asked: Method | None = None,
    *,
    tuning: str | Path | None = None,
    memory: str = PRIVATE,
    host: Host | None = None,
    environment: Mapping[str, str] | None = None,
) -> Chosen:
    """Return the method for a pattern on a number of fields of a type, and the origin of each of its parts.

    `asked`: the parts that arguments of the call name. `tuning`: a tuning file, ``"FILE"`` or ``"FILE,strict"``; None:
    that of ``TRADEWIND_TUNING``; "": none. `memory`: "private", or "shared" for arrays of `tradewind.empty`; entries of
    the tuning file have one of them, too. `host`: where the ranks run; None: not compared with where the file was made.
    `environment`: instead of `os.environ`. Raises InputError for an unknown name, for parts that do not go together and
    for an invalid file; warns (TuningWarning, once) where the entry was tuned elsewhere.
    """
    if not isinstance(pattern, _core.Pattern):
        raise InputError(f"{pattern!r} is no pattern")
    if memory not in MEMORIES:
        raise InputError(unknown("memory", memory, MEMORIES))
    environment = os.environ if environment is None else environment
    asked = asked or Method()
    if problems := asked.problems(pattern.name):
        raise InputError(*problems)
    variable = environment.get(variable_of(pattern.name), "")
    _check(pattern.name, variable)
    source = tuning_source(tuning, environment)
    there = None if host is None else (host.cpu, host.mpi, host.ranks_per_node)
    parts, origins, warning = _core.choose_method(
        pattern, _texts(asked), variable, source, dtype, fields, memory, there
    )
    if warning:
        warnings.warn(TuningWarning(warning), stacklevel=1)  # one place: Python shows each text once
    origin = {part: where for part, where in zip(PARTS, origins, strict=True) if where}
    return Chosen(Method(*(name or None for name in parts)), origin)


def choose_alone(
    pattern: _core.Pattern, dtype: str, fields: int, asked: Method | None = None, *, tuning: str | Path | None = None
) -> Chosen | None:
    """Return the result of `choose_collectively` if all ranks have the same environment. Not collective.

    None where all ranks must choose together: a tuning file is in use, or this rank alone may have a problem.
    """
    if not tuning_source(tuning, os.environ)[1]:
        with suppress(InputError):
            return choose(pattern, dtype, fields, asked, tuning="")
    return None


def variable_of(pattern: str) -> str:
    """Return the environment variable that names the method for a pattern of the core."""
    return _core.variable_of(pattern)


def tuning_source(tuning: str | Path | None, environment: Mapping[str, str]) -> tuple[str, bytes]:
    """Return the setting of the tuning file: its name, and its bytes, ``"FILE"``, ``"FILE,strict"`` or "" for none."""
    if tuning is not None:
        return "tuning ", _bytes_of(str(tuning))
    return f"{TUNING}=", _bytes_of(environment.get(TUNING, ""))


def _bytes_of(name: str) -> bytes:
    """Return a name as the file system has it; of a text that no file can have as its name, the form in errors."""
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:
        return as_utf8(name).encode()


@lru_cache(maxsize=64)  # plans are made on demand, too
def _check(pattern: str, variable: str) -> None:
    """Raise InputError with all that is wrong with the text of a variable."""
    try:
        problems = Method.parse(variable).problems(pattern)
    except InputError as error:
        problems = list(error.problems)
    if problems:
        raise InputError(*(f"{variable_of(pattern)}={variable!r}: {problem}" for problem in problems))


def _texts(choice: Method) -> tuple[str, str, str]:
    """Return the parts, "" for those that are open."""
    return choice.algorithm or "", choice.transport or "", choice.packing or ""
