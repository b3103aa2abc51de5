"""Elements of the dwarf nekbone by lists: the curve, files, shared points, and the same bits on any ranks."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mpi4py.MPI")


from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs.nekbone import Nekbone
from tradewind.dwarfs.nekbone.partition import Listed, along_hilbert, hilbert_places
from tradewind.dwarfs.nekbone.plane import plane_output
from tradewind.dwarfs.nekbone.spectral_elements import Brick

WHOLE = (3, 2, 4)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_the_curve_goes_from_cell_to_neighbour_through_all_cells(bits):
    cells = np.stack(np.unravel_index(np.arange(8**bits), [2**bits] * 3))
    places = hilbert_places(*cells, bits)
    assert np.array_equal(np.sort(places), np.arange(8**bits))
    steps = np.diff(cells[:, np.argsort(places)], axis=1)
    assert np.array_equal(np.abs(steps).sum(axis=0), np.ones(8**bits - 1))


def test_pieces_of_the_curve_are_equal_and_have_fewer_shared_points_than_slabs():
    owner = along_hilbert((8, 8, 8), 8)
    assert np.array_equal(np.bincount(owner), [64] * 8)
    curve, slab = (Listed(4, (8, 8, 8), each, 3) for each in (owner, np.repeat(np.arange(8, dtype=np.int32), 64)))
    assert curve.shared().sum() < slab.shared().sum() / 1.2
    assert set(np.bincount(along_hilbert((7, 1, 1), 3))) == {2, 3}


def test_lists_of_a_brick_are_the_brick():
    brick = Brick(4, (2, 1, 3), (2, 3, 1), 4)
    z, y, x = np.unravel_index(np.arange(36), brick.all_elements[::-1])
    listed = Listed(4, brick.all_elements, brick.ranks_of(x, y, z).astype(np.int32), 4)
    assert np.array_equal(listed.element_ids, brick.element_ids)
    assert np.array_equal(listed.ids(), brick.ids())
    assert np.array_equal(listed.shared(), brick.shared())
    # Beyond a side that bricks share lies another rank: known in closed form.
    faces = [brick.apart[:, 1, 1, 0].any(), brick.apart[:, 1, 1, 2].any(), brick.apart[:, 0, 1, 1].any()]
    assert faces == [brick.beyond[0][0], brick.beyond[0][1], brick.beyond[2][0]]


def test_a_point_is_shared_where_another_rank_has_a_copy():
    owner = np.random.default_rng(1).integers(0, 4, 36).astype(np.int32)
    parts = [Listed(3, (3, 3, 4), owner, rank) for rank in range(4)]
    ids = [set(part.ids().ravel()) for part in parts]
    for rank, part in enumerate(parts):
        others = set().union(*(ids[other] for other in range(4) if other != rank))
        assert np.array_equal(part.shared(), np.isin(part.ids(), list(others)))


def test_each_point_of_the_plane_is_written_by_one_rank():
    owner = along_hilbert(WHOLE, 3)
    written = []
    for rank in range(3):
        part = Listed(4, WHOLE, owner, rank)
        written += plane_output(part, np.zeros(part.shape)).where.tolist()
    assert sorted(written) == list(range(10 * 7))


@pytest.mark.parametrize("preconditioner", ["none", "schwarz"])
def test_the_same_bits_on_any_lists_of_one_to_three_ranks(tmp_path, preconditioner):
    path = tmp_path / "owners.txt"
    path.write_text("\n".join(str(rank) for rank in np.random.default_rng(2).permutation(24) % 3))
    common = {"whole": WHOLE, "nx1": 4, "sums": "reproducible", "side": "global", "deformation": 0.2}
    common["preconditioner"] = preconditioner
    found = [
        launch.run(ranks, "nekbone_cases:state", {**common, **asked}, timeout_s=240)
        for ranks, asked in (
            (1, {}),
            (2, {"partition": "hilbert"}),
            (3, {"partition": "hilbert", "strategy": "overlap"}),
            (3, {"owners": str(path)}),
        )
    ]
    assert found[1:] == found[:1] * 3


def test_what_nekbone_prints():
    """Its formats: i7, i9, i10 and 1pe12.4; flops by hand."""
    text = Nekbone(4, elements=(2, 2, 2), nx1=10).printed(100, 0.5)
    operator, solver = 139 * 8000 * 100, 15 * 8000 * 100
    assert text.splitlines() == [
        "nelt =       8, np =         4, nx1 =      10, elements =        32",
        f"Tot MFlops =   {4 * (operator + solver) / 0.5e6:.4E}, MFlops      =   {(operator + solver) / 0.5e6:.4E}",
        "Setup Flop =   1.1120E+08, Solver Flop =   1.2000E+07",
        "Solve Time =   5.0000E-01",
    ]
    assert Nekbone(3, whole=(7, 1, 1), partition="hilbert").printed(1, 1.0).startswith("nelt =       3, np =         3")


def test_what_a_program_of_lists_computes():
    dwarf = Nekbone(3, whole=WHOLE, nx1=4, partition="hilbert", strategy="overlap")
    (rim,) = (each for each in dwarf.program().computes if each.name == "operator of the rim")
    assert dwarf.fullest.count == 8
    assert rim.flops == len(dwarf.fullest.rim()) * 64 * (12 * 4 + 15)


def test_bad_lists(tmp_path):
    path = tmp_path / "owners.txt"

    def problem(text: str, **options: object) -> str:
        path.write_text(text)
        with pytest.raises(InputError) as error:
            Nekbone(2, **{"whole": (2, 2, 1), "nx1": 4, "owners": str(path), **options})
        return str(error.value)

    assert "3 lines; 4 elements need as many" in problem("0\n1\n1")
    assert "line 3: rank 2; 0..1 are allowed" in problem("0\n1\n2\n0")
    assert "rank 1 has no element" in problem("0\n0\n0\n0")
    assert "a file with the rank of an element in each line is allowed" in problem("0\none\n0\n0")
    assert "one of them is allowed" in problem("0\n1\n0\n1", partition="hilbert")
    assert "cartesian sweeps over bricks" in problem("0\n1\n0\n1", strategy="cartesian")
    assert "own strides are those of a brick" in problem("0\n1\n0\n1", own="strides")
    with pytest.raises(InputError, match="No such file"):
        Nekbone(2, owners=str(tmp_path / "none.txt"))
    with pytest.raises(InputError, match="5x1x1: 2x1x1 ranks do not divide it; with --partition hilbert"):
        Nekbone(2, whole=(5, 1, 1))
    with pytest.raises(InputError, match="3 ranks: 2 elements"):
        Nekbone(3, whole=(2, 1, 1), partition="hilbert")
