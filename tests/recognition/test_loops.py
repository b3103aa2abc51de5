"""Loops in sequences of letters, whose weights are 1 but for small ones."""

from __future__ import annotations

import pytest

from tradewind.recognition.loops import Leaf, Loop, main_loop


def shown(body: list[Leaf | Loop], text: str) -> str:
    """A body as text: (ab)3 for three repetitions of ab."""
    return "".join(
        text[each.places[0]] if isinstance(each, Leaf) else f"({shown(each.body, text)}){each.mean:g}" for each in body
    )


@pytest.mark.parametrize(
    ("text", "loop", "begin"),
    [
        ("abababab", "(ab)4", 0),
        ("xyabcabcabcz", "(abc)3", 2),
        ("abbbcabbbcabbbc", "(a(b)3c)3", 0),
        ("hhAhhhhhhhhhhhhA", "(h)12", 3),
        ("abbbbcabbcabbbc", "(a(b)3c)3", 0),
        ("aabaabaab", "(aab)3", 0),
        ("abcd", "(abcd)1", 0),
        ("a", "(a)1", 0),
    ],
)
def test_the_loop_that_repeats_most(text: str, loop: str, begin: int) -> None:
    found, first, end = main_loop(text, [1] * len(text))
    assert (shown([found], text), first) == (loop, begin)
    places = sorted(place for leaf in found.leaves() for place in leaf.places)
    assert places == [*range(first, end)]


def test_heavy_things_count_more() -> None:
    found, begin, end = main_loop("sssssssHHH", [1] * 7 + [100] * 3)
    assert (shown([found], "sssssssHHH"), begin, end) == ("(H)3", 7, 10)
