"""Tables, page and picture of the predictions beside the published values."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import altair as alt

from tradewind.plot.export import to_svg
from tradewind.plot.style import CONFIG, SECONDS, colour, log_axis
from validation.between_nodes.measured import Compared, compared, spreads
from validation.between_nodes.predictions import read
from validation.between_nodes.questions import HERE, MEDIUM_ALLTOALL, SHORT_ALLTOALL
from validation.published import ROOT, filled, geometric_mean, rows_as_table, table, within

TABLE = HERE / "comparison.csv"
PAGES = (ROOT / "docs/explanation/between-nodes.md", ROOT / "docs/explanation/between-nodes-errors.md")
PICTURE = ROOT / "docs/images/between-nodes.svg"
SIZES = ("short", "medium", "long")
"""Up to 256 bytes, up to 32 KiB, more: the switch points of the bet of all-to-alls."""
KINDS = ("pingpong", "bandwidth", "sendrecv", "natural ring", "random ring", "halo", "homme", "alltoall", "allreduce")
SINGLE = ("pingpong", "bandwidth")
GROUPS = {
    **dict.fromkeys(SINGLE, "single messages"),
    **dict.fromkeys(("sendrecv", "natural ring", "random ring"), "rings and chains"),
    **dict.fromkeys(("halo", "homme"), "halos"),
    "alltoall": "all-to-all",
}
"""Groups of the picture; an allreduce stands for itself."""
NOT_MEASURED = ("reference value", "manual", "packing")
"""Words in the caution of a value that is not a plain measurement of the exchange."""
COLUMNS = (
    *("id", "machine", "what", "nodes", "ranks_per_node", "size", "unit", "algorithm", "predicted", "measured"),
    *("factor", "fastest", "factor_fastest", "closest", "factor_closest", "spread", "caution"),
)


def size_class(size: int) -> str:
    """Return the class of a message."""
    return SIZES[(size > SHORT_ALLTOALL) + (size > MEDIUM_ALLTOALL)]


def summary(rows: Sequence[Compared]) -> dict[str, object]:
    """Return the errors of some predictions."""
    factors = [row.factor for row in rows]
    repeated = [spreads()[row.case] for row in rows if row.case in spreads()]
    return {
        "number": len(rows),
        "median": median(factors),
        "minimum": min(factors),
        "maximum": max(factors),
        "within 1.5": within(factors, 1.5) / len(rows),
        "within 2": within(factors, 2) / len(rows),
        "spread": median(repeated) if repeated else None,
        "largest spread": max(repeated, default=None),
    }


def summaries() -> list[dict[str, object]]:
    """Return the errors for each machine, kind of exchange and class of size."""
    return [
        {"machine": machine, "exchange": kind, "size": size, **summary(rows)}
        for machine in sorted({row.case.machine for row in compared()})
        for kind in KINDS
        for size in SIZES
        if (
            rows := [
                row
                for row in compared()
                if (row.case.machine, row.kind, size_class(row.case.size)) == (machine, kind, size)
            ]
        )
    ]


def comparison_csv() -> str:
    """Return the table with a line for each prediction that has a published value."""
    text = io.StringIO()
    text.write(
        "# factor: predicted over measured time, of bandwidths the inverse: above one the prediction is too slow.\n"
        "# measured: the geometric mean of the published values. fastest, closest: of the simulated algorithms that\n"
        "# of the shortest time, and that whose factor is nearest to one, which is known only after the answers.\n"
        "# spread: the largest over the smallest published value of the same case.\n"
    )
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    for row in compared():
        spread = spreads().get(row.case)
        lines.writerow(
            (
                *(row.at[0], row.case.machine, row.case.what, row.case.nodes, row.case.ranks_per_node, row.case.size),
                *(row.unit, row.case.algorithm, f"{row.predicted:.4g}", f"{geometric_mean(row.measured):.4g}"),
                *(
                    f"{row.factor:.3g}",
                    row.fastest[0],
                    f"{row.fastest[1]:.3g}",
                    row.closest[0],
                    f"{row.closest[1]:.3g}",
                ),
                *("" if spread is None else f"{spread:.3g}", row.caution),
            )
        )
    return text.getvalue()


def overall() -> str:
    """Return the error of all predictions in one sentence."""
    found = summary(compared())
    machines = len({row.case.machine for row in compared()})
    return (
        f"Of {found['number']} predictions for {machines} machines that have a published value, "
        f"{found['within 2']:.0%} are within a factor of two and {found['within 1.5']:.0%} within a factor of 1.5; "
        f"the median of predicted over measured time is {found['median']:.2f}"
    )


def overall_section() -> str:
    found = summary(compared())
    bets = sum(each.bet for each in read().values())
    own = summary([row for row in compared() if not any(word in row.caution for word in NOT_MEASURED)])
    return (
        f"**{overall()}**: most are too fast. Factors are {found['minimum']:.2f} to {found['maximum']:.2f}. "
        f"{bets - len(compared())} of the {bets} predictions have no published value. Without values that are no plain "
        f"measurements of the exchange (references of regression tests, a manual, timers with packing) it is "
        f"{own['number']} predictions, {own['within 2']:.0%} within a factor of two, median {own['median']:.2f}."
    )


HEADER = ("number", "median", "from", "to", "within 1.5", "within 2", "spread", "largest spread")


def cells(found: dict[str, Any]) -> list[str]:
    """Return the cells of a summary."""
    numbers = [f"{found[name]:.2f}" for name in ("median", "minimum", "maximum")]
    spreads_of = ["" if found[name] is None else f"{found[name]:.2f}" for name in ("spread", "largest spread")]
    return [str(found["number"]), *numbers, f"{found['within 1.5']:.0%}", f"{found['within 2']:.0%}", *spreads_of]


def by_kind() -> str:
    rows = []
    for kind in KINDS:
        for size in SIZES:
            here = [row for row in compared() if (row.kind, size_class(row.case.size)) == (kind, size)]
            rows += [[kind, size, *cells(summary(here))]] if here else []
    return table(("exchange", "size", *HEADER), rows)


def by_machine() -> str:
    names = sorted({row.case.machine for row in compared()})
    rows = [[name, *cells(summary([row for row in compared() if row.case.machine == name]))] for name in names]
    return table(("machine", *HEADER), rows)


def by_machine_and_kind() -> str:
    rows = [[*(str(row[name]) for name in ("machine", "exchange", "size")), *cells(row)] for row in summaries()]
    return table(("machine", "exchange", "size", *HEADER), rows)


def by_algorithm() -> str:
    """Compare the algorithms of the exchanges for which more than one was simulated."""
    rows = []
    for kind in KINDS:
        here = [row for row in compared() if row.kind == kind]
        if all(row.fastest[0] == row.closest[0] == row.case.algorithm for row in here):
            continue
        choices = (
            [row.factor for row in here],
            [row.fastest[1] for row in here],
            [row.closest[1] for row in here],
        )
        texts = [f"{median(factors):.2f}, {within(factors, 2) / len(here):.0%}" for factors in choices]
        rows.append([kind, str(len(here)), *texts])
    return table(("exchange", "number", "the bet", "the fastest", "the closest, after the answers"), rows)


Class = tuple[str, float, Callable[[Compared], bool]]
"""Name, factor of which the share is given, whether a prediction belongs to it."""


def _of(
    kinds: Sequence[str], sizes: Sequence[str], ranks_per_node: range = range(1, 1000), aries: bool = True
) -> Callable[[Compared], bool]:
    return lambda row: (
        row.kind in kinds
        and size_class(row.case.size) in sizes
        and row.case.ranks_per_node in ranks_per_node
        and (aries or row.case.machine not in ARIES)
    )


ARIES = ("archer", "isambard", "piz-daint")
FEW, MANY = range(1, 128), range(128, 129)
BELIEVED: tuple[Class, ...] = (
    ("A message of more than 32 KiB between two nodes, or a window of them", 1.5, _of(SINGLE, ["long"])),
    ("A shorter message between two nodes", 2.0, _of(["pingpong"], ["short", "medium"])),
    ("Both neighbours of a ring, 2 MB each", 2.0, _of(["natural ring", "random ring"], ["long"])),
    ("All-to-all of more than 32 KiB, networks other than Aries", 2.0, _of(["alltoall"], ["long"], aries=False)),
    ("All-to-all of more than 32 KiB, all networks", 2.0, _of(["alltoall"], ["long"])),
    ("All-to-all of 257 bytes to 32 KiB", 2.0, _of(["alltoall"], ["medium"])),
    ("All-to-all of up to 256 bytes, 128 ranks per node", 2.0, _of(["alltoall"], ["short"], MANY)),
    ("All-to-all of up to 256 bytes, fewer ranks per node", 2.0, _of(["alltoall"], ["short"], FEW)),
    ("Allreduce of up to 256 bytes, 128 ranks per node", 2.0, _of(["allreduce"], ["short"], MANY)),
    ("Allreduce of 257 bytes to 32 KiB", 2.0, _of(["allreduce"], ["medium"])),
    ("Allreduce of more than 32 KiB", 2.0, _of(["allreduce"], ["long"])),
    ("Halo of one rank per node, 1 MB per face", 2.0, _of(["halo"], ["long"])),
    ("Halo of one rank per node, 10 bytes or 10 kB per face", 2.0, _of(["halo"], ["short", "medium"])),
    ("Both neighbours of a ring, 8 bytes each", 2.0, _of(["natural ring", "random ring"], ["short"])),
    ("Chain of 64 KiB or 1 MiB, 128 ranks per node", 2.0, _of(["sendrecv"], ["long"])),
)


def believed() -> str:
    """Return what the errors were, from exchanges that are predicted well to those that are not."""
    lines = []
    for name, limit, belongs in BELIEVED:
        factors = [row.factor for row in compared() if belongs(row)]
        lines.append(
            f"- **{name}**: {within(factors, limit)} of {len(factors)} within a factor of {limit:g}; "
            f"{min(factors):.2f} to {max(factors):.2f}, median {median(factors):.2f}."
        )
    return "\n".join(lines)


def points() -> list[dict[str, object]]:
    """Return the points of the picture: times of a message, also where a bandwidth was measured."""
    found: list[dict[str, object]] = []
    for row in compared():
        pair = (geometric_mean(row.measured), row.predicted)
        seconds = pair if row.unit == "s" else tuple(row.case.size / each for each in pair)
        found.append({"kind": GROUPS.get(row.kind, row.kind), "measured": seconds[0], "predicted": seconds[1]})
    return found


def picture() -> str:
    """Return predicted against measured times as SVG."""
    rows = points()
    kinds = list(dict.fromkeys(GROUPS.get(kind, kind) for kind in KINDS))
    times = [float(str(row[name])) for row in rows for name in ("measured", "predicted")]
    scale, x_axis = log_axis(times, "measured time", SECONDS)
    _, y_axis = log_axis(times, "predicted time", SECONDS)
    low, high = min(times), max(times)
    lines = [{"measured": end, "predicted": end * by, "by": str(by)} for by in (0.5, 1.0, 2.0) for end in (low, high)]
    dots = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=22, strokeWidth=1.3, opacity=0.8)
        .encode(
            x=alt.X("measured:Q", scale=scale, axis=x_axis),
            y=alt.Y("predicted:Q", scale=scale, axis=y_axis),
            color=colour("kind", "exchange", kinds),
        )
    )
    equal = (
        alt.Chart(alt.InlineData(values=lines))
        .mark_line(color="#888888", strokeWidth=1, clip=True)
        .encode(
            x=alt.X("measured:Q", scale=scale),
            y=alt.Y("predicted:Q", scale=scale),
            detail="by:N",
            strokeDash=alt.condition("datum.by == '1.0'", alt.value([1, 0]), alt.value([4, 3])),
        )
    )
    described = f"Predicted against measured times. {overall()}."
    chart = (equal + dots).properties(width=480, height=400)
    return to_svg(chart.to_dict() | {"config": CONFIG, "description": described})


SECTIONS: dict[str, Callable[[], str]] = {
    "overall": overall_section,
    "believed": believed,
    "by-kind": by_kind,
    "by-machine": by_machine,
    "by-machine-and-kind": by_machine_and_kind,
    "by-algorithm": by_algorithm,
}
"""Sections of the pages."""


def write() -> None:
    """Write the table, the sections of the pages, and the picture."""
    TABLE.write_text(comparison_csv(), encoding="utf-8")
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), SECTIONS), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")


def write_experiments(rows: Sequence[Mapping[str, object]]) -> None:
    """Write the section about experiments, which takes simulations."""
    made = filled(PAGES[0].read_text(encoding="utf-8"), {"experiments": lambda: rows_as_table(rows)})
    PAGES[0].write_text(made, encoding="utf-8")
