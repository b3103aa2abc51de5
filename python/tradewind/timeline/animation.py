"""A schedule in motion: one page on which messages move between ranks, and over the links of a machine.

The page is drawn by Vega, whose signals are the time, the button and the speed; it needs no network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.files import check_target, write_atomically
from tradewind.machine import MachineFile
from tradewind.machine.shapes import Point, circle, square
from tradewind.machine.switch_coordinates import switch_coordinates
from tradewind.plot.export import vega_page
from tradewind.plot.style import PALETTE, Part
from tradewind.plot.text_width import FONT
from tradewind.timeline.transfers import Motion, Transfer, routes

MAX_RANKS = 400
"""Ranks that one animation can show."""
MAX_MOVES = 20_000
"""Moves from rank to rank and from switch to switch that one animation can show."""
WHAT = "animation"
"""Name of such a file in errors."""
_SIDE = 440  # pixels of a panel
_GAP = 60
_BEND = 0.1  # of the length of a way: the way there is not the way back
_MIN_LABELLED = 14  # pixels of a spot that has room for its number


@dataclass(frozen=True)
class Network:
    """The machine on which a motion was simulated, and the node of each rank."""

    file: MachineFile
    machine: _core.Machine
    nodes: Sequence[int]

    @property
    def name(self) -> str:
        """The machine and its routing, for the title of its panel."""
        return f"{self.file.name}, {self.machine.routing}"


def check(path: Path, ranks: int) -> None:
    """Raise InputError, with every problem at once, for a file or a number of ranks that no animation can have."""
    problems = [] if path.suffix == ".html" else [f"{WHAT} {path}: a name that ends in .html is allowed"]
    if ranks > MAX_RANKS:
        problems.append(f"{WHAT} of {ranks} ranks: at most {MAX_RANKS} are allowed; name fewer ranks")
    if problems:
        raise InputError(*problems)
    check_target(path, WHAT)


def save(
    motion: Motion, ranks: int, split: tuple[int, int] | None, title: str, path: Path, network: Network | None = None
) -> None:
    """Write the page. `split`: (cx, cy) ranks over x and y, drawn in rows; None: in a circle.

    Raises InputError where there is more to draw than `MAX_MOVES`, or the file cannot be written.
    """
    if not motion.transfers:
        raise InputError(f"{WHAT}: no message goes from one rank to another; name more ranks")
    specification = page_specification(motion, ranks, split, title, network)
    write_atomically(path, vega_page(specification, title).encode(), WHAT)


def page_specification(
    motion: Motion, ranks: int, split: tuple[int, int] | None, title: str, network: Network | None = None
) -> Part:
    """Return the specification of the page for Vega."""
    panels = [_rank_panel(motion, ranks, split)]
    if network is not None:
        panels.append(_network_panel(motion, network))
    moves = sum(len(panel.moves) for panel in panels)
    if moves > MAX_MOVES:
        raise InputError(f"{WHAT} of {moves} moves: at most {MAX_MOVES} are allowed; name fewer ranks")
    return {
        "$schema": "https://vega.github.io/schema/vega/v6.json",
        "description": f"{title}: {len(motion.transfers)} messages in motion between {ranks} ranks.",
        "title": {"text": title, "subtitle": {"signal": "clock"}, "anchor": "start", "fontSize": 16},
        "background": "white",
        "padding": 12,
        "layout": {"columns": 2, "padding": _GAP, "align": "none"},
        "config": {"title": {"font": FONT, "subtitleFont": FONT, "subtitleFontSize": 13}, "text": {"font": FONT}},
        "signals": _signals(motion),
        "data": [_transfers(motion), *_counts(), *(data for panel in panels for data in panel.data())],
        "scales": [_stage_colours(motion)],
        "marks": [panel.mark() for panel in panels],
    }


def _signals(motion: Motion) -> list[Part]:
    end, total = motion.end, len(motion.transfers)
    step = 10.0 ** math.floor(math.log10(end / 100))
    if motion.unit == "stages":
        shown = f"'stage ' + min(floor(now), {math.ceil(end) - 1}) + ' of 0..{math.ceil(end) - 1}'"
    else:
        shown = "format(now, '.3s') + 's'"
    clock = (
        f"{shown} + ': ' + length(data('moving')) + ' messages in motion, ' + "
        f"(length(data('arrived')) ? data('arrived')[0].messages : 0) + ' of {total} have arrived'"
    )
    next_now = f"playing ? (now >= {end} ? 0 : min({end}, now + {end} * 0.04 / seconds)) : now"
    timer = {"type": "timer", "throttle": 40}
    stop = {"events": {"signal": "now"}, "update": f"now >= {end} ? false : playing"}
    slider = {"input": "range", "min": 0, "max": end, "step": step, "name": f"time ({motion.unit}) "}
    return [
        {"name": "now", "value": 0, "bind": slider, "on": [{"events": timer, "update": next_now}]},
        {"name": "playing", "value": False, "bind": {"input": "checkbox", "name": "play "}, "on": [stop]},
        {
            "name": "seconds",
            "value": 10,
            "bind": {"input": "select", "options": [5, 10, 20, 60], "name": "in seconds "},
        },
        {"name": "clock", "update": clock},
    ]


def _transfers(motion: Motion) -> Part:
    rows = [
        {"source": t.source, "target": t.target, "stage": t.stage, "bytes": t.bytes, "begin": t.begin, "end": t.end}
        for t in motion.transfers
    ]
    return {"name": "transfers", "values": rows}


def _counts() -> list[Part]:
    moving = {"type": "filter", "expr": "datum.begin <= now && now < datum.end"}
    arrived = {"type": "filter", "expr": "datum.end <= now"}
    messages = {"type": "aggregate", "ops": ["count"], "as": ["messages"]}
    return [
        {"name": "moving", "source": "transfers", "transform": [moving]},
        {"name": "arrived", "source": "transfers", "transform": [arrived, messages]},
    ]


def _stage_colours(motion: Motion) -> Part:
    stages = sorted({each.stage for each in motion.transfers} | {each.stage for each in motion.stages})
    return {"name": "stage", "type": "ordinal", "domain": stages, "range": PALETTE}


@dataclass(frozen=True)
class _Panel:
    """Spots, lines between them, and moves from spot to spot."""

    name: str
    title: str
    spots: Mapping[str, Point]
    """By name, such as "rank 3"."""
    lines: Sequence[tuple[str, str]]
    moves: Sequence[Part]
    """Each with begin, end, `from` and `to`, which are spots, and the message that it is a part of."""
    spans: Sequence[Part] = ()
    """The stages of spots, with begin and end."""

    def data(self) -> list[Part]:
        """Return its data: what changes with the time is a view of what does not."""
        place = self._pixels()
        spots = [{"spot": spot, "number": spot.split()[-1], "x": x, "y": y} for spot, (x, y) in place.items()]
        lines = [dict(zip(("x", "y", "x2", "y2"), (*place[a], *place[b]), strict=True)) for a, b in self.lines]
        return [
            {"name": f"{self.name}_spots", "values": spots},
            {"name": f"{self.name}_lines", "values": lines},
            {"name": f"{self.name}_moves", "values": [self._move(each, place) for each in self.moves]},
            {
                "name": f"{self.name}_moving",
                "source": f"{self.name}_moves",
                "transform": [
                    {"type": "filter", "expr": "datum.begin <= now && now < datum.end"},
                    {"type": "formula", "as": "part", "expr": "(now - datum.begin) / (datum.end - datum.begin)"},
                    *({"type": "formula", "as": axis, "expr": _bezier.format(axis=axis)} for axis in ("x", "y")),
                ],
            },
            {"name": f"{self.name}_spans", "values": [dict(each) | _xy(place[each["spot"]]) for each in self.spans]},
            {
                "name": f"{self.name}_now",
                "source": f"{self.name}_spans",
                "transform": [{"type": "filter", "expr": "datum.begin <= now && now < datum.end"}],
            },
        ]

    def _pixels(self) -> dict[str, Point]:
        """Return the pixels of each spot, y downward."""
        xs, ys = [x for x, _ in self.spots.values()], [y for _, y in self.spots.values()]
        widest = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
        room = _SIDE - 40
        return {
            spot: (
                round(20 + room / 2 + room * (x - (min(xs) + max(xs)) / 2) / widest, 1),
                round(20 + room / 2 - room * (y - (min(ys) + max(ys)) / 2) / widest, 1),
            )
            for spot, (x, y) in self.spots.items()
        }

    @staticmethod
    def _move(move: Part, place: Mapping[str, Point]) -> Part:
        """A move with the three points of its curve."""
        (x0, y0), (x2, y2) = place[move["from"]], place[move["to"]]
        middle = {"x1": (x0 + x2) / 2 + _BEND * (y0 - y2), "y1": (y0 + y2) / 2 + _BEND * (x2 - x0)}
        return {**move, "x0": x0, "y0": y0, **middle, "x2": x2, "y2": y2}

    def mark(self) -> Part:
        """Return its group of marks: lines, spots, their stages, their names, and what moves."""
        near = min((math.dist(a, b) for a, b in combinations(self._pixels().values(), 2)), default=_SIDE)
        across = max(3.0, min(24.0, 0.8 * near))
        size = across * across
        at = {"x": {"field": "x"}, "y": {"field": "y"}}
        shape = {"shape": {"signal": "substring(datum.spot, 0, 6) == 'switch' ? 'square' : 'circle'"}}
        words = {"field": "spot"}
        message = (
            "{'message': datum.source + ' to ' + datum.target, 'stage': datum.stage, 'bytes': format(datum.bytes, ',')}"
        )
        marks: list[Part] = [
            _mark("rule", f"{self.name}_lines", at | {"x2": {"field": "x2"}, "y2": {"field": "y2"}}, stroke="#BBBBBB"),
            _mark(
                "symbol",
                f"{self.name}_spots",
                at | shape | {"tooltip": words},
                size=size,
                fill="#EEEEEE",
                stroke="#555555",
            ),
            _mark("symbol", f"{self.name}_now", at | {"stroke": _colour, "tooltip": words}, size=size, strokeWidth=3),
            _mark(
                "symbol",
                f"{self.name}_moving",
                at | {"fill": _colour, "tooltip": {"signal": message}},
                size=60,
                stroke="white",
                strokeWidth=1,
            ),
        ]
        if across >= _MIN_LABELLED:
            texts = at | {"text": {"field": "number"}}
            named = _mark("text", f"{self.name}_spots", texts, align="center", baseline="middle", fontSize=10)
            marks.insert(3, {**named, "interactive": False})
        title = {"text": self.title, "anchor": "start", "fontSize": 13, "fontWeight": "normal", "frame": "group"}
        return {
            "type": "group",
            "name": self.name,
            "title": title,
            "encode": {"enter": {"width": {"value": _SIDE}, "height": {"value": _SIDE}}},
            "marks": marks,
        }


_bezier = (
    "pow(1 - datum.part, 2) * datum.{axis}0 + 2 * datum.part * (1 - datum.part) * datum.{axis}1 + "
    "pow(datum.part, 2) * datum.{axis}2"
)
_colour = {"scale": "stage", "field": "stage"}


def _mark(kind: str, data: str, encoding: Part, **fixed: Any) -> Part:
    values = {name: {"value": value} for name, value in fixed.items()}
    return {"type": kind, "from": {"data": data}, "encode": {"update": values | encoding}}


def _xy(place: Point) -> Part:
    return {"x": place[0], "y": place[1]}


def _rank_panel(motion: Motion, ranks: int, split: tuple[int, int] | None) -> _Panel:
    points = circle(ranks) if split is None else square(ranks, split[0])
    spots = {f"rank {rank}": point for rank, point in enumerate(points)}
    moves = [_move(each, f"rank {each.source}", f"rank {each.target}") for each in motion.transfers]
    spans = [
        {"spot": f"rank {each.rank}", "stage": each.stage, "begin": each.begin, "end": each.end}
        for each in motion.stages
    ]
    layout = "in a circle" if split is None else f"{split[0]} x {split[1]} over x and y"
    return _Panel("ranks", f"{ranks} ranks, {layout}; colours are stages", spots, [], moves, spans)


def _move(message: Transfer, start: str, end: str, part: int = 0, parts: int = 1) -> Part:
    """A part of the way of a message, which takes as long as each other part."""
    share = (message.end - message.begin) / parts
    times = {"begin": message.begin + part * share, "end": message.begin + (part + 1) * share}
    who = {"source": message.source, "target": message.target, "stage": message.stage, "bytes": message.bytes}
    return who | times | {"from": start, "to": end}


def _network_panel(motion: Motion, network: Network) -> _Panel:
    """The nodes and switches on the ways of the messages; each link has an equal share of the time of a message."""
    crossing = [(each, network.nodes[each.source], network.nodes[each.target]) for each in motion.transfers]
    pairs = list(dict.fromkeys((source, target) for _, source, target in crossing if source != target))
    ways = {
        (source, target): [f"node {source}", *(f"switch {switch}" for switch in way), f"node {target}"]
        for (source, target), way in zip(pairs, routes(network.machine, pairs), strict=True)
    }
    moves = []
    for message, *nodes in crossing:
        links = list(pairwise(ways.get((nodes[0], nodes[1]), ())))
        moves += [_move(message, a, b, part, len(links)) for part, (a, b) in enumerate(links)]
    lines = sorted({(min(link), max(link)) for way in ways.values() for link in pairwise(way)})
    spots = _network_spots(network, sorted({*network.nodes}), [spot for way in ways.values() for spot in way])
    switches = sum(1 for spot in spots if spot.startswith("switch"))
    title = f"{network.name}: {len(spots) - switches} nodes, {switches} switches on the ways of the messages"
    return _Panel("network", title, spots, lines, moves)


def _network_spots(network: Network, nodes: Sequence[int], on_ways: Sequence[str]) -> dict[str, Point]:
    """Return the coordinates of the switches on the ways, and around each those of its nodes."""
    topology = network.machine.topology
    by_switch: dict[int, list[int]] = {int(spot.split()[1]): [] for spot in on_ways if spot.startswith("switch")}
    for node in nodes:
        by_switch.setdefault(node // topology.nodes_per_switch, []).append(node)
    places = _switch_places(network, sorted(by_switch))
    spots = {f"switch {switch}": place for switch, place in places.items()}
    radius = 0.3 * min((math.dist(a, b) for a, b in combinations(places.values(), 2)), default=3.0)
    for switch, of_switch in by_switch.items():
        x, y = places[switch]
        around = zip(of_switch, circle(len(of_switch)), strict=True)
        spots |= {f"node {node}": (x + radius * dx, y + radius * dy) for node, (dx, dy) in around}
    return spots


def _switch_places(network: Network, switches: Sequence[int]) -> dict[int, Point]:
    """Return the coordinates of some switches; where a drawing of all has none, those of a circle."""
    topology = network.machine.topology
    known = switch_coordinates(network.file.machine.topology, topology.switches).places()
    if all(switch in known for switch in switches):
        return {switch: known[switch] for switch in switches}
    return dict(zip(switches, circle(len(switches)), strict=True))
