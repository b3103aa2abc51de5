"""The place of libtradewind, and the errors where it, or the MPI library that it needs, is missing."""

import importlib.metadata
import json
import re

import pytest

from tradewind.base import installation
from tradewind.base.errors import MissingMPIError
from tradewind.base.installation import Flags, built_with, flags, not_loaded

OF_WHEEL = {"mpich_wheel": True, "soname": "libmpi.so.12", "compiler": "", "include_folders": [], "libraries": []}
LIBMPI = ImportError("libmpi.so.12: cannot open shared object file: No such file or directory")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An environment with a package of Tradewind and nothing else: (content of built_with.json) -> its root."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "tradewind"
    folder.mkdir(parents=True)
    monkeypatch.setattr(installation, "package_folder", lambda: folder)

    def made(details=None, library=True):
        if details is not None:
            (folder / "built_with.json").write_text(json.dumps(details))
        if library:
            (folder / "lib" / "cmake" / "tradewind").mkdir(parents=True)
        return tmp_path

    return made


def touch(*files):
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def test_what_is_installed_here():
    try:
        here = flags()
    except MissingMPIError as error:
        pytest.skip(f"libtradewind was not built: {error}")
    assert (here.prefix / "lib" / "libtradewind.so").exists()
    assert (here.prefix / "include" / "tradewind" / "tradewind.h").exists()
    assert (here.cmake / "tradewindConfig.cmake").exists()
    assert (here.pkgconfig / "tradewind.pc").exists()


def test_the_sources_of_the_module_come_in_the_order_of_use():
    sources = [path for path in flags().fortran if path.suffix == ".f90"]
    known: set[str] = set()
    for source in sources:
        text = source.read_text()
        used = set(re.findall(r"^\s*use (\w+)", text, re.MULTILINE))
        assert used <= known, source
        known |= set(re.findall(r"^module (\w+)", text, re.MULTILINE))
    assert "tradewind" in known


@pytest.mark.parametrize("mpich_wheel", [True, False])
def test_a_small_mpi_f08_is_named_for_the_mpich_wheel_only(package, mpich_wheel):
    package(OF_WHEEL | {"mpich_wheel": mpich_wheel})
    here = Flags(installation.package_folder(), built_with())
    sources = here.prefix / "share" / "tradewind" / "fortran"
    touch(sources / "mpi_f08" / "mpi_f08.c", sources / "mpi_f08" / "mpi_f08.f90")
    (sources / "b.f90").write_text("module b\nend module\n")
    (sources / "a.f90").write_text("module a\n  use b\nend module\n")
    small = ["mpi_f08.c", "mpi_f08.f90"] if mpich_wheel else []
    assert [path.name for path in here.fortran] == [*small, "b.f90", "a.f90"]


def test_the_mpich_wheel_is_that_of_the_environment(package):
    root = package(OF_WHEEL)
    touch(root / "bin" / "mpicc", root / "lib" / "libmpi.so.12")
    here = flags()
    assert here.cflags == [f"-I{here.prefix}/include", f"-I{root}/include"]
    assert f"-Wl,-rpath,{here.prefix}/lib" in here.libs
    assert f"-Wl,-rpath,{root}/lib" in here.libs


def test_another_mpi_is_where_it_was(package, tmp_path):
    wrapper, library = tmp_path / "mpi" / "bin" / "mpicc", tmp_path / "mpi" / "lib" / "libmpi.so"
    named = {"mpich_wheel": False, "compiler": str(wrapper), "libraries": [str(library)]}
    package(OF_WHEEL | named | {"include_folders": ["/usr/include", str(tmp_path / "mpi" / "include")]})
    touch(library)
    with pytest.raises(MissingMPIError, match=rf"the MPI of {wrapper}, which is not here.*: load the module"):
        flags()
    touch(wrapper)
    assert flags().cflags == [f"-I{flags().prefix}/include", f"-I{tmp_path}/mpi/include"]
    assert str(library) in flags().libs


def test_built_without_mpi(package):
    package()
    with pytest.raises(MissingMPIError, match="Tradewind was built without MPI, so it has no libtradewind: build it"):
        flags()
    assert "was built without MPI" in not_loaded(LIBMPI)


def test_built_without_the_library(package):
    package(OF_WHEEL, library=False)
    with pytest.raises(MissingMPIError, match=r"libtradewind is not part of this Tradewind .*  make languages;"):
        flags()


def test_without_the_mpich_wheel(package):
    package(OF_WHEEL)
    with pytest.raises(MissingMPIError, match=r"the mpich wheel, which is not here.*: pip install 'mpich>=5,<5.1'"):
        flags()


@pytest.mark.parametrize("version", [None, "5.1.0"])
def test_the_library_of_another_mpich(package, monkeypatch, version):
    package(OF_WHEEL)

    def installed(name):
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(importlib.metadata, "version", installed)
    what, _, advice = not_loaded(LIBMPI).partition(": ")
    assert what.startswith("Tradewind was built with the mpich wheel, whose library libmpi.so.12 is not here")
    assert ("installed is mpich 5.1.0, and from 5.1 on that may have only" in what) == (version is not None)
    assert advice == "pip install 'mpich>=5,<5.1' mpi4py"


def test_a_module_that_does_not_load_for_another_reason(package):
    package(OF_WHEEL)
    text = not_loaded(ImportError("_mpi.so: undefined symbol: MPI_Foo"))
    assert text.startswith("Tradewind's module for MPI does not load (_mpi.so, undefined symbol, MPI_Foo): build it")
