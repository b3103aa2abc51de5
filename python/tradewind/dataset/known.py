"""Simulated cases of datasets as a study stores them: so that what somebody has computed is not computed again.

A simulation has the same result on every machine, under a key that names all its inputs and the version of the model,
and with the same program, whose hash stands beside the key. So a dataset that was kept, or sent by somebody else, is as
good as the cases themselves. What was measured is not taken: it is about another moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.base.reading import is_folder, is_there
from tradewind.dataset.read import read_dataset
from tradewind.study.cases.environment import Environment
from tradewind.study.cases.records import Record


def known_results(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The simulated cases of results.nc files, or of all files NAME.nc in folders, by their keys.

    Each is what `Store.save` takes, but for `identity`, which the planned case has. Of several of one key the last one
    counts that has the hash of its program. Raises InputError with the problems of all files.
    """
    results: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for path in paths:
        if not is_there(path):
            problems.append(f"{path}: there is no such file or folder")
            continue
        files = sorted(path.glob("*.nc")) if is_folder(path) else [path]
        if not files:
            problems.append(f"{path}: no dataset, that is no file NAME.nc, lies in this folder")
        for file in files:
            try:
                records, attributes = read_dataset(file)
            except InputError as error:
                problems += error.problems
                continue
            origin = f"taken from {file.name}, written by {attributes.get('versions', 'an unknown version')}"
            for record in records:
                if record["kind"] == "simulate" and (record["program"] or record["key"] not in results):
                    results[record["key"]] = _body(record, origin)
    if problems:
        raise InputError(*problems)
    return results


def _body(record: Record, origin: str) -> dict[str, Any]:
    nowhere = dict.fromkeys(field.name for field in fields(Environment))
    return {
        "key": record["key"],
        "result": record["result"],
        "program": record["program"],
        "mark": record["mark"],
        "wall_s": record["wall_s"],
        "environment": {**nowhere, **record["environment"]},
        "finished": origin,
    }
