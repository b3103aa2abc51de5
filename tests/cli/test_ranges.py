"""Values that no option can have: one error of the command line, whatever lies below."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_tradewind

from tradewind.base.errors import InputError
from tradewind.cli import COMMANDS, command_for
from tradewind.cli.options import DWARFS, PATTERNS
from tradewind.workload.options import options_of
from tradewind.workload.simulation_options import SimulationOptions

MESSAGES = {"ranks": 4, "stages": [[[0, 1, 8]]]}
LARGE = 2**63


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("verify fetch --ranks 4 --messages m.json --grid 20x20x2", "--grid does not apply to recorded: leave it out"),
        ("show fetch --ranks 4 --messages m.json --width 2 --mesh lonlat", "--width does not apply to recorded"),
        (f"bench allreduce -n 2 --warmup {LARGE}", f"--warmup {LARGE}: 0..1000000 are allowed"),
        ("bench allreduce -n 0", "--ranks 0: 1 or more are allowed"),
        ("run diffusion -n 2 --steps 2147483648", "steps 2147483648: 1..2147483647 are allowed"),
        (f"run diffusion -n 2 --repeat {LARGE}", f"repeat {LARGE}: 1..2147483647 are allowed"),
        ("tune allreduce -n 2 --trials 0", "--trials 0: 1 or more are allowed"),
        (f"simulate allreduce --ranks 4 --machine torus-M --seed {LARGE}", f"seed {LARGE}: 0..{LARGE - 1} are allowed"),
        (f"simulate allreduce --ranks 4 --machine torus-M --threads {LARGE}", f"threads {LARGE}: 1..256 are allowed"),
        (f"simulate allreduce --ranks 4 --machine torus-M --ranks-per-node {LARGE}", "1..2147483647 are allowed"),
        (f"verify allreduce --ranks {LARGE}", f"ranks {LARGE}: 1..2147483647 are allowed"),
        ("study s.toml --workers 0", "--workers 0: 1 or more are allowed"),
    ],
)
def test_a_wild_value_is_one_error(arguments: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(MESSAGES))
    result = run_tradewind(*arguments.split(), folder=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert expected in " ".join(result.err.split())


@pytest.mark.parametrize("name", [*COMMANDS, "program"])
def test_every_integer_of_a_command_has_a_range(name: str) -> None:
    words = {"program": ("simulate", ["program"]), "run": ("run", ["diffusion"])}
    command = command_for(*words.get(name, (name, ["halo"] if name not in ("list", "study") else [])))
    own = [each for each in command.parameters if each.kind is int and each.declared.allowed is not None]
    for each in own:
        low, high = each.declared.allowed
        for value in (low - 1, high + 1, -LARGE, LARGE):
            with pytest.raises(InputError, match="are allowed"):
                each.read(str(value))
    kinds = {} if command.family is None else command.family.own_options(command.kind)
    checked = {each.name for each in kinds} | {"ranks", "steps", "repeat"}  # of which the table above has some
    checked |= {f"{prefix}{name}" for name in options_of(SimulationOptions) for prefix in ("", "simulated_")}
    assert {each.name for each in command.parameters if each.kind is int} <= checked | {each.name for each in own}


def test_every_integer_of_a_pattern_a_dwarf_and_a_simulation_has_a_range() -> None:
    kinds = [family.options(kind) for family in (PATTERNS, DWARFS) for kind in family.kinds()]
    for options in (*kinds, options_of(SimulationOptions)):
        for option in options.values():
            if option.kind == "int":
                assert option.wrong(LARGE), option
                assert option.wrong(-LARGE), option
