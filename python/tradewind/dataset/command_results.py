"""Cases of the JSON that commands print, and of tuning files, as records like those of a study's cases.

So one table (`tradewind.dataset.table`), one comparison and one set of getters serve all results. A record of a command
has beside its labels `command`, and where they apply `memory` (of a tuned exchange), `program` (the name of one) and
`message_bytes` (of `bench --sizes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tradewind.base.errors import InputError
from tradewind.study.cases.model_step import PATTERN
from tradewind.study.cases.records import Record
from tradewind.study.model.labels import LABELS, settings_text

Result = Mapping[str, Any]
COMMANDS = ("bench", "tune", "run", "simulate", "advise")
"""Commands whose JSON has times."""


def records_of_json(value: Any, name: str) -> list[Record]:
    """Return the records of the JSON of a command. `name`: of its file, for errors. Raises InputError."""
    results = value if isinstance(value, list) else [value]
    if not results or not all(isinstance(result, dict) for result in results):
        raise InputError(f"{name}: {_ALLOWED}")
    try:
        return [record for result in results for record in _records(result, name)]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"{name}: incomplete JSON: {type(error).__name__} {error}") from None


_ALLOWED = f"no JSON of {', '.join(COMMANDS[:-1])} or {COMMANDS[-1]}: only their --json has times"


def _records(result: Result, name: str) -> Iterator[Record]:
    if "error" in result:
        raise InputError(f"{name}: the command has failed: {result['error']}")
    if "sizes" in result:
        for each in result["sizes"]:
            for record in _bench({**result, **each}):
                yield record | {"message_bytes": each["message_bytes"]}
    elif "tuned" in result:
        yield from _tune(result)
    elif "budget_s" in result:
        for machine in result.get("machines", [result]):
            yield from _advise(result, machine)
    elif "dwarf" in result and "results" in result:
        for each in result["results"]:
            yield from _records(each, name)
    elif "dwarf" in result and "wall_s" in result and "samples_s" in result:
        yield _run(result)
    elif "side_by_side" in result:
        for found in _members(result):
            yield _simulated("simulate", found["step"], found["step"])
    elif "machine" in result and "time_s" in result:
        yield _simulated("simulate", result, result)
    elif "exchange" in result and "results" in result:
        yield from _bench(result)
    elif "program" in result and "median_s" in result:
        yield _bench_program(result)
    else:
        raise InputError(f"{name}: {_ALLOWED}")


def _members(result: Result) -> list[Result]:
    """Return what was found for the members of an ensemble, each once."""
    found = [result["side_by_side"]]
    found += [result["one_after_another"]] if result["one_after_another"] != found[0] else []
    return [each for each in found if "step" in each]


def _bench(result: Result) -> Iterator[Record]:
    for row in result["results"]:
        yield _measured("bench", result["exchange"], row, result)


def _tune(result: Result) -> Iterator[Record]:
    for table in result["tuned"]:
        for row in table["results"]:
            yield _measured("tune", table["request"], row, result) | {"memory": table["request"].get("memory")}


def _measured(command: str, request: Result, row: Result, result: Result) -> Record:
    """Return the record of a method that was measured."""
    method = {part: row[part] for part in ("algorithm", "transport", "packing")}
    labels = {**request, **method, "kind": "measure", "exchange": f"{request['pattern']} {row['algorithm']}"}
    kept = {key: result[key] for key in ("floor_s", "copy_bytes_per_s", "ranks_per_core") if key in result}
    return _record(command, labels, row["median_s"], {"results": [row], **kept}, result.get("provenance"))


def _bench_program(result: Result) -> Record:
    labels = {"kind": "measure", "pattern": PATTERN, "exchange": result["program"], "ranks": result["ranks"]}
    record = _record("bench", labels, result["median_s"], {"results": [result]}, result.get("provenance"))
    steps = [{"name": name, "median_s": seconds} for name, seconds in result["steps"].items()]
    record["result"]["results"] = [{**result, "steps": steps}]
    return record | {"program": result["program"]}


def _run(result: Result) -> Record:
    labels = {**result, "kind": "run", "exchange": result["dwarf"]}
    return _record("run", labels, result["wall_s"] / result["steps"], result, result.get("provenance"))


def _advise(request: Result, machine: Result) -> Iterator[Record]:
    for row in machine["results"]:
        yield _simulated("advise", {**request, **machine, **row}, row)


def _simulated(command: str, labels: Result, result: Result) -> Record:
    """Return the record of a simulation; a dwarf's time is that of one step, and threads are those of the simulator."""
    labels = {key: value for key, value in labels.items() if key != "threads" or "dwarf" in labels}
    if "threads_per_rank" in labels:
        labels["threads"] = labels["threads_per_rank"]
    what = labels.get("dwarf") or labels.get("pattern") or labels.get("program")
    named = {"pattern": PATTERN} if "program" in labels else {}
    named |= {"kind": "simulate", "exchange": " ".join(filter(None, (what, labels.get("algorithm"))))}
    time_s = result["time_s"] / (result.get("steps") or 1)
    return _record(command, {**labels, **named}, time_s, result, None) | {"program": labels.get("program")}


def records_of_tuning(entries: Sequence[Result]) -> list[Record]:
    """Return the records of the entries of a tuning file: its medians and minima, as it keeps no samples."""
    return [_entry(entry) for entry in entries]


def _entry(entry: Result) -> Record:
    row = {part: entry.get(part) for part in ("algorithm", "transport", "packing")}
    row |= {"median_s": entry["median_s"], "min_s": entry["min_s"], "samples_s": []}
    return _measured("tune", entry, row, {"provenance": entry}) | {"memory": entry.get("memory", "private")}


def _record(command: str, labels: Result, time_s: float, result: Result, origin: Result | None) -> Record:
    where = origin or {}
    return {
        **dict.fromkeys(LABELS),
        **{name: _text(labels[name]) for name in LABELS if not isinstance(labels.get(name, {}), Mapping)},
        "settings": settings_text(labels.get("settings") or {}),
        "command": command,
        "time_s": time_s,
        "wall_s": None,
        "layout_imbalance": None,
        "environment": {"host": where.get("host"), "cpu": where.get("cpu"), "mpi": where.get("mpi"), "commit": None},
        "result": dict(result),
    }


def _text(value: Any) -> Any:
    """A label as a study has it: extents joined by 'x', numbers that are not whole as text."""
    if isinstance(value, list | tuple):
        return "x".join(map(str, value))
    return str(value) if isinstance(value, float) else value
