"""libtradewind as it is installed, and the programs that use it, built once."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from local_python import local_environment
from written_fields import PLAN_TEXT

ROOT = Path(__file__).parents[2]
FORTRAN = ROOT / "bindings" / "fortran"
MODULE = [
    FORTRAN / f"{name}.f90"
    for name in ("interfaces", "fields", "arrays", "points", "transforms", "field_server", "tradewind")
]
"""In the order in which they use each other."""
PROGRAMS = Path(__file__).parent / "programs"
_BIN = Path(sys.executable).parent
_ENVIRONMENT = {**os.environ, "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}"}

Run = Callable[..., subprocess.CompletedProcess[str]]

LEVELS = {
    "checked": ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_Fortran_FLAGS=-fcheck=all"],
    "O2": ["-DCMAKE_BUILD_TYPE=None", *(f"-DCMAKE_{language}_FLAGS=-O2" for language in ("C", "CXX", "Fortran"))],
    "release": ["-DCMAKE_BUILD_TYPE=Release"],
}
"""How the programs are compiled. A compiler that thinks an array unchanged shows it only when it optimises; that is
so in Fortran, and programs in C and C++ are of one level."""
USUAL = "checked"
"""The level of `make test`, which compiles fastest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the other levels of tests in C or C++, or marked `one_level`, for which they mean little."""
    items[:] = [item for item in items if _is_usual(item) or not _is_of_one_level(item)]


def _is_of_one_level(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    words = [] if callspec is None else [value for value in callspec.params.values() if isinstance(value, str)]
    in_c = any(word in ("c", "cpp") or word.endswith(("_c", "_cpp")) for word in words)
    return in_c or item.get_closest_marker("one_level") is not None


def _is_usual(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is None or callspec.params.get("programs", USUAL) == USUAL


def _call(*command: object, timeout_s: float = 1200, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        env=_ENVIRONMENT | environment,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="session")
def call() -> Run:
    """(*command, **environment): runs a command that must succeed."""
    return _call


@pytest.fixture(scope="session")
def build_folder() -> Path:
    """Where libtradewind was built, with the Python package."""
    named = os.environ.get("TRADEWIND_BUILD")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}-*"
    folders = [Path(named)] if named else sorted(ROOT.glob(f"build/{tag}"))
    built = [folder for folder in folders if (folder / "libtradewind.so").exists()]
    if not built:
        pytest.skip(
            "libtradewind was not built (no MPI, or by `make study`); TRADEWIND_BUILD names another build folder"
        )
    return built[-1]


@pytest.fixture(scope="session")
def mpi_compiler(build_folder: Path) -> str:
    """The compiler wrapper of the MPI that the library was built with."""
    found = re.search(
        r'\(tradewind_mpi_compiler "(.+)" ABSOLUTE\)', (build_folder / "tradewindConfig.cmake").read_text()
    )
    assert found
    return found[1]


@pytest.fixture(scope="session")
def fortran_compiler(build_folder: Path) -> str:
    """The compiler that has written the module file."""
    cache = (build_folder / "CMakeCache.txt").read_text()
    found = re.search(r"^CMAKE_Fortran_COMPILER:\w+=(.+)$", cache, re.MULTILINE)
    if found is None or found[1].endswith("NOTFOUND"):
        pytest.skip("the Fortran module was not built: there was no Fortran compiler (gfortran)")
    return found[1]


@pytest.fixture(scope="session")
def prefix(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libtradewind, installed."""
    if shutil.which("cmake", path=_ENVIRONMENT["PATH"]) is None:
        pytest.skip("there is no cmake")
    folder = tmp_path_factory.mktemp("installed")
    _call("cmake", "--install", build_folder, "--prefix", folder, "--component", "development")
    return folder


