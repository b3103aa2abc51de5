"""Mistakes of one rank of a model: all ranks raise an error that names it, none waits, and what had ended is whole."""

from __future__ import annotations

import pytest
import xarray
from server_cases import whole

pytest.importorskip("mpi4py.MPI")

from tradewind import launch
from tradewind.fieldserver.files.manifest import Manifest, check

PLAN = """
folder = "FOLDER"
durable = false
block = {block}
patience = "20s"

[[sink]]
name = "history"
format = "netcdf"
path = "{{step}}.nc"

[[rule]]
sink = "history"
"""
FIRST = {
    "name": "InputError: rank 1: unknown field 'tt'",
    "shape": "InputError: rank 1: field u: (1, ",
    "order": "InputError: rank 1: its call ",
    "omission": "InputError: rank 1: its call ",
    "definition": "InputError: rank 1: its call ",
    "memory": "PlanError: rank 1: MemoryError: no room for a block",
    "constant": "InputError: rank 1: field t: an array that may be written to is allowed",
    "input": "InputError: rank 1: read of nowhere.nc: unknown input file",
    "early end": "InputError: rank 1: step 1 has ended",
    "text": "InputError: rank 1: unknown field 't\\udcb0'",
    "text of a file": "InputError: rank 1: read of \\xb0.nc: unknown input file",
}
"""Beginnings of the error of all ranks."""


def run(folder, kinds, *, ranks, servers, block):
    request = {"plan": PLAN.format(block=block), "folder": str(folder), "servers": servers, "kinds": kinds}
    return launch.run(ranks, "error_cases:one_sided", request, timeout_s=240)


@pytest.mark.parametrize(
    ("ranks", "servers", "block"),
    [
        (3, 1, 100),
        pytest.param(4, 1, 3, marks=pytest.mark.slow),
        pytest.param(3, "threads", 3, marks=pytest.mark.slow),
        pytest.param(2, 0, 100, marks=pytest.mark.slow),
    ],
)
def test_all_ranks_hear_of_a_mistake_of_one(tmp_path, ranks, servers, block):
    found = run(tmp_path, list(FIRST), ranks=ranks, servers=servers, block=block)
    models = ranks - (servers if isinstance(servers, int) else 0)
    for kind, words in FIRST.items():
        steps, closing = zip(*found[kind][:models], strict=True)
        own = words.removeprefix("PlanError: rank 1: ") if kind == "memory" else words
        assert steps[1].startswith(own), (kind, steps)
        assert all(each.startswith(words) for rank, each in enumerate(steps) if rank != 1), (kind, steps)
        assert set(closing) == {""}, (kind, closing)
        assert Manifest(tmp_path / kind).steps() == [0, 1]
        assert check(tmp_path / kind) == []
        assert sorted(path.name for path in (tmp_path / kind).iterdir()) == ["0.nc", "1.nc", "manifest"]


def test_a_mistake_of_all_ranks_is_their_own_and_the_run_goes_on(tmp_path):
    found = run(tmp_path, ["everywhere"], ranks=3, servers=1, block=3)
    assert found["everywhere"] == [["", ""], ["", ""], [""]]
    assert Manifest(tmp_path / "everywhere").steps() == [0, 1, 2, 3]
    with xarray.open_dataset(tmp_path / "everywhere" / "2.nc", engine="netcdf4") as data:
        assert (data.u.values.reshape(3, -1) == whole("t", 2, 3, 96)).all()


@pytest.mark.parametrize("leaving", [[0, 1], [0], [1]])
def test_servers_and_other_ranks_end_when_ranks_of_a_model_leave(tmp_path, leaving):
    request = {"plan": PLAN.format(block=3), "folder": str(tmp_path), "leaving": leaving, "blocks": [True, False]}
    inside, outside = zip(*launch.run(3, "error_cases:leaving", request, timeout_s=240), strict=True)
    own, word = "ArithmeticError: the model is not stable", "PlanError: rank {}: {}"
    theirs = word.format(leaving[0], own)
    assert list(inside) == [own if rank in leaving else theirs for rank in range(2)] + [""]
    theirs = word.format(leaving[0], "PlanError: it has ended without close of its field server")
    assert list(outside) == [own if rank in leaving else theirs for rank in range(2)] + [""]
    for name in ("with", "without"):
        assert Manifest(tmp_path / name).steps() == [0, 1]
        assert check(tmp_path / name) == []
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["0.nc", "1.nc", "manifest"]


def test_others_close_while_a_rank_has_left_by_its_mistake(tmp_path):
    request = {"plan": PLAN.format(block=3), "folder": str(tmp_path)}
    first, second, third = launch.run(3, "error_cases:caught_by_others", request, timeout_s=60)
    mistake = "InputError: rank 1: field t: (1, "
    assert [len(each) for each in (first, second, third)] == [2, 1, 2]
    assert all(each[0].startswith(mistake) for each in (first, second, third))
    assert first[1] == third[1] == ""
    assert Manifest(tmp_path).steps() == [0]


def test_an_interrupt_ends_a_wait(tmp_path):
    request = {"plan": PLAN.format(block=3), "folder": str(tmp_path)}
    assert launch.run(1, "error_cases:interrupted", request, timeout_s=60) == ["KeyboardInterrupt", ""]
    assert Manifest(tmp_path).steps() == [0]
