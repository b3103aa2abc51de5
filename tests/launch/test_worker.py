"""Ranks that end with an error: which of them is reported, and how much of what it has printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tradewind.launch import worker


class Pauses:
    """A clock that goes on in the pauses of a worker alone, and what happens in these, one after another."""

    def __init__(self) -> None:
        self.later: list[Callable[[], object]] = []
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if self.later:
            self.later.pop(0)()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Pauses:
    made = Pauses()
    monkeypatch.setattr(worker, "time", made)
    return made


def nothing() -> None:
    """Let time go on."""


def test_a_rank_that_has_heard_of_an_error_waits_for_the_one_that_made_it(tmp_path: Path, pauses: Pauses) -> None:
    (tmp_path / f"failure.{worker._CONSEQUENCE}.json").touch()
    pauses.later += [nothing] * 100 + [(tmp_path / "failure.1.json").touch]
    worker.wait_for_cause(tmp_path, 2)
    assert (tmp_path / "failure.1.json").exists()
    assert pauses.now_s < 1.2


@pytest.mark.parametrize("others", [1, 2])
def test_it_waits_until_all_have_heard_or_for_some_time(tmp_path: Path, pauses: Pauses, others: int) -> None:
    for rank in range(1 + others):
        (tmp_path / f"failure.{worker._CONSEQUENCE + rank}.json").touch()
    worker.wait_for_cause(tmp_path, 3)
    assert (pauses.now_s == 0) == (others == 2)
    assert pauses.now_s < 2.1


def test_what_was_printed_is_read_before_a_rank_aborts(pauses: Pauses) -> None:
    reader, writer = os.pipe()
    kept = os.dup(1)
    os.dup2(writer, 1)
    try:
        os.write(1, b"why")
        pauses.later += [nothing] * 300 + [lambda: os.read(reader, 3)]
        worker.flush_output()
    finally:
        os.dup2(kept, 1)
        for file in (reader, writer, kept):
            os.close(file)
    assert pauses.later == []
    assert 3 < pauses.now_s < 4


def test_what_is_in_a_file_is_read_whenever(tmp_path: Path, pauses: Pauses) -> None:
    kept = [os.dup(stream) for stream in (1, 2)]
    with (tmp_path / "output.txt").open("wb") as file:
        try:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
            print("why", file=sys.stderr)
            worker.flush_output()
        finally:
            for stream, old in zip((1, 2), kept, strict=True):
                os.dup2(old, stream)
                os.close(old)
    assert pauses.now_s == 0
