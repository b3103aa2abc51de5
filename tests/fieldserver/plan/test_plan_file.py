"""Plan files: what they mean, and every mistake in them at once, each with its line."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest
from mutants import MUTATIONS
from output_plans import PLAN, Q, T, plan

from tradewind.base.errors import InputError, WriteError
from tradewind.fieldserver.files.manifest import Manifest, check, read_manifest
from tradewind.fieldserver.files.sinks.convention import Names
from tradewind.fieldserver.plan.field import OutputField
from tradewind.fieldserver.plan.geometry import (
    Curvilinear,
    Gaussian,
    Lambert,
    PolarStereographic,
    Regular,
    Rotated,
    Spectral,
    Unstructured,
    from_dict,
)
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.fieldserver.plan.space import check_space, run_bytes

SINK = '[[sink]]\nname = "a"\nformat = "grib2"\npath = "{step}.grib2"\n'
RULE = '[[rule]]\nsink = "a"\n'


def problems(text: str) -> str:
    with pytest.raises(InputError) as refused:
        load_plan("plan.toml", text)
    return str(refused.value)


def test_rules_say_where_a_field_goes():
    rules = '[[rule]]\nsink = "a"\nevery = 3\n[[rule]]\nsink = "a"\nfields = ["t"]\nsteps = [4]\nbits = 8\n'
    made = load_plan("plan.toml", SINK + rules)
    assert [step for step in range(8) if made.requests("q", step)] == [0, 3, 6]
    assert [step for step in range(8) if made.requests("t", step)] == [0, 3, 4, 6]
    (request,) = made.requests("t", 4)
    assert (request.path, request.bits, request.sink.name) == ("4.grib2", 8, "a")


def test_all_mistakes_are_said_at_once():
    rule = '[[rule]]\nsink = "b"\nevery = 2\nsteps = [1]\n'
    text = f'queu = "1GB"\nthreads = 0\nwhen_full = "spil"\n{SINK}pakcing = "simple"\n{rule}'
    lines = problems(text).splitlines()
    assert "plan.toml:1: unknown key 'queu'; did you mean 'queue'?" in lines[0]
    assert lines[1].startswith("plan.toml:2: threads")
    assert "unknown policy 'spil'; did you mean 'spill'?" in lines[2]
    assert lines[3].startswith("plan.toml:8: unknown key 'pakcing'; did you mean 'packing'?")
    assert any("plan.toml:10: rule 1: unknown sink 'b'" in line for line in lines)
    assert any("plan.toml:12: rule 1: every and steps" in line for line in lines)


def test_what_a_list_or_a_name_has_wrong_is_said_of_its_key():
    text = f'{SINK}{SINK}[[rule]]\nsink = "b"\nsteps = [1, -3]\n'
    assert "steps: -3: input should be greater than or equal to 0" in problems(text)
    assert "unknown sink 'b' (known: a)" in problems(text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"{step}.grib2"', '"../{step}.grib2"', "'..' is not allowed"),
        ('"{step}.grib2"', '"/tmp/{step}.grib2"', "below the folder is allowed; elsewhere only with outside"),
        ('"{step}.grib2"', '"x\\u0000{step}.grib2"', "a null character"),
        ('"{step}.grib2"', '"{stop}.grib2"', "unknown key 'stop'; did you mean 'step'?"),
        ('"{step}.grib2"', '"{step.grib2"', "path"),
        ('"{step}.grib2"', '"{step!r:>{name}}"', "path"),
        ('"{step}.grib2"', '"{step:0999999999}"', "path"),
        ('"{step}.grib2"', '"{step}-{level:3}.grib2"', "path"),
        ('"{step}.grib2"', '"all.grib2"', "{step} is needed in its path"),
        ('"{step}.grib2"', '".{step}.grib2"', "names that begin with a point"),
        ('"{step}.grib2"', '"manifest/{step}"', "'manifest' holds"),
        ('"grib2"', '"grib"', "unknown format 'grib'; did you mean 'grib2'?"),
        ('"a"\nformat', '"a"\nbits = 99\nformat', "bits"),
        ('"a"\nformat', '"a"\ncompression = 3\nformat', "compression belongs to netcdf"),
        ('"a"\nformat', '"a"\ncentre = 65536\nformat', "centre 65536: an abbreviation like 'eswi', or 0..65535"),
        ('"a"\nformat', '"a"\ncentre = ""\nformat', "centre '': an abbreviation like 'eswi', or 0..65535"),
        (RULE, "", "no rule"),
        (RULE, f"{SINK}{RULE}", "another sink is called 'a'"),
        (RULE, SINK.replace('"a"', '"b"') + RULE, "sink 1 writes '{step}.grib2', too: one writer is allowed"),
        (SINK, f'when_full = "spill"\n{SINK}', "needs the folder to spill to"),
        (SINK, f'start = "yesterday"\n{SINK}', "a date and time is allowed"),
        (SINK, f'step = "0s"\n{SINK}', "more than 0 is allowed"),
        (SINK, f'patience = "0s"\n{SINK}', "patience: more than 0 is allowed"),
        (SINK, f'patience = "1e300s"\n{SINK}', "less than or equal to 1000000000"),
        (SINK, f'queue = "99999999TiB"\n{SINK}', "plan.toml:1: queue"),
        (SINK, f'folder = ""\n{SINK}', "plan.toml:1: folder"),
        (SINK, f'spill = "a\\u0000"\n{SINK}', "spill: a null character"),
        ('"{step}.grib2"', '"./."', "the name of a file is needed"),
        ('"{step}.grib2"', '"{step:6}"', "path"),
        ('"{step}.grib2"', '"{name}{step}"', "something other than a digit is needed between {name} and {step}"),
        ('"{step}.grib2"', '"{step}0{level}"', "something other than a digit is needed between {step} and {level}"),
        (
            RULE,
            SINK.replace('"a"', '"b"').replace("{step", "./{step:03") + RULE,
            "sink 1 writes './{step:03}.grib2', too",
        ),
        (RULE, SINK.replace('"a"', '"b"').replace(".grib2", ".grib2/x") + RULE, "one lies within the other"),
        ('"a"\nformat', '"a"\nprecision = "f4"\nformat', "precision belongs to packing 'ieee' of grib2"),
        (SINK + RULE, SINK + 'packing = "ieee"\n' + RULE + "bits = 8", "packing 'ieee' of sink 'a' has no bits"),
        (SINK, f'step = "0.5s"\n{SINK}', "plan.toml:6: rule 1: step 1 is at 0.5 s, and GRIB counts whole seconds"),
        (SINK, f"start = 2026-11-27T00:00:00.5\n{SINK}", "plan.toml:1: start 2026-11-27 00:00:00.500000: GRIB counts"),
    ],
)
def test_a_mistake(old, new, words):
    text = SINK + RULE
    assert old in text
    assert words in problems(text.replace(old, new, 1))


def test_times_of_a_plan():
    whole = load_plan("plan.toml", f'step = "0.1s"\n{SINK}{RULE}every = 10\n')
    assert whole.time(30) == datetime(2000, 1, 1, 0, 0, 3)
    zoned = load_plan("plan.toml", f"start = 2026-11-27T02:00:00+05:00\n{SINK}{RULE}")
    assert zoned.time(0) == datetime(2026, 11, 26, 21)


@pytest.mark.parametrize(
    ("path", "other", "name", "words"),
    [
        (
            "{name}-{step}",
            "t-{step:03}",
            "t",
            "plan.toml:4: sink 1: field 't' goes to the file that sink 2 writes 'u' to",
        ),
        ("{name}/{step}", "{step}.nc", "manifest", "plan.toml:4: sink 1: field 'manifest' would be in 'manifest'"),
    ],
)
def test_files_that_names_of_fields_bring_together(path, other, name, words):
    first, second = (SINK.replace("{step}.grib2", each) for each in (path, other))
    made = load_plan("plan.toml", first + second.replace('"a"', '"b"') + '[[rule]]\nsink = ["a", "b"]\n')
    made.check_fields(["u"])
    with pytest.raises(InputError, match=re.escape(words)):
        made.check_fields(["u", name])


def test_fields_that_the_model_does_not_have(tmp_path):
    made = plan(tmp_path)
    made.check_fields(["t", "q"])
    with pytest.raises(InputError, match=r"plan.toml:\d+: unknown field 'q'; did you mean"):
        made.check_fields(["t", "qv"])


def test_grids_that_grib_cannot_describe():
    pytest.importorskip("eccodes")
    from tradewind.fieldserver.files.sinks.grib import Grib

    (request,) = load_plan("plan.toml", SINK + RULE).requests("t", 0)
    with pytest.raises(InputError, match="GRIB names an unstructured grid by its UUID"):
        Grib.check(OutputField("t", Unstructured(5)), request)
    with pytest.raises(InputError, match=r"latitudes -90\.\.90"):
        Regular(4, 4, 0.0, 80.0, 1.0, 10.0)
    Grib.check(OutputField("vo", Spectral(21), grib="vo"), request)
    for level in (0.5, -1.0, 1e12):
        with pytest.raises(InputError, match="GRIB takes whole numbers"):
            Grib.check(OutputField("t", Regular(4, 4), (1.0, level)), request)
    with pytest.raises(InputError, match="ecCodes knows no such short name"):
        Grib.check(OutputField("t", Regular(4, 4), grib="nothing at all"), request)
    with pytest.raises(InputError, match="the short name '2t' is of level type heightAboveGround"):
        Grib.check(OutputField("t", Regular(4, 4), grib="2t"), request)
    Grib.check(OutputField("t", Regular(4, 4), grib="2t", level_type="surface"), request)
    with pytest.raises(InputError, match="2 levels of the surface"):
        Grib.check(OutputField("t", Regular(4, 4), (1.0, 2.0), level_type="surface"), request)
    for grid in (Regular(36, 18, 0.0, -85.0, 20.0, 10.0), Regular(721, 3, dx=0.5)):
        with pytest.raises(InputError, match="goes round the Earth more than once"):
            Grib.check(OutputField("t", grid), request)
    Grib.check(OutputField("t", Regular(720, 3, dx=0.5)), request)
    with pytest.raises(InputError, match="steps of 1e-05 degrees or more"):
        Grib.check(OutputField("t", Regular(4, 4, dx=1e-7)), request)
    (ieee,) = load_plan("plan.toml", SINK + 'packing = "ieee"\n' + RULE).requests("t", 0)
    with pytest.raises(InputError, match="no packing 'ieee' for spectral coefficients"):
        Grib.check(OutputField("vo", Spectral(21), grib="vo"), ieee)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Regular(4, 4, dx=float("nan")), "dx nan: a number of degrees"),
        (lambda: Regular(4, 4, longitude=float("inf")), "longitude inf"),
        (lambda: Regular("3", 4), "nx '3': a whole number"),
        (lambda: Regular(2.5, 4), "nx 2.5: a whole number"),
        (lambda: Regular(0, 4), "nx 0: a whole number, 1 or more"),
        (lambda: Gaussian((4, 0)), "points of a row"),
        (lambda: Gaussian((4, 4, 4)), "an even number of rows"),
        (lambda: Spectral(None), "truncation None"),
        (lambda: Unstructured(0), "number of points 0: a whole number, 1 or more"),
        (lambda: Unstructured(1, uuid="12"), "uuid '12': 32 hexadecimal digits"),
        (lambda: Unstructured(1, grid_number=2**24), "grid_number 16777216: 0..16777215 is allowed"),
        (
            lambda: Curvilinear(2, 2, np.zeros(4), []),
            "a curvilinear grid of 2 x 2 points needs one for each",
        ),
        (lambda: Curvilinear(2, 3, np.zeros((2, 3)), np.zeros((2, 3))), "longitudes of (2, 3): (3, 2) is allowed"),
        (
            lambda: Lambert(2, 2, 0, 50, 1e3, 1e3, 0, 30, -40),
            "a lambert map with parallels 30 and -40 from latitude",
        ),
        (lambda: Lambert(2, 2, 0, 90, 1e3, 1e3, 0, 30), "a first point off the poles"),
        (lambda: Lambert(2, 2, 0, 50, -1e3, 1e3, 0, 30), "every -1000 x 1000 m"),
        (lambda: PolarStereographic(2, 2, 0, 50, 1e3, 1e3, 0, 0), "with true latitude 0 from latitude 50"),
        (lambda: PolarStereographic(2, 2, 0, 50, 1e3, "far", 0, 60), "dy 'far': a number of metres"),
        (lambda: Rotated(2, 2, 0, 80, 1, 20, 0, 0), "latitudes -90..90"),
        (lambda: Rotated(2, 2, 0, 0, 1, 1, 0, 91), "pole_latitude 91: -90..90"),
    ],
)
def test_grids_of_no_numbers(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


@pytest.mark.parametrize(
    ("name", "attributes", "words"),
    [
        ("a\u202e", {}, "of one line"),
        ("x" * 201, {}, "1 to 200 characters"),
        ("\u540d" * 100, {}, "300 bytes as UTF-8"),
        (3, {}, "1 to 200 characters"),
        ("t", {"levels": (1.0, float("nan"))}, "finite numbers, each once"),
        ("t", {"units": 3}, "units of t: 3: a text of one line"),
        ("t", {"long_name": "a\0b"}, "long_name of t: "),
        ("t", {"grib": (1, 2)}, r"grib of t: \(1, 2\): a short name"),
        ("t", {"grib": (0, 300, 0)}, r"grib of t: \(0, 300, 0\): a short name"),
        ("t", {"grib": ""}, "grib of t: '': a short name"),
    ],
)
def test_fields_that_no_file_can_hold(name, attributes, words):
    with pytest.raises(InputError, match=words):
        OutputField(name, T.geometry, **attributes)


@pytest.mark.parametrize("name", ["time", "latitude", "level_2", "zarr.json"])
def test_names_that_coordinates_have(name):
    pytest.importorskip("zarr")
    from tradewind.fieldserver.files.sinks import form_of

    for kind in ("netcdf", "zarr"):
        text = SINK.replace("grib2", kind, 1).replace(
            "{step}.grib2", "{name}" + ("-{step}" if kind == "netcdf" else "")
        )
        (request,) = load_plan("plan.toml", text + RULE).requests(name, 0)
        with pytest.raises(InputError, match="a coordinate of this name"):
            form_of(kind).check(OutputField(name, T.geometry), request)
        form_of(kind).check(OutputField("time_mean", T.geometry), request)


@pytest.mark.parametrize(
    "geometry",
    [T.geometry, Q.geometry, Spectral(5), Unstructured(2, (0, 1), (2, 3)), Gaussian((4, 4)), Lambert(*range(1, 10))],
)
def test_fields_go_to_other_processes_as_plain_values(geometry):
    import json

    field = OutputField("x", geometry, (1.0, 2.0), "f4", units="K", grib=(0, 1, 2))
    values = json.loads(json.dumps(geometry.as_dict()))
    geometries = {geometry.digest: from_dict(values)}
    assert OutputField.from_dict(json.loads(json.dumps(field.as_dict())), geometries) == field
    assert OutputField.from_dict(json.loads(json.dumps(field.as_dict() | {"geometry": values})), {}) == field


def test_fields_of_one_mesh_have_its_points_once():
    mesh = Unstructured(2, (0, 1), (2, 3))
    values = {"kind": "unstructured", "count": 2, "longitudes": [0, 1], "latitudes": [2, 3]}
    fields = [OutputField.from_dict(OutputField(name, mesh).as_dict() | {"geometry": values}, {}) for name in "ab"]
    assert fields[0].geometry == mesh
    assert fields[0].geometry is fields[1].geometry
    assert from_dict(Unstructured(2, (0, 1), (2, 4)).as_dict()) != mesh
    names = Names()
    described = [names.described(field) for field in fields]
    assert [sorted(each.coordinates) for each in described] == [["latitude", "level", "longitude"], ["level"]]
    assert [each.attributes["coordinates"] for each in described] == ["latitude longitude"] * 2


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ((0, 0.5, 1), "3 longitudes of 2 points: one for each, or none, is allowed"),
        ((0, float("nan")), "longitudes: point 1 has nan"),
        (("a", "b"), "longitudes: numbers, one for each of 2 points, are allowed"),
    ],
)
def test_coordinates_of_a_mesh_that_are_none(values, problem):
    with pytest.raises(InputError, match=re.escape(problem)):
        Unstructured(2, values, (0, 0))


def test_a_disk_that_is_too_small_is_said_at_once(tmp_path, monkeypatch):
    import shutil

    made = plan(tmp_path)
    assert run_bytes(made, [T, Q], 10**15) > 1e15  # at once, too
    needed = run_bytes(made, [T, Q], 100)
    assert needed > 101 * (3 * 96 + 544) * (1 + 4 + 4)  # 16 bits packed, f4, f8 packed
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=int(needed) - 1))
    check_space(made, [T, Q], None)
    with pytest.raises(WriteError, match="100 steps need about"):
        check_space(made, [T, Q], 100)
    small = plan(tmp_path, 'queue = "4KiB"')
    with pytest.raises(InputError, match=r"file nc/0000.nc: .* grow in memory"):
        check_space(small, [T, Q], None)


@pytest.mark.parametrize(
    "text",
    ["[]", '{"files": 1}', '{"files": [1]}', '{"files": [{"path": "../x"}]}', '{"files": [{"path": "a\\u0000"}]}'],
)
def test_manifests_that_are_none_of_ours(tmp_path, text):
    path = Manifest(tmp_path).path(3)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InputError):
        read_manifest(tmp_path, 3)
    with pytest.raises(InputError):
        check(tmp_path)
    assert isinstance(path, Path)


def test_damaged_plans_are_read_or_refused(tmp_path):
    original = PLAN.format(folder="out", more='queue = "1MiB"\nwhen_full = "drop"').encode()
    refused: list[InputError] = []
    for seed in range(100):
        random = Random(seed)
        path = tmp_path / "plan.toml"
        path.write_bytes(random.choice(MUTATIONS)(random, random.choice(MUTATIONS)(random, original)))
        try:
            made = load_plan(path)
        except InputError as error:
            refused.append(error)
        else:
            assert all(".." not in Path(request.path).parts for request in made.requests("t", 3))
    assert all(problem.strip() for error in refused for problem in error.problems)
    assert 30 < len(refused) < 100
