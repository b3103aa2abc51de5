"""Matrices of cases: how busy the links between switches are, and which rank sends how much to which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.exchange import Exchange
from tradewind.plot.matrix import of_exchange, panel
from tradewind.study.model import Plot
from tradewind.study.records import Record, exchange_of

_SIDE = 330  # pixels
_COLUMNS = 2


def congestion_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A panel a case: the part of the time that the busiest link between two bins of switches is busy."""
    cases = [record for record in records if record["result"].get("congestion")]
    most = max((share for case in cases for share in case["result"]["congestion"]["share"]), default=0.0)
    panels = [_congestion_panel(_title(plot, case), case["result"]["congestion"], most) for case in cases]
    return alt.concat(*panels, columns=_COLUMNS) if panels else None


def _title(plot: Plot, record: Record) -> list[str]:
    labels = [str(record[label]) for label in dict.fromkeys((plot.panel, plot.curve)) if label and record[label]]
    low, middle, high, most = record["result"]["congestion"]["quantiles"]
    busy = f"links busy {_percent(middle)} (median), {_percent(low)} to {_percent(high)} (middle 80 %)"
    busy += f", {_percent(most)} (most)"
    return [", ".join(labels), busy]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _congestion_panel(title: list[str], congestion: dict[str, Any], most: float) -> Any:
    per_bin, switches = congestion["switches_per_bin"], congestion["switches"]
    cells = [
        {
            "f0": sender * per_bin,
            "f1": min((sender + 1) * per_bin, switches),
            "t0": receiver * per_bin,
            "t1": min((receiver + 1) * per_bin, switches),
            "share": float(f"{share:.3g}"),
        }
        for sender, receiver, share in zip(congestion["from"], congestion["to"], congestion["share"], strict=True)
    ]
    axis = alt.Axis(grid=False, tickMinStep=1, format="d")
    colour = alt.Scale(scheme="inferno", reverse=True, domain=[0, most])
    return (
        alt.Chart(alt.Data.from_dict({"values": cells}, validate=False))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X(
                "t0:Q",
                title="to switch (of those in use)",
                axis=axis,
                scale=alt.Scale(domain=[0, switches], nice=False),
            ),
            x2="t1",
            y=alt.Y("f0:Q", title="from switch", axis=axis, scale=alt.Scale(domain=[switches, 0], nice=False)),
            y2="f1",
            color=alt.Color(
                "share:Q", title=["busiest link,", "part of the time"], scale=colour, legend=alt.Legend(format=".0%")
            ),
        )
        .properties(width=_SIDE, height=_SIDE, title=alt.Title(title[0], subtitle=title[1], fontSize=12))
    )


def matrix_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A panel a case: the bytes from each rank to each other."""
    known = [record for record in records if record["algorithm"] != "native"]  # of which only the MPI library knows
    panels = [panel(*_picture(exchange_of(record))) for record in known]
    return alt.concat(*panels, columns=_COLUMNS).resolve_scale(color="independent") if panels else None


def _picture(exchange: Exchange) -> tuple[Any, int, int, str]:
    matrix, ranks_per_bin, title = of_exchange(exchange)
    return matrix, ranks_per_bin, exchange.ranks, title
