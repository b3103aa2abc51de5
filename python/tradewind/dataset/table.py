"""The tidy table of results: a row per value, the same columns for every command and study.

A case is an exchange, a run or a simulation with all that it was asked for; it has several rows: its time, its samples,
its bytes. Labels of the case stand in each of its rows, by the names of `tradewind.study.model.labels`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tradewind.dataset.build import NUMBERS, ORIGINS
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import parts_of
from tradewind.study.model.labels import INTEGER_LABELS, LABELS

if TYPE_CHECKING:
    import pandas as pd

Value = tuple[str, str, str, str, int | None, float]
"""Quantity, part, unit, statistic, number of the sample, value."""

OWN = {
    "case": "number of the case in the table; rows of one case have the same",
    "command": f"command that gave the result: {', '.join(('bench', 'tune', 'run', 'simulate', 'advise', 'study'))}",
    "study": "name of the study, where a folder holds several",
    "memory": "memory of the arrays of a tuned exchange: private or shared",
    "program": "name of a program of exchanges and computations",
    "message_bytes": "size of a message, of `bench --sizes`",
}
"""Columns that every table can have before the labels of cases."""
VALUES = {
    "quantity": "what the value is: time, rate, bytes, messages, ...",
    "part": "step, slab or part of the time that the value is about; empty: all of the case",
    "unit": "s, B, B/s or 1",
    "statistic": "median, minimum or sample of a measurement; value: what has no samples, as a simulated time",
    "sample": "number of the sample, from 0; empty for other statistics",
    "value": "the number",
}
"""Columns of values, which every table has."""
TEXT_VALUES = ("quantity", "part", "unit", "statistic")
TEXT_COLUMNS = (
    *(name for name in (*OWN, *LABELS, *ORIGINS) if name not in INTEGER_LABELS | {"case", "message_bytes"}),
    *TEXT_VALUES,
)
"""Columns of texts; labels of integers are texts only where one case has a text."""
_MEASURED = ("measure", "run")
_NAMES = {"measured_min": "time", "shortest_step": "time", "measured_rate": "rate"}
_STATISTICS = {"measured_min": "minimum", "shortest_step": "minimum", "measured_rate": "median"}


def columns() -> dict[str, str]:
    """Return all columns in their order, each with its meaning."""
    return {**OWN, **LABELS, **ORIGINS, **VALUES}


def table_of(records: Sequence[Record]) -> pd.DataFrame:
    """Return the table of cases. Labels that no case has are left out."""
    import pandas as pd

    names = [name for name in columns() if name not in VALUES and name != "case"]
    cases = {name: [_label(record, name) for record in records] for name in names}
    kept = {name: values for name, values in cases.items() if any(value is not None for value in values)}
    rows = [(case, *value) for case, record in enumerate(records) for value in values_of(record)]
    found = pd.DataFrame.from_records(rows, columns=["case", *VALUES])
    labels = pd.DataFrame(kept, index=range(len(records)), dtype=object)
    return typed(found.join(labels, on="case")[["case", *kept, *VALUES]])


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns have the types that all tables have."""
    numbers = {"case": "int64", "sample": "Int64", "value": "float64"}
    return table.astype({name: numbers.get(name) or _type(name, table[name]) for name in table})


def _type(name: str, values: pd.Series) -> str:
    """Return Int64 for labels that are integers in all cases, else string."""
    if name in TEXT_COLUMNS:
        return "string"
    return "Int64" if values.dtype.kind in "if" or all(isinstance(v, int) for v in values.dropna()) else "string"


def _label(record: Record, name: str) -> Any:
    if name == "program":  # of a case of a study the record has the hash of its program
        value = record.get("program") if record.get("command", "study") != "study" else None
    elif name == "command":
        value = record.get("command", "study")
    else:
        value = record["environment"].get(name) if name in ORIGINS else record.get(name)
    return None if value == "" else value


def quantity_named(name: str) -> str:
    """Return the quantity of a number of the dataset, such as time for measured_min."""
    return _NAMES.get(name, name)


def values_of(record: Record) -> Iterator[Value]:
    """Yield the values of a case, its time first, its samples last."""
    measured = record["kind"] in _MEASURED
    for name, (get, unit, _) in NUMBERS.items():
        value = get(record)
        if value is not None:
            statistic = "median" if name == "time" and measured else _STATISTICS.get(name, "value")
            yield quantity_named(name), "", unit, statistic, None, float(value)
    for part, seconds in _parts(record):
        yield "time", part, "s", "median" if measured else "value", None, seconds
    for cause, seconds in (record["result"].get("cause_s") or {}).items():
        yield "cause", cause, "s", "value", None, seconds
    for number, seconds in enumerate(_samples(record)):
        yield "time", "", "s", "sample", number, seconds


def _parts(record: Record) -> Iterator[tuple[str, float]]:
    result = record["result"]
    if record["kind"] == "simulate":
        yield from (result.get("part_s") or result.get("step_time_s") or {}).items()
    elif record["kind"] == "measure":
        for step in result["results"][0].get("steps") or []:
            yield step["name"], step["median_s"]
    elif record["kind"] == "run":
        yield from parts_of(record).items()


def _samples(record: Record) -> Sequence[float]:
    """Return the samples of a case; of a run, per step."""
    result = record["result"]
    if record["kind"] == "measure":
        return result["results"][0].get("samples_s") or []
    if record["kind"] == "run":
        return [seconds / result["steps"] for seconds in result["samples_s"]]
    return []
