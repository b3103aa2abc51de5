"""C and Fortran choose by the tuning file as Python does."""

from __future__ import annotations

import sys

import pytest

from tradewind import _core
from tradewind.workload.program_file import load_program
from tradewind.workload.steps import Compute, Start, Wait

OK, INPUT = 0, 1
LANGUAGES = ("c", "fortran")

# Entries of this host about the plans of programs/tuned.c, and about others.
WRITE = """
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI
from tradewind import _core
from tradewind.method import tuning
from tradewind.mpi.host import host_of
from tradewind.method.method import Method

host = host_of(MPI.COMM_WORLD)
grid = _core.Grid(12, 8, 3)
blocks, lines = _core.Blocks(grid, (2, 1)), _core.Blocks(grid, (1, 2), "zy")
halo, swap, total = _core.Halo(blocks, 2, [True, False]), _core.Transpose(blocks, lines), _core.AllReduce(2, 7)
fetch = _core.fetch_of_ids([np.arange(5), np.arange(5, 10)], [np.array([5, 9]), np.array([0, 4])]).with_levels((3, 2))
figures = {"median_s": 2e-5, "min_s": 1e-5, "default_s": 3e-5, "trials": 9}
tuned = [
    ("direct,shared,buffer", halo, "f8", 2),
    ("sweep,shared,direct", halo, "f8", 2, "shared"),
    ("direct,persistent,buffer", halo, "f4", 1),
    ("burst,put-fence,datatype", swap, "f4", 1),
    ("ring,shared,direct", total, "i4", 1),
    ("direct,put-notify,buffer", fetch, "f8", 1),
    ("direct,shared,buffer", _core.FetchAdjoint(fetch), "f8", 1),
]
if MPI.COMM_WORLD.rank == 0:
    tuning.merge(Path(sys.argv[1]), [
        tuning.entry_text(tuning.request_of(*asked), host, Method.parse(method), figures, oversubscribed=True)
        for method, *asked in tuned
    ])
"""
METHODS = {
    "halo": "direct,shared,buffer",
    "halo in shared memory": "sweep,shared,direct",
    "halo of one field": "sweep,isend-irecv,buffer",
    "halo by argument": "sweep,persistent,buffer",
    "transpose": "burst,put-fence,datatype",
    "allreduce": "ring,shared,direct",
    "fetch": "direct,put-notify,buffer",
    "adjoint": "direct,shared,buffer",
}


@pytest.fixture(scope="module")
def file(launch, tmp_path_factory):
    """A tuning file as Python writes it on two ranks of this machine."""
    path = tmp_path_factory.mktemp("tuning") / "tuned.toml"
    script = path.with_name("write.py")
    script.write_text(WRITE)
    launch(2, sys.executable, script, path)
    return path


@pytest.fixture(params=LANGUAGES)
def planned(request, on_ranks, tmp_path):
    """(**environment): of each rank what its plans are: {name: (status, rest...)}."""

    def run(**environment: str) -> list[dict[str, list[str]]]:
        on_ranks(2, f"tuned_{request.param}", tmp_path, **environment)
        lines = [(tmp_path / str(rank)).read_text().splitlines() for rank in range(2)]
        return [{line.split("|")[0]: line.split("|")[1:] for line in rank} for rank in lines]

    return run


def test_by_the_file(planned, file):
    """It is of this very host, says Python: so a strict one is not refused."""
    for plans in planned(TRADEWIND_TUNING=f"{file},strict"):
        assert {name: rest[1] for name, rest in plans.items()} == METHODS
        assert plans["halo"][2] == f"algorithm: {file}, transport: {file}, packing: {file}"
        assert plans["halo of one field"][2] == "algorithm: default, transport: default, packing: default"
        assert plans["halo by argument"][2] == "algorithm: default, transport: argument, packing: default"


def test_the_environment_comes_first(planned, file):
    methods = {"TRADEWIND_HALO": "direct", "TRADEWIND_FETCH": ",alltoallw", "TRADEWIND_ALLREDUCE": "ring,shared,buffer"}
    for plans in planned(TRADEWIND_TUNING=str(file), **methods):
        assert plans["halo"][1:] == [
            "direct,shared,buffer",
            f"algorithm: TRADEWIND_HALO, transport: {file}, packing: {file}",
        ]
        assert plans["fetch"][1] == "direct,alltoallw,datatype"
        assert plans["allreduce"][1] == "ring,shared,buffer"
        assert plans["transpose"][1] == METHODS["transpose"]


def test_recorded(planned, tmp_path):
    """The step of the program is the halo that it starts and awaits, as Python makes it."""
    planned()
    program = load_program(tmp_path / "step.toml")
    (halo,) = program.exchanges
    wanted = _core.make_schedule(_core.Halo(_core.Blocks(_core.Grid(12, 8, 3), (2, 1)), 2, [True, False]), "sweep")
    for rank in range(2):
        for stage in range(wanted.stages):
            sent = [[(m.peer, m.count) for m in each.sends(rank, stage)] for each in (halo.core, wanted)]
            assert sent[0] == sent[1]
    assert halo.bytes_per_point == 16
    kinds = [type(step) for step in program.groups[0].steps]
    assert kinds == [Compute, Start, Compute, Wait, Compute]


def test_tuned_elsewhere(planned, file, tmp_path):
    other = tmp_path / "elsewhere.toml"
    other.write_text(file.read_text().replace("ranks_per_node = 2", "ranks_per_node = 3"))
    for plans in planned(TRADEWIND_TUNING=str(other)):
        assert plans["halo"][1] == METHODS["halo"]
        assert plans["halo"][2].endswith(
            f"; {other}: halo of width 2, periodic in x was tuned elsewhere: 2 ranks share a node, not 3"
        )
    for plans in planned(TRADEWIND_TUNING=f"{other},strict"):
        status, text = plans["halo"]
        assert int(status) == INPUT
        assert text.startswith(f"TRADEWIND_TUNING='{other},strict': {other}: halo of width 2")
        assert int(plans["halo of one field"][0]) == OK


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("width = 2", "width = -2"), "{file}:{line}: entry 1: width = -2: a whole number of 0 or more is allowed"),
        (None, "cannot read {file}: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used(planned, file, tmp_path, change, problem):
    """All ranks get the error, with the line; a plan of which everything is named does not read the file."""
    bad = tmp_path / "bad.toml"
    line = 0
    if change:
        text = file.read_text().replace(*change, 1)
        line = text[: text.index(change[1])].count("\n") + 1
        bad.write_text(text)
    for plans in planned(TRADEWIND_TUNING=str(bad), TRADEWIND_ALLREDUCE="ring,shared,buffer"):
        status, text = plans["halo"]
        assert (int(status), text) == (INPUT, f"TRADEWIND_TUNING='{bad}': {problem.format(file=bad, line=line)}")
        assert plans["allreduce"][1] == "ring,shared,buffer"
