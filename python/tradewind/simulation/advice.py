"""Choice of the best algorithm for an exchange on a machine, by simulation.

Every candidate is screened by the loggp model, which knows no congestion and is quick. Those that look best are then
simulated packet by packet, as many as a budget of time allows: first the best of each family (ring-k, bruck, ...),
then the others. What is slower without congestion than another one with it needs no simulation.

The budget is processor time: on a busy machine it is the same simulations that fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tradewind.base import units
from tradewind.base.errors import InputError
from tradewind.base.names import unknown
from tradewind.base.result import Result
from tradewind.base.tables import Table
from tradewind.machine import Machine, MachineFile, load_machine
from tradewind.simulation import Simulation, prepare
from tradewind.simulation.checks import ranks_per_node_on
from tradewind.simulation.energy import NO_POWER
from tradewind.workload.candidates import Candidate, LeftOut, candidates
from tradewind.workload.exchange import Exchange
from tradewind.workload.options import problems_of
from tradewind.workload.simulation_options import SimulationOptions

SCREENING = 1 / 3
"""The part of the budget that screening may take."""

PATIENCE = 5.0
"""A run that takes this many times its expected time is stopped,"""

SPARE = 1 / 4
"""unless that is a smaller part of the time that is left: what a short run takes is little known beforehand."""

STAGES_PER_SECOND = 2e7
"""Stages that ranks are expected to pass in a second of simulation where they have nothing to do."""

HOPELESS = 1.1
"""Skip a candidate whose time without congestion exceeds the best time by this factor."""

BY = {"time": "time_s", "energy": "energy_j"}
"""Quantities to advise by, and their keys in results."""

SLOWER = "slower than the best even without congestion"

Report = Callable[[str], None]
"""Called with what is being done, in words."""


@dataclass(frozen=True)
class Screened:
    """A candidate with its time by the loggp model, and what of it would be left on links of any bandwidth."""

    candidate: Candidate
    loggp_s: float
    latency_s: float
    simulated: dict[str, Any]
    """Seconds of the loggp simulation."""


class TooLongError(Exception):
    """A simulation would not fit the budget, or was stopped since it did not."""


class Clock:
    """A budget of processor time of all threads, and what is left of it."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    @property
    def left_s(self) -> float:
        """Seconds that are left; below 0 where there are none."""
        return self._end - time.process_time()

    def run(self, simulation: Simulation) -> dict[str, Any]:
        """Runs a simulation, but not for much longer than it was expected to take, nor beyond the budget."""
        expected = expected_s(simulation, self.left_s)
        if expected > self.left_s:
            left = units.format_seconds(max(0.0, self.left_s))
            raise TooLongError(f"simulating it takes about {units.format_seconds(expected)}, and {left} are left")
        simulation.check_memory()
        began = time.process_time()
        limit = min(self.left_s, max(PATIENCE * expected + 1, SPARE * self.left_s))

        def look(*_: object) -> None:
            if (taken := time.process_time() - began) > limit:
                raise TooLongError(f"stopped after {units.format_seconds(taken)} of simulation")

        return simulation.run(look)


