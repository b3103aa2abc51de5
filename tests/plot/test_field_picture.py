"""A level of a field before and after, as a picture."""

from __future__ import annotations

import re

import numpy as np
import pytest
from pictures import Svg, colours, png

from tradewind.base.errors import InputError
from tradewind.plot.field import Shown, coarse, save_levels
from tradewind.plot.sphere import sphere_cells

LEVELS = [[[0.0, 1.0, 2.0]], [[0.5, 0.5, 2.0]]]
TITLES = ["before", "after 3 steps"]


def drawn(path):
    save_levels(LEVELS, TITLES, (3, 1), path)
    return path


def test_every_point_is_drawn_in_the_colour_of_its_value(tmp_path):
    picture = Svg(drawn(tmp_path / "field.svg"))
    cells = picture.marks("rect mark")
    labels = [
        re.search(r"x \(grid point\): (\d).*value: ([\d.]+)", cell.attrib["aria-label"]).groups() for cell in cells
    ]
    assert [(int(x), float(value)) for x, value in labels] == [
        (x, value) for (row,) in LEVELS for x, value in enumerate(row)
    ]
    colour = {value: cell.attrib["fill"] for (_, value), cell in zip(labels, cells, strict=True)}
    assert len(colour) == len(set(colour.values())) == 4  # equal values alike, in both levels, and others not
    assert [text for text in picture.texts if text in TITLES] == TITLES


def test_the_pixels_are_as_many_as_the_points_of_a_value(tmp_path):
    pixels = png(drawn(tmp_path / "field.png"))
    width, height = Svg(drawn(tmp_path / "field.svg")).size
    assert pixels.shape[:2] == pytest.approx((2 * height, 2 * width), abs=1)
    background, *values = colours(pixels).most_common(5)
    assert background[0] == (255, 255, 255)
    twice, once = [n for _, n in values[:2]], [n for _, n in values[2:]]  # 0.5 and 2 stand at two points
    assert max(twice) < 1.05 * min(twice)
    assert max(once) < 1.05 * min(once)
    assert min(twice) / max(once) == pytest.approx(2, rel=0.05)


def test_a_page_holds_the_values_and_a_print_the_same_picture(tmp_path):
    page = drawn(tmp_path / "field.html").read_text()
    assert all(f'"{title}"' in page for title in TITLES)
    assert not re.search(r'(src|href)="https?:', page), "the page opens offline"
    data = drawn(tmp_path / "field.pdf").read_bytes()
    left, bottom, right, top = map(float, re.search(rb"/MediaBox *\[([^]]*)\]", data)[1].split())
    width, height = Svg(drawn(tmp_path / "field.svg")).size
    assert (right - left) / (top - bottom) == pytest.approx(width / height, rel=0.01)


@pytest.mark.parametrize("shape", [(1, 1), (96, 96), (97, 5), (300, 291), (1, 1000)])
def test_a_large_level_becomes_means_of_blocks(shape):
    level = np.random.default_rng(1).random(shape)
    small = coarse(level)
    assert max(small.shape) <= 96
    stride = -(-max(shape) // 96)
    assert small.shape == tuple(-(-points // stride) for points in shape)
    for j, i in ((0, 0), (small.shape[0] - 1, small.shape[1] - 1)):
        block = level[j * stride : (j + 1) * stride, i * stride : (i + 1) * stride]
        assert small[j, i] == pytest.approx(block.mean())


def test_files_that_cannot_be(tmp_path):
    for path, message in ((tmp_path / "field.gif", "ends in .svg"), (tmp_path / "no" / "field.svg", "no folder")):
        with pytest.raises(InputError, match=message):
            save_levels([[[0.0]]], ["before"], (1, 1), path)


def test_a_field_on_the_sphere_is_a_map(tmp_path):
    level = np.arange(8.0).reshape(2, 4)
    shown = Shown("geopotential", "m2 s-2", on_sphere=True, west=0.5)
    save_levels([level.tolist()], ["before"], (4, 2), tmp_path / "map.svg", shown)
    picture = Svg(tmp_path / "map.svg")
    assert "geopotential (m2 s-2)" in picture.texts
    assert "before" in picture.texts
    assert not any("grid point" in text for text in picture.texts)
    assert max(len(each.get("d", "")) for each in picture.elements) > 10_000, "the coast lines"


def test_cells_of_a_map_lie_around_their_points():
    cells = sphere_cells([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], (4, 2), 1, 0.5)
    places = [(each["properties"]["longitude"], each["properties"]["latitude"]) for each in cells]
    assert places == [(x, y) for y in (-45, 45) for x in (0, 90, -180, -90)]
    corners = np.array(cells[0]["geometry"]["coordinates"][0])
    assert (corners.min(axis=0) == (-45, -90)).all()
    x, y = corners.T
    assert (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() < 0, "clockwise: for d3 the other way is all but the cell"
