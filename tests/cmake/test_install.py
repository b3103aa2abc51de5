"""Lines that make prints while it installs, and where that fails."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def install(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "cmake"))
    return importlib.import_module("install")


def printed(install, capfd, text, shortened, code=0):
    install.run("step", [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"], shortened)
    return capfd.readouterr().out.splitlines()


def test_how_far_packages_and_compilation_are(install, capfd):
    output = "Collecting a\n  Downloading a.whl\nInstalling collected packages: b, a\n"
    lines = printed(install, capfd, output, install.Packages())
    assert lines[:3] == ["step: ...", "step: 1 found", "step: installing 2"]
    assert lines[3].startswith("step: done, ")
    output = "  [1/2] Building CXX object a.o\n  [2/2] Linking b.so\n"
    lines = printed(install, capfd, output, install.of_compilation)
    assert lines[1] == "step: 1 of 2", "and the next a few seconds later"


def test_a_build_that_fails_is_printed_from_its_first_error_on(install, capfd):
    output = "[1/2] Building CXX object a.o\nFAILED: a.o\na.cpp:1:1: error: no such thing\n  ^~~\nninja: stopped\n"
    with pytest.raises(SystemExit) as stop:
        printed(install, capfd, output, install.of_compilation, code=3)
    assert stop.value.code == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[2].startswith("step: FAILED, ")
    assert lines[3:7] == output.splitlines()[1:]


def test_a_step_that_fails_without_a_word_is_printed_whole(install, capfd):
    with pytest.raises(SystemExit):
        printed(install, capfd, "one\ntwo", install.of_compilation, code=1)
    assert capfd.readouterr().out.splitlines()[2:4] == ["one", "two"]


def test_runs_need_no_packages_of_development(install):
    names = {text.split(">")[0].split("<")[0] for text in install.requirements(["", "mpich"])}
    assert {"numpy", "mpich", "mpi4py"} <= names
    assert names.isdisjoint({"pytest", "zensical", "dask", "eccodes"})


def test_fast_tests_need_no_linters_and_no_browser(install):
    names = {text.split(">")[0] for text in install.requirements(["test", "cluster", "output"])}
    assert {"pytest", "hypothesis", "dask", "eccodes"} <= names
    assert names.isdisjoint({"mypy", "playwright", "PyMPDATA", "zensical"})


def test_make_study_builds_the_extension_modules_and_no_libtradewind(install, monkeypatch, tmp_path):
    commands = []
    monkeypatch.setattr(install, "run", lambda _, command, __: commands.append(command))
    install.main(["extensions"])
    assert {"-Cbuild.targets=extensions", "-Cinstall.components=python"} <= set(commands[-1])
    install.main(["all"])
    assert not any("build.targets" in word or "install.components" in word for word in commands[-1])

    build = sorted(ROOT.glob(f"build/cp{sys.version_info.major}{sys.version_info.minor}-*"))[-1]
    ninja = [Path(sys.executable).parent / "ninja", "-C", build, "-t", "inputs"]
    of_all, of_study = (
        set(subprocess.run([*ninja, target], capture_output=True, text=True, check=True).stdout.split())
        for target in ("all", "extensions")
    )
    assert of_study < of_all
    assert {"libtradewind_core.a", "libtradewind.so"} & of_study == {"libtradewind_core.a"}
