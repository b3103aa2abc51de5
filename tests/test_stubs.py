"""The type stubs of the compiled modules name what the modules have (``make stubs`` writes them anew)."""

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
