"""Damaged files are refused with an InputError, or read, at once. `make test-all` tries thousands more."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import mutants
import pytest
from networks import PETERSEN

from tradewind.base.errors import InputError
from tradewind.base.toml_lines import TomlFile
from tradewind.machine.topology import TOPOLOGIES

TESTS = Path(__file__).parent


def test_damaged_files_are_refused_or_read() -> None:
    outcomes = mutants.check(seed=1, count=100)
    assert min(outcomes.values()) > 10, outcomes


def test_a_seed_gives_the_same_mutants() -> None:
    assert list(mutants.mutants(3, 20)) == list(mutants.mutants(3, 20))
    assert list(mutants.mutants(3, 20)) != list(mutants.mutants(4, 20))


def test_all_kinds_of_networks_are_damaged_and_whole_before(tmp_path: Path) -> None:
    kinds = mutants.originals()
    for original in (original for kind in kinds[2:4] for original in kind):
        graph = next(network for network in kinds[2] if network.name.startswith("graph"))
        machine = original.data if original.kind == "machine" else graph.data
        (tmp_path / "mutant.toml").write_bytes(machine)
        (tmp_path / mutants.LINKS).write_bytes(Path(PETERSEN).read_bytes())
        assert mutants.read(tmp_path / "mutant.toml", original.kind) == "read", original.name
    assert {original.name.split()[0] for original in kinds[2]} == set(TOPOLOGIES)


def test_traces_are_whole_before_they_are_damaged(tmp_path: Path) -> None:
    for name, data in mutants.TRACES.items():
        (tmp_path / name).write_bytes(data)
        assert mutants.read(tmp_path / name, "trace") == "read", name


def test_a_reader_that_hangs_ends_the_process_and_leaves_the_mutant() -> None:
    hang = (
        "import mutants, time; mutants.load_machine = lambda path: time.sleep(60); mutants.check(5, 1, patience_s=0.5)"
    )
    done = subprocess.run([sys.executable, "-c", hang], cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    folder = re.match(r"in (\S+),", done.stdout)
    assert folder
    assert (Path(folder[1]) / "mutant.toml").is_file()
    shutil.rmtree(folder[1])


@pytest.mark.parametrize("fault", ["another error", "slow"])
def test_a_reader_that_fails_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(path: Path) -> None:
        if fault == "another error":
            raise KeyError(path)
        start = time.process_time()
        while time.process_time() < start + 0.02:
            pass

    monkeypatch.setattr(mutants, "load_machine", reader)
    monkeypatch.setattr(mutants, "LONGEST_S", 0.01)
    with pytest.raises(AssertionError, match=r"mutant\.toml, mutant 0 of seed 5"):
        mutants.check(seed=5, count=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("b = 1\n[" + ".".join(["a"] * 5000) + "]", "odd.toml:2: a key of more than 32 parts"),
        ("b = 1\n" + '"a" . ' * 50_000 + "a = 1", "odd.toml:2: a key of more than 32 parts"),
        ("a.b.c.d = " + "{e.f.g.h.i = " * 8 + "1" + "}" * 8, "odd.toml:1: lists or tables are nested too deeply"),
        ("a = " + "9" * 5000, "not TOML: Exceeds the limit"),
    ],
)
def test_a_file_that_no_reader_could_hold(text: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        TomlFile("odd.toml", text)
