"""Grids of the sphere by name, beside their definitions."""

from __future__ import annotations

import pytest

from tradewind.base.errors import InputError
from tradewind.layout.grid_names import named_grid
from tradewind.spectral.grid import GaussianGrid


@pytest.mark.parametrize("name", ["O80", "F80", "TCo1279"])
def test_a_gaussian_grid_has_the_points_of_its_rows(name):
    found = named_grid(name)
    rows = GaussianGrid(found.gaussian_name).rows
    assert (found.columns, found.rows, found.longest_row) == (rows.sum(), len(rows), rows.max())


def test_names_say_truncations_and_triangles():
    assert (named_grid("TCo1279").truncation, named_grid("O1280").truncation) == (1279, None)
    assert named_grid("R2B9").columns == 20971520  # Giorgetta et al. 2022, doi:10.5194/gmd-15-6985-2022: 5 km
    assert named_grid("R2B9").gaussian_name is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("TCO639", "unknown grid 'TCO639'; did you mean 'TCo639'?"),
        ("N512", "unknown grid 'N512'; did you mean 'O512'?"),
        ("O16385", "grid 'O16385': O<N> with N up to 16384 is allowed"),
        ("R2B99", "R<n>B<k> with n up to 99, k up to 14 is allowed"),
        ("", "unknown grid ''"),
    ],
)
def test_a_grid_that_does_not_exist_is_refused(name, words):
    with pytest.raises(InputError) as raised:
        named_grid(name)
    assert words in str(raised.value)
