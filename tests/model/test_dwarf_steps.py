"""Steps that are made by dwarfs: the same exchanges and computations as those of the dwarf's own program."""

from __future__ import annotations

import pytest
from validation.machines import CROSSBAR, machine

from tradewind.base.errors import InputError
from tradewind.dwarfs import from_plain
from tradewind.model import load_model
from tradewind.simulation import simulate

MACHINE = machine(CROSSBAR, node={"memory_bandwidth": "10GB/s", "flops": "10Gflop/s"})
HEAD = """
title = "a model"
source = "these tests"
step = "60s"
"""
BLOCKS = HEAD + 'grid = "40x20x10"\n'
SPHERE = HEAD + 'grid = "TCo39"\nlevels = 8\n'
NUMBERS = """
[numbers.solves]
value = 2
source = "here"
"""
KEPT = ("time_s", "messages", "bytes", "packet_hops")


@pytest.mark.parametrize(
    ("head", "step", "dwarf", "options"),
    [
        (BLOCKS, 'dwarf = "diffusion"', "diffusion", {"grid": (40, 20, 10), "split": (2, 2)}),
        (BLOCKS, 'dwarf = "hirlam"\nstrategy = "overlap"', "hirlam", {"grid": (40, 20, 10), "strategy": "overlap"}),
        (
            BLOCKS,
            'dwarf = "helmholtz"\nstrategy = "pipelined"\niterations = "=1 + solves"',
            "helmholtz",
            {"grid": (40, 20, 10), "strategy": "pipelined", "iterations": 3},
        ),
        (HEAD, 'dwarf = "nekbone"\nelements = "2x2x1"', "nekbone", {"elements": (2, 2, 1)}),
        (SPHERE, 'dwarf = "mpdata"\nlimiter = true', "mpdata", {"grid": "O40", "levels": 8, "limiter": True}),
        (
            SPHERE,
            'dwarf = "spherical_harmonics"\nwinds = true',
            "spherical_harmonics",
            {"truncation": 39, "gaussian_grid": "O40", "levels": 8, "winds": True},
        ),
    ],
)
def test_a_step_of_a_dwarf_is_the_program_of_the_dwarf(tmp_path, head, step, dwarf, options):
    path = tmp_path / "own.toml"
    path.write_text(head + NUMBERS + f"[[steps]]\n{step}\n")
    made = load_model(path).program(4)
    program = from_plain(dwarf, {"ranks": 4, **options}).program()
    model, alone = simulate(made.program, MACHINE), simulate(program, MACHINE)
    assert {key: model[key] for key in KEPT} == {key: alone[key] for key in KEPT}
    assert set(made.parts) == {dwarf}
    assert 0 < sum(made.computes) < len(made.computes)


SEVERAL = """
[[exchange]]
name = "thin"
fetch = 1
mesh = "octahedral"

[[steps]]
label = "physics"
compute = "points"
bytes = 100

[[steps]]
part = "advection"
repeat = "=solves"

[[steps.steps]]
dwarf = "mpdata"
exchange_part = "halos"

[[steps]]
exchange = "thin"
part = "thin halo"
"""


