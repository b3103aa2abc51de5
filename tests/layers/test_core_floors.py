"""The floors of the C++ core are held, and what breaks them is refused with its place and with what is allowed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from core_floors import BINDINGS, FLOORS, problems

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """The files that the tests change."""
    for name in {
        "src/sim/run.hpp",
        "src/layout/box.hpp",
        "src/kernel/mpdata/sweep.cpp",
        *(name for name, *_ in FROM_BELOW),
    }:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(checkout, name, old, new):
    path = checkout / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def append(checkout, name, line):
    """The number of the line."""
    with (checkout / name).open("a") as file:
        file.write(f"{line}\n")
    return len((checkout / name).read_text().splitlines())


def test_the_floors_are_held():
    assert problems(ROOT) == []
    assert {path.name for path in (ROOT / "src").iterdir()} == set(FLOORS)


USERS = ("fieldserver", "spectral")
"""They use plans, and loops."""


def test_a_floor_stands_only_on_those_before_it():
    before = set()
    for folder, allowed in FLOORS.items():
        assert set(allowed) <= before
        before.add(folder)
    executors = {"algorithm", "verify", "mpi", "sim", "kernel"}
    below = {name: allowed for name, allowed in FLOORS.items() if name not in USERS}
    assert not executors & {name for allowed in below.values() for name in allowed}
    assert not {"sim", "machine", "verify", "kernel"} & set(BINDINGS["bindings/c"])


FROM_BELOW = [
    ("src/base/units.hpp", "layout/box.hpp", "base"),
    ("src/pattern/halo.cpp", "schedule/schedule.hpp", "base, layout, pattern"),
    ("src/mpi/plan.cpp", "algorithm/registry.hpp", "base, layout, pattern, schedule, mpi"),
    ("src/mpi/transport/notify.cpp", "sim/program.hpp", "base, layout, pattern, schedule, mpi"),
    ("src/sim/run.cpp", "verify/match.hpp", "base, layout, pattern, schedule, program, machine, sim"),
    ("src/machine/topology/torus.hpp", "pattern/halo.hpp", "base, layout, machine"),
    ("src/kernel/team.cpp", "schedule/text.hpp", "base, layout, kernel"),
    ("src/verify/match.cpp", "match.hpp", "base, layout, pattern, schedule, program, verify"),
    ("src/sim/run.cpp", "../mpi/plan.hpp", "base, layout, pattern, schedule, program, machine, sim"),
    (
        "bindings/c/plan.cpp",
        "sim/run.hpp",
        "base, layout, pattern, schedule, algorithm, mpi, fieldserver, spectral, tradewind",
    ),
    ("bindings/python/mpi/mpi.cpp", "sim/run.hpp", "base, layout, pattern, schedule, algorithm, mpi, fieldserver"),
    (
        "bindings/python/core/core.cpp",
        "mpi/plan.hpp",
        "base, layout, pattern, schedule, program, algorithm, verify, machine, kernel, spectral, sim",
    ),
]


def test_includes_from_below_are_refused(checkout):
    wanted = []
    for name, header, allowed in FROM_BELOW:
        line = append(checkout, name, f'#include "{header}"')
        place = "/".join(name.split("/")[:2]) if name.startswith("src") else name.rpartition("/")[0]
        wanted.append(f"{name}:{line}: includes {header}; {place} may include only {allowed}")
    assert sorted(problems(checkout)) == sorted(wanted)


def test_a_dwarf_s_loops_and_what_all_share_may_not_include_those_of_another(checkout):
    wanted = []
    for name in ("src/kernel/mpdata/sweep.cpp", "src/kernel/team.cpp"):
        line = append(checkout, name, '#include "kernel/helmholtz/vectors.hpp"')
        wanted.append(
            f"{name}:{line}: includes kernel/helmholtz/vectors.hpp; {name.rpartition('/')[0]} may include of "
            "src/kernel only what lies in no other folder of it"
        )
    assert sorted(problems(checkout)) == sorted(wanted)


def test_headers_of_others_have_their_folders(checkout):
    line = append(checkout, "src/sim/run.cpp", "#include <mpi.h>")
    assert problems(checkout) == [
        f"src/sim/run.cpp:{line}: includes mpi.h, which only "
        "src/mpi and src/fieldserver and bindings/c and bindings/python/mpi may"
    ]


def test_a_namespace_of_another_folder_is_refused(checkout):
    change(checkout, "src/sim/run.hpp", "namespace tradewind::sim {", "namespace tradewind::machine {")
    line = (checkout / "src/sim/run.hpp").read_text().splitlines().index("namespace tradewind::machine {") + 1
    assert problems(checkout) == [
        f"src/sim/run.hpp:{line}: opens namespace tradewind::machine; the namespace of its folder is tradewind::sim"
    ]


@pytest.mark.parametrize("inside", ["namespace tradewind {", "namespace tradewind::sim::parts {", "namespace {"])
def test_a_namespace_beside_that_of_the_folder_is_refused(checkout, inside):
    line = append(checkout, "src/sim/run.hpp", inside)
    (found,) = problems(checkout)
    assert found.startswith(f"src/sim/run.hpp:{line}: opens namespace ")
    assert found.endswith("; the namespace of its folder is tradewind::sim")


def test_what_is_declared_in_no_namespace_is_refused(checkout):
    line = append(checkout, "src/layout/box.hpp", "struct Corner;")
    assert problems(checkout) == [f"src/layout/box.hpp:{line}: declares something outside namespace tradewind::layout"]


def test_using_namespace_in_a_header_is_refused(checkout):
    change(
        checkout, "src/sim/run.hpp", "namespace tradewind::sim {", "namespace tradewind::sim {\nusing namespace std;"
    )
    (found,) = problems(checkout)
    assert "src/sim/run.hpp:" in found
    assert "using namespace in a header" in found


def test_a_new_folder_needs_a_floor(checkout):
    (checkout / "src/gpu").mkdir()
    (checkout / "src/gpu/step.hpp").write_text("#pragma once\n\nnamespace tradewind::gpu {\n")
    assert problems(checkout) == ["src/gpu/step.hpp:1: src/gpu has no floor in tests/core_floors.py"]


def test_lint_fails_where_a_floor_is_broken(checkout):
    (checkout / "tests").mkdir()
    shutil.copy(ROOT / "tests/core_floors.py", checkout / "tests")
    command = [sys.executable, str(checkout / "tests/core_floors.py")]
    assert subprocess.run(command, check=False).returncode == 0
    append(checkout, "src/verify/match.cpp", '#include "mpi/plan.hpp"')
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "src/verify/match.cpp" in done.stdout
