"""The four layouts of a distributed transform: what each rank has, what moves, by every algorithm, and the loads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.spectral import Fourier, Legendre, Truncation
from tradewind.spectral.distribution import Distribution, default_level_sets

TRUNCATION = Truncation("O12")
ALGORITHMS = ("ring-1", "ring-2", "burst", "pairwise", "bruck", "two-level-2", "two-level-3")


@st.composite
def distributions(draw):
    levels, ranks = draw(st.integers(1, 6)), draw(st.integers(1, 20))
    dealt = draw(st.sampled_from(["packed", "snake", "split"]))
    sets = 24 if dealt == "split" else 12
    fitting = [v for v in range(1, levels + 1) if ranks % v == 0 and ranks // v <= sets]
    return (
        Distribution(
            TRUNCATION,
            ranks,
            levels=levels,
            variables=draw(st.integers(1, 3)),
            level_sets=draw(st.sampled_from(fitting)),
            dealt=dealt,
            shared=draw(st.booleans()),
        )
        if fitting
        else None
    )


@settings(max_examples=40)
@given(distributions())
def test_arrays_lie_as_the_two_stages_have_them(d):
    if d is None:
        return
    for rank in range(d.ranks):
        fields = len(d.levels_of(rank)) * d.variables
        fourier = Fourier(TRUNCATION, d.rows_of(rank))
        latitudes = [(piece.begin, piece.end) for piece in d.pieces_of(rank)]
        legendre = Legendre(TRUNCATION, d.wavenumbers_of(rank), latitudes_of=latitudes)
        assert d.rows.shape(rank) == (fields, 1, fourier.points)
        assert d.fourier.shape(rank) == (fourier.coefficients, 1, fields)
        assert d.wavenumbers.shape(rank) == (legendre.fourier_start[-1], 1, fields)
        degrees = sum(len(d.pieces.degrees_of(piece)) for piece in d.pieces_of(rank))
        assert d.spectral.shape(rank) == (degrees, 1, fields)
        assert degrees == legendre.spectral_start[-1] or d.pieces.is_split
        assert d.columns.shape(rank)[2] == d.fields


@settings(max_examples=40)
@given(distributions(), st.sampled_from(ALGORITHMS))
def test_every_algorithm_moves_what_must_move(d, algorithm):
    if d is None:
        return
    refusals = []
    for pattern in d.patterns().values():
        try:
            schedule = _core.make_schedule(pattern, algorithm)
        except InputError as error:
            refusals.append((str(error), algorithm, pattern.complete))
            continue
        _core.verify(schedule, ["isend-irecv"])
    for text, name, closed in refusals:
        assert "is out of range" in text or (name == "bruck" and not closed)


@pytest.mark.parametrize("dealt", ["packed", "split"])
def test_loads_are_those_of_the_arrays(dealt):
    d = Distribution(TRUNCATION, 6, levels=5, variables=2, level_sets=2, dealt=dealt)
    loads = d.loads()
    flops = [
        2 * 2 * r * n
        for m in range(12)
        for r in [TRUNCATION.row_end[m] / 2 - TRUNCATION.row_begin[m] / 2]
        for n in [12 - m]
    ]
    assert loads["legendre_flops"].sum() == pytest.approx(sum(flops) * d.fields)
    for rank in range(6):
        nz, _, nx = d.points.shape(rank)
        assert loads["points"][rank] == nz * nx
        fields = d.spectral.shape(rank)[2]
        assert loads["wavenumbers"][rank] == len(d.wavenumbers_of(rank)) * fields
        assert d.table_bytes(rank) * 4 / 8 * fields == loads["legendre_flops"][rank]
        nz, _, nx = d.columns.shape(rank)
        assert loads["columns"][rank] == nz * nx
    lengths = TRUNCATION.grid.rows
    assert loads["fft_flops"].sum() == pytest.approx((2.5 * lengths * np.log2(lengths)).sum() * d.fields)
    assert all(value >= 1 for value in d.imbalances().values())


@pytest.mark.parametrize(
    ("ranks", "levels", "wanted"),
    [
        (1, 10, 1),
        (16, 10, 4),
        (64, 137, 4),
        (36, 137, 4),
        (100, 137, 4),
        (30, 137, 5),
        (7, 10, 1),
        (12, 10, 3),
        (64, 2, 2),
    ],
)
def test_level_sets_are_those_of_ectrans(ranks, levels, wanted):
    assert default_level_sets(ranks, levels) == wanted


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"ranks": 4, "level_sets": 3}, "3 level sets on 4 ranks: a divisor of the ranks is allowed"),
        ({"ranks": 4, "level_sets": 4, "levels": 3}, r"4 level sets of 3 levels: 1\.\.3 are allowed"),
        (
            {"ranks": 13},
            "13 sets of wavenumbers x 1 of levels.*up to 12 sets are allowed.*that work are 12, with up to 1 level",
        ),
        ({"ranks": 26, "level_sets": 2, "levels": 5}, "up to 12 sets are allowed.*ranks that work are 25"),
        ({"ranks": 0}, "ranks 0: a whole number, 1 or more, is allowed"),
        ({"ranks": 2, "dealt": "even"}, "unknown way to deal wavenumbers"),
        ({"ranks": 2, "dealt": [[0]]}, "1 lists of wavenumbers: 2"),
    ],
)
def test_what_cannot_be_is_said_with_what_can(arguments, expected):
    with pytest.raises(InputError, match=expected):
        Distribution(TRUNCATION, **arguments)


def test_lists_of_wavenumbers_must_have_each_once():
    with pytest.raises(InputError, match=r"each of 0\.\.11 once is allowed"):
        Distribution(TRUNCATION, 2, dealt=[[0, 1, 2], range(2, 12)])


def test_a_large_transform_is_simulated_on_thousands_of_ranks():
    from tradewind.pattern import Schedule

    d = Distribution(Truncation("O320"), 1000, levels=40, level_sets=4)
    result = Schedule(_core.make_schedule(d.to_wavenumbers(), "burst")).simulate("dragonfly-MM", model="loggp")
    moved = sum(d.fourier.shape(rank)[0] * 10 for rank in range(1000)) * 8
    assert moved * 0.99 < result["bytes"] < moved


def test_level_sets_leave_no_more_sets_than_wavenumbers_where_they_can():
    assert default_level_sets(26, 30) == 2
    assert default_level_sets(26, 30, 12) == 13
    assert Distribution(TRUNCATION, 26, levels=30).sets == 2
