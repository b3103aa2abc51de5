"""The models that come with Tradewind: proved and simulated, with sources of all their numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tradewind.model import Model, load_model, model_names

SMALL = (
    "arome-1300m",
    "fvm-o320",
    "gcr-1300m",
    "gcr-pipelined-1300m",
    "hirlam",
    "icon-r2b6",
    "ifs-tco319",
    "nek5000",
    "nemo-2500m",
    "split-explicit-1300m",
)
"""One of each family; of those with meshes and transforms one that takes seconds."""
FEW = {"iterations": 2.0, "pressure": 2.0, "velocity": 1.0, "substeps": 2.0}
"""Repetitions in place of those of the files: they repeat the same exchanges."""


def test_every_family_is_simulated_here():
    loaded = [model for name in model_names() if isinstance(model := load_model(name), Model)]
    families = {model.file.data["title"].split(",")[0] for model in loaded}
    assert families == {load_model(name).file.data["title"].split(",")[0] for name in SMALL}


@pytest.mark.filterwarnings("ignore:packets of .* KiB")  # few of them are enough to simulate every step once
@pytest.mark.parametrize("name", SMALL)
def test_each_model_is_simulated(name):
    plain = load_model(name)
    model = load_model(name, {key: value for key, value in FEW.items() if key in plain.table.numbers})
    program = model.program(16, every=None)
    assert len(program.parts) == len(program.computes) == len(program.program.steps())
    assert program.program.ranks == 16
    result = model.simulate("fattree-M", 16, packet="message")
    assert sum(result["part_s"].values()) == pytest.approx(result["time_s"])
    assert 0 < result["computing_s"] < result["time_s"]


@pytest.mark.parametrize("name", SMALL)
def test_values_that_are_tried_are_allowed(name):
    plain = load_model(name)
    few = {key: value for key, value in FEW.items() if key in plain.table.numbers}
    for key, number in plain.table.numbers.items():
        for value in number.varied:
            assert load_model(name, few | {key: value}).program(16, every=None).parts, key


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [100, 1000])
@pytest.mark.parametrize("name", SMALL)
def test_each_model_is_proved(name, ranks):
    plain = load_model(name)
    result = load_model(name, {key: value for key, value in FEW.items() if key in plain.table.numbers}).verify(ranks)
    assert result["ok"]
    assert result["deadlock_free"]


@pytest.mark.parametrize("name", model_names())
def test_numbers_of_files_have_sources(name):
    """Formulas have no literals but 1 and 2, other keys none above 3: all else is a number with a name."""
    table = load_model(name).table
    assert not [key for key, each in table.numbers.items() if each.assumed and not each.varied]
    for formula in re.findall(r'"=([^"]*)"', load_model(name).file.path.read_text()):
        literals = [node.value for node in ast.walk(ast.parse(formula.strip(), mode="eval")) if is_number(node)]
        assert set(literals) <= {1, 2}, formula
    tables = load_model(name).file.data
    rows = [each for key in ("exchange", "steps", "component", "coupling") for each in tables.get(key, [])]
    plain = [number for each in rows for number in _plain(each)]
    assert all(type(number) is int and number <= 3 for number in plain), plain


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant)


def _plain(table: dict) -> Iterator[float]:
    """Yield the numbers of a table that are no formulas; of a dwarf its choices count as text does."""
    for key, value in table.items():
        if key == "steps":
            yield from (number for step in value for number in _plain(step))
        elif type(value) in (int, float) and "dwarf" not in table:
            yield value
