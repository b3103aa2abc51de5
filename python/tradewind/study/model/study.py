"""Keys of a study file. Every key that may hold a list multiplies the cases of its sweep by its length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, create_model, model_validator

from tradewind.base.errors import InputError
from tradewind.base.tables import Table, one_of
from tradewind.base.units import seconds
from tradewind.dwarfs import find
from tradewind.method.method import DEFAULT_PACKING, DEFAULT_TRANSPORT, packing_names, transport_names
from tradewind.study.model.base_model import Base
from tradewind.study.model.dwarf_keys import single_fields, varied_fields
from tradewind.study.model.labels import label_value
from tradewind.study.model.machine_keys import OnMachine
from tradewind.study.model.output_model import OutputSweep
from tradewind.study.model.pattern_keys import key_fields, swept_patterns
from tradewind.study.model.program_model import ProgramSweep
from tradewind.study.model.trace_sweep import TraceSweep
from tradewind.study.model.values import (
    Grid,
    Many,
    Positive,
    Quick,
    Split,
    T,
    Value,
    checked,
    listed,
    rising,
    split_by_ranks,
)
from tradewind.study.model.weather_model_sweep import WeatherModelSweep
from tradewind.workload.repetitions import tolerance_of

KINDS = ("verify", "measure", "simulate", "run", "program", "model", "output", "trace", "published")
PLOTS = {
    "time": "time against ranks",
    "bars": "time of each curve as a bar",
    "parts": "where the time of a step goes, as stacked bars; for runs of dwarfs and whole models",
    "causes": "time of a step by cause, as stacked bars; for whole models, of sweeps with causes = true",
    "delay": "histogram of the delay of packets",
    "best": "the number in the fastest curve (a radix) against ranks, and how often each is the fastest",
    "congestion": "how busy the links between switches are, as a matrix; for sweeps with congestion = true",
    "groups": "how busy the links between groups of switches are, and what they carried; for the same sweeps",
    "over-time": "mean delay of the packets that arrive, over simulated time; for the same sweeps",
    "pairs": "how long packets wait between blocks of ranks, as a matrix; for sweeps with pairs",
    "matrix": "which rank sends how much to which, as a matrix",
}
"""The kinds of plots, and what they show."""
FORMER_QUANTITIES = {
    "least": "minimum",
    "elsewhere": "non-compute",
    "share-elsewhere": "non-compute-share",
    "unevenness": "delay-imbalance",
    "lost": "parallel-loss",
}
"""Former names of quantities, in study files of earlier versions, and today's."""
QuantityName = Literal[
    "time",
    "days-per-day",
    "hour-time",
    "compute-share",
    "imbalance-share",
    "waiting-for-servers-share",
    "pack-share",
    "latency-share",
    "bandwidth-share",
    "congestion-share",
    "minimum",
    "step-time",
    "replay-ratio",
    "compute",
    "non-compute",
    "non-compute-share",
    "points",
    "copy-ratio",
    "imbalance",
    "bound",
    "delay",
    "delay-imbalance",
    "switch-time",
    "link-time",
    "energy",
    "node-power",
    "power-imbalance",
    "node-time",
    "memory",
    "messages",
    "efficiency",
    "parallel-loss",
    "blocked",
    "blocked-share",
]
Wording = Literal["same", "similar", "slightly", "clearly", "far", "order of magnitude", "no worse", "about"]
"""Words of sources that set the limits of a finding (see `tradewind.study.claims.wording`)."""
Quantity = Annotated[
    QuantityName,
    BeforeValidator(lambda name: FORMER_QUANTITIES.get(name, name) if isinstance(name, str) else name),
]
"""Quantity of a curve (see `tradewind.study.claims.quantity`)."""


class PatternSweep(Table):
    """Cases of one pattern. What each kind adds stands in the classes below."""

    name: str
    """Name in plots and findings."""
    pattern: Annotated[str, one_of("pattern", swept_patterns())]
    ranks: Many[Positive]
    algorithm: Many[str] | None = None
    """None: the pattern's default."""
    quick: Quick = Field(default_factory=dict)
    """Values of some keys that a quick run computes; False: nothing of this sweep."""