def advise(
    exchange: Exchange,
    machine: str | Path | MachineFile,
    *,
    algorithms: Sequence[str] | None = None,
    budget_s: float = 60.0,
    packet: str | None = None,
    by: str = "time",
    settings: dict[str, str] | None = None,
    progress: Report | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The best algorithm and radix for an exchange on a machine, by simulation.

    `exchange`: its own algorithm does not matter. `algorithms`: names and families to choose from (see
    `tradewind.workload.candidates.candidates`). `budget_s`: seconds of processor time, of all threads together; nothing
    is begun that is expected to exceed them. `packet` None takes the machine's packets, or one packet per message where
    the budget would not do for those. `by`: "time", or "energy", the fewest joules, of a machine whose file has power.
    Other options as in `tradewind.simulation.prepare`.

    Returns the request and

    - ``best``: the algorithm with the minimum time, None where the budget did not do for any, or not for its joules;
    - ``model``: "packet", or "loggp" where the budget did not do for a single simulation by packets;
    - ``results``: by ascending ``time_s`` or ``energy_j``, each with ``ratio`` to the best, ``stages``, ``messages``,
      ``bytes``, ``bound_s``, ``bound_by`` and what the time is made of: ``latency_s`` (left on links of any bandwidth),
      ``bandwidth_s`` (what NICs and copies add), ``congestion_s`` (the rest); ``reason`` names the largest of these;
    - ``pareto``: the algorithms of which no other one has less time and fewer joules, by ascending time; only where the
      machine file has power, and so has ``energy_j`` in each result;
    - ``left_out``: what was not simulated by packets, each with ``algorithm``, ``reason`` and ``loggp_s`` or None.

    Raises InputError.
    """
    if not budget_s > 0:
        raise InputError(f"budget {budget_s} s: a time above 0 is allowed")
    asked = SimulationOptions(packet=packet, **options)
    if problems := problems_of(asked):
        raise InputError(*problems)
    file = machine if isinstance(machine, MachineFile) else load_machine(machine, settings)
    check_by(by, file)
    options["ranks_per_node"] = ranks_per_node_on(file, asked.ranks_per_node)
    chosen, left_out = candidates(exchange, algorithms, options["ranks_per_node"])
    trial = _Trial(exchange, file, Clock(budget_s), left_out, progress or (lambda _: None), options, by)
    screened = trial.screen(chosen, budget_s * SCREENING)
    packet = trial.packet(screened, packet)
    results = trial.simulate(screened, packet)
    model = "packet" if results else "loggp"
    if not results:
        results = trial.by_loggp(screened)
    key = BY[by]
    results.sort(key=lambda result: float(result[key]))
    for result in results:
        result["ratio"] = result[key] / results[0][key] if results[0][key] > 0 else 1.0
    advice = {
        "model": model,
        "packet_bytes": "message" if packet == "message" else units.byte_count(packet),
        "by": by,
        "best": results[0]["algorithm"] if results else None,
        "results": results,
        **({"pareto": pareto(results)} if results and all("energy_j" in each for each in results) else {}),
        "left_out": [asdict(item) for item in left_out],
    }
    return Result(_request(exchange, file, budget_s, options) | advice)


def check_by(by: str, file: MachineFile) -> None:
    """Raises InputError for what cannot be compared, and for joules of a machine without power."""
    if by not in BY:
        raise InputError(unknown("quantity to advise by", by, BY))
    if by == "energy" and file.machine.power is None:
        raise InputError(f"energy: {NO_POWER}, {file.name}; it needs a table [power]")


def pareto(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the algorithms of which no other one is better in time and energy both, by ascending time."""
    best, found = float("inf"), []
    for result in sorted(results, key=lambda each: (each["time_s"], each["energy_j"])):
        if result["energy_j"] < best:
            best = result["energy_j"]
            found.append(result["algorithm"])
    return found


def _request(exchange: Exchange, file: MachineFile, budget_s: float, options: dict[str, Any]) -> dict[str, Any]:
    """Return the request as plain values."""
    request = {key: value for key, value in exchange.as_dict().items() if key != "algorithm"}
    return request | {
        "machine": file.name,
        "routing": options.get("routing") or file.machine.routing,
        "ranks_per_node": options["ranks_per_node"],
        "budget_s": budget_s,
    }


@dataclass
class _Trial:
    """The candidates of one exchange on one machine, one after another."""

    exchange: Exchange
    file: MachineFile
    clock: Clock
    left_out: list[LeftOut]
    report: Report
    options: dict[str, Any]
    by: str = "time"

    def _prepare(self, candidate: Candidate, model: str, packet: str = "message") -> Simulation:
        exchange = replace(self.exchange, algorithm=candidate.algorithm)
        return prepare(exchange, self.file, model=model, packet=packet, buffers="unbounded", **self.options)

    def screen(self, chosen: Sequence[Candidate], share_s: float) -> list[Screened]:
        """All candidates by the loggp model, the cheapest first. Raises InputError where all are refused before."""
        clock = Clock(share_s)
        unlimited = replace(self, file=without_bandwidth(self.file))
        prepared: list[tuple[float, Simulation, Candidate]] = []
        refusals: list[str] = []
        for candidate in chosen:
            simulation = self._prepare(candidate, "loggp")
            try:
                prepared.append((expected_s(simulation, share_s), simulation, candidate))
            except InputError as error:  # it would take longer than can be simulated
                refusals.append(f"{candidate.algorithm}: {error}")
                self.left_out.append(LeftOut(candidate.algorithm, f"not screened: {error}"))
        if refusals and not prepared:
            raise InputError(*refusals)
        screened = []
        for _, simulation, candidate in sorted(prepared, key=lambda item: item[0]):
            self.report(f"screening {candidate.algorithm}")
            try:
                simulated = clock.run(simulation)
                latency_s = clock.run(unlimited._prepare(candidate, "loggp"))["time_s"]
            except (TooLongError, InputError) as reason:
                self.left_out.append(LeftOut(candidate.algorithm, f"not screened: {reason}"))
                continue
            loggp_s = simulated["time_s"]
            screened.append(Screened(candidate, loggp_s, min(latency_s, loggp_s), simulated))
        return in_order(screened)

    def packet(self, screened: Sequence[Screened], asked: str | None) -> str:
        """The size of packets: the machine's own, if the best of each family can be simulated with it in time."""
        if asked is not None:
            return asked
        own = f"{self.file.machine.packet.size}B"
        leaders = screened[: len({item.candidate.family for item in screened})]
        cost = sum(expected_s(self._prepare(item.candidate, "packet", own), self.clock.left_s) for item in leaders)
        return own if cost < self.clock.left_s else "message"

    def simulate(self, screened: Sequence[Screened], packet: str) -> list[dict[str, Any]]:
        """Packet by packet, as far as the budget goes."""
        results: list[dict[str, Any]] = []
        power = self.file.machine.power
        # Where bytes cost joules on their way, what is slower may have fewer of them; else joules grow with time.
        prunes = self.by == "time" or power is None or power.network is None
        for item in screened:
            name = item.candidate.algorithm
            best = min((result["time_s"] for result in results), default=float("inf"))
            if prunes and item.loggp_s > HOPELESS * best:
                self.left_out.append(LeftOut(name, SLOWER, item.loggp_s))
                continue
            self.report(f"simulating {name}")
            try:
                simulated = self.clock.run(self._prepare(item.candidate, "packet", packet))
            except (TooLongError, InputError) as reason:
                self.left_out.append(LeftOut(name, str(reason), item.loggp_s))
                continue
            results.append(self.judged(item, simulated))
        return results

    def by_loggp(self, screened: Sequence[Screened]) -> list[dict[str, Any]]:
        """The figures by the loggp model, of the candidates of which it gives the quantity to advise by."""
        lacking = {
            item.candidate.algorithm: item.simulated["no_energy"]
            for item in screened
            if BY[self.by] not in item.simulated
        }
        self.left_out[:] = [  # each stands there already, with the reason why no packets of it were simulated
            replace(item, reason=f"{item.reason}; {lacking[item.algorithm]}") if item.algorithm in lacking else item
            for item in self.left_out
        ]
        return [self.judged(item, item.simulated) for item in screened if item.candidate.algorithm not in lacking]

    def judged(self, item: Screened, simulated: dict[str, Any]) -> dict[str, Any]:
        """The figures of a candidate, and what its time is made of."""
        exchange = replace(self.exchange, algorithm=item.candidate.algorithm)
        time_s = simulated["time_s"]
        by_nic = simulated["bound_s"] if simulated.get("bound_by") in ("injection", "ejection") else 0.0
        latency = min(item.latency_s, time_s)
        bandwidth = min(max(item.loggp_s - item.latency_s, by_nic), time_s - latency)
        parts = {"latency": latency, "bandwidth": bandwidth, "congestion": time_s - latency - bandwidth}
        kept = ("energy_j", "messages", "bytes", "packet_hops", "bound_s", "bound_by", "imbalance", "wall_s")
        return {
            "algorithm": item.candidate.algorithm,
            "time_s": time_s,
            "stages": exchange.core().stages,
            **{f"{name}_s": seconds for name, seconds in parts.items()},
            "reason": max(parts, key=lambda name: parts[name]),
            "loggp_s": item.loggp_s,
            **{key: simulated[key] for key in kept if key in simulated},
        }


def expected_s(simulation: Simulation, enough_s: float) -> float:
    """Return the expected processor time of a simulation, or a value above `enough_s` if it takes longer than that."""
    visits = simulation.exchange.ranks * simulation.program().stages
    passing = visits / STAGES_PER_SECOND
    return passing if passing > enough_s else max(passing, simulation.forecast()["wall_s"] * simulation.threads)


def in_order(screened: Sequence[Screened]) -> list[Screened]:
    """The best of each family, then all others; each by ascending time."""
    ranked = sorted(screened, key=lambda item: item.loggp_s)
    leaders = {item.candidate.family: item for item in reversed(ranked)}
    return sorted(ranked, key=lambda item: (leaders[item.candidate.family] is not item, item.loggp_s))


def without_bandwidth(file: MachineFile) -> MachineFile:
    """A machine whose links, NICs and memories take no time for bytes: only latencies and overheads are left."""

    def widened(table: Table) -> Table:
        wide: dict[str, Any] = {}
        for name in type(table).model_fields:
            value = getattr(table, name)
            if isinstance(value, Table):
                wide[name] = widened(value)
            elif name.endswith("bandwidth") and value is not None:
                wide[name] = units.bytes_per_second("1000TB/s")
        return table.model_copy(update=wide)

    machine = widened(file.machine)
    assert isinstance(machine, Machine)
    return MachineFile(file.name, machine)