@pytest.fixture(
    scope="session",
    params=[pytest.param(level, marks=() if level == USUAL else pytest.mark.slow) for level in LEVELS],
)
def programs(request: pytest.FixtureRequest, prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, those of the how-to pages and the tests' own, as somebody else's CMake project builds them."""
    folder, page = tmp_path_factory.mktemp("programs"), tmp_path_factory.mktemp("page")
    text = "".join((ROOT / "docs" / "how-to" / name).read_text() for name in ("languages.md", "from-ectrans.md"))
    for name, program in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', text, re.DOTALL | re.MULTILINE):
        (page / name).write_text(program)
    flags = (*LEVELS[request.param], f"-Dtradewind_ROOT={prefix}", f"-DPAGE={page}")
    _call("cmake", "-S", PROGRAMS, "-B", folder, "-G", "Ninja", *flags)
    _call("cmake", "--build", folder, "--target", "all" if request.param == USUAL else "all_in_fortran")
    return folder


@pytest.fixture(scope="session")
def launch() -> Run:
    """(ranks, path, *arguments, **environment): runs an executable under mpiexec."""
    launcher = pytest.importorskip("tradewind.launch.job").find_launcher()

    def run(ranks: int, path: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        forwarded = [word for name in environment for word in ("-x", name)] if launcher.is_open_mpi else []
        return _call(*launcher.arguments(ranks), *forwarded, path, *arguments, **environment)

    return run


def _built(programs: Path, program: str) -> Path:
    """One of the programs; those that only slow tests run are compiled when they are asked for."""
    paths = [path for path in programs.rglob(program) if path.is_file()]
    if not paths:
        if f"build {program}:" not in (programs / "build.ninja").read_text():
            pytest.skip("the Fortran module was not built: there was no Fortran compiler (gfortran)")
        _call("cmake", "--build", programs, "--target", program)
        paths = [path for path in programs.rglob(program) if path.is_file()]
    return paths[0]


@pytest.fixture(scope="session")
def on_ranks(programs: Path, launch: Run) -> Run:
    """(ranks, program, *arguments, **environment): runs one of the programs under mpiexec."""

    def run(ranks: int, program: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        return launch(ranks, _built(programs, program), *arguments, **environment)

    return run


@pytest.fixture
def together(
    prefix: Path, fortran_compiler: str, mpi_compiler: str, tmp_path: Path, call: Run
) -> Callable[[Path, str], Path]:
    """(source, flags): compiles a Fortran program together with the module."""

    def make(source: Path, flags: str) -> Path:
        mpi = FORTRAN / "mpi_f08"
        for i, each in enumerate([*MODULE, mpi / "mpi_f08.f90", source]):
            words = ("-w", f"-J{tmp_path}", f"-I{FORTRAN}", f"-I{source.parent}")
            call(fortran_compiler, *flags.split(), *words, "-c", each, "-o", tmp_path / f"{i}.o")
        for each in (FORTRAN / "descriptor.c", mpi / "mpi_f08.c"):
            words = (f"-I{prefix}/include", "-c", each, "-o", tmp_path / f"{each.stem}.o")
            call(mpi_compiler, *flags.split(), *words)
        objects = sorted(tmp_path.glob("*.o"))
        libraries = (f"-L{prefix}/lib", "-ltradewind", f"-Wl,-rpath,{prefix}/lib", "-lgfortran", "-lm")
        call(mpi_compiler, *flags.split(), *objects, *libraries, "-o", tmp_path / source.stem)
        return tmp_path / source.stem

    return make


@pytest.fixture(scope="session")
def built(programs: Path) -> Callable[[str], Path]:
    """Return the path of a program by its name."""
    return lambda program: _built(programs, program)


@pytest.fixture(scope="session")
def beside(programs: Path) -> Run:
    """(ranks, program, servers, *arguments, options, further, fails): runs a program with field servers in its job.

    `fails`: how the servers do, see failing_server.py, or "refuse" where they and the program do it by themselves.
    `further`: arguments of one more server. `ends`: the job ends well nevertheless. `local`: local servers.
    `environment`: more variables.
    """
    launcher = pytest.importorskip("tradewind.launch.job").find_launcher()

    def run(
        ranks: int,
        program: str | Path,
        servers: int,
        *arguments: object,
        options: Sequence[str] = (),
        further: Sequence[str] = (),
        fails: str = "",
        ends: bool = False,
        local: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        path = program if isinstance(program, Path) else _built(programs, program)
        command = [*launcher.arguments(ranks), str(path), *map(str, arguments)]
        failing = [str(PROGRAMS / "failing_server.py"), fails]
        start = failing if fails.startswith(("raise", "stop", "kill")) else ["-m", "tradewind"]
        given = _ENVIRONMENT | (local_environment(*start) if local else {}) | dict(environment or {})
        if servers:
            command += [":", "-n", str(servers), sys.executable, *start, "serve", "plan.toml", *options]
        if further:
            command += [":", "-n", "1", sys.executable, "-m", "tradewind", "serve", *further]
        done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=240, check=False)
        assert (done.returncode != 0) == (bool(fails) and not ends), f"{command}\n{done.stdout}{done.stderr}"
        return done

    return run


@pytest.fixture(scope="module")
def met(on_ranks: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[dict[str, tuple[int, str]]]]:
    """Return (status, text) by rank and case of a program that meets errors on two ranks."""

    def run(program: str) -> list[dict[str, tuple[int, str]]]:
        folder: Path = tmp_path_factory.mktemp(program)
        on_ranks(2, program, folder)
        ranks = []
        for rank in range(2):
            lines = [line.split("|") for line in (folder / str(rank)).read_text().splitlines()]
            ranks.append({name: (int(status), text) for name, status, text in lines})
        return ranks

    return run


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """(sinks, more): writes plan.toml in a folder of the test, which becomes the current one."""
    monkeypatch.chdir(tmp_path)

    def write(*sinks: str, more: str = "") -> None:
        named = json.dumps(sinks or ["history"])
        (tmp_path / "plan.toml").write_text(PLAN_TEXT.format(sinks=named, more=more))

    return write


Met = Callable[..., list[dict[str, tuple[int, str]]]]


@pytest.fixture
def met_beside(beside, tmp_path: Path) -> Met:
    """(kind, servers, further, fails): (status, text) by rank and case of `server_refusals` in a language."""

    def run(
        kind: str,
        servers: int = 1,
        *,
        language: str = "c",
        further: Sequence[str] = (),
        fails: str = "",
        ends: bool = False,
        local: bool = False,
    ) -> list[dict[str, tuple[int, str]]]:
        options = {"further": further, "fails": fails, "ends": ends, "local": local}
        beside(2, f"server_refusals_{language}", servers, tmp_path, kind, **options)
        ranks = []
        for rank in range(2):
            lines = [line.split("|", 2) for line in (tmp_path / str(rank)).read_text().splitlines()]
            ranks.append({name: (int(status), text) for name, status, text in lines})
        return ranks

    return run
