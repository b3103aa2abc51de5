"""Damaged schedules are refused, each with words that name the fault and its place."""

import itertools

import pytest
from drawing import TRANSPORTS, algorithm_names, halos, redistributions, slab_transposes
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError, VerificationError

GRID = _core.Grid(20, 6, 21)
ROW = _core.Transpose(_core.Blocks(GRID, (5, 1), "xy"), _core.Blocks(GRID, (5, 1), "zy"))
HALO = _core.Halo(_core.Blocks(GRID, (5, 2)), 2, (True, False))
REDUCE = _core.AllReduce(7, 10)


def refused(schedule, words, transport="isend-irecv"):
    with pytest.raises(VerificationError, match=words):
        _core.verify(schedule, transport)


def damaged(pattern, algorithm, fault, rank=1, stage=0, j=0):
    return _core.damaged(_core.make_schedule(pattern, algorithm), fault, rank, stage, j)


CASES = [
    (ROW, "ring-2", "drop", "rank 2: point x 4, y 0, z 9 of its target array is never written; exactly once is right"),
    (ROW, "ring-2", "drop-send", r"stage 0: rank 2 waits for a message from rank 1 \(tag 1, 96 points\) that nobody s"),
    (
        ROW,
        "ring-2",
        "drop-receive",
        r"stage 0: rank 1 sends rank 2 a message \(tag 1, 96 points\) that nobody receives",
    ),
    (ROW, "ring-2", "double", "rank 2: point x 4, y 0, z 9 of its target array is written 2 times"),
    (ROW, "ring-2", "swap", "stage 0, message of rank 1 to rank 2 .* is not the same points as target"),
    (
        ROW,
        "ring-2",
        "misplace",
        r"source \[x 4:8, .*\] of rank 1 is not the same points as target \[x 5:9, .* of rank 2",
    ),
    (ROW, "ring-2", "count", "rank 1 to rank 2 .*: the receiver expects 97 points"),
    (ROW, "ring-2", "tag", "rank 1 sends rank 2 a message .* that nobody receives"),
    (ROW, "ring-2", "parity", "the receiver expects the other parity"),
    (ROW, "ring-2", "no-copies", "rank 1: point x 4, y 0, z 5 of its target array is never written"),
    (ROW, "bruck", "drop", "scratch .* of rank 2 holds nothing by then"),
    (ROW, "bruck", "double", "scratch .* of rank 2 is written twice"),
    (ROW, "two-level-2", "drop", "scratch .* of rank . holds nothing by then"),
    (ROW, "two-level-2", "double", "is written (2 times|twice)"),
    (HALO, "sweep", "drop", "has only .* of its .* points by then"),
    (HALO, "sweep", "double", "rank .* is written 2 times; exactly once is right"),
    (HALO, "sweep", "misplace", "is not the same points as target"),
    (HALO, "direct", "drop", "is never written; exactly once is right"),
    (HALO, "two-level-3", "drop", "scratch .* of rank . holds nothing by then"),
    (HALO, "two-level-3", "double", "is written (2 times|twice)"),
    (HALO, "leaders-5", "drop", "rank 2: .* is never written; exactly once is right"),
    (HALO, "leaders-5", "misplace", "is not the same points as"),
    (REDUCE, "recursive-3", "drop", "rank 0, element 0: the value of rank 6 is missing"),
    (REDUCE, "recursive-3", "double", "rank 0, element 0: the value of rank 6 is in it twice"),
    (REDUCE, "ring", "drop", "rank .*, element .*: "),
    (REDUCE, "ring", "double", "rank .*, element .*: .*twice"),
    (REDUCE, "rabenseifner", "drop", "rank .*, element .*: the value of rank 1 is missing"),
    (REDUCE, "halving-doubling", "double", "rank .*, element .*: .*twice"),
    (REDUCE, "binomial", "drop", "rank .*, element 0: the value of rank 1 is missing"),
    (REDUCE, "ring", "misplace", "is not the same elements as"),
]


