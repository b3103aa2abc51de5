"""Methods of exchanges: algorithm, transport and packing, and which of them go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from functools import cache

from tradewind import _core
from tradewind.base.errors import InputError, quoted
from tradewind.base.names import unknown

NATIVE = "native"
"""The algorithm name of the MPI library's own collective, which has no transport and no packing of ours."""
DEFAULT_TRANSPORT = _core.default_transport
DEFAULT_PACKING = _core.default_packing
ALL_TO_ALL = _core.all_to_all_transport
"""The transport that is MPI's collective of packed data: it gathers every message, also what lies in one run."""
NODE_FAMILIES = ("two-level-k", "leaders-k")
"""Families whose radix is the number of ranks per node."""
PARTS = ("algorithm", "transport", "packing")


@dataclass(frozen=True)
class Method:
    """Algorithm, transport and packing of an exchange. A part that is None is open."""

    algorithm: str | None = None
    transport: str | None = None
    packing: str | None = None

    @classmethod
    def parse(cls, text: str) -> Method:
        """Return the method of a text, like ``"sweep,isend-irecv,buffer"``; parts may be empty or left out.

        Raises InputError for more than three.
        """
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > len(PARTS):
            raise InputError(f"{len(parts)} parts, but ALGORITHM,TRANSPORT,PACKING are allowed, like sweep,,buffer")
        return cls(*(part or None for part in parts))

    def __str__(self) -> str:
        return ",".join(part or "" for part in astuple(self))

    def problems(self, pattern: str) -> list[str]:
        """Return the wrong names, for a pattern of that name."""
        found = [
            f"{part} {quoted(name)}: a name is allowed"
            for part in PARTS
            if (name := getattr(self, part)) is not None and not isinstance(name, str)
        ]
        if found:
            return found
        if self.algorithm is not None and self.algorithm != NATIVE:
            found += algorithm_problems(pattern, self.algorithm)
        for part, name, names in (
            ("transport", self.transport, transport_names),
            ("packing", self.packing, packing_names),
        ):
            if name is not None and name not in names():
                found.append(unknown(part, name, names()))
        return found


Choice = Method
"""The former name of `Method`."""


@cache
def transport_names() -> tuple[str, ...]:
    """Return the names of all transports, also of those that go with few schedules and packings."""
    return tuple(entry.name for entry in _core.transports())


@cache
def device_transports() -> tuple[str, ...]:
    """Return the names of transports that carry messages between arrays on devices alone."""
    return tuple(entry.name for entry in _core.transports() if entry.on_devices)


@cache
def host_transports() -> tuple[str, ...]:
    """Return the names of the others, which carry messages between arrays of the host, too."""
    return tuple(name for name in transport_names() if name not in device_transports())


def host_problems(transports: Sequence[str]) -> list[str]:
    """Return the problems of transports for arrays in the host's memory."""
    return [
        f"transport {name} carries messages between arrays on devices, and these lie in the host's memory"
        for name in transports
        if name in device_transports()
    ]


@cache
def two_sided_names() -> tuple[str, ...]:
    """Return the names of transports whose posting orders differ: each other one has the order of one of these."""
    return tuple(entry.name for entry in _core.transports() if entry.family == "two-sided")


@cache
def packing_names() -> tuple[str, ...]:
    """Return the names of all packings."""
    return tuple(entry.name for entry in _core.packings())


def algorithm_problems(pattern: str, algorithm: str) -> list[str]:
    """Return the problems of the name of an algorithm for a pattern; none for a known one."""
    entries = [entry for entry in _core.algorithms() if entry.pattern == pattern]
    base, _, radix = algorithm.rpartition("-")
    for entry in entries:
        if entry.name == algorithm or (entry.has_radix and entry.name == f"{base}-k" and radix):
            return []
    names = [entry.name for entry in entries]
    return [unknown(f"{pattern} algorithm", algorithm, names)]


def default_algorithm(pattern: str) -> str:
    """Return the algorithm that a pattern uses when none is named: one that every rank count allows."""
    return _core.default_algorithm(pattern)


def default_method(pattern: str) -> Method:
    """Return the method of a plan where nothing is chosen."""
    return Method(default_algorithm(pattern), DEFAULT_TRANSPORT, DEFAULT_PACKING)


