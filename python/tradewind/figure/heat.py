"""Matrices of cases: how busy links are, how long packets wait between ranks, which rank sends how much to which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tradewind.base.units import format_seconds
from tradewind.plot.cells import bin_edges, spans, square
from tradewind.plot.congestion import ranks_chart
from tradewind.plot.matrix import of_exchange, panel
from tradewind.study.cases.records import Record, exchange_of
from tradewind.study.claims.quantity import quantity_of
from tradewind.study.model.study import Plot
from tradewind.workload.exchange import Exchange

_SIDE = 330  # pixels
_COLUMNS = 2


def congestion_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A panel a case: the part of the time that the busiest link between two bins of switches is busy."""
    cases = [record for record in records if record["result"].get("congestion")]
    maximum = max((share for case in cases for share in case["result"]["congestion"]["share"]), default=0.0)
    panels = [_congestion_panel(_title(plot, case), case["result"]["congestion"], maximum) for case in cases]
    return alt.concat(*panels, columns=_COLUMNS) if panels else None


def _named(plot: Plot, record: Record) -> str:
    labels = dict.fromkeys((plot.panel, plot.curve))
    return ", ".join(str(record[label]) for label in labels if label and record[label])


def _title(plot: Plot, record: Record) -> list[str]:
    low, middle, high, maximum = record["result"]["congestion"]["quantiles"]
    busy = f"links busy {_percent(middle)} (median), {_percent(low)} to {_percent(high)} (middle 80 %)"
    busy += f", {_percent(maximum)} (maximum)"
    return [_named(plot, record), busy]


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _congestion_panel(title: list[str], congestion: dict[str, Any], maximum: float) -> Any:
    edges = bin_edges(congestion["switches"], congestion["switches_per_bin"])
    pairs = zip(congestion["from"], congestion["to"], strict=True)
    cells = spans(pairs, edges, "share", (float(f"{share:.3g}") for share in congestion["share"]))
    scale = alt.Scale(scheme="inferno", reverse=True, domain=[0, maximum])
    words = ["busiest link,", "part of the time"]
    colour = alt.Color("share:Q", title=words, scale=scale, legend=alt.Legend(format=".0%"))
    return _titled(square(cells, edges, ("to switch (of those in use)", "from switch"), colour, _SIDE), title)


def _titled(chart: Any, title: list[str]) -> Any:
    """Add a title and a line below it."""
    return chart.properties(title=alt.Title(title[0], subtitle=title[1], fontSize=12))


def pairs_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A panel a case: the mean delay of packets from each block of ranks to each other."""
    cases = [record for record in records if record["result"].get("delay_pairs")]
    maximum = max((delay for case in cases for row in case["result"]["delay_pairs"] for delay in row), default=0.0)
    panels = [_pairs_panel(plot, case, maximum) for case in cases]
    return alt.concat(*panels, columns=_COLUMNS) if panels else None


def _pairs_panel(plot: Plot, record: Record, maximum: float) -> Any:
    mean, uneven = quantity_of(record, "delay") or 0.0, quantity_of(record, "delay-imbalance") or 1.0
    note = f"{format_seconds(mean)} in the mean of all pairs, {uneven:.3g} times that at most"
    chart = ranks_chart(record["result"]["delay_pairs"], record["ranks"], _SIDE, maximum)
    return _titled(chart, [_named(plot, record), note])


def matrix_chart(plot: Plot, records: Sequence[Record]) -> Any | None:
    """A panel a case: the bytes from each rank to each other."""
    known = [record for record in records if record["algorithm"] != "native"]  # of which only the MPI library knows
    panels = [panel(*_picture(exchange_of(record))) for record in known]
    return alt.concat(*panels, columns=_COLUMNS).resolve_scale(color="independent") if panels else None


def _picture(exchange: Exchange) -> tuple[Any, int, int, str]:
    matrix, ranks_per_bin, title = of_exchange(exchange)
    return matrix, ranks_per_bin, exchange.ranks, title
