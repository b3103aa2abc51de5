"""The base of all dwarfs' requests: common options, and the properties that each dwarf defines."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from tradewind import _core
from tradewind.base.collective import check_communicator, collective_throughout, proceed
from tradewind.base.elements import DTYPES
from tradewind.base.errors import InputError, gathered
from tradewind.base.extents import MAX_EXTENT
from tradewind.base.names import unknown
from tradewind.device.names import DEVICES, GPUS, HOST_NAME, SIMULATED
from tradewind.dwarfs.frame.reference import agreement, difference
from tradewind.method.method import (
    DEFAULT_PACKING,
    DEFAULT_TRANSPORT,
    NATIVE,
    Method,
    algorithm_problems,
    default_algorithm,
    host_problems,
    packing_names,
    transport_names,
)
from tradewind.workload.options import option, problems_of
from tradewind.workload.workload import Step, Workload

if TYPE_CHECKING:
    from pathlib import Path

    from mpi4py import MPI

    from tradewind.dwarfs.frame.running import Running
    from tradewind.dwarfs.frame.step import Call
    from tradewind.mpi.library import Array
    from tradewind.workload.program import Compute, Exchanged, ProgramWorkload

PRECISIONS = ("f4", "f8")
_MAX_THREADS = 1024
_MAX_WORK = 1_000_000
_OPEN = "what plan() chooses"


def copied(moved: float) -> float:
    """Return `Compute.bytes` of a loop: those of a copy that reads and writes as many bytes.

    `moved`: bytes that the loop reads, and those that it writes. `node.memory_bandwidth` is the rate of copies, of
    which each byte is read and written.
    """
    return moved / 2


def packing_of(transport: str) -> str:
    """Return the packing of a transport where none is named: the usual one, if it has that."""
    packings = next((entry.packings for entry in _core.transports() if entry.name == transport), ())
    return DEFAULT_PACKING if DEFAULT_PACKING in packings or not packings else packings[0]


def _span_problems(what: str) -> Callable[[float], list[str]]:
    """The check of a time in seconds that may be 0 and must have an end."""
    return lambda value: [] if 0 <= value < math.inf else [f"{what} {value} s: 0 or more is allowed"]


def method_option(plan: str, pattern: str) -> Any:
    """The option ``NAME_method`` of a dwarf that has more than one plan: the method of the plan `plan` of a pattern."""

    def problems(text: str) -> list[str]:
        try:
            return Method.parse(text).problems(pattern)
        except InputError as error:
            return list(error.problems)

    help = f"Method of the {plan}: ALGORITHM,TRANSPORT,PACKING; parts may be empty."
    return option(help, None, problems=problems, shown=_OPEN, label=f"method of the {plan}")


def device_option(*devices: str) -> Any:
    """The option `device` of a dwarf whose loops have kernels for these devices, all unless given."""
    known = devices or DEVICES
    simulated = "; simulated, a GPU's kernels on the host" if SIMULATED in known else ""
    help = f"Where fields lie and loops run: host; cuda or rocm, on GPUs{simulated}."
    return option(help, HOST_NAME, known=lambda: known, swept=False)


@dataclass(frozen=True)
class Dwarf(Workload, ABC):
    """A request for a dwarf. All fields are plain values, which can go to other processes as JSON.

    A dwarf declares its own fields by `option`, as a pattern does. Raises InputError, with every problem at once, when
    it is made.
    """

    ranks: int = option("Number of ranks.", minimum=1, maximum=MAX_EXTENT, common=True, by_name=False, swept=False)
    precision: str = option(
        f"Element type: {' or '.join(PRECISIONS)}.",
        "f8",
        known=lambda: PRECISIONS,
        common=True,
        label="element type of a dwarf",
    )
    strategy: str | None = option("When it exchanges and when it computes.", None, common=True)
    """The first of `strategies` unless given."""
    algorithm: str | None = option("Algorithm of the exchange, like sweep.", None, common=True, shown=_OPEN)
    """Algorithm, `transport` and `packing` are those of the first plan; `tradewind.mpi.plan` chooses what is open."""
    transport: str | None = option(
        "Transport of the exchange, like isend-irecv.", None, known=transport_names, common=True, shown=_OPEN
    )
    packing: str | None = option(
        "Packing of the exchange, like buffer.", None, known=packing_names, common=True, shown=_OPEN
    )
    threads: int = option(
        "Threads per rank.", 1, minimum=1, maximum=_MAX_THREADS, common=True, label="threads per rank"
    )
    work: int = option(
        "Repetitions of each computation: more work per exchange.",
        1,
        minimum=1,
        maximum=_MAX_WORK,
        common=True,
        label="repetitions of each computation of a dwarf",
    )
    point_s: float = option(
        "With --simulate: time of a core per point, without memory traffic, like 15ns.",
        0.0,
        flag="--point-time",
        unit="s",
        problems=_span_problems("time of a point"),
        shown="by node.flops",
        swept=False,
        common=True,
    )
    """Seconds; 0: by the flops of the machine."""
    check: bool = option(
        "Compare checksums of messages, and the result with that of a reference code.",
        False,
        swept=False,
        common=True,
    )
    watchdog_s: float = option(
        "Maximum seconds per exchange; a longer one is an error.",
        0.0,
        flag="--watchdog",
        problems=_span_problems("watchdog"),
        shown="never",
        swept=False,
        common=True,
    )

    family: ClassVar[str] = "dwarf"
    cost_version: ClassVar[int | None] = 2
    """2: loops are charged the bytes of a copy (`copied`), where before they were charged twice as many."""
    kind: ClassVar[str]
    """The name of the dwarf, as users give it."""
    strategies: ClassVar[Mapping[str, Callable[[Any, int], int]]]
    """By name the functions that advance a `tradewind.dwarfs.frame.step.Step` by some of the steps that are left, and
    return by how many. The first is taken where none is named."""
    added_later: ClassVar[Mapping[str, Any]] = {}
    """Options that earlier versions did not have, with their defaults: keys of cases without them stay as they are."""
    not_simulated: ClassVar[tuple[str, ...]] = ()
    """Strategies that cannot be simulated."""
    host_only: ClassVar[tuple[str, ...]] = ()
    """Strategies whose fields cannot lie on a device."""
    plans: ClassVar[Mapping[str, str]]
    """Its exchanges by name, each with the core's pattern. The first has the method of `algorithm`, `transport` and
    `packing`; each of the others that of an option ``NAME_method`` (see `method_option`)."""
    diagnostics: ClassVar[Mapping[str, str]]
    """The numbers that `Running.diagnose` returns, each with what output calls it."""
    layouts: ClassVar[tuple[str, ...]] = ()
    """Layouts of its grid that a step goes through unless options say otherwise, where its ranks must fit them all."""
    numbered: ClassVar[bool] = False
    """Whether labels of the program's steps begin with their numbers."""
    has_map: ClassVar[bool] = False
    """Whether a run has a map to draw, see `Running.map`."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Make `on` of each dwarf collective, throughout: what one rank cannot do is raised on all."""
        super().__init_subclass__(**options)
        for name in {"on"} & vars(cls).keys():
            setattr(cls, name, _on_ranks(vars(cls)[name]))

    def __post_init__(self) -> None:
        problems = problems_of(self)
        if self.strategy is not None and self.strategy not in self.strategies:
            problems.append(unknown("strategy", self.strategy, self.strategies))
        else:
            self._choose(strategy=next(iter(self.strategies)))
        if self.algorithm is not None and self.algorithm != NATIVE:  # a plan checks what MPI has for its pattern
            problems += algorithm_problems(next(iter(self.plans.values())), self.algorithm)
        if self.device_name != HOST_NAME and self.strategy in self.host_only:
            allowed = ", ".join(name for name in self.strategies if name not in self.host_only)
            problems.append(f"strategy {self.strategy}: with device {self.device_name} {allowed} are allowed")
        if problems := problems + self._problems():
            raise InputError(*dict.fromkeys(problems))

    def __getstate__(self) -> dict[str, Any]:
        """Return the options alone: other processes compute by themselves what follows from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @abstractmethod
    def _problems(self) -> list[str]:
        """Return problems of the request beyond the checks of `option`; may fill in open values."""

    def program(self) -> ProgramWorkload:
        """The program of `steps_per_round` time steps: what the strategy does, written down.

        Raises InputError for the strategies of `not_simulated`, and for fields on a device.
        """
        from tradewind.dwarfs.frame.recorder import recorded  # here, as the command line lists options of this class

        return recorded(self).program()

    def pattern(self, name: str) -> _core.Pattern:
        """Return the pattern of one of the exchanges, over all ranks: for programs. Raises InputError."""
        raise NotImplementedError

    def exchange_name(self, name: str, of: Any) -> str:
        """Return the name in programs of an exchange, for a dwarf that has several schedules for one of its plans.

        `of`: the name of the array that is exchanged.
        """
        return name

    def exchanged(self, name: str) -> Exchanged | _core.Schedule:
        """One of the exchanges as programs have it: a schedule, or with a method of its own, see `named_exchange`."""
        pattern = self.pattern(name)
        return _core.make_schedule(pattern, self.method(name).algorithm or default_algorithm(pattern.name))

    def schedule(self, name: str, pattern: _core.Pattern) -> _core.Schedule:
        """The schedule of one of the exchanges; an algorithm of ours stands for `native`."""
        algorithm = self.method(name).algorithm
        if algorithm in (None, NATIVE):
            algorithm = default_algorithm(pattern.name)
        return _core.make_schedule(pattern, str(algorithm))

    def named_exchange(self, name: str, dtype: str = "f8") -> Exchanged:
        """One of the exchanges with its transport and packing, see `schedule`."""
        from tradewind.workload.steps import Exchanged

        method = self.method(name)
        transport = method.transport or DEFAULT_TRANSPORT
        packing = method.packing or packing_of(transport)
        return Exchanged(
            name, self.schedule(name, self.pattern(name)), dtype=dtype, transport=transport, packing=packing
        )

    def computation(self, label: str, calls: Sequence[Call], during: _core.Schedule | None = None) -> Compute:
        """A step of a program: calls of loops, one after another, by their costs per point (`Call.cost`)."""
        raise NotImplementedError

    def device_problems(self) -> list[str]:
        """Return why it has no program, if its fields lie on a device: programs have the times of the host."""
        if self.device_name == HOST_NAME:
            return []
        return [f"device {self.device_name}: machine files have the rates of hosts, so {HOST_NAME} alone is simulated"]

    def simulation_problems(self) -> list[str]:
        """Return why it cannot be simulated: what `program` raises, unless a dwarf finds it with less effort."""
        problems: list[str] = []
        with gathered(problems):
            self.program()
        return problems

    @abstractmethod
    def on(self, comm: MPI.Intracomm, *, record: str = "totals") -> Running:
        """The dwarf at its first step, on the ranks of a communicator. Collective. `record`: see `Running.events`.

        Raises InputError for another number of ranks, and PlanError where another rank raises anything, or has other
        options.
        """

    @abstractmethod
    def reference_step(self, whole: Array) -> Array:
        """The whole state, as `Running.gathered` returns it, a step later: by other code than that which runs."""

    @property
    @abstractmethod
    def points(self) -> int:
        """Grid points that a step advances, on all ranks."""

    @property
    def tolerance(self) -> float:
        """Maximum distance of the state from the reference, as a fraction of its largest value; 0: the same bits."""
        return 0.0

    @property
    def steps_per_round(self) -> int:
        """Steps from one round of exchanges to the next."""
        return 1

    @property
    def simulated_iterations(self) -> int | None:
        """Iterations of a solver in the program of a step; None: there is no solver, or it takes one per step."""
        return None

    @property
    def checked_steps(self) -> int | None:
        """Steps at the end of a run that its check takes again, where all of them would take long; None: all."""
        return None

    def reference(self, whole: Array, steps: int) -> Array:
        """The whole state some steps later."""
        for _ in range(steps):
            whole = self.reference_step(whole)
        return whole

    def difference(self, found: Array, wanted: Array) -> str:
        """Return where a state is farther from the reference than `tolerance` allows, in words; "" where it is not."""
        return difference(found, wanted, self.tolerance)

    @property
    def agreement(self) -> str:
        """Statement that holds where `difference` finds nothing."""
        return agreement(self.tolerance)

    @property
    def name(self) -> str:
        """A short label, for tables and plots."""
        return f"{self.kind} {self.strategy}"

    @property
    def device_name(self) -> str:
        """Name of the device where its fields lie."""
        name: str = getattr(self, "device", HOST_NAME)
        return name

    @property
    def bytes_per_point(self) -> int:
        """Bytes of a grid point in a message: fields travel one by one."""
        return self.element_bytes

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return DTYPES[self.precision]

    @property
    def unit_roundoff(self) -> float:
        """Largest relative error of one rounding in the dwarf's precision: bounds of a check are multiples of it."""
        return {4: 2.0**-24, 8: 2.0**-53}[self.element_bytes]

    @property
    def named_method(self) -> tuple[str | None, str | None]:
        """Transport and packing of its messages, as far as it names them."""
        return self.transport, self.packing

    def steps(self) -> list[Step]:
        """Return the exchanges of its program. Raises InputError."""
        return self.program().steps()

    def simulate(self, machine: str | Path, **options: Any) -> dict[str, Any]:
        """Simulate `steps_per_round` steps on a machine; see `tradewind.simulate`."""
        from tradewind.simulation import simulate

        return simulate(self, machine, **options)

    def verify(self) -> dict[str, Any]:
        """Prove the program of `steps_per_round` steps; see `tradewind.verification.verify`.

        Raises InputError as `program` does.
        """
        from tradewind.verification import verify

        return verify(self.program())

    def derived(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return the steps that were simulated, and the computing seconds of one of them, where these are known."""
        compute_s, steps = self.program().compute_s(result), self.steps_per_round
        return {"steps": steps, "compute_s": None if compute_s is None else compute_s / steps}

    def traits(self) -> list[str]:
        """Return grid, ranks, transport, threads and work as texts, for a line about it."""
        grid = self.labels().get("grid")
        many = [f"{key} {n}" for key in ("threads", "work") if (n := getattr(self, key)) > 1]
        return list(filter(None, (grid, f"{self.ranks} ranks", self.transport, *many)))

    def as_dict(self) -> dict[str, Any]:
        """Return the request as plain values; options of later versions only where they are not the default."""
        values = asdict(self)
        for name, default in {"device": HOST_NAME, **self.added_later}.items():
            if values.get(name) == default:
                del values[name]
        return {"dwarf": self.kind, **values}

    def _choose(self, **values: Any) -> None:
        """Fill in open values of the request."""
        for name, value in values.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def method(self, plan: str) -> Method:
        """The method of one of the `plans`, as far as it is given."""
        if plan == next(iter(self.plans)):
            return Method(self.algorithm, self.transport, self.packing)
        text = getattr(self, f"{plan}_method")
        return Method() if text is None else Method.parse(text)

    def plan_options(self, plan: str) -> dict[str, Any]:
        """The options of `tradewind.mpi.plan` for one of the `plans`."""
        return {**asdict(self.method(plan)), "check": self.check, "watchdog_s": self.watchdog_s}

    def transport_problems(self, plan: str, schedules: Mapping[str, _core.Schedule]) -> list[str]:
        """Return why the transport of a plan cannot carry its schedules."""
        known = {entry.name: entry for entry in _core.transports()}
        method = self.method(plan)
        if method.transport not in known:
            return []
        if self.device_name not in GPUS and (problems := host_problems([method.transport])):
            return problems
        packing = method.packing or known[method.transport].packings[0]
        refusals = (_core.transport_refusal(each, method.transport, packing) for each in schedules.values())
        return list(filter(None, refusals))


def _on_ranks(on: Callable[..., Running]) -> Callable[..., Running]:
    """`Dwarf.on` of ranks that have the same dwarf."""

    @functools.wraps(on)
    def checked(dwarf: Dwarf, comm: MPI.Intracomm, *args: Any, **options: Any) -> Running:
        check_communicator(comm)
        if comm.Get_size() != dwarf.ranks:
            raise InputError(f"{comm.Get_size()} ranks run a dwarf that was made for {dwarf.ranks}")
        proceed(comm, repr(dwarf))
        return on(dwarf, comm, *args, **options)

    return collective_throughout(checked)
