"""Folders and files without rights: reported at once, or for the steps that they cost; others are whole."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py.MPI")
pytest.importorskip("eccodes")

_IS_IN_BOUNDING_SET, _DROP_OF_BOUNDING_SET = 23, 24
_OVERRIDES = (1, 2)
"""Capabilities of Linux by which root passes over the rights of files: CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH."""


def without_overrides():
    """Let what is started next be bound by the rights of files, as other users are."""
    library = ctypes.CDLL(None, use_errno=True)
    for capability in _OVERRIDES:
        there = library.prctl(_IS_IN_BOUNDING_SET, capability, 0, 0, 0) == 1
        if there and library.prctl(_DROP_OF_BOUNDING_SET, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Run a model without rights; returns its errors."""
    folder = tmp_path_factory.mktemp("rights")
    program = Path(__file__).parents[1] / "without_rights.py"
    begin = without_overrides if os.getuid() == 0 else None
    ended = subprocess.run(
        [sys.executable, program, folder], preexec_fn=begin, stdout=subprocess.PIPE, text=True, timeout=240
    )
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)  # so that pytest removes it
    assert ended.returncode == 0
    return json.loads(ended.stdout)


@pytest.mark.parametrize("rights", ["read", "none"])
@pytest.mark.parametrize("folder", ["refused", "below"])
@pytest.mark.slow
def test_a_folder_without_rights_is_refused_at_once(found, rights, folder):
    assert found[f"{rights} {folder}"].startswith(
        ("InputError: cannot write folder", "InputError: cannot read the folder")
    )


@pytest.mark.parametrize("servers", ["0", "threads"])
@pytest.mark.parametrize(
    ("place", "words"),
    [
        (".", ("cannot write output file ", "0001.grib2", "0002.nc", "cannot be written to")),
        ("manifest", ("cannot write manifest ", "step-00000001.json", "step-00000002.json", "cannot be written to")),
        ("run.zarr/t/c", ("cannot write store ", "Permission denied")),
    ],
)
def test_a_folder_that_loses_its_rights_costs_the_steps_that_it_is_without(found, servers, place, words):
    errors, steps, damaged = found[f"{servers} {place}"]
    assert errors
    assert all(each.startswith("WriteError: cannot write ") for each in errors)
    assert all(any(word in each for each in errors) for word in words)
    assert steps == [0, 3]
    assert damaged == []


def test_an_input_file_without_rights(found):
    assert found["input"].startswith("InputError: ")
    assert "Permission denied" in found["input"]
