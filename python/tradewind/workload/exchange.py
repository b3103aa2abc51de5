"""One exchange as a user asks for it on the command line, in a study or in Python: the base of all patterns' requests.

A request checks itself and reports everything that is wrong with it at once; `steps()` makes the schedules that are run
one after another (three for a whole transposition, or as many as a path through layouts has).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tradewind import _core
from tradewind.base.elements import DTYPES, point_bytes
from tradewind.base.errors import InputError
from tradewind.base.extents import MAX_EXTENT
from tradewind.method.method import Method, algorithm_problems, default_algorithm
from tradewind.workload.options import from_plain, option, options_of, problems_of
from tradewind.workload.registry import pattern_named
from tradewind.workload.workload import Workload

if TYPE_CHECKING:
    from tradewind.workload.arrays import Arrays

MAX_TIMES = 1_000_000
"""Repetitions: one step each, in a list."""


@dataclass(frozen=True)
class Exchange(Workload):
    """A request for one exchange. All fields are plain values; `as_dict` is its identity in a study.

    ``Exchange("halo", 8, grid=(64, 64, 10), width=2)`` makes the request of the pattern of that name; see
    `tradewind.workload.patterns`. Raises InputError, with every problem at once, when it is made.
    """

    pattern: str
    ranks: int = option("Number of ranks.", minimum=1, maximum=MAX_EXTENT, common=True, by_name=False)
    algorithm: str | None = option(
        "Like ring-4; see `tradewind list algorithms`.", None, common=True, shown="the pattern's own"
    )
    times: int = option(
        "Number of exchanges in a row.",
        1,
        minimum=1,
        maximum=MAX_TIMES,
        common=True,
        label="repetitions in a row",
    )
    fields: int = option(
        "Fields per message.", 1, minimum=1, maximum=MAX_EXTENT, common=True, label="fields in a message"
    )
    dtype: str = option(
        f"Element type: {', '.join(DTYPES)}.", "f8", known=lambda: DTYPES, common=True, label="element type"
    )

    family: ClassVar[str] = "exchange"
    kind: ClassVar[str]
    """The name of the pattern, as users give it."""
    core_pattern: ClassVar[str]
    """The pattern of the core that it is made of: by its name algorithms, variables and tuned methods are found."""
    floor_algorithm: ClassVar[str | None] = None
    """The algorithm of one stage, whose memory traffic a benchmark compares with; None: the request's own."""
    former: ClassVar[Mapping[str, str]] = {}
    """Options that it had in earlier versions, each with the pattern that has it now."""
    without: ClassVar[tuple[str, ...]] = ()
    """Options of all requests that this one does not have."""

    def __init__(  # of the classes below each has one of its own
        self,
        pattern: str,
        ranks: int,
        grid: tuple[int, int, int] | None = None,
        split: tuple[int, int] | None = None,
        **values: Any,
    ) -> None:
        raise NotImplementedError

    def __new__(cls, pattern: str = "", *args: Any, **values: Any) -> Self:
        """A request of the class that `pattern` names."""
        if cls is not Exchange:
            return super().__new__(cls)
        given = dict(zip(("ranks", "grid", "split"), args, strict=False)) | values
        kind = pattern_named(pattern).meant(given)
        known = options_of(kind)
        named = ["pattern", *known]
        if strange := [name for name in given if name not in named]:
            raise InputError(*(f"{name} does not apply to {kind.kind}: leave it out" for name in strange))
        made: Self = object.__new__(kind)  # of a subclass, whose __init__ Python calls
        return made

    @classmethod
    def meant(cls, values: Mapping[str, Any]) -> type[Exchange]:
        """The class of a request with these values; another one where an earlier version spelled it so."""
        for name, pattern in cls.former.items():
            if values.get(name) is not None:
                found: type[Exchange] = pattern_named(pattern)
                return found
        return cls

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", self.kind)
        problems = problems_of(self)
        if self.algorithm is not None:
            problems += algorithm_problems(self.core_pattern, self.algorithm)
        if problems := problems + self._problems():
            raise InputError(*problems)
        self._complete()
        self._try_schedules()

    def _fill(self, name: str, value: Any) -> None:
        """Set a value that the request has left open."""
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    def _problems(self) -> list[str]:
        """Return the problems beyond the checks of `option`."""
        return []

    def _complete(self) -> None:
        """Set all values that are open, after those that are given were checked."""
        self._fill("algorithm", default_algorithm(self.core_pattern))

    def _try_schedules(self) -> None:
        """Make the schedules, for which the core checks radices and empty parts. Raises InputError."""
        for schedule in self.schedules().values():
            _core.check_bytes(schedule.pattern, self.bytes_per_point)

    @property
    def detail(self) -> str:
        """Part of the label after pattern and algorithm, such as the width of a halo; may be empty."""
        return ""

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point with all fields."""
        return point_bytes(self.fields, self.dtype)

    @property
    def element_bytes(self) -> int:
        """Bytes of a point of one field."""
        return DTYPES[self.dtype]

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return " ".join(filter(None, (self.pattern, self.detail, self.algorithm)))

    @staticmethod
    def arrays() -> type[Arrays] | None:
        """Return the known arrays before and after; None if unknown."""
        return None

    def schedule(self, pattern: _core.Pattern) -> _core.Schedule:
        """The schedule of a pattern by the algorithm of the request."""
        assert self.algorithm is not None
        return _core.make_schedule(pattern, self.algorithm)

    def alone(self, step: str) -> Exchange:
        """The request for one of its steps, once."""
        return replace(self, times=1)

    def require_arrays(self) -> None:
        """Raises InputError for an exchange whose arrays are unknown."""
        if self.arrays() is None:
            raise InputError(f"{self.name}: it has no arrays; verify, show, simulate and advise take it")

    def imbalance(self) -> float:
        """Points of the largest part over the mean, the worst over the layouts that the exchange touches."""
        return 1.0

    @classmethod
    def sized(cls, size: int, ranks: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options by which a message has `size` bytes. `options`: those that are given.

        Raises InputError for a size that no message can have, and for options that follow from the size.
        """
        raise InputError(
            f"sizes: the messages of {cls.kind} follow from its points; those of halo, transpose and "
            "allreduce can have any size"
        )

    @classmethod
    def _elements(cls, size: int, options: Mapping[str, Any], following: Collection[str], each: int = 1) -> int:
        """Return the elements, of `each` points, of a message of `size` bytes. `following`: options that follow."""
        if given := [name for name in following if options.get(name) is not None]:
            raise InputError(*(f"{name} follows from the sizes: leave it out" for name in given))
        fields, dtype = options.get("fields", 1), options.get("dtype", "f8")
        unit = max(1, fields * each) * DTYPES.get(dtype, 8)
        if size % unit:
            raise InputError(f"size {size}: a multiple of {unit} bytes is allowed, an element of each field and row")
        return int(size // unit)

    @staticmethod
    def from_plain(values: Mapping[str, Any]) -> Exchange:
        """The request of the plain values of `as_dict` or ``asdict``, also after a way through JSON."""
        found: Exchange = from_plain(pattern_named(values["pattern"]).meant(values), values)
        return found

    def as_dict(self) -> dict[str, Any]:
        """The request as plain values: pattern, ranks, what is its own and how it is carried out."""
        return {name: getattr(self, name) for name in self.keys()}

    @classmethod
    def keys(cls) -> list[str]:
        """The names of the plain values, in their order."""
        names = [field.name for field in fields(cls) if field.name not in cls.without]
        common = ["times", "fields", "dtype"]
        first = ["pattern", "ranks", *(name for name in ("grid", "split") if name in names), "algorithm"]
        own = [name for name in names if name not in (*first, *common)]
        return [*first, *own, *(name for name in common if name in names)]


def exchange_refusal(exchange: Exchange, method: Method) -> str:
    """Return why transport and packing cannot carry out all schedules of an exchange; "" if they can, or are open."""
    if method.transport is None or method.packing is None:
        return ""
    schedules = replace(exchange, algorithm=method.algorithm).schedules().values()
    refusals = (_core.transport_refusal(schedule, method.transport, method.packing) for schedule in schedules)
    return next(filter(None, refusals), "")