@pytest.mark.parametrize(
    ("pattern", "algorithm", "fault", "words"), CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_fault_is_named_with_its_place(pattern, algorithm, fault, words):
    rank = 6 if algorithm == "recursive-3" else 1
    sound = _core.make_schedule(pattern, algorithm)
    _core.verify(sound, "isend-irecv")
    refused(_core.damaged(sound, fault, rank, 0, next(j for j in range(9) if sends(sound, rank, j))), words)


def sends(schedule, rank, j, stage=0):
    try:
        _core.damaged(schedule, "drop", rank, stage, j)
    except InputError:
        return False
    return True


def test_a_value_given_back_twice_is_refused():
    last = _core.make_schedule(REDUCE, "recursive-3").stages - 1
    refused(damaged(REDUCE, "recursive-3", "double", rank=0, stage=last), "is given element 0 twice")


@settings(max_examples=150)
@given(
    st.one_of(slab_transposes(max_ranks=20), redistributions()),
    st.sampled_from(_core.damages()),
    st.sampled_from(TRANSPORTS),
    st.data(),
)
def test_no_damage_to_any_transposition_goes_unseen(transpose, fault, transport, data):
    schedule = _core.make_schedule(transpose, data.draw(st.sampled_from(algorithm_names(transpose))))
    places = []
    for stage in range(schedule.stages):
        for rank in range(schedule.ranks):
            numbers = (j for j in itertools.count() if sends(schedule, rank, j, stage))  # empty messages count, too
            sent = list(itertools.islice(numbers, len(schedule.sends(rank, stage))))
            if fault != "swap" or len(sent) > 1:  # which needs two messages in the stage
                places += [(rank, stage, j) for j in sent]
    if not places or fault in ("reverse", "no-copies"):
        return
    broken = _core.damaged(schedule, fault, *data.draw(st.sampled_from(places)))
    with pytest.raises(VerificationError):
        _core.verify(broken, transport)


@settings(max_examples=100)
@given(halos(max_ranks=12), st.sampled_from(["drop", "double", "misplace", "count", "tag", "parity"]), st.data())
def test_no_damage_to_a_halo_goes_unseen(halo, fault, data):
    schedule = _core.make_schedule(halo, data.draw(st.sampled_from(algorithm_names(halo))))
    places = [
        (rank, stage)
        for stage in range(schedule.stages)
        for rank in range(schedule.ranks)
        if schedule.sends(rank, stage)
    ]
    if places:
        rank, stage = data.draw(st.sampled_from(places))
        j = next(j for j in range(10_000) if sends(schedule, rank, j, stage))
        refused(_core.damaged(schedule, fault, rank, stage, j), "rank")


@settings(max_examples=60)
@given(
    st.integers(2, 20),
    st.integers(1, 30),
    st.sampled_from(["drop", "drop-send", "drop-receive", "double", "misplace", "count", "tag", "parity"]),
    st.data(),
)
def test_no_damage_to_an_allreduce_goes_unseen(ranks, count, fault, data):
    reduce = _core.AllReduce(ranks, count)
    schedule = _core.make_schedule(reduce, data.draw(st.sampled_from(algorithm_names(reduce))))
    busy = [s for s in range(schedule.stages) if any(schedule.sends(r, s) for r in range(ranks))]
    stage = data.draw(st.sampled_from(busy))
    rank = data.draw(st.sampled_from([r for r in range(ranks) if schedule.sends(r, stage)]))
    refused(_core.damaged(schedule, fault, rank, stage, 0), "rank")


def test_what_cannot_be_damaged_is_refused():
    with pytest.raises(InputError, match="unknown fault"):
        damaged(ROW, "burst", "burn")
    with pytest.raises(InputError, match="rank 1 sends no message 4 in stage 0"):
        damaged(ROW, "burst", "drop", j=4)
