"""Program files on other numbers of ranks, and what only recorded programs need: halos of boxes, repeated steps."""

from __future__ import annotations

from pathlib import Path

import pytest

import tradewind as tw
from tradewind.workload.box_halo import box_halo
from tradewind.workload.program_file import load_program
from tradewind.workload.program_scaling import load_scaled

FILE = """
ranks = 8
grid = "64x32x16"
split = "4x2"
[[exchange]]
name = "plane"
halo = 2
[[exchange]]
name = "boxes"
halo = 1
grid = "16x16x16"
split = "2x2x2"
periodic = "z"
toward = ["-z", "+z"]
fields = 3
[[exchange]]
name = "elements"
gather_scatter = "8x4x4"
brick = "4x2x1"
[[step]]
compute = "rank"
seconds = "8ms"
bytes = 800
[[step]]
exchange = "plane"
[[step]]
repeat = 2
[[step.step]]
exchange = "boxes"
[[step.step]]
repeat = 3
[[step.step.step]]
label = "sum"
exchange = "elements"
"""
LISTED = """
ranks = 2
[[exchange]]
name = "m"
messages = [[0, 0, 1, 5]]
[[step]]
exchange = "m"
"""


def scaled(tmp_path: Path, ranks: int, scale: str, text: str = FILE) -> tw.Program:
    path = tmp_path / "step.toml"
    path.write_text(text)
    return load_scaled(path, ranks, scale)


@pytest.mark.parametrize(
    ("scale", "seconds", "points", "boxes", "elements"),
    [
        ("strong", 2e-3, (64, 32, 16), (16, 16, 16), (4, 2, 4)),
        ("weak", 8e-3, (128, 64, 16), (16, 32, 32), (8, 4, 4)),
    ],
)
def test_splits_keep_their_shape(
    tmp_path: Path,
    scale: str,
    seconds: float,
    points: tuple[int, int, int],
    boxes: tuple[int, int, int],
    elements: tuple[int, int, int],
) -> None:
    program = scaled(tmp_path, 32, scale)
    assert (program.ranks, program.split) == (32, (8, 4))
    plane, box, brick = (each.core for each in program.exchanges)
    assert tuple(plane.pattern.layout.grid.points) == points
    assert tuple(plane.pattern.layout.split) == (8, 4)
    made = box_halo(boxes, (2, 4, 4), 1, "z", ["-z", "+z"], None).schedule()
    assert [(m.peer, m.count) for m in box.sends(5, 0)] == [(m.peer, m.count) for m in made.sends(5, 0)]
    wanted = tw.BrickGatherScatter(elements, 10, (8, 4, 1)).schedule().core
    assert brick.pattern.describe() == wanted.pattern.describe()
    assert (program.computes[0].seconds, program.computes[0].bytes) == (seconds, 800 * seconds / 8e-3)


def test_steps_are_repeated_in_their_place(tmp_path: Path) -> None:
    program = scaled(tmp_path, 8, "strong")
    names = [step.name for step in program.steps()][2:]
    assert names == [f"{name} {turn}" for turn in (1, 2) for name in ("3.1 exchange boxes", "sum 1", "sum 2", "sum 3")]
    assert [program.times(each) for each in program.exchanges] == [1, 2, 6]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('toward = ["-z", "+z"]', 'toward = ["-w"]', ":14: toward: unknown direction '-w'"),
        ('toward = ["-z", "+z"]', "toward = []", ":14: toward []: a list of directions"),
        ('toward = ["-z", "+z"]', 'algorithm = "ring"', "a halo of boxes has direct and sweep"),
        ('toward = ["-z", "+z"]', 'toward = ["-z"]\nalgorithm = "sweep"', "leave toward out"),
        ('split = "2x2x2"', 'split = "2x2x4"', "split 2x2x4 makes 16 ranks: 16 is not 8"),
        ("halo = 1", "halo = 9", "halo 9: of boxes 2x2x2 the smallest has 8 points"),
        ('grid = "16x16x16"', 'grid = "1x16x16"', "2 ranks do not divide 1 points along x"),
        ('gather_scatter = "8x4x4"', 'allreduce = 3\ntoward = ["-x"]', "toward is that of a halo"),
        ("repeat = 3\n", "repeat = 200000\n", "at most 100000 steps are written out"),
        ("[[step.step]]\nrepeat = 3\n[[step.step.step]]", "[[step.step]]\nrepeat = 3\n[[step.step]]", "are missing"),
        ("[[step.step]]\nrepeat = 3\n", "[[step.step]]\nevery = 3\nrepeat = 3\n", "comes each time"),
        ("repeat = 2\n", 'repeat = 2\nlabel = "solver"\n', "label belongs to the steps that are repeated"),
    ],
)
def test_a_mistake_is_one_error_with_its_line(old: str, new: str, problem: str) -> None:
    assert old in FILE
    with pytest.raises(tw.InputError) as error:
        load_program("step.toml", FILE.replace(old, new, 1))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("ranks", "scale", "text", "problem"),
    [
        (24, "strong", FILE, "elements are not divided evenly"),
        (64, "strng", FILE, "unknown scale 'strng'"),
        (0, "weak", FILE, "0 ranks: 1 or more are allowed"),
        (
            4,
            "weak",
            'ranks = 2\n[[exchange]]\nname = "m"\nmessages = [[0, 0, 1, 5]]\n[[step]]\nexchange = "m"\n',
            ":4:",
        ),
        (4, "weak", 'ranks = 2\n[[step]]\ncompute = "rank"\npoints = [1, 2]\n[[step]]\nallreduce = 1\n', ":4:"),
        (4, "weak", '[[group]]\nname = "a"\nranks = 2\n[[group.step]]\nallreduce = 1\n', "4 are asked for"),
    ],
)
def test_what_cannot_be_scaled_is_an_error(tmp_path: Path, ranks: int, scale: str, text: str, problem: str) -> None:
    with pytest.raises(tw.InputError) as error:
        scaled(tmp_path, ranks, scale, text)
    assert problem in str(error.value)
