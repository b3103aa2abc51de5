"""Layouts of the core: arrays and errors across the bindings."""

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError


def test_parts_and_lines_are_made_of_arrays():
    deal = _core.Parts.dealt(np.array([1, 0, 0, 1], np.int32), 2)
    assert (deal.runs(1), deal.width(0)) == ([(0, 1), (3, 4)], 2)
    cut = _core.Parts.cut(np.array([0, 0, 3]))
    layout = _core.Product(_core.Grid(2, 3, 4), [_core.Parts.even(2, 1), cut, deal], (-1, 1, 0), 1, 6, "strange")
    assert (layout.part_of(0), layout.part_of(4)) == (None, [0, 1, 1])
    assert (layout.shape(1), layout.shape(4)) == ((2, 0, 2), (2, 3, 2))
    assert layout.boxes(4) == [([0, 0, 0], [2, 3, 1]), ([0, 0, 3], [2, 3, 4])]
    assert layout.owner((0, 0, 3)) == 4
    lined = layout.in_lines(np.array([0, 1, 0, 2]), np.array([3, 2, 0, 3]))
    assert (lined.lines, layout.lines, list(lined.grid.points)) == (([0, 1, 0, 2], [3, 2, 0, 3]), None, [2, 1, 5])


@pytest.mark.parametrize(
    ("make", "error", "expected"),
    [
        (lambda: _core.Blocks(_core.Grid(6, 100, 8), (7, 9), "xz"), InputError, "7 ranks do not divide the 6 points"),
        (lambda: _core.Grid(4, 0, 4), InputError, "ny = 0"),
        (lambda: _core.Blocks(_core.Grid(4, 4, 4), (2, 2)).box(4), IndexError, r"rank 4: 0\.\.3 are allowed"),
        (lambda: _core.Parts.even(3, 2).width(2), IndexError, r"part 2: 0\.\.1 are allowed"),
        (lambda: _core.Halo(_core.Blocks(_core.Grid(4, 4, 4), (1, 1)), -1, (False, False)), InputError, "width -1"),
    ],
)
def test_what_cannot_be_is_an_error_of_python(make, error, expected):
    with pytest.raises(error, match=expected):
        make()
