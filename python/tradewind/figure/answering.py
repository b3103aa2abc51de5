"""Charts that answer: the nearest point names its case, and a curve can be highlighted. Papers have the same charts
without."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tradewind.plot.style import Part, nominal
from tradewind.study.cases.records import Record

NEAREST = {"type": "point", "on": "pointermove", "clear": "pointerout", "nearest": True}
HIGHLIGHT = "highlight"
"""The signal with the name of the curve that is highlighted; an empty text: none."""
_FAINT = 0.12


@dataclass(frozen=True)
class Drawing:
    """A plot as a specification of Vega-Lite, and what belongs to it on a page."""

    specification: dict[str, Any]
    cases: Sequence[Record]
    """The cases that it is about."""
    owners: Sequence[Record] = ()
    """The case of each row; empty for charts that are not made of rows of cases."""
    heads: list[list[str]] = field(default_factory=list)
    """The fields of a row that are taken away as CSV, each with the head of its column."""
    tooltip: list[Part] = field(default_factory=list)
    """What is shown of the nearest point, beside its case and its parameters."""


def answering(specification: dict[str, Any], tooltip: Sequence[Part]) -> dict[str, Any]:
    """Return the chart with the nearest point under the pointer named, and a signal that highlights a curve. The page
    draws its legend."""
    inner = specification.get("spec", specification)
    layers = inner.get("layer") or [{key: inner[key] for key in ("mark", "encoding")}]
    shown = [_highlighted(layer) for layer in layers]
    named = _tooltip([nominal("case"), nominal("parameters"), *tooltip])
    kinds = {layer["mark"]["type"] for layer in layers}
    if "bar" in kinds:
        shown = [_named(layer, named) for layer in shown]
    elif "point" in kinds:
        shown = [_nearest(layer, named) if layer["mark"]["type"] == "point" else layer for layer in shown]
    else:
        shown.append(_nearest(_points(layers[0]), named))
    rest = {key: value for key, value in inner.items() if key not in ("mark", "encoding", "layer")}
    signal = {"params": [{"name": HIGHLIGHT, "value": ""}]}
    if inner is specification:
        return {**rest, **signal, "layer": shown}
    return {**specification, **signal, "spec": {**rest, "layer": shown}}


def legend_of(specification: dict[str, Any]) -> dict[str, Any] | None:
    """Return the names and colours of the curves, and whether they have shapes; None where there is one curve without
    a name."""
    inner = specification.get("spec", specification)
    layers = inner.get("layer") or [inner]
    colour = layers[0]["encoding"]["color"]
    names, colours = colour["scale"]["domain"], colour["scale"]["range"]
    if names == [""]:
        return None
    shapes = any("shape" in layer["encoding"] for layer in layers)
    return {"title": colour.get("title") or "", "names": names, "colours": colours, "shapes": shapes}


def _highlighted(layer: Part) -> Part:
    """The layer with curves that are faint while another one is highlighted."""
    encoding = dict(layer["encoding"])
    if "color" in encoding:
        test = f"{HIGHLIGHT} === '' || datum.{encoding['color']['field']} === {HIGHLIGHT}"
        encoding["opacity"] = {"condition": {"test": test, "value": 1}, "value": _FAINT}
        encoding["color"] = {**encoding["color"], "legend": None}
    if "shape" in encoding:
        encoding["shape"] = {**encoding["shape"], "legend": None}
    return {**layer, "encoding": encoding}


def _tooltip(fields: Sequence[Part]) -> Part:
    """Return what a tooltip shows, as an expression: the cells around points, which find the nearest, have the mark of
    the point in the place of its row, which Vega-Lite 6.4 does not look into."""
    row = "(datum.datum || datum)"
    texts = []
    for part in fields:
        value = f"{row}[{json.dumps(part['field'])}]"
        shown = f"format({value}, {json.dumps(part['format'])})" if "format" in part else value
        texts.append(f"{json.dumps(part.get('title', part['field']))}: {shown}")
    return {"value": {"expr": f"{{{', '.join(texts)}}}"}}


def _named(layer: Part, tooltip: Part) -> Part:
    return {**layer, "encoding": {**layer["encoding"], "tooltip": tooltip}}


def _nearest(layer: Part, tooltip: Part) -> Part:
    """The layer with the point that is nearest to the pointer larger, and named."""
    size = {"condition": {"param": "nearest", "empty": False, "value": 160}, "value": layer["mark"].get("size", 45)}
    encoding = {**layer["encoding"], "size": size, "tooltip": tooltip}
    return {**layer, "params": [{"name": "nearest", "select": NEAREST}], "encoding": encoding}


def _points(line: Part) -> Part:
    """Points of a line that are seen only where the pointer is near."""
    encoding = {key: line["encoding"][key] for key in ("x", "y", "color")}
    encoding["color"] = {**encoding["color"], "legend": None}
    encoding["opacity"] = {"condition": {"param": "nearest", "empty": False, "value": 1}, "value": 0}
    return {"mark": {"type": "point", "filled": True}, "encoding": encoding}
