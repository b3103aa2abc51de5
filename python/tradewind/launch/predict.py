"""Simulated times beside those that ranks have measured."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

from tradewind.base.errors import InputError
from tradewind.machine import MachineFile, load_machine
from tradewind.method.method import NATIVE
from tradewind.simulation import simulate
from tradewind.workload.exchange import Exchange


def machine_of(path: str | Path) -> MachineFile:
    """A machine with intra-node tables of its transports. Raises InputError for one without."""
    file = load_machine(path)
    if not file.machine.intranode:
        raise InputError(
            f"{path} has no table `intranode` (how transports carry messages within a node): "
            "tradewind calibrate writes files that have one"
        )
    return file


def add_predictions(result: dict[str, Any], exchange: Exchange, file: MachineFile) -> dict[str, Any]:
    """The result of a bench with ``predicted_s`` and ``predicted_ratio`` (over the median) in each row.

    None where there is no prediction: for the MPI library's own algorithm, and where the machine file has no table of
    transport and packing. ``prediction`` sums up all rows: ``machine``, ``rows`` that were predicted, ``median_error``
    (of their ratios, how far from 1).
    """
    ranks_per_node = round(result["ranks_per_core"] * result["cores"])
    rows = [row | _predicted(row, exchange, file, ranks_per_node) for row in result["results"]]
    errors = [abs(row["predicted_ratio"] - 1) for row in rows if row["predicted_ratio"] is not None]
    summary = {
        "machine": file.name,
        "rows": len(errors),
        "median_error": statistics.median(errors) if errors else None,
    }
    return result | {"results": rows, "prediction": summary}


def _predicted(row: dict[str, Any], exchange: Exchange, file: MachineFile, ranks_per_node: int) -> dict[str, Any]:
    method = row["transport"], row["packing"]
    known = {(each.transport, each.packing) for each in file.machine.intranode}
    if row["algorithm"] == NATIVE or method not in known:
        return {"predicted_s": None, "predicted_ratio": None}
    result = simulate(
        replace(exchange, algorithm=row["algorithm"]),
        file,
        transport=method[0],
        packing=method[1],
        ranks_per_node=ranks_per_node,
        threads=1,
    )
    return {"predicted_s": result["time_s"], "predicted_ratio": result["time_s"] / row["median_s"]}
