"""Plan of a study: its cases, the cost of each, and the skipped cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.units import byte_count
from tradewind.machine import MachineFile, load_machine, machine_folder
from tradewind.simulation.checks import method_known_to
from tradewind.study.cases.bases import Bases
from tradewind.study.cases.case import Case, digest, identity
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.expand import expand
from tradewind.study.cases.machines import located, own_machines
from tradewind.study.model.labels import settings_text
from tradewind.study.model.like import Problem, reported
from tradewind.study.model.skip import Skip
from tradewind.study.model.study import SWEEPS_ON_MACHINES
from tradewind.study.model.study_file import StudyFile
from tradewind.study.plan.refusals import refusals
from tradewind.workload.workload import Workload

Result = dict[str, Any]


@dataclass(frozen=True)
class Executors:
    """The functions that compute cases: those of Tradewind, or others with the same parameters."""

    verify: Callable[..., Result]
    """(exchange, transport=...)"""
    bench: Callable[..., Result]
    """(exchange, methods, repeat=..., rounds=...)"""
    combine: Callable[[Sequence[Result]], Result]
    """One result of several of bench, about the same exchange and methods."""
    simulate: Callable[..., Result]
    """(exchange, machine, routing=..., model=..., buffers=..., packet=..., threads=..., ...)"""
    run: Callable[..., Result]
    """(dwarf, steps, repeat=...)"""
    forecast: Callable[..., Result]
    """Arguments as `simulate`; returns messages, packet_hops, memory_bytes, wall_s and program. Raises InputError."""
    model_version: Callable[[MachineFile, int, bool, str], object]
    """(machine, ranks_per_node, steady, routing): changes whenever the same inputs may give other simulated times."""


@dataclass(frozen=True)
class Planned:
    """A case with what it costs and under which key it is stored."""

    case: Case
    identity: dict[str, Any]
    machine: Path | None = None
    """The file of the machine that is simulated."""
    forecast: Result | None = None

    @property
    def key(self) -> str:
        """Key of its stored result: the digest of its identity."""
        return digest(self.identity)

    @property
    def entry(self) -> dict[str, Any]:
        """The case as the manifest of a results folder names it."""
        return {
            "key": self.key,
            "labels": self.case.labels,
            "layout_imbalance": self.case.imbalance(),
            "settings": settings_text(self.case.options.get("settings", {})),
            "program": self.program,
        }

    @property
    def program(self) -> str | None:
        """The hash of the simulated program; None for other kinds of cases. It stands beside the key in the store."""
        return str(self.forecast["program"]) if self.forecast else None

    @property
    def cost_s(self) -> float:
        """Wall time that the case will take on one core, as far as anybody knows."""
        return float(self.forecast["wall_s"]) if self.forecast else 0.0


@dataclass
class Plan:
    """All cases of a study in the order of its file."""

    planned: list[Planned] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)


def make_plan(
    study_file: StudyFile,
    executors: Executors,
    environment: Environment,
    wanted: Callable[[Case], bool] = lambda _: True,
) -> Plan:
    """Expands a study and forecasts its simulations, of the cases that are wanted.

    Raises InputError with all unknown machines and settings.
    """
    machines = _machines(study_file, executors)
    cases, skips = expand(study_file.study, own_machines(study_file))
    found: dict[int, Planned | Skip] = {}
    alike: dict[str, dict[int, Case]] = {}
    for i, case in enumerate(filter(wanted, cases)):
        if case.kind == "simulate":
            workload = {case.workload.family: case.workload.as_dict()}
            alike.setdefault(digest(workload), {})[i] = case
        else:
            found[i] = Planned(case, identity(case, environment))
    for group in alike.values():
        found |= _simulations(group, machines, executors, environment)
    in_order = [found[i] for i in sorted(found)]
    refused = [each for each in in_order if isinstance(each, Skip)]
    return Plan([each for each in in_order if isinstance(each, Planned)], skips + refused)


def _with_transport(case: Case, machine: MachineFile) -> Case:
    """Return a case of a dwarf whose messages cost what a calibration has measured of its transport, if it has.

    Elsewhere the simulator does not know transports, and the case stays as it is.
    """
    method = method_known_to(machine, case.workload)
    if method is None or case.options["model"] != "packet":
        return case
    transport, packing = method
    return replace(case, options={**case.options, "transport": transport, "packing": packing})


def _simulations(
    cases: dict[int, Case], machines: dict[str, Path], executors: Executors, environment: Environment
) -> dict[int, Planned | Skip]:
    """Return the plans of simulations of one workload by their numbers, and those that are refused as skipped.

    The program of a model may take a minute to be made, so it is made once for all machines. It is dropped on return:
    of a million ranks two at a time would not fit in memory.
    """
    found: dict[int, Planned | Skip] = {}
    program: Workload | None = None
    for i, case in cases.items():
        path = machines[case.options["machine"]]
        machine = load_machine(path, case.options["settings"])
        try:
            program = case.workload.program() if program is None else program
            found[i] = _simulated(_with_transport(case, machine), program, path, machine, executors, environment)
        except InputError as error:
            found[i] = Skip(case.sweep, case.name, "; ".join(error.problems))
    return found


def _simulated(
    case: Case,
    program: Workload,
    path: Path,
    machine: MachineFile,
    executors: Executors,
    environment: Environment,
) -> Planned:
    """Return a simulation of a program with its forecast. Raises InputError where it is refused."""
    options = simulation_options(case)
    forecast = executors.forecast(program, path, threads=1, **options)
    resolved = {"routing": case.options["routing"] or machine.machine.routing, "packet": _packet(case, machine)}
    each, steady = options.get("ranks_per_node") or 1, bool(options.get("steady"))
    version = executors.model_version(machine, each, steady, str(resolved["routing"]))
    values = machine.files_identity if program.has_files else machine.identity
    known = identity(case, environment, values, version, resolved)
    return Planned(case, known, path, forecast)


def _packet(case: Case, machine: MachineFile) -> int | str:
    """The largest packet of a case in bytes, or "message"."""
    packet = case.options["packet"]
    if packet is None:
        return machine.machine.packet.size
    return packet if packet == "message" else byte_count(packet)


def simulation_options(case: Case) -> dict[str, Any]:
    """The options of a case as `simulate` and `forecast` take them."""
    return {key: value for key, value in case.options.items() if key not in ("machine", "nodes")}


def _machines(study_file: StudyFile, executors: Executors) -> dict[str, Path]:
    """The file of every machine that the study names; a path is meant from the study file's folder."""
    found: dict[str, Path] = {}
    problems: list[Problem] = []
    bases = Bases(study_file.study.base, own_machines(study_file))
    for i, sweep in enumerate(study_file.study.sweep):
        if not isinstance(sweep, SWEEPS_ON_MACHINES) or sweep.machine is None:
            continue
        for j, name in enumerate(sweep.machine):
            try:
                path = located(name, study_file.path.parent)
                load_machine(path)
                found[name] = path if path.suffix == ".toml" else machine_folder() / f"{name}.toml"
            except InputError as error:
                problems += [(("sweep", i, "machine", j), text) for text in error.problems]
        known = {name: found[name] for name in sweep.machine if name in found}
        problems += refusals(sweep, i, known, bases, executors.forecast)
    if problems:
        raise InputError(*reported(study_file.file, problems))
    return found
