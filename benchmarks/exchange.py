"""Real exchanges on two ranks, each beside a memory copy of the same bytes in the same run."""

from __future__ import annotations

from tradewind.exchange import Exchange
from tradewind.launch import bench

GRID = (602, 568, 60)


def exchange() -> None:
    """HIRLAM's grid: transposition of a slab and halo, ours and the MPI library's own."""
    for request in (
        Exchange("transpose", 2, GRID, (2, 1), slab="xz", algorithm="ring-1"),
        Exchange("halo", 2, GRID, (2, 1), width=3, periodic="xy", algorithm="sweep"),
    ):
        native = ["native"] if request.pattern == "transpose" else ["direct"]
        result = bench(request, [str(request.algorithm), *native], ["isend-irecv"], ["buffer"], repeat=20)
        for row in result["results"]:
            print(
                f"{request.pattern:>9} {row['algorithm']:>7}: median {row['median_s'] * 1e3:.2f} ms, "
                f"least {row['min_s'] * 1e3:.2f} ms; {row['ratio_to_copy']:.2f} x memory copy, "
                f"{row['ratio_to_floor']:.2f} x pack and local copy"
            )
