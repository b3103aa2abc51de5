"""Predictions of published times of whole models, and their factors.

``python -m validation.whole_models predict [--cpu-s S]`` adds to predictions.csv what it lacks, few ranks first.
``compare`` prints predicted beside published, and writes the tables of the page. Without a command prints predictions.
"""

from __future__ import annotations

from validation.table import parser, print_rows
from validation.whole_models.predictions import predict, read


def main() -> None:
    options = parser(__doc__)
    options.add_argument("command", nargs="?", choices=("predict",))
    options.add_argument("--cpu-s", type=float, default=1200.0, help="seconds of processor time; default 1200")
    given = options.parse_args()
    if given.command == "predict":
        predict(given.cpu_s)
    rows: list[dict[str, object]] = [
        {
            "id": each.at[0],
            "what": each.at[1],
            "machine": each.machine,
            "nodes": each.at[2],
            "figure": each.figure,
            "unit": each.unit,
        }
        for each in read().values()
    ]
    print_rows(rows, given.json)


if __name__ == "__main__":
    main()
