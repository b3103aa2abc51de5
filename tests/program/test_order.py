"""In which order groups of ranks start exchanges and wait for them: what can be, and how lines and stages are given."""

import time

import pytest

import tradewind as tw
from tradewind.workload.program import WholeExchange

GRID = tw.Grid(nx=8, ny=6, nz=4)


def summed(name, ranks=4, **more):
    return tw.Exchanged(name, tw.AllReduce(ranks, 10).schedule("recursive-2"), **more)


def lines(*steps):
    return tw.Program(*steps).order.lines


def test_a_line_is_used_again_when_its_exchange_has_ended():
    a, b, c = (summed(name) for name in "abc")
    assert lines(a, b, c, a) == 1
    assert lines(a.start(), b, a.wait(), c.start(), a, c.wait()) == 2
    assert lines(a.start(), b.start(), c.start(), b.wait(), a.wait(), c.wait()) == 3


def test_eight_exchanges_are_open_at_once_and_no_more():
    many = [summed(str(i)) for i in range(9)]
    assert lines(*(each.start() for each in many[:8]), *(each.wait() for each in many[:8])) == 8
    with pytest.raises(tw.InputError, match=r"9 exchanges are open at once, .*: at most 8 are allowed"):
        tw.Program(*(each.start() for each in many), *(each.wait() for each in many))


def test_an_exchange_between_groups_has_a_line_of_its_own():
    """Groups may do them in different orders."""
    own, a, b = summed("own", 2, groups=("one",)), summed("a"), summed("b")
    program = tw.Program(groups=[tw.Group("one", 2, [own, a, b]), tw.Group("two", 2, [b, a])])
    assert program.order.lines == 3
    assert program.ranks == 4
    assert [program.times(each) for each in (own, a, b)] == [1, 1, 1]


def test_what_is_repeated_counts_as_often():
    a, b = summed("a"), summed("b")
    program = tw.Program(WholeExchange(a, repeat=3), b, tw.Poke(), repeat=5)
    assert (program.times(a), program.times(b)) == (15, 5)
    assert program.stages == 2 * 20


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (lambda a, b: [a.start(), a.start("again"), a.wait()], r"step 'again': exchange 'a' is open already: wait"),
        (lambda a, b: [a.start(), a, a.wait()], r"exchange 'a' is open already"),
        (lambda a, b: [a.wait()], r"exchange 'a' is not open: start it before"),
        (lambda a, b: [a.start(), b], r"exchange 'a' is started and never awaited"),
        (lambda a, b: [a.start(), summed("a"), a.wait()], r"two exchanges of a program have one name, 'a'"),
        (lambda a, b: [a, tw.Compute("c", seconds=-1)], r"0 or more seconds"),
        (lambda a, b: [a, tw.Compute("c", flops=1, points=[1, 2])], r"points of 2 ranks, in steps of 4"),
        (lambda a, b: [a, tw.Compute("c", flops=1, points=lambda r: 1 - r)], r"-1.* points of a rank"),
        (lambda a, b: [a, summed("c", 3)], r"ranks 0 to 2: all ranks of a group"),
        (lambda a, b: [a, b, tw.Poke("x"), tw.Poke("x")], r"two steps have one name, 'x'"),
    ],
)
def test_what_cannot_be_is_refused(steps, message):
    with pytest.raises(tw.InputError, match=message):
        tw.Program(*steps(summed("a"), summed("b")))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([("one", 2, "ab"), ("two", 2, "a")], r"'b' takes place 0 times in group 'two' and 1 times in group 'one'"),
        ([("one", 2, "aab"), ("two", 2, "ab")], r"'a' takes place 1 times in group 'two' and 2 times in group 'one'"),
        ([("one", 2, ""), ("two", 2, "")], "a program without steps"),
        ([("one", 2, "ab"), ("one", 2, "ab")], "two groups of a program have one name, 'one'"),
        ([("one", 3, "ab"), ("two", 2, "ab")], r"'a' of the ranks 0 to 3: all ranks of a group, or of several"),
    ],
)
def test_groups_that_do_not_agree_are_refused(groups, message):
    known = {name: summed(name) for name in "ab"}
    with pytest.raises(tw.InputError, match=message):
        tw.Program(groups=[tw.Group(name, ranks, [known[each] for each in steps]) for name, ranks, steps in groups])


def test_an_exchange_is_among_the_ranks_of_the_groups_that_it_names():
    def program(*names, **members):
        own = summed("own", 4, groups=names)
        groups = [tw.Group(n, 2, [own] if n in names else [tw.Poke()], members=members.get(n, ())) for n in "abc"]
        return tw.Program(groups=groups)

    def ranks(*names, **members):
        made = program(*names, **members)
        return list(made.ranks_of(made.exchanges[0]))

    assert ranks("b", "c") == [2, 3, 4, 5]
    assert ranks("a", "c") == [0, 1, 4, 5]
    assert ranks("c", "a", a=(1, 4), b=(0, 2), c=(3, 5)) == [1, 3, 4, 5]
    with pytest.raises(tw.InputError, match="no group has the name 'd'"):
        program("a", "d")


@pytest.mark.parametrize("exchanges", [2, 9])
def test_the_time_of_equal_steps_does_not_depend_on_how_ranks_are_grouped(exchanges):
    """Neither where exchanges between groups have lines of their own, nor where they share them."""
    named = [summed(str(i)) for i in range(exchanges)]
    work = tw.Compute("work", seconds=1e-6, points=[1, 5, 2, 3], point_s=1e-6)
    steps = [named[0].start(), work, tw.Poke(), named[1], named[0].wait(), *named[2:]]

    def of_group(*ranks):
        own = tw.Compute("work", seconds=1e-6, points=[work.points[rank] for rank in ranks], point_s=1e-6)
        mine = [own if step is work else step for step in steps]
        return tw.Group(f"{ranks}", len(ranks), mine, members=ranks)

    together = tw.Program(*steps).simulate("torus-M")
    apart = tw.Program(groups=[of_group(0, 3), of_group(1), of_group(2)])
    assert apart.order.lines == (2 if exchanges == 9 else exchanges)
    found = apart.simulate("torus-M")
    assert [found[key] for key in ("time_s", "messages", "bytes")] == [
        together[key] for key in ("time_s", "messages", "bytes")
    ]


def test_a_plain_program_has_no_order():
    assert tw.Program(tw.AllReduce(4, 10).schedule(), tw.Compute("c", seconds=1e-6)).order is None


def test_the_time_to_make_a_program_grows_with_its_steps():
    swap = tw.AllReduce(2, 1).schedule("recursive-2")

    def time_of(steps):
        exchanges = [tw.Exchanged(f"{i}", swap) for i in range(steps)]
        began = time.process_time()
        tw.Program(*exchanges)
        return time.process_time() - began

    time_of(10)
    # The least of three: a collection of garbage in one of them is not of the program.
    assert min(time_of(4000) for _ in range(3)) < 10 * min(time_of(1000) for _ in range(3)) + 0.05
