"""The predictions of predictions.csv, one line for each question, figure and number of nodes."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradewind.machine import load_machine
from tradewind.model import load_model
from validation.published import last_commit, rows_of
from validation.whole_models.questions import HERE, MODELS, PACKET, Case, Question, device_settings, questions

FILE = HERE / "predictions.csv"
COLUMNS = ("id", "what", "model", "machine", "nodes", "ranks", "seconds", "figure", "unit", "exchanging", "commit")
HEADER = (
    "# seconds: a step of the model file, without the parts that the figure does not have, in the packet model with\n"
    f"# packets of {PACKET}, all ranks at once from an empty network. figure: what is published of it. exchanging:\n"
    "# share of the whole step in which ranks do not compute. commit: the last that changed the simulator.\n"
)
At = tuple[str, str, int]
"""id, what, nodes."""


@dataclass(frozen=True)
class Prediction:
    """A line of the file."""

    at: At
    model: str
    machine: str
    ranks: int
    seconds: float
    figure: float
    unit: str
    exchanging: float
    commit: str

    def row(self) -> list[str]:
        """Return the cells of the line."""
        name, what, nodes = self.at
        places = (name, what, self.model, self.machine, str(nodes), str(self.ranks))
        return [*places, f"{self.seconds:.6g}", f"{self.figure:.6g}", self.unit, f"{self.exchanging:.3f}", self.commit]


def read(path: Path = FILE) -> dict[At, Prediction]:
    """Return the predictions of a file; none where there is no file."""
    found = {}
    for row in rows_of(path):
        at: At = (row["id"], row["what"], int(row["nodes"]))
        numbers = (float(row["seconds"]), float(row["figure"]), row["unit"], float(row["exchanging"]))
        found[at] = Prediction(at, row["model"], row["machine"], int(row["ranks"]), *numbers, row["commit"])
    return found


def write(predictions: Mapping[At, Prediction], path: Path = FILE) -> None:
    """Write a file, in the order of the questions."""
    order = [(question.id, question.what, nodes) for question in questions() for nodes in question.nodes]
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(HEADER)
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        lines.writerows(predictions[at].row() for at in order if at in predictions)


def simulate(case: Case, settings: Mapping[str, str] | None = None, numbers: Mapping[str, float] | None = None) -> Any:
    """Return the forecast of a case. `settings`: other values of the machine; `numbers`: of the model."""
    model = load_model(MODELS / f"{case.model}.toml", numbers)
    machine = load_machine(case.machine, device_settings(case.machine) | dict(settings or {}))
    return model.simulate(machine, case.ranks, ranks_per_node=case.ranks_per_node, packet=PACKET, threads=1, force=True)


def prediction(question: Question, case: Case, result: Mapping[str, Any]) -> Prediction:
    """Return the line of a question for a simulation."""
    seconds = result["time_s"] - sum(result["part_s"][part] for part in question.without)
    return Prediction(
        (question.id, question.what, case.nodes),
        case.model,
        case.machine,
        case.ranks,
        seconds,
        question.figure_of(seconds),
        question.figure,
        result["exchanging_s"] / result["time_s"],
        last_commit("src", "python"),
    )


def asked() -> dict[Case, list[Question]]:
    """Return the simulations with their questions, those of the fewest ranks first."""
    found: dict[Case, list[Question]] = {}
    for question in questions():
        for case in question.cases():
            found.setdefault(case, []).append(question)
    return {case: found[case] for case in sorted(found, key=lambda case: case.ranks)}


def predict(cpu_s: float) -> None:
    """Simulate what the file lacks, for at most `cpu_s` seconds of processor time, and add it to the file."""
    known = read()
    begin = time.process_time()
    for case, askers in asked().items():
        missing = [question for question in askers if (question.id, question.what, case.nodes) not in known]
        if not missing:
            continue
        if time.process_time() - begin > cpu_s:
            break
        result = simulate(case)
        for question in missing:
            made = prediction(question, case, result)
            known[made.at] = made
        write(known)
        used = time.process_time() - begin
        print(f"{used:.0f} s of processor time: {case.model}, {case.machine}, {case.nodes} nodes", file=sys.stderr)
