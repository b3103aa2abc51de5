"""Errors quote their input only as far as it can be read."""

from __future__ import annotations

import pytest

from tradewind.base.errors import MAX_QUOTED, MAX_SHOWN, InputError, brief


@pytest.mark.parametrize(
    ("problem", "end"),
    [
        (f"ranks {'1' * 5000}: 1..7 are allowed", "111: 1..7 are allowed"),
        (f"title {'a word ' * 900!r}: text is allowed", "word ': text is allowed"),
        (f"ranks 5 is not among those of the sweep ({list(range(5000))})", "4998, 4999])"),
        (f"/tmp/{'n' * 300}/a.toml:7: unknown key 'x'", "/a.toml:7: unknown key 'x'"),
    ],
)
def test_long_values_are_quoted_by_their_ends(problem: str, end: str) -> None:
    short = brief(problem)
    assert short[:7] == problem[:7]
    assert short.endswith(end)
    assert " characters) ..." in short
    assert len(short) < MAX_QUOTED + 60
    assert InputError(problem).problems == (short,)


def test_what_is_short_stays_as_it_is() -> None:
    problem = " ".join(["a word and 'another one' of [many]"] * 40)
    assert brief(problem) == problem


def test_the_text_of_an_error_lists_the_first_problems() -> None:
    error = InputError(*(f"problem {i}" for i in range(1000)))
    assert len(error.problems) == 1000
    assert str(error).splitlines()[-2:] == [f"problem {MAX_SHOWN - 1}", f"and {1000 - MAX_SHOWN} more"]
