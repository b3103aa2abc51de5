"""Reads the stored cases of a study back as flat records: what findings, figures and the dataset are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.simulation.energy import with_energy
from tradewind.study.cases.case import HERE_ONLY
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.network import network_size, power_of
from tradewind.study.cases.store import CorruptCaseError, Store, outdated
from tradewind.study.cases.whole_steps import WHOLE_STEPS
from tradewind.study.model.labels import LABELS
from tradewind.workload.exchange import Exchange

Record = dict[str, Any]
"""The labels of a case, `request` (its exchange as plain values), `key`, `layout_imbalance`, `time_s` (None for a
proof), `result`, `wall_s`, `environment`, `finished` (when, or from which dataset it was taken), `is_foreign`: whether
it was measured on another machine; `program`: the hash of the simulated program; `mark`: what is wrong with its origin
(see `tradewind.dataset.origin`); of a simulated one also `switches` and `links` of its network, and `all_settings`: the
text of all changed values of the machine, those of a base included."""


def exchange_of(record: Mapping[str, Any]) -> Exchange:
    """The exchange of a case. Raises InputError for the MPI library's own algorithm, whose stages are unknown."""
    pattern = record.get("pattern")
    what = "dwarf" if record.get("dwarf") else WHOLE_STEPS.get(str(pattern))
    if what is not None:
        raise InputError(f"{record['exchange']} is a {what}, and no exchange alone")
    return Exchange.from_plain(record["request"])


@dataclass
class Records:
    """The cases of a results folder as far as they are stored."""

    records: list[Record] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Names of cases that were never computed, or only of another program, and what is wrong with damaged ones."""
    notes: list[str] = field(default_factory=list)


def read_records(store: Store, environment: Environment, sweep: str | None = None) -> Records:
    """All cases that the manifest of a results folder names, or those of one sweep.

    A stored simulation counts only where its program is that of the manifest; those of earlier versions name none.
    """
    manifest = store.load_manifest()
    found = Records(skipped=manifest["skipped"], notes=manifest["notes"])
    for entry in manifest["cases"]:
        labels, key = entry["labels"], entry["key"]
        if sweep not in (None, labels["sweep"]):
            continue
        name = f"{labels['kind']} {labels['exchange']}, {labels['ranks']} ranks"
        name += f", {labels['machine']}" if labels["machine"] else ""
        if key in manifest["failed"]:
            found.failed.append({"sweep": labels["sweep"], "name": name, "reason": manifest["failed"][key]})
            continue
        try:
            body = store.load(key)
        except CorruptCaseError as error:
            found.missing.append(str(error))
            continue
        if body is None:
            found.missing.append(name)
        elif outdated(body, entry.get("program")) is not None:
            found.missing.append(f"{name}: stored of another program")
        else:
            machine = store.machines / f"{Path(labels['machine']).stem}.toml" if labels["machine"] else None
            found.records.append(record_of(entry, body, environment, machine))
    return found


def record_of(
    entry: Mapping[str, Any], body: Mapping[str, Any], environment: Environment, machine: Path | None
) -> Record:
    """Return the record of a case: of its entry in the manifest, what is stored of it, and the file of its machine."""
    labels = entry["labels"]
    settings = entry.get("settings", labels["settings"])  # those of a base are none of the label's
    simulated_on = machine if labels["kind"] == "simulate" else None
    size = network_size(simulated_on, settings) if simulated_on is not None else {}
    more = {"all_settings": settings, "layout_imbalance": entry["layout_imbalance"]}
    record = {**_record(labels, body, environment), **size, **more}
    if simulated_on is not None:  # power is no part of the key of a case: it may have changed
        record["result"] = with_energy(record["result"], power_of(simulated_on, settings))
    return record


def _record(labels: Mapping[str, Any], body: Mapping[str, Any], environment: Environment) -> Record:
    result, kind = body["result"], labels["kind"]
    record = {
        **dict.fromkeys(LABELS),
        **labels,
        **{key: body[key] for key in ("result", "wall_s", "environment", "finished", "key")},
        **{key: body.get(key) for key in ("program", "mark")},
    }
    request = body["identity"]["request"]
    record["request"] = next(request[what] for what in ("dwarf", *WHOLE_STEPS, "exchange") if what in request)
    record["time_s"] = None
    if kind == "simulate":
        record["time_s"] = result["time_s"] / result.get("steps", 1)  # of a dwarf, that of one step
        record["routing"] = result.get("routing", record["routing"])  # the formula of loggp knows no routing
    elif kind == "measure":
        record["time_s"] = result["results"][0]["median_s"]
    elif kind == "run":
        record["time_s"] = result["wall_s"] / result["steps"]
        record |= {key: result[key] for key in ("transport", "packing")}  # what the plan chose
    elif kind == "published":
        record["time_s"] = result["time_s"]
    theirs = body["environment"]
    record["is_foreign"] = kind in HERE_ONLY and (theirs["host"], theirs["cpu"]) != (environment.host, environment.cpu)
    return record
