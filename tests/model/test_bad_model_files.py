"""Problems of model files, all found at once: each has its line, what is allowed and the nearest name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

from tradewind.base.errors import InputError
from tradewind.model import load_model

HEAD = """\
title = "a model"
source = "these tests"
grid = "TC0639"
levels = 91
step = "60"
dtype = "f9"
[numbers.tracers]
valeu = 3
source = "here"
"""
STEPS = """\
title = "a model"
source = "these tests"
grid = "64x32x4"
step = "60s"
[numbers.tracers]
value = "=trades"
source = "here"
[numbers.fields]
value = "=2 * tracers"
source = "here"
[[exchange]]
name = "wide"
halo = 1
fields = "=feilds"
[[steps]]
start = "wild"
[[steps]]
compute = "xy"
bytes = -3
during = "wide"
[[steps]]
compute = "xy"
seconds = "5"
[[steps]]
dwarf = "helmholz"
[[steps]]
dwarf = "helmholtz"
iteration = 3
[[steps]]
repeat = 0
label = "x"
[[steps.steps]]
allreduce = "=fields / 0"
every = 0
[[steps]]
output = 3
"""


NUMBERS = """\
title = "a model"
source = "these tests"
grid = "64x32x4"
step = "0s"
spacing = "0 km"
[numbers.nothing]
value = nan
source = "here"
[numbers.truth]
value = true
varied = [1, -inf]
source = "here"
[[steps]]
halo = 1
"""


def problems_of(
    tmp_path: Path, text: str, ranks: int = 4, numbers: Mapping[str, float] | None = None
) -> list[tuple[int, str]]:
    """Return the lines and the texts of all problems of a file, in the order of its lines; 0: of the ranks."""
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        load_model(path, numbers).program(ranks, every=None)
    begin = f"{path}:"
    found = [each.removeprefix(begin) if each.startswith(begin) else f"0: {each}" for each in raised.value.problems]
    return sorted((int(each.split(": ", 1)[0]), each.split(": ", 1)[1]) for each in found)


def test_all_problems_of_the_tables_of_a_file(tmp_path):
    found = problems_of(tmp_path, HEAD + "[[steps]]\nhalo = 1\n")
    begins = [
        (3, "unknown grid 'TC0639'; did you mean 'TCo639'? (known: TCo<T>, "),
        (5, "step: '60' has no unit: write a time as "),
        (6, "dtype: unknown dtype 'f9'; did you mean 'f8'? (known: f4, "),
        (7, "key 'value' is missing"),
        (8, "unknown key 'valeu'; did you mean 'value'? (known: value, "),
    ]
    assert [(line, text[: len(begin)]) for (line, text), (_, begin) in zip(found, begins, strict=True)] == begins


def test_all_problems_of_numbers_exchanges_and_steps(tmp_path):
    """A number that cannot be evaluated does not make those that follow from it wrong, too."""
    found = problems_of(tmp_path, STEPS)
    begins = [
        (6, "formula 'trades': unknown name 'trades'"),
        (14, "formula 'feilds': unknown name 'feilds'; did you mean 'fields'? (known: "),
        (15, "unknown exchange 'wild'; did you mean 'wide'? (known: wide)"),
        (19, "bytes = -3: input should be greater than or equal to 0"),
        (23, "seconds: '5' has no unit: write a time as "),
        (25, "unknown dwarf 'helmholz'; did you mean 'helmholtz'? (known: "),
        (28, "unknown key of dwarf helmholtz 'iteration'; did you mean 'iterations'? (known: "),
        (30, "repeat 0: 1..1000000 is allowed"),
        (31, "unknown key 'label' (known: repeat, steps, part, every)"),
        (33, "formula 'fields / 0': division by zero"),
        (34, "every 0: 1..1000000 is allowed"),
        (36, "output 3: number 'servers' is missing, the ranks that take the fields"),
    ]
    assert [(line, text[: len(begin)]) for (line, text), (_, begin) in zip(found, begins, strict=True)] == begins


def test_ranks_that_do_not_fit_beside_what_is_wrong_with_steps(tmp_path):
    text = HEAD[: HEAD.index("grid")] + 'grid = "40x20x10"\nstep = "60s"\n[[steps]]\nhalo = "=widht"\n'
    assert problems_of(tmp_path, text, 1601) == [
        (0, "1601 ranks: neither 1601x1 nor other factors of them fit 40x20x10 points"),
        (6, "formula 'widht': unknown name 'widht' (known: columns, levels, nx, ny, nz, step_s, ranks)"),
    ]


def test_no_time_no_distance_and_numbers_that_are_none(tmp_path):
    assert problems_of(tmp_path, NUMBERS) == [
        (4, "step: '0s': more than 0 is allowed"),
        (5, "spacing: '0 km': more than 0 is allowed"),
        (7, "value: nan: a finite number is allowed"),
        (10, "value: True: a finite number is allowed"),
        (11, "-inf: a finite number is allowed"),
    ]


def test_changed_numbers_rates_and_values_of_steps_that_are_not_finite(tmp_path):
    rate = '[numbers.flops_per_byte]\nvalue = -2\nsource = "here"\n[numbers.unused]\nvalue = 3\nsource = "here"\n'
    text = STEPS[: STEPS.index("[numbers")] + rate + '[[steps]]\ncompute = "xy"\nbytes = 3\nshare = inf\n'
    assert problems_of(tmp_path, text, numbers={"unused": math.nan}) == [
        (6, "flops_per_byte -2: more than 0 is allowed"),
        (9, "numbers.unused.value = nan: a finite number is allowed"),
        (14, "share = inf: a finite number is allowed"),
    ]
