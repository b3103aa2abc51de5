"""Predictions of published times of whole models, and their factors.

``python -m validation.whole_models predict [--cpu-s S]`` adds to predictions.csv what it lacks, few ranks first.
``compare`` prints predicted beside published, and writes the tables of the page. ``experiments`` simulates some cases
with one thing changed, and writes that table. Without a command prints the predictions.
"""

from __future__ import annotations

from validation.table import parser, print_rows
from validation.whole_models import compare
from validation.whole_models.experiments import experiments
from validation.whole_models.predictions import Prediction, predict, read


def _row(each: Prediction) -> dict[str, object]:
    name, what, nodes = each.at
    place = {"id": name, "what": what, "machine": each.machine, "nodes": nodes}
    return {**place, "figure": each.figure, "unit": each.unit}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("command", nargs="?", choices=("predict", "compare", "experiments"))
    options.add_argument("--cpu-s", type=float, default=1200.0, help="seconds of processor time; default 1200")
    given = options.parse_args()
    if given.command == "compare":
        compare.write()
        rows = [
            {**_row(row.prediction), "published": row.published, "factor": row.factor} for row in compare.compared()
        ]
        print_rows(rows, given.json)
        return
    if given.command == "experiments":
        rows = experiments()
        compare.write_experiments(rows)
        print_rows(rows, given.json)
        return
    if given.command == "predict":
        predict(given.cpu_s)
    print_rows([_row(each) for each in read().values()], given.json)


if __name__ == "__main__":
    main()
