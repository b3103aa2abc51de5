"""The communication matrix as a picture."""

import re
from collections import Counter

import numpy as np
import pytest
from pictures import Svg, colours, png

from tradewind.base.errors import InputError
from tradewind.plot.matrix import chart, communication_matrix, save_matrices, save_picture
from tradewind.workload.exchange import Exchange


def schedules(exchange):
    return [step.schedule for step in exchange.steps()]


def test_few_ranks_are_shown_one_by_one():
    exchange = Exchange("allreduce", 4, algorithm="recursive-2", count=5)
    matrix, ranks_per_bin = communication_matrix(schedules(exchange), exchange.bytes_per_point)
    assert ranks_per_bin == 1
    assert matrix.tolist() == [[0, 40, 40, 0], [40, 0, 0, 40], [40, 0, 0, 40], [0, 40, 40, 0]]
    only_first, _ = communication_matrix(schedules(exchange), 8, range(0, 1))
    assert only_first.sum() == matrix.sum() / 2


def test_many_ranks_are_shown_in_bins_and_no_byte_is_lost():
    exchange = Exchange("transpose", 300, grid=(300, 10, 300), split=(300, 1), algorithm="burst", slab="xz")
    matrix, ranks_per_bin = communication_matrix(schedules(exchange), 8)
    assert ranks_per_bin == 3
    assert matrix.shape == (100, 100)
    assert matrix.sum() == 300 * 299 * 10 * 8


def test_cells_cover_the_ranks_of_their_bins():
    matrix = np.array([[0, 7], [9, 0]])
    (cells,) = chart(matrix, 3, 5, "title").to_dict()["datasets"].values()
    assert cells == [
        {"f0": 0, "f1": 3, "t0": 3, "t1": 5, "bytes": 7},
        {"f0": 3, "f1": 5, "t0": 0, "t1": 3, "bytes": 9},
    ]


def test_pictures_are_written(tmp_path):
    exchange = Exchange("halo", 9, grid=(30, 30, 2), periodic="x")
    for name in ("m.svg", "m.png"):
        save_picture(exchange, tmp_path / name)
    (schedule,) = schedules(exchange)
    sent = {
        (rank, message.peer)
        for rank in range(9)
        for stage in range(schedule.stages)
        for message in schedule.sends(rank, stage)
    }
    picture = Svg(tmp_path / "m.svg")
    cells = [cell.attrib["aria-label"] for cell in picture.marks("rect mark")]
    labels = [re.match(r"receiver \(rank\): (\d); sender \(rank\): (\d);", cell).groups() for cell in cells]
    assert {(int(sender), int(receiver)) for receiver, sender in labels} == sent
    assert len(cells) == len(sent)
    assert any(text.startswith("halo 3 sweep, 9 ranks, ") for text in picture.texts)
    fills = Counter(cell.attrib["fill"] for cell in picture.marks("rect mark"))
    pixels = colours(png(tmp_path / "m.png"))
    per_cell = [
        pixels[tuple(map(int, re.findall(r"\d+", fill)))] / count for fill, count in fills.items()
    ]  # all cells are as large
    assert min(per_cell) > 100
    assert max(per_cell) < 1.02 * min(per_cell)


def test_matrices_side_by_side_have_the_same_colours(tmp_path):
    few, many = (Exchange("halo", 4, grid=(30, 30, 2), width=width, split=(4, 1)) for width in (1, 3))
    save_matrices({name: schedules(each)[0] for name, each in (("few", few), ("many", many))}, 8, tmp_path / "both.svg")
    picture = Svg(tmp_path / "both.svg")
    assert [text for text in picture.texts if "pairs" in text] == ["few: 6 pairs, 2.81 KiB", "many: 6 pairs, 8.44 KiB"]
    fills = [cell.attrib["fill"] for cell in picture.marks("rect mark")]
    assert len(fills) == 12
    assert len(set(fills[:6])) == len(set(fills[6:])) == 1
    assert fills[0] != fills[6]


def test_a_name_or_place_that_cannot_be_is_refused(tmp_path):
    exchange = Exchange("halo", 4, grid=(30, 30, 2))
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        save_picture(exchange, tmp_path / "m.txt")
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        save_matrices({"halo": schedules(exchange)[0]}, 8, tmp_path / "m.txt")
    with pytest.raises(InputError, match="there is no folder"):
        save_picture(exchange, tmp_path / "missing" / "m.svg")
