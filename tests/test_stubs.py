"""The type stubs of the compiled modules name what the modules have (``make stubs`` writes them anew), and those of
packages what can be imported from them."""

import ast
import importlib
from pathlib import Path

import pytest

import tradewind

PACKAGE = Path(tradewind.__file__).parent


def names_in(body):
    """Public functions, classes and variables of a module's or a class's body."""
    named = [node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    named += [node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    return {name for name in named if not name.startswith("_")}


@pytest.mark.parametrize("name", ["_core", "_mpi"])
def test_stubs_name_what_a_module_has(name):
    if name == "_mpi":
        pytest.importorskip("mpi4py.MPI")
    module = importlib.import_module(f"tradewind.{name}")
    stub = ast.parse((PACKAGE / f"{name}.pyi").read_text())
    assert names_in(stub.body) == {n for n in dir(module) if not n.startswith("_")}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            own = {n for n in vars(getattr(module, node.name)) if not n.startswith("_")}
            assert names_in(node.body) == own, node.name


def exports_of(package):
    """The module of each name that type checkers see in a package's stub."""
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text())
    aliases = [(alias, node.module) for node in stub.body for alias in node.names]
    assert all(alias.asname == alias.name for alias, _ in aliases)  # else a stub does not export it
    return {alias.name: module for alias, module in aliases}


@pytest.mark.parametrize("name", ["tradewind", "tradewind.launch"])
def test_a_package_has_what_its_stub_exports(name):
    pytest.importorskip("mpi4py.MPI")
    package = importlib.import_module(name)
    exports = exports_of(package)
    assert set(exports) <= set(dir(package)) | set(package.__all__)
    for each, module in exports.items():
        assert getattr(package, each) is getattr(importlib.import_module(module), each)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = package.nothing


def test_a_star_imports_all_names_but_those_that_need_mpi():
    found = {}
    exec("from tradewind import *", found)
    need_mpi = {"FieldServer", "Points", "empty", "plan", "record", "renumbered", "tune"}
    assert set(exports_of(tradewind)) - set(found) == need_mpi
