"""Coverage by signed corners against counting points."""

from drawing import cells
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core

coordinates = st.integers(-3, 4)


@st.composite
def boxes(draw):
    bounds = [sorted((draw(coordinates), draw(coordinates))) for _ in range(3)]
    return tuple(b for b, _ in bounds), tuple(e for _, e in bounds)


def cut(box, axis, at):
    """A box cut in two across an axis."""
    begin, end = box
    at = min(max(at, begin[axis]), end[axis])
    middle_end = tuple(at if a == axis else e for a, e in enumerate(end))
    middle_begin = tuple(at if a == axis else b for a, b in enumerate(begin))
    return [(begin, middle_end), (middle_begin, end)]


@settings(max_examples=300)
@given(st.lists(boxes(), max_size=5), st.lists(boxes(), max_size=5))
def test_a_miscount_is_found_exactly_where_there_is_one(some, others):
    covered, wanted = cells(some), cells(others)
    found = _core.find_miscount(some, others)
    if covered == wanted:
        assert found is None
    else:
        assert found is not None
        point, times, right = found
        assert (covered.get(tuple(point), 0), wanted.get(tuple(point), 0)) == (times, right)
        assert times != right


@given(boxes(), st.lists(st.tuples(st.integers(0, 2), coordinates), max_size=5), st.randoms())
def test_pieces_of_a_box_cover_it(box, cuts, random):
    pieces = [box]
    for axis, at in cuts:
        pieces = [half for piece in pieces for half in cut(piece, axis, at)]
    random.shuffle(pieces)
    assert _core.find_miscount(pieces, [box]) is None


def test_boxes_of_any_volume_are_compared():
    huge = ((0, 0, 0), (2**40, 2**40, 2**40))
    without_a_point = [
        ((0, 0, 0), (2**40, 2**40, 2**40 - 1)),
        ((0, 0, 2**40 - 1), (2**40, 2**40 - 1, 2**40)),
        ((0, 2**40 - 1, 2**40 - 1), (2**40 - 1, 2**40, 2**40)),
    ]
    assert _core.find_miscount(without_a_point, [huge]) == ([2**40 - 1] * 3, 0, 1)
