"""The examples in C, C++ and Fortran find no wrong point, whichever way the environment names; the dwarf's bits."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tradewind.dwarfs.diffusion import reference_step

LANGUAGES = ("c", "cpp", "fortran")
STEPS = ("2D to FFT", "FFT to TRI", "TRI to FFT", "FFT to 2D", "halo")
METHODS = [
    ("ring-1,isend-irecv,buffer", "sweep,isend-irecv,buffer", {}),
    (
        "burst,shared,direct",
        "direct,alltoallw,datatype",
        {"TRADEWIND_TRANSPOSE": "burst,shared,direct", "TRADEWIND_HALO": "direct,alltoallw"},
    ),
    ("native,,", "sweep,put-notify,buffer", {"TRADEWIND_TRANSPOSE": "native", "TRADEWIND_HALO": ",put-notify"}),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("ranks", "number"), [(2, 1), (4, 2), *(pytest.param(n, 0, marks=pytest.mark.slow) for n in (1, 4))]
)
def test_redistribution(on_ranks, language, ranks, number):
    transpose, halo, environment = METHODS[number]
    printed = on_ranks(ranks, f"redistribution_{language}", 13, 11, 5, **environment).stdout
    lines = printed.splitlines()
    assert [line.split(" by ")[0] for line in lines] == list(STEPS)
    for line in lines:
        assert f"by {halo if line.startswith('halo') else transpose}: " in line
        assert line.endswith("; 0 points wrong")


@pytest.mark.one_level
def test_languages_say_the_same(on_ranks):
    """Messages and bytes are counted alike."""
    printed = {on_ranks(3, f"redistribution_{language}", 9, 8, 7, 3).stdout for language in LANGUAGES}
    assert len(printed) == 1


FETCHES = ("halo", "on demand", "adjoint")
FETCH_METHODS = [
    "direct,isend-irecv,buffer",
    "direct,put-notify,buffer",
    "direct,shared,direct",
    "direct,alltoallw,datatype",
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("ranks", "number"),
    [(2, 1), (4, 3), *(pytest.param(*more, marks=pytest.mark.slow) for more in ((1, 0), (3, 2), (4, 0)))],
)
def test_fetch(on_ranks, language, ranks, number):
    printed = on_ranks(ranks, f"fetch_{language}", 13, 11, 3, TRADEWIND_FETCH=FETCH_METHODS[number]).stdout
    lines = printed.splitlines()
    assert [line.split(" by ")[0] for line in lines] == list(FETCHES)
    for line in lines:
        assert f"by {FETCH_METHODS[number]}: " in line
        assert line.endswith("; 0 values wrong")


@pytest.mark.one_level
def test_languages_fetch_the_same(on_ranks):
    """Messages and bytes are counted alike; on a mesh whose rows do not divide."""
    printed = {on_ranks(3, f"fetch_{language}").stdout for language in LANGUAGES}
    assert len(printed) == 1
    assert "halo by direct,isend-irecv,buffer: rank 0 sends 2 messages, 4800 bytes" in printed.pop()


def reference(grid: tuple[int, int, int], steps: int) -> np.ndarray:
    """[z][y][x]"""
    field = np.zeros(grid[::-1])
    field[tuple(slice(n // 4, 3 * n // 4) for n in grid[::-1])] = 1
    for _ in range(steps):
        field = reference_step(field)
    return field


@pytest.mark.parametrize(("grid", "split", "steps"), [((16, 12, 8), (2, 2), 40), ((7, 5, 4), (3, 1), 7)])
def test_diffusion_has_the_same_bits(on_ranks, tmp_path: Path, grid, split, steps):
    """Also where parts are so narrow that nothing can be computed before the halo is there."""
    ranks = split[0] * split[1]
    done = on_ranks(ranks, "diffusion_fortran", *grid, steps, split[0], tmp_path / "field")
    wanted = reference(grid, steps)
    for rank in range(ranks):
        rows = np.array_split(wanted, split[1], axis=1)[rank // split[0]]
        own = np.array_split(rows, split[0], axis=2)[rank % split[0]]
        assert (np.fromfile(tmp_path / f"field.{rank}").reshape(own.shape) == own).all()
    found = re.fullmatch(rf"{steps} steps on {ranks} ranks: sum of squares (\S+), largest value (\S+)\n", done.stdout)
    assert found
    assert float(found[1]) == pytest.approx(np.sum(wanted**2), abs=1e-8)
    assert float(found[2]) == pytest.approx(wanted.max(), abs=1e-13)
