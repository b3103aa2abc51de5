"""Causes of errors, looked for after the answers: one thing of a machine is changed alone.

Nothing of this goes back into machine files or predictions.
"""

from __future__ import annotations

from validation.between_nodes.exchanges import simulate
from validation.between_nodes.measured import At, Compared, compared
from validation.published import factor, geometric_mean

MEMORY = {"archer2": {"node.memory_bandwidth": "820GB/s"}}
"""Four times the bandwidth of the memory, as of messages that are in a cache."""
ONE_NIC = {
    "archer2": {"nic.count": "1", "nic.injection_bandwidth": "200Gbit/s", "nic.ejection_bandwidth": "200Gbit/s"},
    "polaris": {"nic.count": "1", "nic.injection_bandwidth": "400Gbit/s", "nic.ejection_bandwidth": "400Gbit/s"},
}
"""One NIC with the bandwidth of two."""
EXPERIMENTS: tuple[tuple[str, dict[str, dict[str, str]], tuple[At, ...]], ...] = (
    (
        "memory four times as fast",
        MEMORY,
        (
            ("P19", "sendrecv", 16, 65536),
            ("P19", "sendrecv", 16, 1048576),
            ("P125", "allreduce", 2, 65536),
            ("P125", "allreduce", 2, 1048576),
            ("P126", "allreduce", 4, 1048576),
        ),
    ),
    (
        "one NIC for two",
        ONE_NIC,
        (("P17", "alltoall", 4, 65536), ("P105", "alltoall", 2, 1048576), ("P106", "alltoall", 8, 1048576)),
    ),
)


def experiment(row: Compared, settings: dict[str, str]) -> float:
    """Return the factor of a prediction whose machine has other values."""
    return factor(simulate(row.case, settings), geometric_mean(row.measured), "s")


def experiments() -> list[dict[str, object]]:
    """Return the factors with and without each change."""
    rows = {row.at: row for row in compared()}
    return [
        {
            "changed": name,
            "id": at[0],
            "exchange": f"{at[1]}, {rows[at].case.machine}",
            "nodes": at[2],
            "bytes": at[3],
            "predicted": rows[at].factor,
            "with the change": experiment(rows[at], settings[rows[at].case.machine]),
        }
        for name, settings, ats in EXPERIMENTS
        for at in ats
    ]
