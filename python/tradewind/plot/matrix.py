"""The communication matrix of an exchange as a picture: bytes by sender and receiver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind import _core
from tradewind.base import units
from tradewind.base.elements import counted_bytes
from tradewind.base.errors import InputError
from tradewind.base.files import check_target, write_atomically
from tradewind.plot.export import SUFFIXES, picture
from tradewind.plot.style import CONFIG
from tradewind.workload.exchange import Exchange

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_BINS = 600
_MAX_CELLS = 16_000
_SIDE = 480  # pixels
_SMALL = 300  # of one beside others


def communication_matrix(
    schedules: list[_core.Schedule], bytes_per_point: int, stages: range | None = None
) -> tuple[NDArray[np.int64], int]:
    """Bytes that each bin of ranks sends to each other one, ``[sender][receiver]``, over all schedules.

    A bin is one rank where a picture can show that many, else as few in a row as it can. `stages`: only these, of each
    schedule that has them. Returns the matrix and the number of ranks in a bin.
    """
    import numpy as np

    ranks = schedules[0].ranks

    def total(ranks_per_bin: int) -> NDArray[np.int64]:
        parts = []
        for schedule in schedules:
            wanted = range(schedule.stages) if stages is None else stages
            first, last = min(wanted.start, schedule.stages), min(wanted.stop, schedule.stages)
            parts.append(_core.communication_matrix(schedule, ranks_per_bin, first, last))
        points = sum(int(part.sum(dtype=object)) for part in parts)  # as Python counts, which knows no largest number
        counted_bytes("communication matrix", points, bytes_per_point)
        matrix: NDArray[np.int64] = np.sum(parts, axis=0) * bytes_per_point
        return matrix

    ranks_per_bin = math.ceil(ranks / _MAX_BINS)
    matrix = total(ranks_per_bin)
    if int((matrix > 0).sum()) > _MAX_CELLS:
        ranks_per_bin = math.ceil(ranks / math.isqrt(_MAX_CELLS))
        matrix = total(ranks_per_bin)
    return matrix, ranks_per_bin


def chart(matrix: NDArray[np.int64], ranks_per_bin: int, ranks: int, title: str) -> Any:
    """The picture of a matrix, as an Altair chart: sender downward, receiver to the right, colour the bytes."""
    return panel(matrix, ranks_per_bin, ranks, title).configure_view(stroke="#888", fill="white")


def panel(matrix: NDArray[np.int64], ranks_per_bin: int, ranks: int, title: str) -> Any:
    """Draw as `chart` does, to stand beside others in one figure."""
    import altair as alt
    import numpy as np

    from tradewind.plot.cells import bin_edges, spans, square

    edges = bin_edges(ranks, ranks_per_bin)
    pairs = np.nonzero(matrix)
    values = matrix[pairs]
    cells = spans(zip(*(each.tolist() for each in pairs), strict=True), edges, "bytes", values.tolist())
    wide = values.size > 0 and int(values.max()) > 100 * int(values.min())
    per = "rank" if ranks_per_bin == 1 else f"{ranks_per_bin} ranks"
    colour = alt.Color(
        "bytes:Q",
        title=["bytes from", f"{per} to {per}"],
        scale=alt.Scale(scheme="viridis", type="log" if wide else "linear", reverse=True, zero=False),
        legend=alt.Legend(format="~s"),
    )
    return square(cells, edges, ("receiver (rank)", "sender (rank)"), colour, _SIDE).properties(title=title)


def of_exchange(exchange: Exchange, stages: range | None = None) -> tuple[NDArray[np.int64], int, str]:
    """The matrix of an exchange without its repetitions, the ranks in a bin, and what it is, in words."""
    distinct = exchange.schedules()
    matrix, ranks_per_bin = communication_matrix(list(distinct.values()), exchange.bytes_per_point, stages)
    total = units.format_bytes(float(matrix.sum()))
    return matrix, ranks_per_bin, f"{exchange.name}, {exchange.ranks} ranks, {total}"


def save_picture(exchange: Exchange, path: Path, stages: range | None = None) -> None:
    """Writes the communication matrix of an exchange as SVG, PNG, PDF or HTML, by the name of the file.

    Raises InputError for another kind of file, or where it cannot be written.
    """
    _check(path)
    matrix, ranks_per_bin, title = of_exchange(exchange, stages)
    described = f"Communication matrix of {title}: bytes from each rank to each other."
    _write(chart(matrix, ranks_per_bin, exchange.ranks, title), described, path)


def save_matrices(schedules: Mapping[str, _core.Schedule], bytes_per_point: int, path: str | Path) -> None:
    """Write the communication matrices of several exchanges side by side, in the same colours.

    `schedules`: by the names that the picture has for them. `path`: FILE.svg, .png, .pdf or .html. Raises InputError
    for another kind of file, or where it cannot be written.
    """
    import altair as alt

    path = Path(path)
    _check(path)
    panels = []
    for name, schedule in schedules.items():
        matrix, ranks_per_bin = communication_matrix([schedule], bytes_per_point)
        title = f"{name}: {int((matrix > 0).sum())} pairs, {units.format_bytes(float(matrix.sum()))}"
        panels.append(panel(matrix, ranks_per_bin, schedule.ranks, title).properties(width=_SMALL, height=_SMALL))
    both = alt.hconcat(*panels).resolve_scale(color="shared").configure_view(stroke="#888", fill="white")
    _write(both, f"Communication matrices: bytes from each rank to each other. {', '.join(schedules)}.", path)


def _check(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    check_target(path, "picture")


def _write(drawn: Any, described: str, path: Path) -> None:
    specification = drawn.to_dict()
    specification = {**specification, "config": {**CONFIG, **specification["config"]}, "description": described}
    write_atomically(path, picture(specification, path.suffix, scale=2), "picture")
