"""Reads the cases of a study back from its Dataset: enough to judge findings and to draw figures again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradewind.base.errors import InputError
from tradewind.base.reading import check_source
from tradewind.base.units import byte_count
from tradewind.dataset.build import CAUSE, CONGESTION, COUNTS, ORIGINS, PART, STEP, TEXTS
from tradewind.study.cases.records import Record
from tradewind.study.cases.store import FORMER_KEYS
from tradewind.study.cases.whole_steps import WHOLE_STEPS
from tradewind.study.claims.finding import Verdict
from tradewind.study.model.labels import BOOL_LABELS, INTEGER_LABELS, LABELS
from tradewind.workload.options import options_of
from tradewind.workload.registry import PATTERNS, pattern_named

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import NDArray

RESULTS = {
    "compute": "compute_s",
    "alone": "alone_s",
    "days_per_day": "forecast_days_per_day",
    "blocked": "blocked_s",
    "points_of_all_steps": "points",
    "imbalance": "imbalance",
    "bound": "bound_s",
    "memory": "memory_bytes",
    "messages": "messages",
    "bytes": "bytes",
    "packet_hops": "packet_hops",
    "energy": "energy_j",
    "node_power": "node_power_w",
    "power_imbalance": "power_imbalance",
    "peak_rss": "peak_rss_bytes",
}
"""Variables, and what they are called in the result of a simulation."""
PARTIAL = ("simulated_times", "extrapolated_change")
"""Values of a simulation that extrapolated repetitions, with the same names in both."""
FORMER = {name: former for former, name in FORMER_KEYS.items()}
"""Names of such variables in datasets of earlier versions."""


def read_dataset(path: Path) -> tuple[list[Record], Mapping[str, Any]]:
    """The records of a results.nc, and the attributes with their origin. Raises InputError.

    Of a case's result there is what plots and findings ask for: bound, imbalance, delays, congestion, the shortest
    measured time; not the wall time of each attempt and the like. Of a simulated case there is all that a Dataset
    holds, so that one made from these records is the same.
    """
    loaded = load_dataset(path)
    return records_of(loaded), _attributes(loaded.attrs)


def records_of(loaded: xr.Dataset) -> list[Record]:
    """Return the records of the cases of a Dataset."""
    columns = {str(name): _Column.of(variable) for name, variable in loaded.variables.items()}
    return [_record(_Case(columns, i)) for i in range(loaded.sizes["case"])]


@dataclass(frozen=True)
class _Column:
    """A variable of a Dataset: its values, by case where it has that dimension, and its long name."""

    values: NDArray[Any]
    of_cases: bool
    long_name: str

    @classmethod
    def of(cls, variable: xr.Variable) -> _Column:
        of_cases = "case" in variable.dims
        values = variable.transpose("case", ...).values if of_cases else variable.values
        return cls(values, of_cases, str(variable.attrs.get("long_name", "")))


@dataclass(frozen=True)
class _Case:
    """One case of a Dataset. xarray would make all variables anew for each case, which takes milliseconds."""

    columns: Mapping[str, _Column]
    number: int

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        column = self.columns[name]
        return np.asarray(column.values[self.number] if column.of_cases else column.values)


def load_dataset(path: Path) -> xr.Dataset:
    """The Dataset of a results.nc, in memory. Raises InputError for an invalid file."""
    check_source(path)
    try:
        loaded = _whole(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:  # h5py raises each of them for damaged files
        raise InputError(f"{path} cannot be read as the NetCDF file of a study: {error}") from None
    if missing := [name for name in ("case", "kind", "exchange") if name not in loaded.variables]:
        raise InputError(f"{path} is not the dataset of a study: it has no {', '.join(missing)}")
    return loaded


def _whole(path: Path) -> xr.Dataset:
    """All of a NetCDF file. xarray's own reader asks h5netcdf forty times for each variable, which takes ten times as
    long as the values do."""
    import h5netcdf
    import h5py
    import xarray as xr

    with h5py.File(path, "r") as store, h5netcdf.File(store, "r") as data:
        variables = data.variables.items()
        found = {name: (each.dimensions, _values(store[name]), _texts(each.attrs)) for name, each in variables}
        return xr.decode_cf(xr.Dataset(found, attrs=_texts(data.attrs)))


def _texts(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with their texts as such: h5netcdf keeps one of a single character, like the unit s, as bytes."""
    return {key: value.decode() if isinstance(value, bytes) else value for key, value in attributes.items()}


def _values(stored: Any) -> NDArray[Any]:
    """All values of a variable of HDF5, texts as such."""
    import h5py

    text = h5py.check_string_dtype(stored.dtype)  # of one length: characters, which xarray joins
    return np.asarray(stored[()] if text is None or text.length is not None else stored.asstr()[()])


