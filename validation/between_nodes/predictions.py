"""The predictions of predictions.csv, one line for each question, part, number of nodes, size and algorithm."""

from __future__ import annotations

import csv
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from validation.between_nodes.exchanges import figure, packet, packet_hops, simulate
from validation.between_nodes.questions import HERE, Case, Question, questions
from validation.published import last_commit, rows_of

FILE = HERE / "predictions.csv"
COLUMNS = ("id", "what", "nodes", "size", "algorithm", "bet", "seconds", "figure", "unit", "packet", "commit")
HEADER = (
    "# seconds: one exchange in the packet model, from the common start of all ranks on an empty network until the\n"
    "# last rank has all that it receives; no mean over many calls. figure: what the benchmark reports of it.\n"
    "# bet: the algorithm that the MPI library is said to take. commit: the last that changed the simulator.\n"
)
MAX_HOPS = 2.5e8
"""Packet-hops above which a bet is left out: more than about a minute of one core. Of other algorithms a tenth."""

Key = tuple[str, str, int, int, str]
"""id, what, nodes, size, algorithm."""


@dataclass(frozen=True)
class Prediction:
    """A line of the file."""

    key: Key
    bet: bool
    seconds: float
    figure: float
    unit: str
    packet: str
    commit: str

    def row(self) -> list[str]:
        """Return the cells of the line."""
        values = (f"{self.seconds:.9g}", f"{self.figure:.9g}", self.unit, self.packet, self.commit)
        return [*map(str, self.key), "yes" if self.bet else "no", *values]


def key(question: Question, case: Case) -> Key:
    """Return the key of a prediction."""
    return (question.id, case.what, case.nodes, case.size, case.algorithm)


def read(path: Path = FILE) -> dict[Key, Prediction]:
    """Return the predictions of a file; none where there is no file."""
    found = {}
    for row in rows_of(path):
        at: Key = (row["id"], row["what"], int(row["nodes"]), int(row["size"]), row["algorithm"])
        found[at] = Prediction(
            at,
            row["bet"] == "yes",
            float(row["seconds"]),
            float(row["figure"]),
            row["unit"],
            row["packet"],
            row["commit"],
        )
    return found


def write(predictions: dict[Key, Prediction], path: Path = FILE) -> None:
    """Write a file, in the order of the questions."""
    ordered = sorted(
        predictions.values(), key=lambda each: (int(each.key[0][1:]), each.key[1:4], not each.bet, each.key)
    )
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(HEADER)
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        lines.writerows(each.row() for each in ordered)


def asked() -> dict[Case, list[tuple[Question, bool]]]:
    """Return the cases that are simulated, each with its questions and whether they bet on it, cheap ones first."""
    found: dict[Case, list[tuple[Question, bool]]] = {}
    for question in questions():
        for case, bet in question.cases():
            found.setdefault(case, []).append((question, bet))
    cost = {case: packet_hops(case) * (1 if found[case][0][1] else 10) for case in found}
    return {case: found[case] for case in sorted(cost, key=cost.__getitem__) if cost[case] <= MAX_HOPS}


def predict(cpu_s: float) -> None:
    """Simulate what the file lacks, for at most `cpu_s` seconds of processor time, and add it to the file."""
    known = read()
    begin = last = time.process_time()
    for case, askers in asked().items():
        missing = [(question, bet) for question, bet in askers if key(question, case) not in known]
        if not missing:
            continue
        if time.process_time() - begin > cpu_s:
            break
        old = next((known[key(q, case)] for q, _ in askers if key(q, case) in known), None)
        seconds = simulate(case) if old is None else old.seconds
        value, unit = figure(case, seconds)
        for question, bet in missing:
            at = key(question, case)
            known[at] = Prediction(at, bet, seconds, value, unit, packet(case) or "4KiB", last_commit("src", "python"))
        if time.process_time() - last > 10:
            last = time.process_time()
            write(known)
            print(f"{last - begin:.0f} s of processor time, {len(known)} predictions", file=sys.stderr, flush=True)
    write(known)
