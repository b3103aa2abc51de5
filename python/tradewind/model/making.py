"""The program of a time step, made of the steps of a model file and of the programs of dwarfs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tradewind.base.errors import InputError, gathered
from tradewind.base.toml_lines import Place
from tradewind.model.expansion import OUTPUT, SERVERS, Expanded
from tradewind.model.file import ModelFile
from tradewind.model.grid import ModelGrid
from tradewind.model.servers import Servers
from tradewind.model.step_program import StepProgram
from tradewind.model.tables import FLOPS_PER_BYTE
from tradewind.workload.program import Compute, ProgramWorkload, with_computation
from tradewind.workload.program_file import program_of_data
from tradewind.workload.steps import GroupStep

if TYPE_CHECKING:
    from tradewind.machine.machine import Machine


class StepWorkload(ProgramWorkload):
    """The program of a model's step.

    `flops_per_byte`: flops that a node does while it copies a byte, which is assumed on a machine without a rate of
    flops; 0: such a machine is refused where there are flops.
    """

    flops_per_byte = 0.0

    def at_rates(self, machine: Machine, ranks_per_node: int, threads: int) -> ProgramWorkload:
        """Return it at the rates of a machine. Raises InputError where one is missing."""
        if self.flops_per_byte > 0 and machine.node.flops is None and not machine.has_core_rates:
            return ProgramWorkload.at_rates(self.with_steps(self._by_bytes), machine, ranks_per_node, threads)
        return super().at_rates(machine, ranks_per_node, threads)

    def _like(self, *steps: Any, **options: Any) -> StepWorkload:
        made = StepWorkload(*steps, **options)
        made.split, made.flops_per_byte, made.threads = self.split, self.flops_per_byte, self.threads
        return made

    def _by_bytes(self, step: GroupStep, ranks: int) -> GroupStep:
        def copied(compute: Compute) -> Compute:
            return replace(compute, flops=0.0, bytes=max(compute.bytes, compute.flops / self.flops_per_byte))

        changed: GroupStep = with_computation(step, copied)
        return changed


def step_program(
    file: ModelFile, head: Mapping[str, Any], grid: ModelGrid, values: Mapping[str, float], steps: Sequence[Expanded]
) -> StepProgram:
    """Return the program of steps in their order.

    `head`: the program file that they belong to, without steps. `values`: numbers of the model. Raises InputError with
    all problems, each with its line.
    """
    flops_per_byte = values.get(FLOPS_PER_BYTE, 0.0)
    ranks = head["ranks"]
    cx, cy = map(int, head["split"].split("x"))
    split = (cx, cy)
    plain = [step for step in steps if step.dwarf is None and step.output is None]
    servers = Servers(grid, split, int(values.get(SERVERS, 0)), head["dtype"])
    problems: list[str] = []
    made: Iterator[GroupStep] = iter(())
    with gathered(problems):
        made = iter(_plain_program(file, head, plain).ordered_steps() if plain else ())
    found: list[tuple[Expanded, str | None, GroupStep]] = []
    for step in steps:
        at_step: list[str] = []
        if step.output is not None:
            with gathered(at_step):
                found.append((step, None, servers.hand_over(step.output, str(step.table.get("label", OUTPUT)))))
            problems += [file.at(step.place, each) for each in at_step]
            continue
        if step.dwarf is None:
            found += [(step, None, own_step) for _, own_step in zip(range(step.count), made, strict=False)]
            continue
        with gathered(at_step):
            found += [(step, part, each) for part, each in step.dwarf.steps(grid, ranks, split, values)]
        problems += [file.at(step.place, f"dwarf {step.dwarf.kind}: {each}") for each in at_step]
    if problems:
        raise InputError(*problems)
    groups = servers.groups([each for _, _, each in found])
    try:
        program = StepWorkload(groups=groups, dtype=head["dtype"], name=head["name"])
    except InputError as error:
        raise InputError(*(file.at(("steps",), problem) for problem in error.problems)) from None
    program.split, program.flops_per_byte = split, flops_per_byte
    parts = [part or step.part for step, part, _ in found] + [step.part for step in steps if step.output is not None]
    computes = [isinstance(each, Compute) for _, _, each in found]
    return StepProgram(program, parts, computes + [False] * (len(parts) - len(computes)))


def _plain_program(file: ModelFile, head: Mapping[str, Any], steps: Sequence[Expanded]) -> ProgramWorkload:
    """Return the program of steps that are written in the file."""

    def place(where: Place, problem: str) -> str:
        if where[:1] == ("step",) and len(where) > 1 and isinstance(where[1], int):
            where = (*steps[where[1]].place, *where[2:])
        return file.at(where, problem)

    return program_of_data({**head, "step": [step.table for step in steps]}, place)
