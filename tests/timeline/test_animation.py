"""Schedules in motion: the messages and their times, and what the page draws at a time."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert as vlc
from validation.machines import CROSSBAR, machine, pair

import tradewind as tw
from tradewind.base.errors import InputError
from tradewind.machine import load_machine
from tradewind.simulation import prepare, simulate
from tradewind.simulation.animation import animate
from tradewind.timeline.animation import Network, page_specification
from tradewind.timeline.transfers import Transfer, motion_by_stages, routes, simulated_motion
from tradewind.workload.exchange import Exchange

EXCHANGE = Exchange("transpose", 16, (64, 64, 16), (4, 4), algorithm="ring-2")
MOVING = re.compile(r'<path[^>]*fill="#[0-9A-F]{6}"[^>]*stroke="white"')
"""A message in a picture."""


def drawn(specification: dict[str, Any], now: float) -> str:
    """The picture at a time."""
    first, *others = specification["signals"]
    return str(vlc.vega_to_svg({**specification, "signals": [{**first, "value": now}, *others]}))


def test_by_stages_every_message_of_the_schedule_moves_in_its_stage():
    motion = motion_by_stages(EXCHANGE.steps(), EXCHANGE.ranks, EXCHANGE.bytes_per_point)
    sent, first = [], 0
    for step in EXCHANGE.steps():
        sent += [
            Transfer(rank, message.peer, first + stage, 8 * message.count, first + stage, first + stage + 1)
            for stage in range(step.schedule.stages)
            for rank in range(16)
            for message in step.schedule.sends(rank, stage)
        ]
        first += step.schedule.stages
    assert motion.transfers == sent
    assert {(each.rank, each.stage) for each in motion.stages} == {(r, s) for r in range(16) for s in range(first)}


def test_simulated_times_are_those_of_the_simulation():
    """8000 bytes at 10 GB/s leave in 800 ns, 100 ns to the switch and 100 ns on."""
    simulation = prepare(pair(1000), machine(CROSSBAR), buffers="unbounded")
    one = simulate(pair(1000), machine(CROSSBAR), buffers="unbounded")
    motion = simulated_motion(replace(simulation, shown=(0, 1)).trace_events())
    times = [(each.source, each.target, each.bytes, each.begin, each.end) for each in motion.transfers]
    assert times == [(0, 1, 8000, 0, pytest.approx(1e-6)), (1, 0, 8000, 0, pytest.approx(1e-6))]
    assert motion.end == pytest.approx(one["time_s"])


def test_routes_are_those_of_the_routing():
    torus = load_machine("torus-M").machine.build(None, 0)
    each = torus.topology.nodes_per_switch
    there, back, same = routes(torus, [(0, 2 * each), (2 * each, 0), (0, 0)])
    assert (there, back, same) == ([0, 1, 2], [2, 1, 0], [0])


@pytest.mark.parametrize("now", [0.5, 3.25, 6.0])
def test_the_page_draws_the_messages_in_motion(now):
    motion = motion_by_stages(EXCHANGE.steps(), EXCHANGE.ranks, EXCHANGE.bytes_per_point)
    picture = drawn(page_specification(motion, 16, (4, 4), "title"), now)
    moving = [each for each in motion.transfers if each.begin <= now < each.end]
    arrived = [each for each in motion.transfers if each.end <= now]
    assert len(MOVING.findall(picture)) == len(moving)
    stage = min(int(now), 5)
    assert f"stage {stage} of 0..5: {len(moving)} messages in motion, {len(arrived)} of 144 have arrived" in picture


def test_on_a_machine_messages_cross_switches_and_links():
    simulation = prepare(EXCHANGE, "dragonfly-MM", ranks_per_node=2)
    nodes = [simulation.placement.node(rank) for rank in range(16)]
    network = Network(simulation.file, simulation.machine, nodes)
    motion = motion_by_stages(EXCHANGE.steps(), EXCHANGE.ranks, EXCHANGE.bytes_per_point)
    specification = page_specification(motion, 16, (4, 4), "title", network)
    data = {each["name"]: each.get("values") for each in specification["data"]}
    crossing = [each for each in motion.transfers if nodes[each.source] != nodes[each.target]]
    assert len(data["network_moves"]) == 2 * len(crossing)  # all nodes are on one switch: in, and out
    assert {spot["spot"] for spot in data["network_spots"]} == {"switch 0", *(f"node {node}" for node in range(8))}
    assert len(MOVING.findall(drawn(specification, 0.25))) == sum(
        1 for each in (*motion.transfers, *crossing) if each.begin <= 0.25 < each.end
    )


def test_a_page_of_a_schedule(tmp_path):
    grid = tw.Grid(32, 32, 4)
    halo = tw.Halo(tw.Blocks(grid, split=(2, 2)), width=2, periodic=("x",)).schedule("sweep")
    path = halo.animate(tmp_path / "halo.html", "torus-M", buffers="unbounded")
    text = path.read_text()
    assert "<title>halo sweep on 4 ranks</title>" in text


@pytest.mark.parametrize(
    ("exchange", "file", "options", "words"),
    [
        (EXCHANGE, "a.svg", {}, "a name that ends in .html is allowed"),
        (Exchange("allreduce", 401), "a.html", {}, "at most 400 are allowed; name fewer ranks"),
        (Exchange("allreduce", 400, times=10), "a.html", {}, "20112 messages or more: at most 20000 are allowed"),
        (Exchange("allreduce", 1), "a.html", {}, "no message goes from one rank to another"),
        (EXCHANGE, "a.html", {"routing": "minimal"}, "routing changes a simulation; name a machine"),
        (EXCHANGE, "a.html", {"machine": "torus-M", "model": "loggp"}, "only the packet model"),
        (EXCHANGE, "none/a.html", {}, "none"),
    ],
)
def test_what_no_animation_can_show(tmp_path, exchange, file, options, words):
    with pytest.raises(InputError, match=re.escape(words)):
        animate(exchange, tmp_path / file, **options)
    assert not list(Path(tmp_path).iterdir())
