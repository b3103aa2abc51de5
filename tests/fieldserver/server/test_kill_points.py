"""Writers killed at random moments leave whole steps and nothing that looks like one, and a later run goes on there."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import eccodes
import numpy as np
import pytest
import zarr
from killed_writers import FIRST_STEP, MOMENTS, write
from netCDF4 import Dataset
from output_plans import Q, T, values

from tradewind.fieldserver.files.manifest import Manifest, check


def messages(path: Path) -> list[np.ndarray]:
    """The values of all messages of a file; a part of one is an error of ecCodes."""
    found = []
    with path.open("rb") as stream:
        while (handle := eccodes.codes_grib_new_from_file(stream)) is not None:
            found.append(eccodes.codes_get_values(handle))
            eccodes.codes_release(handle)
    return found


def check_folder(folder: Path) -> list[int]:
    """Read all that is there; returns the steps that are whole."""
    steps = Manifest(folder).steps()
    assert steps == list(range(len(steps)))
    assert check(folder) == []
    for path in folder.glob("grib/[!.]*"):  # also those that no manifest names yet
        step = int(path.stem)
        wanted = [*values(T, step), *values(Q, step)]
        assert all(np.abs(a - b).max() < 1e-2 for a, b in zip(messages(path), wanted, strict=True))
    for path in folder.glob("nc/[!.]*"):
        with Dataset(path) as data:
            assert (data["t"][:].reshape(3, -1) == values(T, int(path.stem)).astype("f4")).all()
    if steps:
        store = zarr.open_consolidated(folder / "run.zarr", mode="r")
        count = store["time"].shape[0]
        assert len(steps) <= count <= len(steps) + 1
        for name, field in (("t", T), ("q", Q)):
            wanted = np.stack([values(field, step) for step in range(count)])
            assert (store[name][:].reshape(wanted.shape) == wanted).all()
    return steps


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path, Sequence[int]], list[list[int]]]]:
    """(folder, moments): the steps that are whole where a writer was killed at each of the moments.

    One process starts all writers of these tests.
    """
    command = [sys.executable, Path(__file__).parents[1] / "killed_writers.py", tmp_path_factory.mktemp("first")]

    def run(folder: Path, moments: Sequence[int]) -> list[list[int]]:
        process.stdin.write(json.dumps([str(folder), [*moments]]) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "\n"
        return [check_folder(folder / str(number)) for number in range(len(moments))]

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield run
    assert process.returncode == 0


def drawn(count: int, seed: int) -> list[int]:
    moments = random.Random(seed)
    return [moments.randrange(1, MOMENTS) for _ in range(count)]


def go_on(folder: Path, whole: list[int], more: int) -> None:
    """Write steps after those that are whole, and read all."""
    end = len(whole) + more
    write(folder, len(whole), end)
    assert check_folder(folder) == list(range(end))


def test_eight_kill_points(tmp_path, killed):
    found = killed(tmp_path, drawn(8, seed=1))
    assert len(set(map(len, found))) > 2
    most = max(range(8), key=lambda number: len(found[number]))
    go_on(tmp_path / str(most), found[most], 2)


@pytest.mark.parametrize(
    ("moments", "more"),
    [(range(24, 64, 4), 2), pytest.param(range(1, FIRST_STEP, 3), 1, marks=pytest.mark.slow)],
    ids=("10", "60"),
)
@pytest.mark.slow
def test_a_run_goes_on_that_was_killed_in_its_first_step(tmp_path, killed, moments, more):
    """Where it made what all steps have in common, and had not yet filled it."""
    found = killed(tmp_path, moments)
    assert found == [[]] * len(moments)
    for number, whole in enumerate(found):
        go_on(tmp_path / str(number), whole, more)


@pytest.mark.slow
def test_many_kill_points(tmp_path, killed):
    """Three hundred random ones are these and the eight above."""
    found = killed(tmp_path, drawn(292, seed=2))
    assert max(map(len, found)) > 1
    assert min(map(len, found)) == 0
