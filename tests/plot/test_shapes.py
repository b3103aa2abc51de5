"""The shapes that pictures of machines are made of, and how many links they may have."""

from __future__ import annotations

import math

import pytest
from networks import build

from tradewind.machine.shapes import circle, lattice, levels, square
from tradewind.plot.panels import MAX_LINES, few_links


def test_a_circle_begins_at_the_top_and_goes_around() -> None:
    expected = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    for point, wanted in zip(circle(4), expected, strict=True):
        assert point == pytest.approx(wanted, abs=1e-12)


def test_levels_are_rows_one_above_the_other() -> None:
    assert levels([2, 1, 4]) == [
        *((x, pytest.approx(-0.6)) for x in (-0.5, 0.5)),
        (0.0, pytest.approx(0.0)),
        *((x, pytest.approx(0.6)) for x in (-0.75, -0.25, 0.25, 0.75)),
    ]
    assert levels([3])[0][1] == -0.6, "one level alone"


def test_a_square_has_rows_from_the_top() -> None:
    assert square(5) == [(-1, 0.5), (0, 0.5), (1, 0.5), (-1, -0.5), (0, -0.5)]


def test_the_third_dimension_of_a_lattice_stands_aslant() -> None:
    points = lattice([2, 2, 2])
    assert len(set(points)) == 8
    steps = [(points[4 + i][0] - points[i][0], points[4 + i][1] - points[i][1]) for i in range(4)]
    assert steps == [pytest.approx(steps[0])] * 4
    assert min(map(abs, steps[0])) > 0.05, "neither straight up nor along a row"
    assert math.dist((0, 0), steps[0]) > math.dist(points[0], points[1])


@pytest.mark.parametrize(("switches", "few"), [(89, True), (90, False)])
def test_as_many_links_as_can_be_drawn(switches: int, few: bool) -> None:
    """Each of n switches has a link to all others."""
    assert (switches * (switches - 1) // 2 <= MAX_LINES) == few
    topology = build({"kind": "complete", "switches": switches, "nodes_per_switch": 1})
    assert few_links(topology, range(switches)) == few
