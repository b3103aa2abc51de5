"""Lines of code that pages count."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BRICKS = ("pattern/gather_scatter_brick", "algorithm/gather_scatter_cartesian")
LISTS = (
    "pattern/gather_scatter",
    "algorithm/gather_scatter_pairwise",
    "pattern/copies",
    "pattern/copy_loops",
    "mpi/gather_scatter",
    "mpi/sharing",
)


def lines(names: tuple[str, ...]) -> int:
    files = [path for name in names for path in sorted((ROOT / "src").glob(f"{name}.?pp"))]
    assert len(files) >= len(names)
    return sum(len(path.read_text().splitlines()) for path in files)


def test_the_gather_scatter_is_as_short_as_its_page_says() -> None:
    page = (ROOT / "docs/dwarfs/nekbone.md").read_text()
    counts = re.search(r"are (\d+) lines of C\+\+ .* on MPI ranks, (\d+) ", page)
    assert counts is not None
    assert int(counts[1]) == pytest.approx(lines(BRICKS), rel=0.03)
    assert int(counts[2]) == pytest.approx(lines(BRICKS) + lines(LISTS), rel=0.03)
    assert lines(BRICKS) <= 500
