"""Wavenumbers in pieces by latitude: even where whole ones cannot be, each latitude once, and sums that are those of
whole wavenumbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_tests import slow

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.spectral import Distribution, Legendre, Truncation
from tradewind.spectral.balance import imbalance
from tradewind.spectral.pieces import cut, pieces_of
from tradewind.spectral.stages import LegendreStages

SMALL = Truncation("F12", 7)


@pytest.fixture(scope="module")
def tco1279() -> Truncation:
    return Truncation("O1280")


@pytest.mark.parametrize("sets", [560, *slow(641, 800, 1280)])
def test_split_sets_of_tco1279_are_even(tco1279, sets):
    pieces = pieces_of(tco1279, "split", sets)
    assert imbalance([sum(map(pieces.flops_of, own)) for own in pieces.by_set]) <= 1.0051
    assert sum(map(len, pieces.by_m)) <= tco1279.degree + 1 + sets


@pytest.mark.parametrize("sets", [641, *slow(1280)])
def test_they_are_even_where_all_rows_keep_all_wavenumbers_and_one_of_them_is_above_the_mean(sets):
    degrees = np.arange(1280, 0, -1)
    loads = np.zeros(sets)
    for m, own in enumerate(cut(np.full(1280, 1280), degrees, sets)):
        assert sum(count for _, count in own) == 1280
        for w, count in own:
            loads[w] += count * degrees[m]
    assert imbalance(loads) <= 1.0051 < sets / 640.5 + 0.005


def test_below_the_bound_split_sets_are_the_packed_ones(tco1279):
    split = pieces_of(tco1279, "split", 400)
    assert not split.is_split
    assert split.by_set == pieces_of(tco1279, "packed", 400).by_set


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 40)), min_size=1, max_size=30),
    st.integers(1, 40),
)
def test_a_cut_leaves_nothing_out_and_is_within_one_part_of_the_mean(items, sets):
    counts, weights = map(np.array, zip(*items, strict=True))
    shares = cut(counts, weights, sets)
    loads = np.zeros(sets)
    for item, own in enumerate(shares):
        assert sum(count for _, count in own) == counts[item]
        assert len({w for w, _ in own}) == len(own)
        for w, count in own:
            loads[w] += count * weights[item]
    assert loads.max() <= 1.0051 * loads.mean() + weights.max()


@settings(max_examples=30)
@given(st.integers(1, 24))
def test_rows_degrees_and_sums_are_those_of_the_pieces(sets):
    pieces = pieces_of(SMALL, "split", sets)
    for m, own in enumerate(pieces.by_m):
        assert [n for piece in own for n in pieces.degrees_of(piece)] == list(range(m, SMALL.top + 1))
        latitudes = [row for piece in own for row in range(piece.begin, piece.end)]
        assert latitudes == list(range(SMALL.row_begin[m], SMALL.grid.half))
    rows = pieces.rows
    assert (rows.end - rows.begin).sum() == (SMALL.row_end - SMALL.row_begin).sum()
    before, after = pieces.sums
    others = sum((len(own) - 1) * (SMALL.top + 1 - m) for m, own in enumerate(pieces.by_m))
    assert (before.end - before.begin).sum() == (after.end - after.begin).sum() == others
    assert (before.owner != after.owner).all()


def test_a_piece_computes_its_share_of_the_sums_and_back_its_rows():
    whole = Legendre(SMALL, [2])
    random = np.random.default_rng(3)
    fourier = random.normal(size=(24, 2)) + 1j * random.normal(size=(24, 2))
    spectral = whole.to_spectral(fourier)
    rows = whole.to_fourier(spectral)
    total = np.zeros_like(spectral)
    for begin, end in ((0, 3), (3, 4), (4, 12)):
        own = [*range(begin, end), *range(24 - end, 24 - begin)]
        piece = Legendre(SMALL, [2], latitudes_of=[(begin, end)])
        total += piece.to_spectral(fourier[own])
        np.testing.assert_allclose(piece.to_fourier(spectral), rows[own], rtol=0, atol=1e-14)
    np.testing.assert_allclose(total, spectral, rtol=0, atol=1e-13)


def test_partial_sums_of_all_sets_are_those_of_whole_wavenumbers():
    pieces = pieces_of(SMALL, "split", 5)
    random = np.random.default_rng(3)
    whole = Legendre(SMALL)
    fourier = random.normal(size=(int(whole.fourier_start[-1]), 1)) + 0j
    wanted = whole.to_spectral(fourier)
    added = np.zeros_like(wanted)
    for own in pieces.by_set:
        stages = LegendreStages(pieces, own, tables=True, threads=1)
        rows = [
            whole.fourier_start[piece.m] + row
            for piece in own
            for row in (*range(piece.begin, piece.end), *range(24 - piece.end, 24 - piece.begin))
        ]
        spectral = np.zeros((sum(len(pieces.degrees_of(piece)) for piece in own), 1), complex)
        partial = np.zeros((stages.partial_sums, 1), complex)
        stages.to_spectral(fourier[rows], spectral, partial)
        place = at = 0
        for piece in own:
            first, count = SMALL.index(piece.m, piece.m), SMALL.top + 1 - piece.m
            if piece.parts > 1:
                added[first : first + count] += partial[place : place + count]
                place += count
                at += len(pieces.degrees_of(piece))
            else:
                added[first : first + count] += spectral[at : at + count]
                at += count
    np.testing.assert_allclose(added, wanted, rtol=0, atol=1e-13)


def test_more_sets_than_wavenumbers_work_where_these_are_split():
    d = Distribution(SMALL, 24, dealt="split")
    assert (d.sets, d.imbalances()["legendre_flops"]) == (24, pytest.approx(1.0, abs=0.35))
    with pytest.raises(InputError, match="up to 24 sets are allowed"):
        Distribution(SMALL, 25, dealt="split")
    with pytest.raises(InputError, match="up to 8 sets are allowed"):
        Distribution(SMALL, 24)


def test_the_exchange_of_partial_sums_has_what_others_own():
    d = Distribution(SMALL, 10, levels=3, level_sets=2, dealt="split")
    pattern = d.to_sums()
    assert pattern is not None
    _core.verify(_core.make_schedule(pattern, "burst"), ["isend-irecv"])
    for rank in range(d.ranks):
        own = [piece for piece in d.pieces_of(rank) if piece.parts > 1]
        kept = sum(len(d.pieces.degrees_of(piece)) for piece in own)
        every = sum(SMALL.top + 1 - piece.m for piece in own)
        assert pattern.source_shape(rank)[0] == every - kept
        assert pattern.target_shape(rank)[0] == sum((p.parts - 1) * len(d.pieces.degrees_of(p)) for p in own)
    assert Distribution(SMALL, 2, dealt="split").to_sums() is None


def test_latitudes_that_do_not_keep_a_wavenumber_are_refused():
    for wrong in ([(0, 13)], [(5, 4)], [(0, 12), (0, 12)]):
        with pytest.raises(InputError, match="latitudes of a Legendre stage"):
            Legendre(SMALL, [2], latitudes_of=wrong)


def test_thousands_of_sets_are_even_without_a_search(monkeypatch):
    monkeypatch.setattr("tradewind.spectral.pieces.MAX_SEARCHED", 10)
    pieces = pieces_of(Truncation("O160"), "split", 120)
    assert pieces.is_split
    assert imbalance([sum(map(pieces.flops_of, own)) for own in pieces.by_set]) <= 1.01
