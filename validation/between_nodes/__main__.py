"""Predictions of published measurements between nodes, and their errors.

``python -m validation.between_nodes predict [--cpu-s S]`` adds to predictions.csv what it lacks, cheap cases first.
``compare`` prints the errors for each machine, exchange and class of size, and writes comparison.csv, the tables of the
pages, and the picture. ``experiments`` simulates some cases with one thing changed, and writes that table. Without a
command prints how many values are predicted for each machine.
"""

from __future__ import annotations

from collections import Counter

from validation.between_nodes import compare
from validation.between_nodes.experiments import experiments
from validation.between_nodes.predictions import predict, read
from validation.between_nodes.questions import content, questions
from validation.table import parser, print_rows


def summary() -> list[dict[str, object]]:
    """Return a row for each machine: questions, those with a bet, predicted values in all, those that are bets."""
    machines = {question.id: question.machine for question in questions()}
    asked = Counter(machines.values())
    found = read().values()
    rows: list[dict[str, object]] = []
    for machine in sorted(asked):
        here = [each for each in found if machines[each.key[0]] == machine]
        bets = [each for each in here if each.bet]
        rows.append(
            {
                "machine": machine,
                "questions": asked[machine],
                "predicted": len({each.key[0] for each in bets}),
                "bets": len(bets),
                "values": len(here),
            }
        )
    return rows


def main() -> None:
    options = parser(__doc__)
    options.add_argument("command", nargs="?", choices=("predict", "compare", "experiments"))
    options.add_argument("--cpu-s", type=float, default=600.0, help="seconds of processor time; default 600")
    given = options.parse_args()
    if given.command == "compare":
        compare.write()
        print_rows(compare.summaries(), given.json)
        return
    if given.command == "experiments":
        rows = experiments()
        compare.write_experiments(rows)
        print_rows(rows, given.json)
        return
    if given.command == "predict":
        predict(given.cpu_s)
    print_rows(summary(), given.json)
    if not given.json:
        print(f"{len(content()['not_askable'])} questions cannot be asked")


if __name__ == "__main__":
    main()
