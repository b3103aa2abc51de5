"""Writers killed at random moments leave whole steps and nothing that looks like one, and a later run goes on there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import eccodes
import numpy as np
import pytest
import zarr
from killed_writers import write
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


def killed(folder: Path, count: int, seed: int) -> list[list[int]]:
    program = Path(__file__).with_name("killed_writers.py")
    subprocess.run([sys.executable, program, folder, str(count), str(seed)], check=True, timeout=600)
    return [check_folder(folder / str(number)) for number in range(count)]


def test_twenty_kill_points(tmp_path):
    found = killed(tmp_path, 20, seed=1)
    assert len(set(map(len, found))) > 2
    folder = tmp_path / str(int(np.argmax([len(steps) for steps in found])))
    first = len(check_folder(folder))
    write(folder, first, first + 2)
    assert check_folder(folder) == list(range(first + 2))


@pytest.mark.slow
def test_many_kill_points(tmp_path):
    found = killed(tmp_path, 280, seed=2)
    assert max(map(len, found)) > 1
    assert min(map(len, found)) == 0
