"""Methods: algorithm, transport and packing as text, which of them go together, and which are tried."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method import method
from tradewind.method.method import Choice

BLOCKS = _core.Blocks(_core.Grid(12, 8, 4), (2, 2))
HALO = _core.Halo(BLOCKS, 1, [True, True])
SUM = _core.AllReduce(4, 100)
PARTS = st.none() | st.text("abc-2", min_size=1)


@given(PARTS, PARTS, PARTS)
def test_what_is_written_is_what_is_read(algorithm, transport, packing):
    choice = Choice(algorithm, transport, packing)
    assert Choice.parse(str(choice)) == choice


@pytest.mark.parametrize(("text", "parts"), [("sweep", ("sweep", None, None)), (" , shared ,", (None, "shared", None))])
def test_parts_may_be_left_out(text, parts):
    assert Choice.parse(text) == Choice(*parts)
    with pytest.raises(InputError, match="4 parts, but ALGORITHM,TRANSPORT,PACKING are allowed"):
        Choice.parse("a,b,,c")


def test_problems_name_each_part_with_the_nearest_name():
    found = Choice("swep", "isend-irevc", "bufer").problems("halo")
    assert len(found) == 3
    assert all(
        f"did you mean '{name}'" in text for name, text in zip(("sweep", "isend-irecv", "buffer"), found, strict=True)
    )
    assert Choice("native").problems("halo") == []  # whether MPI has one depends on the pattern
    assert Choice("two-level-2", "shared", "direct").problems("halo") == []


@pytest.mark.parametrize("pattern", [HALO, SUM], ids=["halo", "allreduce"])
def test_every_method_is_allowed_or_refused_and_the_default_comes_first(pattern):
    allowed, refused = method.ways(pattern)
    assert allowed[0] == method.default_way(pattern.name)
    assert not set(allowed) & {way for way, _ in refused}
    algorithms = set(method.algorithm_names([pattern])) - {"native"}
    each = set(product(algorithms, method.transport_names(), method.packing_names()))
    tried = {(way.algorithm, way.transport, way.packing) for way in [*allowed, *(way for way, _ in refused)]}
    assert tried - {("native", None, None)} == each
    for way in allowed:
        assert method.refusal(pattern, way) == ""
    for way, reason in refused:
        assert reason
        assert method.refusal(pattern, way) == reason


def test_what_goes_together_is_the_tables_word():
    goes = {(entry.name, packing) for entry in _core.transports() for packing in entry.packings}
    for transport, packing in product(method.transport_names(), method.packing_names()):
        refusal = method.refusal(HALO, Choice("direct", transport, packing))  # one stage: all transports carry it
        assert (refusal == "") == ((transport, packing) in goes), refusal


def test_texts_choose_among_the_methods():
    only, _ = method.ways(HALO, include=["sweep"], exclude=["*,*,datatype", "*fence"])
    assert {way.algorithm for way in only} == {"sweep"}
    assert {way.packing for way in only} == {"buffer", "direct"}
    assert not any("fence" in str(way.transport) for way in only)
    exactly, refused = method.ways(HALO, include=["sweep,shared,direct"])
    assert (exactly, refused) == ([Choice("sweep", "shared", "direct")], [])
    for include, told in ((["swep"], "matches no"), (["sweep,neighbor,buffer"], "is left")):
        with pytest.raises(InputError, match=told):
            method.ways(HALO, include=include)


def test_a_radix_that_is_named_is_tried():
    names = set(method.algorithm_names([SUM]))
    assert {"recursive-2", "recursive-4", "native"} <= names
    assert "recursive-3" not in names
    named, _ = method.ways(SUM, include=["recursive-3"])
    assert {way.algorithm for way in named} == {"recursive-3"}
