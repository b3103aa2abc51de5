"""Meshes of finite volumes: closed duals, areas by quadrature, Gaussian latitudes, and meshes with holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tradewind.base.errors import InputError
from tradewind.layout.dual_meshes import flat, mesh_of, octahedral
from tradewind.layout.gaussian import gaussian_latitudes
from tradewind.layout.median_dual import MedianDual
from tradewind.layout.mesh_rows import EARTH_RADIUS_M, mesh_nodes


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_gaussian_latitudes_are_the_roots_of_legendre_polynomials(n):
    roots = np.polynomial.legendre.leggauss(2 * n)[0][::-1]
    assert np.abs(np.sin(gaussian_latitudes(n)) - roots).max() < 1e-14


def test_no_latitudes():
    with pytest.raises(InputError, match="0 Gaussian latitudes per hemisphere: 1 or more are allowed"):
        gaussian_latitudes(0)


@pytest.mark.parametrize("name", ["O1", "O2", "O3", "O12", "3x3", "5x4", "64x48"])
def test_duals_are_closed_and_fill_the_whole(name):
    mesh = mesh_of(name)
    assert mesh.nodes == mesh_nodes(name)
    total = np.zeros((mesh.nodes, 2))
    np.add.at(total, mesh.edges[:, 0], mesh.normal)
    np.add.at(total, mesh.edges[:, 1], -mesh.normal)
    at_pole = np.abs(mesh.y) == np.abs(mesh.y).max() if mesh.on_sphere else np.zeros(mesh.nodes, bool)
    assert np.abs(total[~at_pole]).max(initial=0) < 1e-13
    assert np.abs(total[at_pole, 0]).max(initial=0) < 1e-13  # what is open there is the line along the pole
    assert np.abs(total[at_pole, 1]).sum() == pytest.approx(4 * np.pi if mesh.on_sphere else 0)
    whole = 4 * np.pi * EARTH_RADIUS_M**2 if mesh.on_sphere else np.prod(mesh.periods)
    assert mesh.volume.sum() == pytest.approx(whole, rel=1e-14)


def test_an_octahedral_mesh_has_six_neighbours_nearly_everywhere():
    n = 10
    mesh = octahedral(n)
    degrees = mesh.edges_per_node()
    assert mesh.nodes == 4 * n * (n + 9)
    # Euler: nodes - edges + cells = 2; at the equator stand quadrilaterals, at the poles one cell each.
    equator = 20 + 4 * (n - 1)
    triangles = 2 * sum(8 * i + 44 for i in range(n - 1))
    assert mesh.nodes - len(mesh.edges) + triangles + equator + 2 == 2
    first, second = mesh.edges.T
    assert (first < second).all()
    assert np.array_equal(np.lexsort((second, first)), np.arange(len(first)))
    assert set(degrees.tolist()) == {4, 5, 6}
    assert (degrees == 6).mean() > 0.7


def test_areas_by_quadrature():
    """The integral of cos(latitude) over the triangles of each dual, by midpoints of ever smaller ones."""
    mesh = octahedral(6, radius=1.0)
    around = 2 * np.pi
    found = np.zeros(mesh.nodes)
    cut = 48
    i, j = np.meshgrid(np.arange(cut), np.arange(cut), indexing="ij")
    standing, hanging = i + j < cut, i + j < cut - 1
    s = np.concatenate([(i[standing] + 1 / 3) / cut, (i[hanging] + 2 / 3) / cut])
    t = np.concatenate([(j[standing] + 1 / 3) / cut, (j[hanging] + 2 / 3) / cut])
    for (first, second), corners in zip(mesh.edges, mesh.corners, strict=True):
        for node, other in ((first, second), (second, first)):
            step = (mesh.x[other] - mesh.x[node] + np.pi) % around - np.pi
            middle = np.array([step / 2, (mesh.y[other] - mesh.y[node]) / 2])
            for corner in corners:
                dx = (mesh.corner_x[corner] - mesh.x[node] + np.pi) % around - np.pi
                away = np.array([dx, mesh.corner_y[corner] - mesh.y[node]])
                area = abs(middle[0] * away[1] - middle[1] * away[0]) / 2
                found[node] += area * np.cos(mesh.y[node] + s * middle[1] + t * away[1]).mean()
    inner = np.abs(mesh.y) < np.abs(mesh.y).max()
    assert np.abs(found[inner] / mesh.volume[inner] - 1).max() < 1e-5


def test_duals_of_squares_are_squares():
    mesh = flat(5, 4)
    assert np.allclose(mesh.volume, 1, rtol=1e-14)
    along_x = mesh.edges[:, 1] // 5 == mesh.edges[:, 0] // 5
    assert np.allclose(np.abs(mesh.normal[along_x]), [1, 0])
    assert np.allclose(np.abs(mesh.normal[~along_x]), [0, 1])


def test_a_mesh_with_a_hole_is_refused():
    i, j = np.arange(4), np.arange(4)[:, None]
    squares = np.stack(
        np.broadcast_arrays(i + 4 * j, (i + 1) % 4 + 4 * j, (i + 1) % 4 + 4 * ((j + 1) % 4), i + 4 * ((j + 1) % 4)),
        axis=-1,
    ).reshape(-1, 4)
    x, y = np.tile(np.arange(4.0), 4), np.repeat(np.arange(4.0), 4)
    MedianDual.of_cells(x, y, [squares], (4, 4))
    message = r"torn: the edge between nodes 1 and 2 has 1 cells, not one on each side \(4 such edges\): a mesh without"
    with pytest.raises(InputError, match=message):
        MedianDual.of_cells(x, y, [np.delete(squares, 5 - 4, axis=0)], (4, 4), name="torn")
    turned = squares.copy()
    turned[3] = turned[3, ::-1]
    with pytest.raises(InputError, match="not one on each side"):
        MedianDual.of_cells(x, y, [turned], (4, 4))
    whole = flat(4, 4)
    with pytest.raises(InputError, match=r"4x4: the duals fill 16 of 20: it has a hole"):
        replace(whole, periods=(4, 5)).check()
    with pytest.raises(InputError, match=r"4x4: the dual of node \d+ is not closed"):
        replace(whole, normal=np.abs(whole.normal)).check()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("O0", "grid O0: O1 and more are allowed"),
        ("N80", "grid 'N80': O<N>, like O40, or NXxNY of a flat mesh, like 64x64, is allowed"),
        ("2x9", "grid 2x9: sides of 3 or more are allowed"),
        ("O999999", "a mesh of"),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(InputError, match=message):
        mesh_of(name)
