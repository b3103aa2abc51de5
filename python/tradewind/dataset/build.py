"""Makes one Dataset of all cases of a study: a dimension `case`, units and a long name on everything.

The labels of cases are coordinates, so that a case is found by what it is (see `tradewind.dataset.open_results`).

A value that a case does not have is NaN, or an empty text. A label that has a number in one case and a text in another
is text in all. Bins of delay and samples of a measurement have
dimensions of their own, filled up with NaN to the longest.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.base.files import write_atomically
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import causes_of, parts_of, quantity_of
from tradewind.study.model.labels import INTEGER_LABELS, LABELS

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

Get = Callable[[Record], Any]


def _of(kind: str, key: str) -> Get:
    return lambda record: record["result"].get(key) if record["kind"] == kind else None


def _measured(key: str) -> Get:
    return lambda record: record["result"]["results"][0].get(key) if record["kind"] == "measure" else None


def _packet_size(record: Record) -> float | None:
    size = _of("simulate", "packet_bytes")(record)
    return 0 if size == "message" else size


def _shortest_step(record: Record) -> float | None:
    result = record["result"]
    return min(result["samples_s"]) / result["steps"] if record["kind"] == "run" else None


def _memory(record: Record) -> float | None:
    found: float | None = record["result"].get("peak_rss_bytes" if record["kind"] == "run" else "memory_bytes")
    return found


NUMBERS: dict[str, tuple[Get, str, str]] = {
    "time": (lambda record: record["time_s"], "s", "simulated time, or median of the measured times, of the exchange"),
    "measured_min": (_measured("min_s"), "s", "shortest measured time"),
    "measured_rate": (_measured("bytes_per_s"), "B/s", "measured rate of the exchange"),
    "floor": (_of("measure", "floor_s"), "s", "time to pack and copy the same bytes inside one rank"),
    "copy_rate": (_of("measure", "copy_bytes_per_s"), "B/s", "rate of a memory copy on the same ranks"),
    "ranks_per_core": (_of("measure", "ranks_per_core"), "1", "measured ranks that share one core"),
    "layout_imbalance": (
        lambda record: record["layout_imbalance"],
        "1",
        "points of the largest part over the mean, the worst of the layouts of the exchange",
    ),
    "shortest_step": (_shortest_step, "s", "shortest measured time of a step of a dwarf"),
    "compute": (_of("simulate", "compute_s"), "s", "simulated time of a step in which nothing is exchanged"),
    "days_per_day": (_of("simulate", "forecast_days_per_day"), "1", "days of forecast in a day, of a whole model"),
    "alone": (_of("simulate", "alone_s"), "s", "computing of a program on one rank that has the whole grid"),
    "blocked": (_of("simulate", "blocked_s"), "s", "time that a model with output does not compute"),
    "points_of_all_steps": (_of("simulate", "points"), "1", "grid points of a run with output, in all of its steps"),
    "ratio_to_copy": (
        _of("run", "ratio_to_copy"),
        "1",
        "time of a run over that of a memory copy of what it must move",
    ),
    "run_copy_rate": (_of("run", "copy_bytes_per_s"), "B/s", "rate of a memory copy on the ranks of a run"),
    "threads_per_core": (_of("run", "threads_per_core"), "1", "threads of a run that share one core"),
    "memory": (_memory, "B", "arrays and tables of all ranks of a simulated run; peak memory of all of a measured one"),
    "messages": (_of("simulate", "messages"), "1", "messages"),
    "bytes": (_of("simulate", "bytes"), "B", "bytes of all messages"),
    "packet_size": (_packet_size, "B", "largest packet; 0: a message is one packet"),
    "simulated_times": (_of("simulate", "simulated_times"), "1", "repetitions that were simulated, where not all were"),
    "extrapolated_change": (
        _of("simulate", "extrapolated_change"),
        "1",
        "relative change of the time when twice as many repetitions were simulated",
    ),
    "packet_hops": (_of("simulate", "packet_hops"), "1", "packets through ports, injection and ejection included"),
    "bound": (_of("simulate", "bound_s"), "s", "time of the busiest link or NIC alone"),
    "imbalance": (_of("simulate", "imbalance"), "1", "load of the busiest link over the mean of those used"),
    "energy": (
        lambda record: quantity_of(record, "energy"),
        "J",
        "simulated energy of the exchange, or of a step; where the machine file has power",
    ),
    "node_power": (_of("simulate", "node_power_w"), "W", "simulated mean power of a node of the job"),
    "power_imbalance": (
        _of("simulate", "power_imbalance"),
        "1",
        "simulated power of the rank that draws most over the mean",
    ),
    "switches": (lambda record: record.get("switches"), "1", "switches of the simulated network"),
    "links": (lambda record: record.get("links"), "1", "links between switches of the simulated network"),
    "wall_time": (lambda record: record["wall_s"], "s", "wall time that the case took"),
    "peak_rss": (_of("simulate", "peak_rss_bytes"), "B", "peak memory of the simulating process"),
}
"""Each variable: where it stands in a record, its units, its long name."""


ORIGINS = {
    "host": "host on which the case was computed",
    "cpu": "its processor",
    "mpi": "its MPI library",
    "commit": "git commit of Tradewind there",
}
EARLIER_MODEL, CHANGED_TREE = "earlier model", "changed tree"
"""Marks of cases: simulated by a model that has changed since, computed from a source tree that differs from every
commit of the history."""
TEXTS = {
    "program": "hash of the simulated program: its steps, exchanges, flops and bytes",
    "mark": f"what is wrong with the origin of the case: {EARLIER_MODEL}, {CHANGED_TREE}",
}
"""Texts of a case beside its labels."""


def build_dataset(records: Sequence[Record], attributes: dict[str, Any]) -> xr.Dataset:
    """The Dataset of a study's cases. `attributes`: its origin (see `provenance`)."""
    import xarray as xr

    coordinates, variables = _variables(records)
    return xr.Dataset(variables, coords=coordinates, attrs={**attributes, **commits_of(records)})