if TYPE_CHECKING:

    class Sweep(PatternSweep):
        """The same, with the keys of all patterns; these are two that all on a grid have."""

        grid: Many[Grid] | None = None
        split: Annotated[dict[int, Many[Split]], BeforeValidator(split_by_ranks)] = Field(default_factory=dict)
        """For each number of ranks; under 0 for all others. Numbers that are not named take the default split."""

else:
    Sweep = create_model("Sweep", __base__=PatternSweep, __module__=__name__, **key_fields())


class VerifySweep(Sweep):
    """Each case is proved in one process."""

    kind: Literal["verify"]
    transport: Many[Annotated[str, one_of("transport", transport_names())]] = [DEFAULT_TRANSPORT]


class MeasureSweep(Sweep):
    """Each case is timed on this machine, alone."""

    kind: Literal["measure"]
    transport: Many[Annotated[str, one_of("transport", transport_names())]] = [DEFAULT_TRANSPORT]
    packing: Many[Annotated[str, one_of("packing", packing_names())]] = [DEFAULT_PACKING]
    repeat: Positive = 20
    rounds: Positive = 1
    """More than 1: cases take turns. In each round all that differ in algorithm, transport and packing alone are
    measured by one job of ranks, with a part of their samples: what changes on this machine changes for all of them."""

    @model_validator(mode="after")
    def _samples(self) -> Self:
        if self.rounds > self.repeat:
            raise ValueError(f"rounds {self.rounds}: at most repeat, {self.repeat}, as each has a sample or more")
        return self


def _steady(value: object) -> object:
    if value is not False:
        tolerance_of(value)
    return value


class SimulateSweep(Sweep, OnMachine):
    """Each case is simulated on a machine."""

    kind: Literal["simulate"]
    machine: Many[str]
    """Names, or paths of machine files from the study file's folder."""
    transport: Many[Annotated[str, one_of("transport", transport_names())]] | None = None
    """Transport within a node, of a machine that has tables for it; None: memory bandwidth only."""
    packing: Many[Annotated[str, one_of("packing", packing_names())]] | None = None
    """None: the default of a transport that is named."""
    steady: Annotated[bool | float, BeforeValidator(_steady)] = False
    """Simulate the first of many repetitions and extrapolate the rest: to 0.5 %, or to the fraction that is
    named (see `tradewind.workload.repetitions`)."""
    congestion: bool = False
    """Keep how busy links are and how delays change, for plots of congestion, groups and over-time."""
    pairs: Annotated[int, Field(ge=0, le=4096, strict=True)] = 0
    """Number of blocks of ranks between which the waiting of packets is kept, for plots of pairs; 0: not kept."""


def _known_dwarf(name: str) -> str:
    find(name)
    return name


KnownDwarf = Annotated[str, AfterValidator(_known_dwarf)]


class DwarfSweep(OnMachine):
    """Runs of one dwarf."""

    kind: Literal["run"]
    name: str
    dwarf: KnownDwarf
    ranks: Many[Positive]


class DwarfTimes(Table):
    """Times of one dwarf."""

    kind: Literal["published"]
    name: str
    dwarf: KnownDwarf
    ranks: list[Positive]


if TYPE_CHECKING:

    class RunKeys(DwarfSweep):
        """The same, with the keys of all dwarfs."""

    class PublishedKeys(DwarfTimes):
        """The same, with the keys of all dwarfs."""

else:  # with the keys of all dwarfs; None: the dwarf's own default
    RunKeys = create_model("RunKeys", __base__=DwarfSweep, __module__=__name__, **varied_fields())
    PublishedKeys = create_model("PublishedKeys", __base__=DwarfTimes, __module__=__name__, **single_fields())