def algorithm_names(patterns: Sequence[_core.Pattern]) -> Iterator[str]:
    """Yield each algorithm for patterns of one kind, and native; radices are powers of two and the largest.

    Node-aware halos and fetches only where a node has several ranks and there are several nodes.
    """
    for entry in _core.algorithms():
        if entry.pattern != patterns[0].name:
            continue
        if not entry.has_radix:
            yield entry.name
            continue
        ranges = [entry.radices(pattern) for pattern in patterns]
        minimum, maximum = max(r[0] for r in ranges), min(r[1] for r in ranges)
        maximum = min(maximum, max(minimum, patterns[0].ranks))  # one rank allows any radix
        radices = {minimum, maximum, *(2**i for i in range(1, 31) if minimum < 2**i < maximum)}
        if entry.pattern in ("halo", "fetch") and entry.name in NODE_FAMILIES:
            radices -= {1, patterns[0].ranks}  # nothing to gather: these are `direct`
        for radix in sorted(radices):
            yield entry.name.replace("-k", f"-{radix}")
    yield NATIVE


def native_refusal(pattern: _core.Pattern) -> str:
    """Return why MPI has no collective for a pattern; "" if it has one."""
    return _core.native_refusal(pattern)


def combinations(algorithms: Sequence[str], transports: Sequence[str], packings: Sequence[str]) -> Iterator[Method]:
    """Yield the methods with one name of each list; native has no transport and no packing."""
    for algorithm in algorithms:
        if algorithm == NATIVE:
            yield Method(NATIVE)
            continue
        for transport in transports:
            for packing in packings:
                yield Method(algorithm, transport, packing)


def methods(
    pattern: _core.Pattern, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> tuple[list[Method], list[tuple[Method, str]]]:
    """Return the methods for a pattern, the default one first, and the skipped ones, each with the reason.

    Those of arrays in the host's memory.

    `include`: only what one of these matches; `exclude`: nothing that one of these matches. A text without a comma
    is the name of any part, with commas it is ALGORITHM,TRANSPORT,PACKING, where an empty part matches all; ``*``,
    ``?`` and ``[...]`` are wildcards. An algorithm that is named with a radix is tried with it. Raises InputError
    for a text that matches nothing, and where no method is left.
    """
    named = [name for text in include if _is_algorithm(pattern, name := text.partition(",")[0])]
    algorithms = list(dict.fromkeys([*algorithm_names([pattern]), *named]))
    every = list(combinations(algorithms, host_transports(), packing_names()))
    if problems := [*_unmatched("include", include, every), *_unmatched("exclude", exclude, every)]:
        raise InputError(*problems)
    wanted = [w for w in every if not include or any(_matches(w, text) for text in include)]
    wanted = [w for w in wanted if not any(_matches(w, text) for text in exclude)]
    refused = {method: reason for method in wanted if (reason := refusal(pattern, method))}
    allowed = sorted((w for w in wanted if w not in refused), key=lambda w: w != default_method(pattern.name))
    if not allowed:
        raise InputError(f"no method for this {pattern.name} is left", *dict.fromkeys(refused.values()))
    return allowed, list(refused.items())


def _is_algorithm(pattern: _core.Pattern, name: str) -> bool:
    return not algorithm_problems(pattern.name, name)


def refusal(pattern: _core.Pattern, method: Method) -> str:
    """Return why a method cannot carry out a pattern; "" if it can."""
    return _core.method_refusal(pattern, method.algorithm or "", method.transport or "", method.packing or "")


def _matches(method: Method, text: str) -> bool:
    wanted = text.split(",")
    if len(wanted) == 1:
        return any(fnmatchcase(part or "", text) for part in astuple(method))
    return all(fnmatchcase(part or "", name or "*") for part, name in zip(astuple(method), wanted, strict=False))


def _unmatched(what: str, texts: Sequence[str], every: Sequence[Method]) -> Iterator[str]:
    names = list(dict.fromkeys(part for method in every for part in astuple(method) if part))
    for text in texts:
        if text.count(",") >= len(PARTS):
            yield f"{what} {text!r}: ALGORITHM,TRANSPORT,PACKING are allowed, like sweep,,buffer"
        elif not any(_matches(method, text) for method in every):
            missing = next((part for part in text.split(",") if part not in names), text)
            yield f"{what} {text!r} matches no method: " + unknown("name", missing, names)
