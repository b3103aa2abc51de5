"""The verification of whole exchanges."""

import json

import pytest

from tradewind import verification
from tradewind.base.errors import InputError, VerificationError
from tradewind.workload.exchange import Exchange


def test_all_three_transpositions_are_verified_and_counted():
    exchange = Exchange("transpose", 12, grid=(24, 24, 24), split=(4, 3), algorithm="ring-2", fields=5, dtype="f4")
    result = verification.verify(exchange, "even-odd")
    assert json.loads(json.dumps(result)) == result | {"grid": [24, 24, 24], "split": [4, 3]}
    assert [step["name"] for step in result["steps"]] == ["xz", "xy", "yz"]
    assert [step["messages"] for step in result["steps"]] == [12 * 3, 12 * 2, 12 * 3]
    points = 24**3
    assert [step["bytes"] for step in result["steps"]] == [
        points * 3 // 4 * 20,
        points * 2 // 3 * 20,
        points * 3 // 4 * 20,
    ]
    assert [step["copied_bytes"] for step in result["steps"]] == [points // 4 * 20, points // 3 * 20, points // 4 * 20]
    assert result["largest_message_bytes"] == 8 * 8 * 6 * 20
    assert result["messages"] == 96
    assert result["ok"] is True
    assert result["deadlock_free"] is True
    assert result["transport"] == "even-odd"


def test_repetitions_are_verified_once():
    once, often = (verification.verify(Exchange("transpose", 4, grid=(8, 8, 8), times=times)) for times in (1, 50))
    assert often["messages"] == once["messages"]


def test_progress_is_reported_by_stage():
    seen = []
    verification.verify(Exchange("allreduce", 8, algorithm="recursive-2"), progress=lambda *where: seen.append(where))
    assert seen == [("allreduce", stage, 3) for stage in range(3)]


def test_an_interrupt_from_the_progress_stops_the_verification():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verification.verify(Exchange("allreduce", 8), progress=stop)


def test_a_refusal_names_the_step(monkeypatch):
    from tradewind import _core

    sound = _core.make_schedule
    monkeypatch.setattr(_core, "make_schedule", lambda *args: _core.damaged(sound(*args), "drop", 0, 0, 0))
    with pytest.raises(VerificationError, match=r"^xy: rank 2: point .* is never written"):
        verification.verify(Exchange("transpose", 4, grid=(8, 8, 8), split=(2, 2), slab="xy"))


def test_an_unknown_transport_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown transport 'evenodd'; did you mean 'even-odd'"):
        verification.verify(Exchange("allreduce", 8), "evenodd")