class RunSweep(RunKeys):
    """Runs of a dwarf: on MPI ranks here, alone; or simulated, where it names a machine. The time is that of a step."""

    steps: Positive = 64
    """Samples of a measurement."""
    repeat: Positive = 5
    """Measurements of a case; the median counts."""
    machine: Many[str] | None = None
    """None: here."""
    nodes: Many[Positive] | None = None
    """Nodes of the machine, over which ranks are spread in equal shares, instead of `ranks_per_node`."""
    point_time: Annotated[str, checked(seconds)] | None = None
    """Time of a core per point without memory, in a simulation; None: by the machine's flops."""
    quick: Quick = Field(default_factory=dict)

    @model_validator(mode="after")
    def _nodes_once(self) -> Self:
        if self.nodes is not None and "ranks_per_node" in self.model_fields_set:
            raise InputError("nodes and ranks_per_node are alternatives: one of them is allowed")
        return self

    @property
    def point_s(self) -> float:
        """Time of a core per point in seconds; 0 where none is given."""
        return 0.0 if self.point_time is None else seconds(self.point_time)


class PublishedSweep(PublishedKeys):
    """Times that somebody has published, to be plotted and tested beside what is computed."""

    source: str
    """Where they stand."""
    time: list[Annotated[str, checked(seconds)]]
    """For each number of ranks, of all steps."""
    steps: Positive = 1
    """That a time is for."""
    nodes: Positive = 1
    quick: Quick = Field(default_factory=dict)

    @model_validator(mode="after")
    def _a_time_for_each(self) -> Self:
        if len(self.ranks) != len(self.time):
            raise InputError(f"{len(self.ranks)} numbers of ranks and {len(self.time)} times: as many are needed")
        return self


SWEEPS_ON_MACHINES = SimulateSweep | RunSweep | ProgramSweep | OutputSweep | WeatherModelSweep | TraceSweep
"""Sweeps that may be simulated."""


def _as_labels(selection: object) -> object:
    """The values of a selection as the cases have them."""
    if not isinstance(selection, dict):
        return selection
    return {label: [label_value(label, value) for value in listed(values)] for label, values in selection.items()}


Selection = Annotated[dict[str, Annotated[list[Value], BeforeValidator(listed)]], BeforeValidator(_as_labels)]
"""Cases by their labels: ``{ sweep = "halo", width = [3, 20] }``."""


class Plot(Table):
    """A figure, of a kind of `PLOTS`."""

    kind: Annotated[str, one_of("kind of plot", tuple(PLOTS))] = "time"
    title: str
    of: Many[Selection]
    """The cases of several selections are drawn together."""
    curve: str = "exchange"
    """The label in which curves differ."""
    panel: str | None = None
    """The label in which panels differ."""
    along: str = "ranks"
    """time: the label of the horizontal axis."""
    quantity: Quantity = "time"
    """time: that of the vertical axis."""
    over: Selection = Field(default_factory=dict)
    """time: each case is divided by the one that is like it but for these labels (and its sweep)."""
    note: str = ""


Span = Annotated[tuple[T, T], rising()]
"""Two values, the first no larger than the second."""


class RankSpan(Table):
    """All numbers of ranks within limits, as far as there are cases."""

    from_: Annotated[Positive, Field(alias="from")] = 1
    to: Positive = 2**31 - 1

    def __contains__(self, ranks: int) -> bool:
        return self.from_ <= ranks <= self.to


class ValueOf(Table):
    """A number in the remark of a finding (see `tradewind.study.claims.remarks`)."""

    of: Selection
    over: Selection | None = None
    """Then it is their ratio."""
    quantity: Quantity = "time"


