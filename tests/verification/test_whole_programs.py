"""Whole programs are proved, or refused by the names of what is wrong with them."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradewind as tw
from tradewind.base.errors import VerificationError
from tradewind.verification import POSTING, verify, verify_program

GRID = tw.Grid(nx=8, ny=6, nz=4)
BLOCKS = tw.Blocks(GRID, split=(2, 2))


def summed(name, ranks=4, **more):
    return tw.Exchanged(name, tw.AllReduce(ranks, 10).schedule("recursive-2"), **more)


def halo(name, width=1, **more):
    return tw.Exchanged(name, tw.Halo(BLOCKS, width=width, periodic="xy").schedule("sweep"), **more)


def test_all_counts_are_those_of_the_exchanges_as_often_as_they_take_place():
    a, b = summed("a"), halo("b", fields=3, dtype="f4")
    result = tw.Program(a.start(), b, a.wait(), b.start("x"), b.wait("y"), repeat=2).verify()
    rows = {row["name"]: row for row in result["exchanges"]}
    assert {name: row["times"] for name, row in rows.items()} == {"a": 2, "b": 4}
    assert result["stages"] == 2 * 2 + 4 * 2
    assert result["messages"] == 2 * rows["a"]["messages"] + 4 * rows["b"]["messages"]
    assert result["bytes"] == 2 * rows["a"]["bytes"] + 4 * rows["b"]["bytes"]
    assert rows["a"]["bytes"] == 8 * 10 * 8
    assert result["orders"] == ["own", *POSTING]


def groups(one, two, **more):
    return tw.Program(groups=[tw.Group("model", 2, one), tw.Group("servers", 2, two)], **more)


@pytest.mark.parametrize("transport", POSTING)
def test_groups_that_do_two_exchanges_in_different_orders_deadlock(transport):
    a, b = (summed(name, transport=transport) for name in "ab")
    assert groups([a, b], [a, b]).verify()["ok"]
    with pytest.raises(VerificationError) as refusal:
        groups([a, b], [b, a]).verify()
    text = str(refusal.value)
    assert "deadlock across exchanges: " in text
    waits = re.findall(r"rank (\d) of group '(\w+)' waits in stage \d of exchange '(\w)' to .*? rank (\d)", text)
    assert text.endswith(f"a cycle of {len(waits)} ranks")
    assert {(group, exchange) for _, group, exchange, _ in waits} >= {("model", "a"), ("servers", "b")}
    followers = [rank for rank, *_ in waits[1:]] + [waits[0][0]]
    assert [peer for *_, peer in waits] == followers


def test_what_is_started_before_does_not_wait():
    """Both of one stage: once they are started everywhere, the order of waits does not matter, where starts post."""
    a, b = (
        tw.Exchanged(name, tw.Halo(BLOCKS, width=1, periodic="xy").schedule("direct"), fields=[name]) for name in "ab"
    )
    crossed = groups([a.start(), b.start(), a.wait(), b.wait()], [b.start(), a.start(), b.wait(), a.wait()])
    assert verify_program(crossed, ["isend-irecv"])["ok"]
    with pytest.raises(VerificationError, match="all exchanges by sendrecv: deadlock across exchanges"):
        verify_program(crossed, ["sendrecv"])


@pytest.mark.parametrize(("transport", "packing"), [("put-fence", "buffer"), ("alltoallv", "buffer")])
def test_fences_and_collectives_want_one_order(transport, packing):
    swap = tw.Transpose(BLOCKS, tw.Pencils(GRID, "x", (2, 2))).schedule("burst")
    a, b = (tw.Exchanged(name, swap, transport=transport, packing=packing, into=[f"{name}2"]) for name in "ab")
    assert groups([a.start(), b.start(), a.wait(), b.wait()], [a.start(), b.start(), a.wait(), b.wait()]).verify()["ok"]
    with pytest.raises(VerificationError) as refusal:
        groups([a.start(), b.start(), a.wait(), b.wait()], [b.start(), a.start(), a.wait(), b.wait()]).verify()
    assert "where group 'model' starts 'a', group 'servers' starts 'b'" in str(refusal.value)


def test_a_fence_waits_for_all_ranks():
    """The servers wait for a message of the model, which waits for them at the fence."""
    fenced, sent = summed("fenced", transport="put-fence"), summed("sent")
    assert groups([fenced.start(), sent, fenced.wait()], [fenced.start(), sent, fenced.wait()]).verify()["ok"]
    with pytest.raises(VerificationError, match=r"in the start of exchange 'fenced' for rank 2 to reach the fence"):
        groups([fenced.start(), sent, fenced.wait()], [sent, fenced]).verify()


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (halo("a", fields=["u"]), halo("b", fields=["v", "u"]), "field 'u': exchange 'a' writes it and 'b' touches"),
        (
            tw.Exchanged("a", tw.Transpose(BLOCKS, tw.Pencils(GRID, "x", (2, 2))).schedule(), ["u"], into=["v"]),
            halo("b", fields=["u"]),
            "field 'u': exchange 'b' writes it and 'a' touches it",
        ),
        (
            tw.Exchanged("a", tw.Transpose(BLOCKS, tw.Pencils(GRID, "x", (2, 2))).schedule(), ["u"], into=["v"]),
            tw.Exchanged("b", tw.Transpose(BLOCKS, tw.Pencils(GRID, "x", (2, 2))).schedule(), ["u"], into=["w"]),
            None,
        ),
        (halo("a", fields=["u"]), halo("b", fields=["v"]), None),
        (halo("a", fields=1), halo("b", fields=1), None),
    ],
)
def test_what_one_writes_another_does_not_touch_meanwhile(first, second, message):
    assert tw.Program(first, second).verify()["ok"]
    for steps in (
        [first.start(), second, first.wait()],
        [first.start(), second.start(), first.wait(), second.wait()],
    ):
        if message is None:
            assert tw.Program(*steps).verify()["ok"]
        else:
            with pytest.raises(VerificationError, match=message):
                tw.Program(*steps).verify()


def test_a_wrong_exchange_is_named():
    from tradewind import _core

    wrong = _core.damaged(_core.make_schedule(_core.AllReduce(4, 10), "recursive-2"), "drop", 0, 0, 0)
    with pytest.raises(VerificationError, match=r"^broken: "):
        verify(tw.Program(tw.Exchanged("broken", wrong)))


def test_an_unknown_posting_order_is_refused():
    with pytest.raises(tw.InputError, match=r"unknown posting order 'isend-irec'; did you mean 'isend-irecv'\?"):
        verify_program(tw.Program(summed("a")), ["isend-irec"])


def _paired(events):
    seen = set()
    for _, i in events:
        yield ("wait" if i in seen else "start"), i
        seen.add(i)


@given(
    st.integers(1, 3).flatmap(lambda n: st.tuples(st.just(n), st.permutations(sorted(2 * list(range(n)))))),
    st.sampled_from(POSTING),
)
def test_what_all_ranks_do_in_one_order_never_deadlocks(drawn, transport):
    count, events = drawn
    exchanges = [summed(str(i)) for i in range(count)]
    steps = [
        exchanges[i].start() if what == "start" else exchanges[i].wait() for what, i in _paired((0, i) for i in events)
    ]
    assert verify_program(tw.Program(*steps), [transport])["ok"]


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_groups_deadlock_exactly_where_their_orders_differ(one, two):
    exchanges = [summed(str(i)) for i in range(3)]
    program = groups([exchanges[i] for i in one], [exchanges[i] for i in two])
    differ = any(
        (one.index(i) < one.index(j)) != (two.index(i) < two.index(j)) for i, j in itertools.combinations(range(3), 2)
    )
    if differ:
        with pytest.raises(VerificationError, match="deadlock across exchanges"):
            program.verify()
    else:
        assert program.verify()["ok"]
