"""An option of simulations is one record: a toy one is added from outside, and is seen wherever options are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Stands for one more field of `SimulationOptions`.
TOY = """
from dataclasses import dataclass, replace

from tradewind.workload import simulation_options
from tradewind.workload.options import option


@dataclass(frozen=True, kw_only=True)
class WithToy(simulation_options.SimulationOptions):
    rounds: int = option(
        "Rounds of an exchange.",
        1,
        of=simulation_options.SimulationOption,
        minimum=1,
        maximum=9,
        label="rounds of an exchange",
        in_bases=True,
        only_named=True,
        changes=lambda exchange, rounds: replace(exchange, times=rounds * exchange.times),
    )


simulation_options.SimulationOptions = WithToy
"""
STUDY = """
title = "A toy option"

[[base]]
name = "plain"

[[base]]
name = "twice"
rounds = 2

[[sweep]]
name = "by base"
kind = "simulate"
pattern = "allreduce"
machine = "torus-M"
ranks = 16

[[sweep]]
name = "named"
like = "by base"
base = "plain"
rounds = [1, 3]
"""
USES = """
import json, sys
sys.path.insert(0, "ROOT/docs")
import generate
from command_line import run_tradewind
import tradewind as tw
from tradewind.study.model.labels import INTEGER_LABELS, LABELS
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import simulation_options

def simulated(case):
    return tw.simulate(case.workload, case.options["machine"], **simulation_options(case))

exchange, asked = tw.Exchange("allreduce", 16), ["simulate", "allreduce", "--ranks", "16", "--machine", "torus-M"]
found = {
    "help": run_tradewind("simulate", "allreduce", "--help").out,
    "plain": run_tradewind(*asked, "--json").json,
    "three": run_tradewind(*asked, "--rounds", "3", "--json").json,
    "refused": run_tradewind(*asked, "--rounds", "10").err,
    "python": tw.simulate(exchange, "torus-M", rounds=3),
    "page": generate.filled("study-file.md"),
    "label": LABELS["rounds"],
    "is_integer": "rounds" in INTEGER_LABELS,
    "cases": [
        [case.labels["base"], case.labels["rounds"], case.options.get("rounds"), simulated(case)["messages"]]
        for case in expand(load_study("toy.toml").study)[0]
    ],
    "bad": run_tradewind("study", "bad.toml").err,
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the results of one process with the toy."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "sitecustomize.py").write_text(TOY)
    (folder / "toy.toml").write_text(STUDY)
    (folder / "bad.toml").write_text(STUDY.replace("[1, 3]", "0"))
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'tests'}", "COLUMNS": "140"}
    command = [sys.executable, "-c", USES.replace("ROOT", str(ROOT))]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_the_command_line_takes_it(found: dict[str, Any]) -> None:
    assert "--rounds ROUNDS" in found["help"]
    assert "Rounds of an exchange. [default: 1]" in " ".join(found["help"].split())
    assert found["three"]["messages"] == 3 * found["plain"]["messages"]
    assert (found["three"]["rounds"], "rounds" in found["plain"]) == (3, False)
    assert "rounds 10: 1..9 are allowed" in " ".join(found["refused"].split())


def test_python_takes_it(found: dict[str, Any]) -> None:
    same = ("rounds", "time_s", "messages", "bytes")
    assert {key: found["python"][key] for key in same} == {key: found["three"][key] for key in same}


def test_sweeps_and_bases_have_it(found: dict[str, Any]) -> None:
    once = found["plain"]["messages"]
    assert found["cases"] == [
        ["plain", None, None, once],  # as it was stored before there was such an option
        ["twice", 2, 2, 2 * once],
        ["plain", 1, 1, once],
        ["plain", 3, 3, 3 * once],
    ]
    assert (found["label"], found["is_integer"]) == ("rounds of an exchange", True)
    assert "bad.toml:22: sweep 2: rounds 0: 1 or more are allowed" in found["bad"]


def test_the_reference_names_it(found: dict[str, Any]) -> None:
    assert "| `rounds` | Rounds of an exchange. | `1` | * |" in found["page"]
