"""Stored messages: written, read back, verified and simulated as the schedule that they came from."""

import json
import re
from pathlib import Path

import pytest

from tradewind.base.errors import InputError
from tradewind.launch import bench
from tradewind.launch.tune import tune
from tradewind.pattern import Schedule
from tradewind.simulation import simulate
from tradewind.verification import verify
from tradewind.workload import messages
from tradewind.workload.exchange import Exchange

SWEEP = Exchange("halo", 6, (30, 20, 4), (3, 2), algorithm="sweep", width=2, periodic="x")


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "messages.json"
    messages.save(path, messages.of(Schedule(SWEEP.steps()[0].schedule)))
    return Exchange("fetch", 6, stored=str(path))


def test_stored_messages_are_those_of_the_schedule(stored):
    from_file, alone = verify(stored), verify(SWEEP)
    assert from_file["stages"] == alone["stages"] == 2
    for key in ("messages", "bytes", "largest_message_bytes"):
        assert from_file[key] == alone[key]


@pytest.mark.parametrize("model", ["packet", "loggp"])
def test_they_take_the_time_of_the_schedule(stored, model):
    """The same messages between the same ranks, posted in another order."""
    from_file, alone = (simulate(exchange, "dragonfly-MM", model=model) for exchange in (stored, SWEEP))
    for key in ("messages", "bytes", *(["packet_hops", "bound_s"] if model == "packet" else [])):
        assert from_file[key] == alone[key], key
    assert from_file["time_s"] == pytest.approx(alone["time_s"], rel=0.25)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "no JSON"),
        ("[]", "is allowed"),
        ({"ranks": 0, "stages": [[]]}, "is allowed"),
        ({"ranks": 2, "stages": []}, "is allowed"),
        ({"ranks": 2, "stages": [[[0, 1]]]}, "is allowed"),
        ({"ranks": 2, "stages": [[], [[0, 2, 8]]]}, "stage 1, message 0: rank 2; 0..1 are allowed"),
        ({"ranks": 2, "stages": [[[1, 1, 8]]]}, "message 0: rank 1 sends to itself"),
        ({"ranks": 2, "stages": [[[1, 0, 0]]]}, "message 0: 0 bytes; 1..1099511627776 are allowed"),
        ({"ranks": 2, "stages": [[[1, 0, 1.5]]]}, "three whole numbers are allowed"),
        ({"ranks": 2, "stages": [[[1, 0, 8], [1, 0, 9]]]}, "rank 1 sends rank 0 a second one, after message"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_the_place(tmp_path, text, words):
    path = tmp_path / "bad.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    with pytest.raises(InputError, match=re.escape(words)):
        messages.read(path)


def test_what_does_not_go_with_stored_messages_is_refused(stored, tmp_path):
    with pytest.raises(InputError, match=r"4 ranks: the messages of .* are those of 6"):
        Exchange("fetch", 4, stored=stored.stored)
    with pytest.raises(InputError, match="grid does not apply to recorded: leave it out"):
        Exchange("fetch", 6, (4, 4, 4), stored=stored.stored)
    with pytest.raises(InputError, match="stored does not apply to halo: leave it out"):
        Exchange("halo", 6, (30, 20, 4), stored=stored.stored)
    for measured in (bench, tune):
        with pytest.raises(InputError, match="stored messages have no arrays"):
            measured(stored)
    with pytest.raises(InputError, match="cannot read"):
        Exchange("fetch", 6, stored=str(tmp_path / "none.json"))


def test_many_ranks_are_refused_before_memory_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    path.write_text('{"ranks": 2147483647, "stages": [[[0, 1, 8]]]}')
    with pytest.raises(InputError, match=r"2 ranks: the messages of .*many\.json are those of 2147483647"):
        Exchange("fetch", 2, stored=str(path))
    with pytest.raises(InputError, match=r"needs about .* of memory"):
        messages.read(path)