class Finding(Table):
    """A claim, and one test of it over the cases (see `tradewind.study.claims.finding`)."""

    figure: str
    claim: str
    where: Selection = Field(default_factory=dict)
    """Holds for every selection of the test."""
    ranks: RankSpan | Many[Positive] | None = None
    """The numbers of ranks where the test must hold: each of a list, or those of a span that the cases have; None: all
    that they have."""
    along: Literal["ranks", "nodes", "servers", "steps"] = "ranks"
    """Number that curves are against, and that `ranks` and `between` count; nodes: unlike ranks per node compare;
    servers, and steps between outputs, of sweeps of output."""
    quantity: Quantity = "time"
    tolerance: Annotated[float, Field(ge=0)] = 0.1
    factor: Annotated[float, Field(gt=0)] = 1.0
    wording: Wording | None = None
    """In place of both: the word of the source that sets the limits."""
    better: Selection | None = None
    order: Annotated[list[Selection], Field(min_length=2)] | None = None
    same: Annotated[list[Selection], Field(min_length=2)] | None = None
    crosses: Selection | None = None
    falls: Selection | None = None
    rises: Selection | None = None
    flatter: Selection | None = None
    jumps: Selection | None = None
    than: Selection | None = None
    """The other curve of better, flatter and crosses; the measured cases of predicts and ranked."""
    between: Span[Positive] | None = None
    """crosses, jumps, passes: numbers of ranks."""
    apart: str | None = None
    best: str | None = None
    within: Span[int] | None = None
    """best: the smallest and the largest number."""
    median: float | None = None
    """best: of the numbers at all numbers of ranks."""
    delays: Selection | None = None
    below: Annotated[str, checked(seconds)] | None = None
    above: Annotated[str, checked(seconds)] | None = None
    share: Span[Annotated[float, Field(ge=0, le=1)]] | None = None
    """delays, ranked: the smallest and the largest."""
    alike: Annotated[list[Selection], Field(min_length=2)] | None = None
    bands: Selection | None = None
    proved: Selection | None = None
    near: Selection | None = None
    value: Annotated[float, Field(gt=0)] | Span[Annotated[float, Field(gt=0)]] | None = None
    """near: what somebody has published, in units of the quantity; or the limits of what was published as "a to b"."""
    gain: Annotated[float, Field(gt=0)] | Span[Annotated[float, Field(gt=0)]] | None = None
    """near, with than: by which fraction the curve lies above the other, or the limits of it."""
    taken: Literal["each", "mean", "largest"] = "each"
    """near: each number of ranks counts, or the mean over them, or the largest value."""
    predicts: Selection | None = None
    ranked: Selection | None = None
    by: str | None = None
    """ranked: the label whose values are put in order."""
    passes: Selection | None = None
    level: float | None = None
    """passes: the value that the curve rises through."""
    offsets: Many[Positive] | None = None
    """bands: the distances between sender and receiver."""
    untestable: str | None = None
    remark: str | dict[str, str] = ""
    """Remark beside the verdict: why it may have come out so. In a study with bases it may be a
    table, of each base its own. `{name}` stands for one of the values."""
    values: dict[str, ValueOf] = Field(default_factory=dict)
    group: Literal["source", "variant", "question"] = "source"
    """Origin of the claim (see `tradewind.study.claims.judgement`)."""
    decided_by: Literal["parameter", "simulator", "model", "data", "unexplained"] | None = None
    """Parameter or test that decides it."""
    cause: Annotated[str, Field(min_length=1)] | None = None
    """Why a claim that is contradicted comes out otherwise, without a full stop; asserted where nothing is `shown`."""
    shown: Many[str] = []
    """Experiments, findings of this study or ("STUDY: FIGURE") of one beside it, that change this cause alone."""
    fitted: str | None = None
    """Values of the simulation that were taken from the figure that this claim states, and how."""


class Fitted(Table):
    """Values of simulations that were taken from measured or published cases of the same study."""

    to: Selection
    """The measured or published cases."""
    of: Selection = Field(default_factory=dict)
    """The simulated cases that use these values; left out: all that are simulated."""
    values: str
    """Which values, and how many: a sentence without its full stop."""


class Headline(Table):
    """The outcome of a study, in its own words, filled as the remark of a finding is."""

    text: str
    values: dict[str, ValueOf] = Field(default_factory=dict)


class Study(Table):
    """A study file."""

    title: str
    description: str = ""
    source: str = ""
    seed: Annotated[int, Field(ge=0, strict=True)] = 1
    headline: Headline | None = None
    """Printed and stated first in the report; None: the outcome of the first plot that compares times."""
    base: list[Base] = Field(default_factory=list)
    """Bases of all simulations, each in turn; none: the sweeps' own options."""
    sweep: Annotated[
        list[
            Annotated[
                VerifySweep
                | MeasureSweep
                | SimulateSweep
                | RunSweep
                | ProgramSweep
                | OutputSweep
                | WeatherModelSweep
                | TraceSweep
                | PublishedSweep,
                Field(discriminator="kind"),
            ]
        ],
        Field(min_length=1),
    ]
    plot: list[Plot] = Field(default_factory=list)
    fitted: list[Fitted] = Field(default_factory=list)
    finding: list[Finding] = Field(default_factory=list)
