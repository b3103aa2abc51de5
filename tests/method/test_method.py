"""Methods: algorithm, transport and packing as text, which of them go together, and which are tried."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.method import method
from tradewind.method.method import Method

BLOCKS = _core.Blocks(_core.Grid(12, 8, 4), (2, 2))
HALO = _core.Halo(BLOCKS, 1, [True, True])
SUM = _core.AllReduce(4, 100)
PARTS = st.none() | st.text("abc-2", min_size=1)


@given(PARTS, PARTS, PARTS)
def test_what_is_written_is_what_is_read(algorithm, transport, packing):
    choice = Method(algorithm, transport, packing)
    assert Method.parse(str(choice)) == choice


@pytest.mark.parametrize(("text", "parts"), [("sweep", ("sweep", None, None)), (" , shared ,", (None, "shared", None))])
def test_parts_may_be_left_out(text, parts):
    assert Method.parse(text) == Method(*parts)
    with pytest.raises(InputError, match="4 parts, but ALGORITHM,TRANSPORT,PACKING are allowed"):
        Method.parse("a,b,,c")


def test_problems_name_each_part_with_the_nearest_name():
    found = Method("swep", "isend-irevc", "bufer").problems("halo")
    assert len(found) == 3
    assert all(
        f"did you mean '{name}'" in text for name, text in zip(("sweep", "isend-irecv", "buffer"), found, strict=True)
    )
    assert Method("native").problems("halo") == []  # whether MPI has one depends on the pattern
    assert Method("two-level-2", "shared", "direct").problems("halo") == []


@pytest.mark.parametrize("pattern", [HALO, SUM], ids=["halo", "allreduce"])
def test_every_method_is_allowed_or_refused_and_the_default_comes_first(pattern):
    allowed, refused = method.methods(pattern)
    assert allowed[0] == method.default_method(pattern.name)
    assert not set(allowed) & {each for each, _ in refused}
    algorithms = set(method.algorithm_names([pattern])) - {"native"}
    every = set(product(algorithms, method.host_transports(), method.packing_names()))
    tried = {(each.algorithm, each.transport, each.packing) for each in [*allowed, *(each for each, _ in refused)]}
    assert tried - {("native", None, None)} == every
    for each in allowed:
        assert method.refusal(pattern, each) == ""
    for each, reason in refused:
        assert reason
        assert method.refusal(pattern, each) == reason


def test_what_goes_together_is_the_tables_word():
    goes = {(entry.name, packing) for entry in _core.transports() for packing in entry.packings}
    for transport, packing in product(method.transport_names(), method.packing_names()):
        refusal = method.refusal(HALO, Method("direct", transport, packing))  # one stage: all transports carry it
        assert (refusal == "") == ((transport, packing) in goes), refusal


def test_texts_choose_among_the_methods():
    only, _ = method.methods(HALO, include=["sweep"], exclude=["*,*,datatype", "*fence"])
    assert {each.algorithm for each in only} == {"sweep"}
    assert {each.packing for each in only} == {"buffer", "direct"}
    assert not any("fence" in str(each.transport) for each in only)
    exactly, refused = method.methods(HALO, include=["sweep,shared,direct"])
    assert (exactly, refused) == ([Method("sweep", "shared", "direct")], [])
    for include, message in ((["swep"], "matches no"), (["sweep,neighbor,buffer"], "is left")):
        with pytest.raises(InputError, match=message):
            method.methods(HALO, include=include)


def test_a_radix_that_is_named_is_tried():
    names = set(method.algorithm_names([SUM]))
    assert {"recursive-2", "recursive-4", "native"} <= names
    assert "recursive-3" not in names
    named, _ = method.methods(SUM, include=["recursive-3"])
    assert {each.algorithm for each in named} == {"recursive-3"}


def test_mpi_has_a_collective_within_groups_of_ranks():
    columns = _core.Blocks(_core.Grid(12, 8, 4), (1, 4))
    between = _core.Transpose(BLOCKS, columns)
    assert not between.complete
    assert method.native_refusal(between).endswith("here senders and receivers are not the same groups")
    assert method.native_refusal(HALO).endswith("none for halo")
    assert method.native_refusal(SUM) == ""