def test_dwarfs_and_steps_of_a_file_go_together_in_their_order(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(SPHERE + NUMBERS + SEVERAL)
    model = load_model(path)
    made = model.program(4)
    one = ["advection", "halos"] * 2
    assert made.parts == ["physics", *one, *one, "thin halo"]
    assert made.computes == [True, *[True, False] * 4, False]
    assert model.verify(4)["deadlock_free"]
    columns = 40 * 4 * 49  # of O40, on each of four ranks
    physics = next(each for each in made.program.computes if each.name == "physics")
    assert physics.points == [8.0 * columns / 4] * 4


MESH = """
[[steps]]
label = "physics"
compute = "points"
bytes = 100

[[steps]]
fetch = 1
mesh = "{mesh}"
"""


@pytest.mark.parametrize(
    ("grid", "mesh", "columns", "split"),
    [
        ("R2B2", "icosahedral", 1280, (12, 1)),
        ("C12", "cubed-sphere", 864, (1, 12)),
        ("ORCA2", "tripolar", 180 * 148, (4, 3)),
    ],
)
def test_models_have_the_halos_of_their_grids(tmp_path, grid, mesh, columns, split):
    path = tmp_path / "own.toml"
    path.write_text(HEAD + f'grid = "{grid}"\nlevels = 3\n' + MESH.format(mesh=mesh))
    model = load_model(path)
    assert (model.grid.columns, model.split(12)) == (columns, split)
    assert model.verify(12)["deadlock_free"]
    (physics,) = model.program(12).program.computes
    assert sum(physics.points) == 3 * columns


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ('dwarf = "mpdat"', "own.toml:12: unknown dwarf 'mpdat'; did you mean 'mpdata'?"),
        ('dwarf = "mpdata"\nlimitr = true', "unknown key of dwarf mpdata 'limitr'; did you mean 'limiter'?"),
        ('dwarf = "mpdata"\npasses = 2.5', "passes 2.5: a whole number is allowed"),
        ('dwarf = "mpdata"\nlimiter = 1', "limiter 1: true or false is allowed"),
        ('dwarf = "mpdata"\npasses = 0', "dwarf mpdata: passes 0: 1..8 are allowed"),
        ('dwarf = "mpdata"\nranks = 2', "unknown key of dwarf mpdata 'ranks'"),
        ('dwarf = "hirlam"', "dwarf hirlam: key 'grid' is missing, which the grid of the model does not have"),
        ('compute = "points"\nfetch = 1', "a step has one of compute"),
        ('fetch = 1\nmesh = "octagonal"', "unknown mesh 'octagonal'; did you mean 'octahedral'?"),
        ('halo = 1\nmesh = "octahedral"', "mesh belongs to fetch, and not to halo"),
    ],
)
def test_what_is_wrong_with_a_step_has_its_line(tmp_path, step, words):
    path = tmp_path / "own.toml"
    path.write_text(SPHERE + NUMBERS + f"[[steps]]\n{step}\n")
    with pytest.raises(InputError, match=r"own\.toml:1[0-9]:") as raised:
        load_model(path).program(4)
    assert words in str(raised.value)


LIKE = """
like = "{other}"
grid = "TCo79"

[numbers.solves]
value = 3
source = "there"
"""


@pytest.fixture
def other(tmp_path):
    (tmp_path / "other.toml").write_text(SPHERE + NUMBERS + SEVERAL)
    return "other.toml"


def test_a_model_may_be_like_another_one(tmp_path, other):
    path = tmp_path / "own.toml"
    path.write_text(LIKE.format(other=other))
    model = load_model(path)
    assert (model.grid.text, model.numbers(4), model.step_s) == ("TCo79, 8 levels", {"solves": 3}, 60)
    assert len(model.program(4).parts) == 2 + 3 * 4
    assert list(model.file.texts) == ["own.toml", "other.toml"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("other.toml", "otter.toml", "own.toml:2: "),
        ("other.toml", "nowhere/other.toml", "own.toml:2: "),  # and not the one of this name in another folder
        ("solves", "solve", "own.toml:5: unknown number 'solve'; did you mean 'solves'?"),
        ("value = 3", 'value = "=x"', "own.toml:6: formula 'x': unknown name 'x'"),
        ("TCo79", "TCo79x8", "own.toml:3: unknown grid 'TCo79x8'"),
        ('grid = "TCo79"', 'dtype = "f16"', "own.toml:3: dtype: unknown dtype 'f16'"),
    ],
)
def test_what_is_wrong_with_a_model_like_another_one_has_its_line(tmp_path, other, before, after, words):
    path = tmp_path / "own.toml"
    path.write_text(LIKE.format(other=other).replace(before, after))
    with pytest.raises(InputError) as raised:
        load_model(path).program(4)
    assert words in str(raised.value)


def test_what_is_wrong_in_the_other_file_has_the_line_there(tmp_path, other):
    path = tmp_path / "other.toml"
    path.write_text(path.read_text().replace("bytes = 100", 'bytes = "=solvs"'))
    (tmp_path / "own.toml").write_text(LIKE.format(other=other))
    with pytest.raises(InputError, match=r"other\.toml:20: formula 'solvs': unknown name 'solvs'"):
        load_model(tmp_path / "own.toml").program(4)
