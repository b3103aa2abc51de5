"""Tables of what stays unexplained: what would have to be true, one factor at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kept_results import load
from study_tables import from_to, table

from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import quantity_of

Row = dict[tuple[int, str], list[Record]]
"""The cases of a sweep, by ranks and algorithm: one for each seed."""


def _by_sweep(name: str, base: str | None = None) -> dict[str, Row]:
    """The cases of a study, of one base if it has several, by sweep in the order of its file."""
    kept = load(name)
    rows: dict[str, Row] = {sweep.name: {} for sweep in kept.study.sweep}
    for record in kept.records:
        if record["base"] == base and record["time_s"] is not None:
            rows[record["sweep"]].setdefault((record["ranks"], record["algorithm"]), []).append(record)
    return {sweep: row for sweep, row in rows.items() if row}


def _one(row: Row, ranks: int) -> Record:
    return next(cases[0] for (count, _), cases in row.items() if count == ranks)


def _node_time(row: Row, few: int, many: int) -> float:
    """Return the time x nodes on many ranks over that on few."""
    return float(_one(row, many)["time_s"] / _one(row, few)["time_s"] * many / few)


FIXED = {
    "234 us more computing in each rank": 234e-6,
    "one rank 2.25 times as slow, and 500 us more computing in each": 500e-6,
}
"""Seconds of computing in each rank beside its points, by sweep."""


def mpi_share() -> str:
    """The share of a step in which ranks do not compute, in the mean, on 64 and 128 nodes, by the factor changed."""
    cells = [("published", "0.47", "0.44", "poor")]
    for sweep, row in _by_sweep("mpdata-mpi-share").items():
        shares = []
        for ranks in (64, 128):
            record = _one(row, ranks)
            computing = quantity_of(record, "efficiency")
            assert computing is not None
            shares.append(1 - computing - FIXED.get(sweep, 0.0) / record["time_s"])
        cells.append((sweep, *(f"{share:.2f}" for share in shares), f"x {_node_time(row, 64, 128):.2f}"))
    return table(("factor", "MPI, 64 nodes", "MPI, 128 nodes", "time x nodes, 64 to 128"), cells)


WITH_FIXED = "fixed time"
"""Beginning of the names of sweeps in which each rank computes for a fixed time as well."""


def protocols() -> str:
    """A step with a cost over one without, on 64 and 128 cores, by cost, without and with a fixed time."""
    rows = _by_sweep("mpdata-protocols")
    costs = [sweep for sweep in rows if f"{WITH_FIXED}, {sweep}" in rows and sweep != "compact parts"]
    cells = [("published", "1.15", "1.17 (1.08 to 1.26)", "1.15", "1.17 (1.08 to 1.26)", "x 1.22 (1.15 to 1.29)")]
    for cost in costs:
        found = []
        for before, none in (("", "base"), (f"{WITH_FIXED}, ", WITH_FIXED)):
            without = rows[f"{before}compact parts"] if "compact" in cost else rows[none]
            for ranks in (8, 16):
                found.append(_one(rows[f"{before}{cost}"], ranks)["time_s"] / _one(without, ranks)["time_s"])
        scaling = _node_time(rows[f"{WITH_FIXED}, {cost}"], 8, 16)
        cells.append((cost, *(f"{ratio:.2f}" for ratio in found), f"x {scaling:.2f}"))
    header = ("a cost", "64 cores", "128 cores", "fixed time: 64 cores", "128 cores", "time x cores, 64 to 128")
    return table(header, cells)


def _burst(row: Row, ranks: int) -> str:
    """Return the time of burst over that of ring-4: from the least to the greatest, where there are several seeds."""
    if (ranks, "ring-4") not in row:
        return ""
    pairs = zip(row[ranks, "burst"], row[ranks, "ring-4"], strict=True)
    return from_to([one["time_s"] / four["time_s"] for one, four in pairs])


SST, OURS = "SST/macro 7.1", "ours"
ROWS, SIZES_OF_ALL = "rows of ", " sizes"
"""Beginning of the names of sweeps whose splits have as many ranks along x; end of those with further sizes."""


def burst_factors() -> str:
    """Burst over ring-4 on 500 and 2000 ranks, by the factor changed."""
    cells = [
        (name if base == SST else f"{name}, ours", *(_burst(row, ranks) for ranks in (500, 2000)))
        for base in (SST, OURS)
        for name, row in _by_sweep("burst", base).items()
        if not name.startswith(ROWS) and not name.endswith(SIZES_OF_ALL)
    ]
    return table(("factor", "500 ranks", "2000 ranks"), cells)


def _burst_sizes(rows: Sequence[tuple[str, Row]]) -> str:
    ranks = sorted({count for _, row in rows for count, _ in row})
    cells = [(name, *(_burst(row, n) for n in ranks)) for name, row in rows]
    return table(("burst / ring-4", *(f"{n:,}" for n in ranks)), cells)


def burst_sizes() -> str:
    """Burst over ring-4 by ranks: as in the study of Figure 5a under both bases, and by the ranks along x."""
    rows = [(f"nearest to a square (Figure 5a), {base}", _by_sweep("figure-5a", base)["burst"]) for base in (SST, OURS)]
    rows += [(f"{name} ranks", row) for name, row in _by_sweep("burst", SST).items() if name.startswith(ROWS)]
    return _burst_sizes(rows)


def burst_orders() -> str:
    """Burst over ring-4 by ranks, where links between switches are not the narrow place, in its own order and in
    ascending order."""
    rows = _by_sweep("burst", SST)
    shown = []
    for order in ("", "ascending, "):
        valiant: Row = {**rows[f"{order}Valiant"], **rows[f"{order}Valiant, more{SIZES_OF_ALL}"]}
        shown += [
            (f"{order}fattree-M", rows[f"{order}fattree-M, all{SIZES_OF_ALL}"]),
            (f"{order}dragonfly-MM, Valiant", valiant),
        ]
    return _burst_sizes(shown)


FACTORS: dict[str, Callable[[], str]] = {
    "mpi-share-factors": mpi_share,
    "protocol-factors": protocols,
    "burst-factors": burst_factors,
    "burst-sizes": burst_sizes,
    "burst-orders": burst_orders,
}
"""The sections of the page that show one table."""
