"""The published values of measured.csv beside the predictions, and the sections of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from statistics import median

from validation.published import ROOT, factor, filled, geometric_mean, rows_as_table, rows_of, table, within
from validation.whole_models.predictions import At, Prediction, read
from validation.whole_models.questions import HERE

FILE = HERE / "measured.csv"
PAGE = ROOT / "docs/explanation/whole-models.md"


@dataclass(frozen=True)
class Measured:
    """A line of measured.csv."""

    at: At
    variant: str
    value: float
    unit: str
    known: bool
    """Whether the value was known when it was predicted, such as from an abstract."""
    source: str
    caution: str


@dataclass(frozen=True)
class Compared:
    """A prediction with the published values of the same question."""

    prediction: Prediction
    published: float
    """Their geometric mean."""
    variants: int
    known: bool
    caution: str

    @property
    def factor(self) -> float:
        """Predicted over published time, above one where the prediction is too slow."""
        return factor(self.prediction.figure, self.published, self.prediction.unit)


def measured(path: Path = FILE) -> tuple[Measured, ...]:
    """Return the lines of a file."""
    return tuple(
        Measured(
            (row["id"], row["what"], int(row["nodes"])),
            row["variant"],
            float(row["value"]),
            row["unit"],
            row["known"] == "yes",
            row["source"],
            row["caution"],
        )
        for row in rows_of(path)
    )


@cache
def compared() -> tuple[Compared, ...]:
    """Return the predictions that have a published value, in the order of the questions."""
    found = []
    for at, prediction in read().items():
        values = [each for each in measured() if each.at == at]
        if not values:
            continue
        assert {each.unit for each in values} == {prediction.unit}, f"{at}: units differ"
        found.append(
            Compared(
                prediction,
                geometric_mean([each.value for each in values]),
                len(values),
                any(each.known for each in values),
                "; ".join(dict.fromkeys(each.caution for each in values if each.caution)),
            )
        )
    return tuple(found)


def figures(rows: Sequence[Compared]) -> dict[str, float]:
    """Return number, median and range of the factors, and how many are within a factor of two and of four."""
    factors = [row.factor for row in rows]
    return {
        "number": len(factors),
        "median": median(factors),
        "minimum": min(factors),
        "maximum": max(factors),
        "within 2": within(factors, 2),
        "within 4": within(factors, 4),
    }


def _sentence(name: str, rows: Sequence[Compared]) -> str:
    found = figures(rows)
    return (
        f"{name}: {found['number']} values, {found['within 2']} within a factor of two and {found['within 4']} within "
        f"four; median of predicted over published time {found['median']:.2f}, {found['minimum']:.2f} to "
        f"{found['maximum']:.2f}."
    )


def overall() -> str:
    """Return the error of all predictions, and of those that were not known before."""
    parts = (
        ("All", lambda row: True),
        ("Not known before", lambda row: not row.known),
        ("Known before", lambda row: row.known),
    )
    lines = [_sentence(name, rows) for name, chosen in parts if (rows := [row for row in compared() if chosen(row)])]
    return "\n".join(f"- **{line.split(':')[0]}**:{line.partition(':')[2]}" for line in lines)


def _figure_key(row: Compared) -> tuple[str, str, str]:
    """Return what the figures of one series have in common: part, model and machine."""
    return row.prediction.at[1], row.prediction.model, row.prediction.machine


def by_model() -> str:
    """Return a line for each model, part and machine."""
    rows = []
    for (what, model, machine), group in groupby(compared(), _figure_key):
        found = figures(tuple(group))
        numbers = [f"{found[name]:.2f}" for name in ("median", "minimum", "maximum")]
        rows.append([model, what, machine, str(found["number"]), *numbers])
    return table(("model", "what", "machine", "values", "median factor", "from", "to"), rows)


def scaling() -> str:
    """Return how many times as fast the most nodes of a series are as the fewest, predicted and published."""
    rows = []
    for (what, model, machine), group in groupby(compared(), _figure_key):
        series = sorted(group, key=lambda row: row.prediction.at[2])
        few, many = series[0], series[-1]
        if few is many:
            continue
        predicted = factor(few.prediction.figure, many.prediction.figure, few.prediction.unit)
        published = factor(few.published, many.published, few.prediction.unit)
        nodes = f"{few.prediction.at[2]:,} to {many.prediction.at[2]:,}"
        rows.append([model, what, machine, nodes, f"{predicted:.2f}", f"{published:.2f}"])
    return table(("model", "what", "machine", "nodes", "faster, predicted", "faster, published"), rows)


def all_values() -> str:
    """Return a line for each prediction."""
    rows = []
    for row in compared():
        each = row.prediction
        rows.append(
            [
                *(each.at[0], each.model, each.at[1], each.machine, f"{each.at[2]:,}", each.unit),
                *(f"{each.figure:.4g}", f"{row.published:.4g}", f"{row.factor:.2f}", f"{each.exchanging:.0%}"),
                "known" if row.known else "",
                row.caution,
            ]
        )
    header = (
        *("id", "model", "what", "machine", "nodes", "figure", "predicted", "published", "factor"),
        *("exchanging, predicted", "known before", "caution"),
    )
    return table(header, rows)


SECTIONS: dict[str, Callable[[], str]] = {
    "overall": overall,
    "by-model": by_model,
    "scaling": scaling,
    "all-values": all_values,
}
"""Sections of the page."""


def write() -> None:
    """Write the sections of the page."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), SECTIONS), encoding="utf-8")


def write_experiments(rows: Sequence[Mapping[str, object]]) -> None:
    """Write the section about experiments, which takes simulations."""
    made = filled(PAGE.read_text(encoding="utf-8"), {"experiments": lambda: rows_as_table(rows)})
    PAGE.write_text(made, encoding="utf-8")