def commits_of(records: Sequence[Record]) -> dict[str, str]:
    """Return the attribute that lists the commits of Tradewind by which cases were computed."""
    return {"git_commits": ", ".join(sorted({c for record in records if (c := record["environment"]["commit"])}))}


def write_results(records: Sequence[Record], attributes: dict[str, Any], path: Path) -> None:
    """Writes the Dataset of a study's cases without making it: xarray takes longer to load than this does."""
    from tradewind.dataset.netcdf import netcdf

    coordinates, variables = _variables(records)
    found = {
        name: ((dims,) if isinstance(dims, str) else dims, values, own)
        for name, (dims, values, own) in (variables | coordinates).items()
    }
    attributes = {**attributes, **commits_of(records)}
    content = netcdf(found, [name for name in coordinates if name != "case"], attributes)
    write_atomically(path, content, "dataset")


def _variables(records: Sequence[Record]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the coordinates and the data variables of a study's cases: dimensions, values and attributes."""
    import numpy as np

    coordinates: dict[str, Any] = {}
    for label, long_name in LABELS.items():
        column = [record.get(label) for record in records]
        is_number = label in INTEGER_LABELS and not any(isinstance(value, str) for value in column)  # T159, 85x85
        values = _numbers(column) if is_number else np.array([_text(v) for v in column], dtype=object)
        coordinates[label] = ("case", values, {"units": "1", "long_name": long_name})
    variables: dict[str, Any] = {}
    for name, (get, units, long_name) in NUMBERS.items():
        variables[name] = (
            "case",
            _numbers([get(record) for record in records]),
            {"units": units, "long_name": long_name},
        )
    for name, long_name in ORIGINS.items():
        origins = np.array([_text(record["environment"][name]) for record in records], dtype=object)
        variables[name] = ("case", origins, {"units": "1", "long_name": long_name})
    for name, long_name in TEXTS.items():
        texts = np.array([_text(record.get(name)) for record in records], dtype=object)
        variables[name] = ("case", texts, {"units": "1", "long_name": long_name})
    variables |= (
        _parts(records)
        | _causes(records)
        | _steps(records)
        | _samples(records)
        | _delays(records)
        | _pairs(records)
        | _congestion(records)
    )
    case = np.array([record["key"] for record in records], dtype=object)
    coordinates["case"] = ("case", case, {"units": "1", "long_name": "hash of the inputs of the case"})
    return coordinates, variables


def provenance(study_text: str, title: str, source: str, seed: int, environment: Environment) -> dict[str, Any]:
    """Return the origin of a Dataset: study text, seed, versions, MPI library, processor."""
    import netCDF4
    import numpy as np

    versions = f"tradewind {environment.version}, Python {environment.python}, NumPy {np.__version__}"
    return {
        "title": title,
        "source": source,
        "study": study_text,
        "seed": seed,
        "versions": f"{versions}, netCDF4 {netCDF4.__version__}",
        "mpi_library": environment.mpi or "none",
        "host": environment.host,
        "cpu": environment.cpu,
        "cores": environment.cores,
        "system": environment.system,
    }


def write_dataset(dataset: xr.Dataset, path: Path) -> None:
    """Writes NetCDF, compressed, whole or not at all."""
    from tradewind.dataset.netcdf import netcdf

    variables = {
        str(name): (tuple(map(str, each.dims)), each.values, each.attrs) for name, each in dataset.variables.items()
    }
    coordinates = [str(name) for name in dataset.coords if name not in dataset.dims]
    write_atomically(path, netcdf(variables, coordinates, dataset.attrs), "dataset")


def without_empty(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset without the variables that no case has a value of."""
    return dataset.drop_encoding().drop_vars(
        [name for name, variable in dataset.variables.items() if name != "case" and _is_empty(variable)]
    )


def _is_empty(variable: xr.Variable) -> bool:
    values = variable.values.ravel()
    return bool((values == "").all() if variable.dtype.kind in "OU" else (values != values).all())


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    import numpy as np

    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _table(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Rows of different lengths as one array, filled up with NaN."""
    import numpy as np

    table = np.full((len(rows), max((len(row) for row in rows), default=0)), np.nan)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


STEP = "simulated time of step "
"""Begins the long names of variables that hold the time of a slab or of another step."""


def _steps(records: Sequence[Record]) -> dict[str, Any]:
    """The time of each slab or other step of the simulated cases."""
    by_case = [_of("simulate", "step_time_s")(record) or {} for record in records]
    names = list(dict.fromkeys(name for steps in by_case for name in steps))
    variables: dict[str, Any] = {}
    for name in names:
        attributes = {"units": "s", "long_name": STEP + name}
        # NetCDF refuses slashes, control characters and long names; two steps may have one name then.
        plain = "time_" + re.sub(r"\W", "_", name)[:200]
        key = next(key for n in itertools.count(1) if (key := plain if n == 1 else f"{plain}_{n}") not in variables)
        variables[key] = (
            "case",
            _numbers([steps.get(name) for steps in by_case]),
            attributes,
        )
    return variables


PART = "part_"
"""Begins the names of variables with the parts of a run's time."""


def _parts(records: Sequence[Record]) -> dict[str, Any]:
    """Return the time of each part of a step of a run: the median over the ranks."""
    by_case = [parts_of(record) if record["kind"] == "run" else {} for record in records]
    return _by_name(PART, "measured time of a step", by_case)


CAUSE = "cause_"
"""Begins the names of variables with the causes of a model's time."""


def _causes(records: Sequence[Record]) -> dict[str, Any]:
    """Return the time of a step that each cause has, of the models that have them."""
    return _by_name(CAUSE, "simulated time of a step by cause", [causes_of(record) for record in records])


def _by_name(begin: str, long_name: str, by_case: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for seconds in by_case for name in seconds))
    return {
        begin + name: (
            "case",
            _numbers([seconds.get(name) for seconds in by_case]),
            {"units": "s", "long_name": f"{long_name}: {name}"},
        )
        for name in names
    }


def _samples(records: Sequence[Record]) -> dict[str, Any]:
    rows = [_measured("samples_s")(record) or _of("run", "samples_s")(record) or [] for record in records]
    attributes = {"units": "s", "long_name": "measured time of each repetition; of runs, all steps of it"}
    return {"samples": (("case", "sample"), _table(rows), attributes)}


def _delays(records: Sequence[Record]) -> dict[str, Any]:
    histograms = [_of("simulate", "delay")(record) or {"edges_s": [], "counts": []} for record in records]
    edges = {"units": "s", "long_name": "edges of the bins of delay: arrival minus arrival on an empty network"}
    counts = {"units": "1", "long_name": "arrivals in each bin of delay"}
    return {
        "delay_edge": (("case", "edge"), _table([h["edges_s"] for h in histograms]), edges),
        "delay_count": (("case", "bin"), _table([h["counts"] for h in histograms]), counts),
    }


def _pairs(records: Sequence[Record]) -> dict[str, Any]:
    """The mean delay of packets between blocks of ranks, of the cases that kept it."""
    tables = [record["result"].get("delay_pairs") or [] for record in records]
    if not any(tables):
        return {}
    attributes = {"units": "s", "long_name": "mean delay of packets from a block of ranks to another"}
    rows = [[delay for row in table for delay in row] for table in tables]
    blocks = {"units": "1", "long_name": "blocks of ranks that delays are kept for"}
    return {
        "pair_delay": (("case", "pair"), _table(rows), attributes),
        "pair_blocks": ("case", _numbers([len(table) for table in tables]), blocks),
    }


CONGESTION = {
    "from": ("1", "bin of switches that a link starts at"),
    "to": ("1", "bin of switches that it leads to"),
    "share": ("1", "part of the time that the busiest link between the two is busy"),
    "quantiles": ("1", "part of the time that links are busy: a tenth, half, nine tenths and all are busy no longer"),
}
"""The lists of a result's congestion, with units and long names."""
COUNTS = {
    "switches": "switches in use",
    "switches_per_bin": "switches in a bin",
    "links": "links between switches that are used",
}
"""Its numbers."""


def _congestion(records: Sequence[Record]) -> dict[str, Any]:
    """Return the loads of links between switches, for the cases that have them."""
    kept = [record["result"].get("congestion") or {} for record in records]
    if not any(kept):
        return {}
    variables: dict[str, Any] = {}
    for name, (units, long_name) in CONGESTION.items():
        dimension = "quantile" if name == "quantiles" else "cell"
        attributes = {"units": units, "long_name": long_name}
        variables[f"congestion_{name}"] = (
            ("case", dimension),
            _table([each.get(name, []) for each in kept]),
            attributes,
        )
    for name, long_name in COUNTS.items():
        attributes = {"units": "1", "long_name": long_name}
        variables[f"congestion_{name}"] = ("case", _numbers([each.get(name) for each in kept]), attributes)
    return variables
