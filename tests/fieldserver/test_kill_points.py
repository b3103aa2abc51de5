"""Writers killed at random moments leave whole steps and nothing that looks like one, and a later run goes on there."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import eccodes
import numpy as np
import pytest
import zarr
from killed_writers import MOMENTS, write
from netCDF4 import Dataset
from output_plans import Q, T, values

from tradewind.fieldserver.manifest import Manifest, check


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


def killed(folder: Path, moments: Sequence[int]) -> list[list[int]]:
    program = Path(__file__).with_name("killed_writers.py")
    subprocess.run([sys.executable, program, folder, *map(str, moments)], check=True, timeout=600)
    return [check_folder(folder / str(number)) for number in range(len(moments))]


def drawn(count: int, seed: int) -> list[int]:
    moments = random.Random(seed)
    return [moments.randrange(1, MOMENTS) for _ in range(count)]


def go_on(folder: Path) -> None:
    """Write two steps more, and read all."""
    first = len(check_folder(folder))
    write(folder, first, first + 2)
    assert check_folder(folder) == list(range(first + 2))


def test_twenty_kill_points(tmp_path):
    found = killed(tmp_path, drawn(20, seed=1))
    assert len(set(map(len, found))) > 2
    go_on(tmp_path / str(int(np.argmax([len(steps) for steps in found]))))


@pytest.mark.parametrize("moments", [range(24, 54, 3), pytest.param(range(1, 180), marks=pytest.mark.slow)], ids=len)
def test_a_run_goes_on_that_was_killed_in_its_first_step(tmp_path, moments):
    """Where it made what all steps have in common, and had not yet filled it."""
    assert killed(tmp_path, moments) == [[]] * len(moments)
    for number in range(len(moments)):
        go_on(tmp_path / str(number))


@pytest.mark.slow
def test_many_kill_points(tmp_path):
    found = killed(tmp_path, drawn(280, seed=2))
    assert max(map(len, found)) > 1
    assert min(map(len, found)) == 0
