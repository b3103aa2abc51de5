"""The communication matrix as a picture."""

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.plot.matrix import chart, communication_matrix, save_picture
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
    for name, start in (("m.svg", b"<svg"), ("m.png", b"\x89PNG")):
        save_picture(exchange, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_a_name_or_place_that_cannot_be_is_refused(tmp_path):
    exchange = Exchange("halo", 4, grid=(30, 30, 2))
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        save_picture(exchange, tmp_path / "m.txt")
    with pytest.raises(InputError, match="there is no folder"):
        save_picture(exchange, tmp_path / "missing" / "m.svg")
