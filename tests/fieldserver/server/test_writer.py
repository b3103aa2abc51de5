"""Files that a writer leaves behind, read back by readers that know nothing of it."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from datetime import datetime
from pathlib import Path

import numpy as np
import output_plans
import pytest
import xarray
from output_plans import Q, T, described, plan, record, values

pytest.importorskip("eccodes")

import eccodes

from tradewind.base.errors import InputError
from tradewind.fieldserver.files.manifest import Manifest, check, read_manifest
from tradewind.fieldserver.files.output_folder import prepare_folder, remove_run
from tradewind.fieldserver.files.reading import read_input
from tradewind.fieldserver.files.sinks.form import Moment
from tradewind.fieldserver.files.sinks.grib import Grib, message
from tradewind.fieldserver.plan.field import OutputField, Record
from tradewind.fieldserver.plan.geometry import Gaussian, Regular, Rotated, Spectral
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.fieldserver.server.input_field import whole_field
from tradewind.fieldserver.server.shape import Shape
from tradewind.fieldserver.server.writer import Block, Job, Writer

MOMENT = Moment(datetime(2026, 11, 27), 0.0)


def written(made, steps, *fields, asynchronous=True):
    writer = Writer(made, asynchronous=asynchronous)
    for step in steps:
        for field in fields:
            each = record(described(made, field), step)
            writer.submit(Block([Job(each, made.requests(field.name, step))]))
        writer.end_step(step)
    writer.close()
    assert list(writer.errors) == []
    return writer


@pytest.mark.parametrize(("asynchronous", "threads"), [(True, 3), (False, 1)])
def test_all_three_forms_hold_what_was_written(tmp_path, asynchronous, threads):
    made = plan(tmp_path, f"threads = {threads}")
    written(made, (0, 10, 20), T, Q, asynchronous=asynchronous)
    for step in (0, 10, 20):
        name = tmp_path / "grib" / f"{step:04}.grib2"
        grib = xarray.open_dataset(
            name, engine="cfgrib", backend_kwargs={"indexpath": "", "filter_by_keys": {"shortName": "t"}}
        )
        assert np.abs(grib.t.values.reshape(3, -1) - values(T, step)).max() <= (2 + 20) / 2**16
        assert grib.t.attrs["units"] == "K"
        assert grib.valid_time.values == np.datetime64("2026-11-27") + np.timedelta64(360 * step, "s")
        assert grib.longitude.values[0] == 10
        netcdf = xarray.open_dataset(tmp_path / "nc" / f"{step:04}.nc", engine="netcdf4")
        assert (netcdf.t.values.reshape(3, -1) == values(T, step).astype("f4")).all()
        assert (netcdf.q.values.reshape(1, -1) == values(Q, step).astype("f4")).all()
        assert netcdf.t.attrs["standard_name"] == "air_temperature"
        assert netcdf.time.values[0] == np.datetime64("2026-11-27") + np.timedelta64(360 * step, "s")
    store = xarray.open_zarr(tmp_path / "run.zarr", chunks=None)
    assert store.t.shape == (3, 3, 8, 12)
    for place, step in enumerate((0, 10, 20)):
        assert (store.t.values[place].reshape(3, -1) == values(T, step)).all()
        assert (store.q.values[place].reshape(1, -1) == values(Q, step)).all()


def test_what_was_written_is_read_on_its_own_grid_and_on_no_other(tmp_path):
    """Three grids of as many points in one file, whose coordinates have names with numbers."""
    made = plan(tmp_path)
    t = OutputField("t", Regular(24, 4, 350.0, 60.0, 15.0, -30.0), (1.0, 2.0))
    q = OutputField("q", Gaussian((8, 16, 24, 24, 16, 8)), (1.0,))
    u = OutputField("u", Gaussian((16,) * 6), (1.0, 2.0))
    written(made, (0,), t, q, u)
    for path in ("grib/0000.grib2", "nc/0000.nc", "run.zarr"):
        found = read_input(tmp_path / path)
        (third,) = set(found.fields) - {"t", "q"}  # in GRIB it has no name that is known
        names = {"t": "t", "q": "q", "u": third}
        for field in (t, q, u):
            shape = Shape(len(field.levels), 96, "f8", None)
            for other in (t, q, u):
                if other is field:
                    read = whole_field(found, names[field.name], shape, field.geometry)
                    assert np.abs(read - values(field, 0)).max() < 1e-3
                    continue
                with pytest.raises(InputError, match=r"(its grid|its Gaussian grid|rows of a Gaussian grid)"):
                    whole_field(found, names[field.name], shape, other.geometry)


@pytest.mark.parametrize(("centre", "name"), [('"eswi"', "eswi"), ("255", "255"), ("82", "eswi")])
def test_messages_name_their_centre_and_mean_the_same_field(tmp_path, centre, name):
    sink = f'[[sink]]\nname = "a"\nformat = "grib2"\npath = "{{step}}.grib2"\ncentre = {centre}\n'
    rest = '[[rule]]\nsink = "a"\n[field.t]\ngrib = "t"\n'
    written(load_plan("plan.toml", f'folder = "{tmp_path}"\n{sink}{rest}'), (1,), T)
    found = []
    with open(tmp_path / "1.grib2", "rb") as stream:
        while (message := eccodes.codes_grib_new_from_file(stream)) is not None:
            keys = ("discipline", "parameterCategory", "parameterNumber", "typeOfFirstFixedSurface", "level")
            numbers = [eccodes.codes_get_long(message, key) for key in keys]
            found.append([eccodes.codes_get(message, "centre", str), *numbers])
            eccodes.codes_release(message)
    assert found == [[name, 0, 0, 0, 105, level] for level in (1, 2, 3)]


def test_a_centre_that_eccodes_does_not_know_is_refused(tmp_path):
    text = '[[sink]]\nname = "a"\nformat = "grib2"\npath = "{step}.grib2"\ncentre = "smhi"\n[[rule]]\nsink = "a"\n'
    (request,) = load_plan("plan.toml", f'folder = "{tmp_path}"\n{text}').requests("t", 0)
    with pytest.raises(
        InputError, match="centre = 'smhi': ecCodes knows no such centre; its abbreviation, like 'eswi'"
    ):
        Grib.check(T, request)


@pytest.mark.parametrize("worst", [np.nan, -np.inf, 1e39, -4e30])
@pytest.mark.parametrize("geometry", [T.geometry, Spectral(21)])
def test_values_that_grib_cannot_hold_are_an_error_and_end_nothing(tmp_path, geometry, worst):
    made, field = plan(tmp_path), OutputField("t", geometry)
    writer = Writer(made, asynchronous=False)
    wrong = np.ones((1, geometry.points))
    wrong[0, 3] = worst
    for step, numbers in enumerate((wrong, values(field, 1))):
        writer.submit(Block([Job(Record(field, step, (0,), numbers), made.requests("t", step))]))
        writer.end_step(step)
    assert sum(error.startswith("field t, level 0: 1 values are ") for error in writer.errors) == 1
    assert Manifest(tmp_path).steps() == [1]
    assert not (tmp_path / "grib" / "0000.grib2").exists()


@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_infinite_values_of_a_short_type_are_an_error_in_every_precision(precision):
    field = OutputField("t", Regular(4, 2), dtype="f4")
    for worst in (np.inf, -np.inf, np.nan):
        wrong = np.array([[1, 2, worst, 4, 5, 6, 7, 8]], "f4")
        with pytest.raises(InputError, match="field t, level 0: 1 values are not finite"):
            message(field, 0.0, wrong[0], MOMENT, packing="ieee", precision=precision)


@pytest.mark.parametrize("form", ["netcdf", "zarr"])
def test_values_that_a_precision_does_not_hold_are_an_error(tmp_path, form):
    text = f'''folder = "{tmp_path}"
        [[sink]]
        name = "s"
        format = "{form}"
        path = "{"{step}.nc" if form == "netcdf" else "run.zarr"}"
        [[rule]]
        sink = "s"
        precision = "f4"
    '''
    made = load_plan("plan.toml", text)
    writer = Writer(made, asynchronous=False)
    wrong = values(T, 1)
    wrong[0, :3] = 1e39, np.inf, np.nan
    for step, numbers in enumerate((wrong, values(T, 1))):
        writer.submit(Block([Job(Record(T, step, (0, 1, 2), numbers), made.requests("t", step))]))
        writer.end_step(step)
    writer.close()
    assert [error for error in writer.errors if "too large" in error] == ["field t: 1 values are too large for float32"]
    assert Manifest(tmp_path).steps() == [1]


@pytest.mark.parametrize("threads", [1, 3])
def test_netcdf_is_packed_by_threads_as_its_own_library_unpacks_it(tmp_path, threads):
    packed = output_plans.PLAN.replace('nc"\nprecision', 'nc"\ncompression = 4\nprecision')
    made = plan(tmp_path, f"threads = {threads}", packed)
    writer = written(made, (3,), T, Q)
    with xarray.open_dataset(tmp_path / "nc" / "0003.nc", engine="netcdf4") as found:
        assert (found.t.values.reshape(3, -1) == values(T, 3).astype("f4")).all()
        assert (found.q.values.reshape(1, -1) == values(Q, 3).astype("f4")).all()
        encoding = {name: found.t.encoding[name] for name in ("zlib", "shuffle", "complevel", "chunksizes")}
        assert encoding == {"zlib": True, "shuffle": True, "complevel": 4, "chunksizes": (1, 1, 8, 12)}
    assert writer.figures.sink("history")["bytes"] == (tmp_path / "nc" / "0003.nc").stat().st_size


def test_a_level_that_never_came_is_missing_in_netcdf(tmp_path):
    made = plan(tmp_path)
    field = described(made, T)
    writer = Writer(made)
    for place in (0, 2):
        part = Record(field, 3, (place,), values(T, 3)[place : place + 1])
        writer.submit(Block([Job(part, made.requests("t", 3))]))
    writer.end_step(3)
    writer.close()
    with xarray.open_dataset(tmp_path / "nc" / "0003.nc", engine="netcdf4") as found:
        assert np.isnan(found.t.values[0, 1]).all()
        assert (found.t.values[0, 2].ravel() == values(T, 3)[2].astype("f4")).all()


@pytest.mark.parametrize(
    ("grib", "units", "scale", "offset"),
    [
        ("t", "degC", 1.0, 273.15),
        ("t", "celsius", 1.0, 273.15),
        ("t", "K", 1.0, 0.0),
        ("t", "", 1.0, 0.0),
        ("u", "km/h", 1 / 3.6, 0.0),
        ("q", "g kg-1", 1e-3, 0.0),
        ("r", "1", 100.0, 0.0),
        ("ccl", "1", 100.0, 0.0),
        ("z", "m2 s-2", 1.0, 0.0),
        ((0, 3, 0), "hPa", 100.0, 0.0),
        ((0, 191, 200), "parsec", 1.0, 0.0),
        ((0, 191, 1), "degrees_north", 1.0, 0.0),
    ],
)
def test_values_are_in_the_units_of_their_parameter(grib, units, scale, offset):
    """Also those of 32 bits, and of a parameter by numbers; as they are where ecCodes has none, or the field."""
    field = OutputField("f", Regular(4, 2), (1.0,), "f4", units=units, grib=grib)
    given = np.arange(8, dtype="f4")
    handle = eccodes.codes_new_from_message(message(field, 1.0, given, MOMENT, packing="ieee", precision="f8"))
    assert np.abs(eccodes.codes_get_values(handle) - (given.astype("f8") * scale + offset)).max() < 1e-12
    eccodes.codes_release(handle)


def test_units_that_do_not_convert_are_an_error_of_the_definition(tmp_path):
    (request,) = [each for each in plan(tmp_path).requests("x", 0) if each.sink.format == "grib2"]
    for units, words in {
        "m s-1": r"field f: units 'm s-1': those of GRIB's 't' are 'K': units that convert to them are allowed",
        "1": "units '1': those of GRIB's 't' are 'K'",
        "warm": "units 'warm': those of GRIB's 't' are 'K', and UDUNITS knows no others of that name",
    }.items():
        with pytest.raises(InputError, match=words):
            Grib.check(OutputField("f", T.geometry, units=units, grib="t"), request)
    with pytest.raises(InputError, match="'K': spectral coefficients are converted to units with the same zero alone"):
        Grib.check(OutputField("f", Spectral(5), units="degC", grib="t"), request)


@pytest.mark.parametrize(
    ("grid", "first", "last", "increment"),
    [
        (Regular(10, 4, 1 / 3, 0, 1 / 3, 1 / 7), 333333, 3333333, 333333),
        (Regular(7, 4, -2 / 3, 0, 2 / 3, 1), 359333333, 3333333, 666667),
        (Gaussian((14,) * 4), 0, 334285714, 25714286),
        (Rotated(7, 4, -2 / 3, 0, 2 / 3, 1, 10, 40), 359333333, 3333333, 666667),
    ],
)
def test_longitudes_of_messages_are_right_to_the_last_digit(grid, first, last, increment):
    handle = eccodes.codes_new_from_message(message(OutputField("f", grid), 0.0, np.ones(grid.points), MOMENT))
    keys = ("longitudeOfFirstGridPoint", "longitudeOfLastGridPoint", "iDirectionIncrement")
    assert [eccodes.codes_get_long(handle, key) for key in keys] == [first, last, increment]
    eccodes.codes_release(handle)


@pytest.mark.parametrize("durable", [True, False])
def test_what_a_manifest_names_is_on_the_disk_before_it(tmp_path, monkeypatch, durable):
    """Every file is forced there under its name, or under the one that it had before, with its folder; else none is."""
    events = []
    fsync, replace = os.fsync, os.replace

    def record_fsync(descriptor):
        events.append(("fsync", Path(os.readlink(f"/proc/self/fd/{descriptor}"))))
        fsync(descriptor)

    def record_replace(source, target):
        replace(source, target)
        events.append((Path(source), Path(target)))

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "replace", record_replace)
    folder = tmp_path / "new" / "out"
    text = output_plans.PLAN.replace("durable = false", f"durable = {str(durable).lower()}")
    written(plan(folder, text=text), (1, 2), T, Q, asynchronous=False)
    for step in (1, 2):
        manifest = folder / "manifest" / f"step-{step:08}.json"
        (at,) = [i for i, (_, target) in enumerate(events) if target == manifest]
        forced = [path for what, path in events[:at] if what == "fsync"]
        renamed = {target: source for source, target in events[:at] if source != "fsync"}
        files = [folder / each["path"] for each in read_manifest(folder, step)["files"]]
        assert len(files) == 4
        if not durable:
            continue
        for path in (*files, manifest, *(folder / "run.zarr").rglob("zarr.json")):
            own = events[at][0] if path == manifest else renamed.get(path, path)
            assert own in forced or path in forced, path
            parents = [path.parent, *(each for each in path.parents if tmp_path in each.parents)]
            assert path == manifest or set(parents) <= set(forced), path
        after = [path for what, path in events[at:] if what == "fsync"]
        assert manifest.parent in after
    assert durable or not [path for what, path in events if what == "fsync"]


def test_the_manifest_names_every_file_with_its_checksum(tmp_path):
    written(plan(tmp_path), (4,), T, Q)
    found = read_manifest(tmp_path, 4)
    assert (found["step"], found["time"], found["dropped"]) == (4, "2026-11-27T00:24:00", {})
    paths = [each["path"] for each in found["files"]]
    assert paths == ["grib/0004.grib2", "nc/0004.nc", "run.zarr/q/c/0/0/0", "run.zarr/t/c/0/0/0/0"]
    for each in found["files"]:
        content = (tmp_path / each["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (each["bytes"], each["sha256"])
    assert check(tmp_path) == []
    (tmp_path / "nc" / "0004.nc").write_bytes(b"other")
    assert "another checksum" in check(tmp_path)[0]


def test_a_step_without_its_end_leaves_nothing(tmp_path):
    made = plan(tmp_path)
    writer = Writer(made)
    writer.submit(Block([Job(record(described(made, T), 0), made.requests("t", 0))]))
    assert writer.drained(240)
    writer.close()
    assert Manifest(tmp_path).steps() == []
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and "run.zarr" not in path.parts] == []
    assert not list((tmp_path / "run.zarr" / "t").rglob("c/*/*"))


def test_what_is_given_up_leaves_nothing_and_the_next_step_is_whole(tmp_path):
    made = plan(tmp_path)
    writer = Writer(made)
    for step in (0, 1, 2):
        if step == 1:
            writer.mark_incomplete(step, 0)
        for field in (T, Q):
            writer.submit(Block([Job(record(described(made, field), step), made.requests(field.name, step))]))
        if step == 0:
            writer.mark_incomplete(step, 0)
        writer.end_step(step)
    writer.close()
    assert Manifest(tmp_path).steps() == [2]
    assert check(tmp_path) == []
    assert [path.name for kind in ("grib", "nc") for path in (tmp_path / kind).iterdir()] == ["0002.grib2", "0002.nc"]
    store = xarray.open_zarr(tmp_path / "run.zarr", chunks=None)
    assert (store.t.values.reshape(3, -1) == values(T, 2)).all()


def test_a_writer_that_is_told_to_leave_off_ends_at_once(tmp_path):
    made = plan(tmp_path)
    writer = Writer(made)
    begun, go = threading.Event(), threading.Event()
    writer.call(lambda: begun.set() or go.wait(240))
    assert begun.wait(240)
    writer.submit(Block([Job(record(described(made, T), 0), made.requests("t", 0))]))
    writer.end_step(0)
    writer.abandon()
    go.set()
    writer.close()
    assert not list(tmp_path.rglob("*.*"))


def test_two_shares_make_one_manifest(tmp_path):
    made = plan(tmp_path)
    writers = [Writer(made, shares=2) for _ in range(2)]
    for share, field in enumerate((T, Q)):
        requests = [each for each in made.requests(field.name, 1) if each.sink.format == ("grib2", "netcdf")[share]]
        writers[share].submit(Block([Job(record(described(made, field), 1), requests, share)]))
    writers[1].end_step(1, share=1)
    assert writers[1].drained(240)
    assert Manifest(tmp_path, shares=2).steps() == []
    writers[0].end_step(1)
    for writer in writers:
        writer.close()
    assert [each["path"] for each in read_manifest(tmp_path, 1)["files"]] == ["grib/0001.grib2", "nc/0001.nc"]
    assert [path.name for path in (tmp_path / "manifest").iterdir()] == ["step-00000001.json"]


def test_a_field_in_blocks_of_two_shares(tmp_path):
    """One writer has both, of which one ends first: it distinguishes blocks without a look at their values."""
    made = plan(tmp_path)
    writer, field, requests = Writer(made, shares=2), described(made, T), made.requests("t", 0)
    assert len(requests) > 1
    for share, some in enumerate((requests[:1], requests[1:])):
        writer.submit(Block([Job(record(field, 0), some, share)], slot=share, number=1))
    for share in (1, 0):
        writer.end_step(0, share)
    writer.close()
    assert list(writer.errors) == []
    assert sorted(writer.released) == [(0, 1), (1, 1)]
    assert Manifest(tmp_path).steps() == [0]


def test_values_that_grib_cannot_hold_fail_their_step_alone(tmp_path):
    made = plan(tmp_path)
    writer = Writer(made)
    for step in (0, 1):
        each = record(described(made, T), step)
        if step == 0:
            each.values[1, 5] = np.nan
        writer.submit(Block([Job(each, made.requests("t", step))]))
        writer.end_step(step)
    writer.close()
    assert list(writer.errors) == ["field t, level 2: 1 values are not finite; GRIB takes none of them"]
    assert Manifest(tmp_path).steps() == [1]
    assert not (tmp_path / "grib" / "0000.grib2").exists()
    assert (tmp_path / "grib" / "0001.grib2").exists()
    assert output_plans.plan(tmp_path).requests("t", 0)  # the plan is as it was


def archive(folder, *, start="2026-01-01T00:00:00", existing="continue", more="", path="run.zarr"):
    """A plan with a store alone."""
    text = f'folder = "{folder}"\nstart = {start}\nstep = "1h"\nexisting = "{existing}"\n'
    sink = f'[[sink]]\nname = "archive"\nformat = "zarr"\npath = "{path}"\n{more}\n'
    return load_plan("plan.toml", text + sink + '[[rule]]\nsink = "archive"\n')


def test_a_run_that_goes_on_with_another_start_keeps_the_times_of_a_store(tmp_path):
    written(archive(tmp_path), (0, 1), T)
    written(archive(tmp_path, start="2026-01-03T00:00:00"), (2,), T)
    store = xarray.open_zarr(tmp_path / "run.zarr", chunks=None)
    assert [str(time)[:13] for time in store.time.values] == ["2026-01-01T00", "2026-01-01T01", "2026-01-03T02"]


def test_a_store_has_one_grid(tmp_path):
    written(archive(tmp_path), (0,), T)
    writer, field = Writer(archive(tmp_path), asynchronous=False), OutputField("t", Regular(12, 8, 50.0), T.levels)
    writer.submit(Block([Job(record(field, 1), writer.plan.requests("t", 1))]))
    writer.end_step(1)
    (error,) = writer.errors
    assert "its latitude is another one than that of field t" in error
    assert Manifest(tmp_path).steps() == [0]


def test_a_store_outside_of_the_folder(tmp_path):
    made = archive(tmp_path / "out", more="outside = true", path=tmp_path / "far" / "run.zarr")
    written(made, (0,), T)
    (shard,) = read_manifest(tmp_path / "out", 0)["files"]
    assert shard["path"] == f"{tmp_path}/far/run.zarr/t/c/0/0/0/0"
    assert check(tmp_path / "out") == []


def test_a_run_that_replaces_another_takes_back_what_that_has_written_alone(tmp_path):
    written(plan(tmp_path), (0, 1, 2), T, Q)
    ours = [tmp_path / "notes.txt", tmp_path / "grib" / ".draft.part", tmp_path / "nc" / "0009.nc"]
    for path in ours:
        path.write_text("not of a run")
    again = plan(tmp_path, 'existing = "replace"')
    hold = prepare_folder(again)
    with pytest.raises(InputError, match="another run writes there"):
        prepare_folder(again)
    hold.release()
    prepare_folder(again)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(ours)
    written(again, (1,), T)
    store = xarray.open_zarr(tmp_path / "run.zarr", chunks=None)
    assert list(store.data_vars) == ["t"]
    assert store.time.values == np.datetime64("2026-11-27T00:06")


@pytest.mark.parametrize("name", ["grib", "nc", "run.zarr", "run.zarr/t", "manifest"])
def test_nothing_is_written_or_removed_through_a_link_that_leads_out_of_the_folder(tmp_path, name):
    folder, outside = tmp_path / "out", tmp_path / "outside"
    written(plan(folder), (0, 1), T)
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    words = f"cannot write .*{name}.*: a symbolic link leads out of {folder}.*, to {outside}"
    if name != "run.zarr/t":  # a store takes what is new beside what it has, and its folders are not looked at before
        with pytest.raises(InputError, match=words):
            prepare_folder(plan(folder, 'existing = "continue"'))
    if name != "manifest":
        with pytest.raises(InputError, match=words):
            remove_run(folder, Manifest(folder))
    writer = Writer(plan(folder), asynchronous=False)
    writer.submit(Block([Job(record(T, 5), writer.plan.requests("t", 5))]))
    writer.end_step(5)
    assert re.search(words, str(writer.errors[0]))
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_a_link_within_the_folder_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "nc").symlink_to("elsewhere")
    made = plan(tmp_path)
    prepare_folder(made).release()
    written(made, (0,), T)
    assert (tmp_path / "elsewhere" / "0000.nc").is_file()


def test_what_a_killed_run_has_left_is_removed_where_a_plan_has_files(tmp_path):
    made = plan(tmp_path, text=output_plans.PLAN.replace("nc/{{step:04}}", "of [{{name}}]/x{{name}}/{{step:04}}"))
    part = ".0123456789abcdef.part"
    ours = [tmp_path / "grib" / part, tmp_path / "of [t]" / "xt" / part, tmp_path / "manifest" / part]
    others = [tmp_path / "mine" / part, tmp_path / "of t" / "xt" / part, tmp_path / "grib" / ".draft.part"]
    for path in ours + others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    prepare_folder(made).release()
    assert [path.exists() for path in ours] == [False] * len(ours)
    assert all(path.exists() for path in others)
