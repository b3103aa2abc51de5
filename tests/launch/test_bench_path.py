"""Paths through layouts on MPI ranks: what comes back is compared with the result, bit for bit, by every family."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import environment_cases
import pytest

from tradewind.launch import bench, run
from tradewind.launch.job import find_launcher
from tradewind.workload.exchange import Exchange

pytest.importorskip("mpi4py.MPI")

METHODS = (["isend-irecv", "put-fence", "shared", "alltoallw"], ["buffer", "datatype", "direct"])


@pytest.mark.parametrize(("path", "sent"), [("xy-zy-zx-zy-xy", 4 * 1), ("xy-z-x-z-xy", 4 * 3)])
@pytest.mark.slow
def test_there_and_back_brings_the_right_result_by_every_family(path: str, sent: int) -> None:
    """Each of 2 x 2 ranks exchanges with the other one of its row or column, or with the three others."""
    exchange = Exchange("transpose", 4, (13, 11, 7), (2, 2), slab=path, algorithm="burst", fields=2)
    result = bench(exchange, None, *METHODS, repeat=1, warmup=0)
    assert result["checked"]
    assert {(row["transport"], row["packing"]) for row in result["results"]} >= {
        *(("isend-irecv", packing) for packing in METHODS[1]),
        *(("put-fence", packing) for packing in METHODS[1]),
        ("shared", "direct"),
        ("alltoallw", "datatype"),
    }
    assert {row["messages"] for row in result["results"] if row["packing"] == "buffer"} == {sent}
    assert "-".join(step["name"].split("-")[0] for step in result["results"][0]["steps"]) + "-xy" == path


def test_an_altered_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison looks at every leg: an array of the second that is changed afterwards is named with its leg."""
    from tradewind.launch.measure import ExchangeArrays

    exchange = Exchange("transpose", 1, (5, 4, 3), (1, 1), slab="xy-z-x", algorithm="burst")
    data = ExchangeArrays(exchange, 0)
    for name, pattern in data.patterns.items():
        source, target = data.arrays[name]
        assert target is not None
        target[0][...] = source[0]  # one rank keeps all that it has
        assert pattern.name == "transpose"
    assert data.wrong() == ""
    data.arrays["z-x"][1][0][1, 2, 3] += 1
    assert data.wrong().startswith("rank 0, z-x, field 0: 1 of 60 elements differ")


def example(choice: str) -> subprocess.CompletedProcess[str]:
    command = [*find_launcher().arguments(2), sys.executable, str(environment_cases.EXAMPLE)]
    environment = os.environ | {"TRADEWIND_TRANSPOSE": choice}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("burst,put-fence,datatype", "put-fence, datatype"), ("ring-1,shared,direct", "shared, direct")],
)
def test_the_environment_chooses_the_method(choice: str, expected: str) -> None:
    done = example(choice)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [expected in line and "back to the bit" in line for line in done.stdout.splitlines()] == [True, True]


@cache
def reasons() -> dict[tuple[str, str], str]:
    printed = run(2, "environment_cases:every_way", None, timeout_s=240)
    return dict(zip(environment_cases.METHODS, printed, strict=True))


@pytest.mark.parametrize(("transport", "packing"), environment_cases.METHODS)
def test_the_environment_alone_chooses_any_transport_and_packing(transport: str, packing: str) -> None:
    lines = reasons()[transport, packing].splitlines()
    used = f", {transport}, {packing}: "
    assert [used in line and line.endswith("all is back to the bit") for line in lines] == [True, True], lines


def test_a_method_that_cannot_be_is_one_clear_error() -> None:
    done = example("burst,alltoallw,buffer")
    assert done.returncode != 0
    assert "TRADEWIND_TRANSPOSE='burst,alltoallw,buffer': " in done.stderr