def _attributes(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a dataset, the verdicts of its findings in today's words."""
    attributes = dict(stored)
    if "findings" in attributes:
        verdicts = map(Verdict.from_dict, json.loads(attributes["findings"]))
        attributes["findings"] = json.dumps([verdict.as_dict() for verdict in verdicts])
    return attributes


def _record(case: _Case) -> Record:
    record: Record = {label: _label(case, label) for label in LABELS}
    record |= {name: _number(case, name) for name in ("layout_imbalance", "switches", "links")}
    environment = {name: str(case[name].item()) or None if name in case else None for name in ORIGINS}
    return {
        **record,
        "key": str(case["case"].item()),
        "time_s": _number(case, "time"),
        "wall_s": _number(case, "wall_time"),
        "request": _request(record),
        "environment": environment,
        "is_foreign": False,
        **{name: str(case[name].item()) or None if name in case else None for name in TEXTS},
        "result": _result(case, record),
    }


def _label(case: _Case, label: str) -> str | int | bool | None:
    """A label as it was; None, kept as an empty text, for what does not apply to a case."""
    if label in INTEGER_LABELS:
        value = case[label].item() if label in case else None
        if not isinstance(value, str):
            return None if value is None or value != value else int(value)
        return int(value) if value.isdecimal() else value or None  # of a label that other cases have as text
    text = str(case[label].item()) if label in case else ""
    if label in BOOL_LABELS and text in ("True", "False"):
        return text == "True"
    if text:
        return text
    pattern = str(case["pattern"].item()) if "pattern" in case else ""
    return "" if label in _empty_by_default(pattern) else None


@cache
def _empty_by_default(pattern: str) -> frozenset[str]:
    """Return the options of a pattern that are an empty text unless they are named."""
    known = options_of(pattern_named(pattern)) if pattern in PATTERNS else {}
    return frozenset(name for name, option in known.items() if option.default == "")


def _number(case: _Case, name: str, former: str | None = None) -> float | None:
    """Return a value of a case, if it has one; `former`: the variable's name in datasets of earlier versions."""
    if former is not None and former in case and name not in case:
        name = former
    value = float(case[name].item()) if name in case else float("nan")
    return None if value != value else value


def _row(case: _Case, name: str) -> list[float]:
    """The values of a case without what fills them up."""
    if name not in case:
        return []
    return [float(value) for value in case[name] if value == value]


def _request(record: Record) -> dict[str, Any]:
    """The exchange of a case as plain values (see `Exchange`); of a whole time step nothing."""
    if record["dwarf"] or record["pattern"] in WHOLE_STEPS:
        return {}
    known = pattern_named(record["pattern"]).keys()
    request = {key: record[key] for key in known}
    for key in ("grid", "split"):
        if key in request:
            request[key] = [int(n) for n in request[key].split("x")] if request[key] else None
    return request


def _result(case: _Case, record: Record) -> dict[str, Any]:
    if record["kind"] == "measure":
        return {"results": [_measured(case)]}
    if record["kind"] == "run":
        return _run(case, record)
    if record["kind"] != "simulate":
        return {}
    result: dict[str, Any] = {key: _number(case, name) for name, key in RESULTS.items()}
    result |= {"time_s": _number(case, "time"), "routing": record["routing"], "step_time_s": _steps(case)}
    result |= {name: number for name in PARTIAL if (number := _number(case, name, FORMER.get(name))) is not None}
    if causes := _named(case, CAUSE):
        result["cause_s"] = causes
    if (packet := _packet_bytes(case, record)) is not None:
        result["packet_bytes"] = packet
    result["delay"] = {"edges_s": _row(case, "delay_edge"), "counts": _row(case, "delay_count")}
    if blocks := int(_number(case, "pair_blocks") or 0):
        delays = _row(case, "pair_delay")
        result["delay_pairs"] = [delays[i * blocks : (i + 1) * blocks] for i in range(blocks)]
    if _number(case, "congestion_links") is not None:
        result["congestion"] = {name: _row(case, f"congestion_{name}") for name in CONGESTION}
        for bins in ("from", "to"):
            result["congestion"][bins] = [int(number) for number in result["congestion"][bins]]
        result["congestion"] |= {name: int(_number(case, f"congestion_{name}") or 0) for name in COUNTS}
    return result


def _packet_bytes(case: _Case, record: Record) -> float | str | None:
    """Return the packet size that the study asked for, of datasets without one; None for the machine's own."""
    size = _number(case, "packet_size")
    if size is None and record["packet"]:
        return "message" if record["packet"] == "message" else byte_count(record["packet"])
    return size if size is None else size or "message"


def _steps(case: _Case) -> dict[str, float]:
    """The time of each step that the case has."""
    known = {name: column.long_name for name, column in case.columns.items()}
    steps = {name: text.removeprefix(STEP) for name, text in known.items() if text.startswith(STEP)}
    times = {step: _number(case, name) for name, step in steps.items()}
    return {step: seconds for step, seconds in times.items() if seconds is not None}


def _run(case: _Case, record: Record) -> dict[str, Any]:
    return {
        "steps": record["steps"],
        "samples_s": _row(case, "samples"),
        "ratio_to_copy": _number(case, "ratio_to_copy"),
        "peak_rss_bytes": _number(case, "memory"),
        "parts": [
            {"part": part, "median_s": seconds * record["steps"]} for part, seconds in _named(case, PART).items()
        ],
    }


def _named(case: _Case, begin: str) -> dict[str, float]:
    """The values of the variables whose names begin so, by the rest of their names."""
    values = {name.removeprefix(begin): _number(case, name) for name in case.columns if name.startswith(begin)}
    return {name: value for name, value in values.items() if value is not None}


def _measured(case: _Case) -> dict[str, Any]:
    return {
        "median_s": _number(case, "time"),
        "min_s": _number(case, "measured_min"),
        "samples_s": _row(case, "samples"),
    }
