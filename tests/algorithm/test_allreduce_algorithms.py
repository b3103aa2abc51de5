"""The allreduce algorithms: every value once in every sum, for any number of ranks and any radix."""

import pytest
from drawing import TRANSPORTS, ceil_log
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


@given(st.integers(1, 40), st.sampled_from([1, 2, 3, 7, 40, 100]), st.sampled_from(TRANSPORTS))
def test_every_radix_sums_each_value_once(ranks, count, transport):
    reduce = _core.AllReduce(ranks, count)
    for radix in range(2, max(3, ranks + 1)):
        for name in ("recursive", "recursive-near"):
            _core.verify(_core.make_schedule(reduce, f"{name}-{radix}"), transport)


WITHOUT_RADIX = ("ring", "rabenseifner", "halving-doubling", "binomial")


@given(st.integers(1, 140), st.sampled_from([1, 2, 3, 7, 40, 100]), st.sampled_from(TRANSPORTS))
def test_those_without_a_radix_sum_each_value_once(ranks, count, transport):
    for name in WITHOUT_RADIX:
        _core.verify(_core.make_schedule(_core.AllReduce(ranks, count), name), transport)


@pytest.mark.parametrize(
    ("n", "k"),
    [(n, k) for n in (1, 2, 3, 8, 9, 12, 27, 40, 64, 1000, 10**6) for k in (2, 3, 5, 8) if k <= n or n == 1],
)
def test_recursive_has_log_k_n_stages_and_two_for_a_fold(n, k):
    power, digits = 1, 0
    while power * k <= n:
        power, digits = power * k, digits + 1
    schedule = _core.make_schedule(_core.AllReduce(n, 2), f"recursive-{k}")
    assert schedule.stages == digits + (2 if power < n else 0)


@pytest.mark.parametrize(("n", "k", "core"), [(8, 3, 3), (17, 9, 9), (40, 7, 7), (7, 4, 4)])
def test_ranks_beyond_the_power_fold_onto_their_remainder(n, k, core):
    schedule = _core.make_schedule(_core.AllReduce(n, 1), f"recursive-{k}")
    last = schedule.stages - 1
    for rank in range(core, n):
        assert [m.peer for m in schedule.sends(rank, 0)] == [rank % core]
        assert [m.peer for m in schedule.receives(rank, last)] == [rank % core]
        assert not any(schedule.sends(rank, stage) for stage in range(1, last))
    assert schedule.combines(0)
    assert not schedule.combines(last)


@pytest.mark.parametrize(
    ("n", "k", "core"),
    [(8, 3, [0, 2, 5]), (17, 9, [0, 1, 3, 5, 7, 9, 11, 13, 15]), (7, 4, [0, 1, 3, 5]), (5, 2, [0, 1, 2, 3])],
)
def test_ranks_fold_onto_the_neighbour_below(n, k, core):
    """The core by hand: i n / m, rounded down."""
    schedule = _core.make_schedule(_core.AllReduce(n, 1), f"recursive-near-{k}")
    far = _core.make_schedule(_core.AllReduce(n, 1), f"recursive-{k}")
    last = schedule.stages - 1
    assert schedule.stages == far.stages
    for rank in range(n):
        onto = max(head for head in core if head <= rank)
        assert [m.peer for m in schedule.sends(rank, 0)] == ([onto] if onto != rank else [])
        assert [m.peer for m in schedule.receives(rank, last)] == ([onto] if onto != rank else [])
        among = [{m.peer for m in schedule.sends(rank, stage)} <= set(core) for stage in range(1, last)]
        assert all(among)
    assert sum(len(schedule.sends(rank, 1)) for rank in range(n)) == len(core) * (k - 1)


@pytest.mark.parametrize(("n", "k"), [(8, 2), (9, 3), (125, 5), (1, 2)])
def test_folds_are_alike_where_nothing_folds(n, k):
    near, far = (_core.make_schedule(_core.AllReduce(n, 2), f"{name}-{k}") for name in ("recursive-near", "recursive"))
    for stage in range(far.stages):
        for rank in range(n):
            assert [m.peer for m in near.sends(rank, stage)] == [m.peer for m in far.sends(rank, stage)]


@pytest.mark.parametrize("n", [2, 3, 8, 13])
def test_the_ring_sends_the_minimum(n):
    count = 3 * n
    verified = _core.verify(_core.make_schedule(_core.AllReduce(n, count), "ring"), "sendrecv")
    assert verified.stages == 2 * (n - 1)
    assert verified.points == 2 * (n - 1) * count


def test_a_chunk_without_elements_is_not_sent():
    verified = _core.verify(_core.make_schedule(_core.AllReduce(10, 3), "ring"), "sendrecv")
    assert verified.messages == 2 * 9 * 3


def verified(name, ranks, count):
    return _core.verify(_core.make_schedule(_core.AllReduce(ranks, count), name), "isend-irecv")


@pytest.mark.parametrize("count", [1, 3, 64, 1000])
@pytest.mark.parametrize("n", [*range(1, 20), 32, 63, 64, 65, 100])
def test_stages_and_points_of_halving_and_trees(n, count):
    """Each element is sent n - 1 times to be summed up and n - 1 times to be known, which is the minimum."""
    minimum, above, below = 2 * (n - 1) * count, ceil_log(2, n), n.bit_length() - 1
    for name in ("halving-doubling", "binomial"):
        found = verified(name, n, count)
        assert (found.stages, found.points) == (2 * above, minimum)
    pairs = n - 2**below
    folded = verified("rabenseifner", n, count)
    assert folded.stages == 2 * below + (3 if pairs else 0)
    # A pair: a half either way, one of them back, and everything at the end.
    assert folded.points == 2 * (2**below - 1) * count + pairs * (2 * count + count // 2)


@pytest.mark.parametrize("name", ["rabenseifner", "halving-doubling"])
def test_halves_shrink_as_distances_grow_and_back(name):
    schedule = _core.make_schedule(_core.AllReduce(16, 64), name)
    bits = (0, 1, 2, 3, 3, 2, 1, 0)
    for rank in range(16):
        sent = [[(m.peer, m.count) for m in schedule.sends(rank, stage)] for stage in range(8)]
        assert sent == [[(rank ^ (1 << bit), 64 >> (bit + 1))] for bit in bits]


def test_of_nine_ranks_seven_play_two_roles():
    schedule = _core.make_schedule(_core.AllReduce(9, 64), "halving-doubling")
    assert [len(schedule.sends(rank, 1)) for rank in range(9)] == [2] * 7 + [1] * 2
    assert [len(schedule.sends(rank, 0)) for rank in range(9)] == [0] * 7 + [1] * 2


def test_bad_allreduces_are_refused():
    with pytest.raises(InputError, match="0 ranks"):
        _core.AllReduce(0, 1)
    with pytest.raises(InputError, match="0 elements"):
        _core.AllReduce(4, 0)
