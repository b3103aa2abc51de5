"""Field servers beside models in C and Fortran: what readers of others find in the files, and what is refused."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import eccodes
import netCDF4
import numpy as np
import pytest
import xarray
from slow_tests import slow
from tradewind_header import ROOT
from written_fields import LOST, SHAPES, are_right, lie_where_they_were_defined, values, wanted
from wrong_calls import CALLS, COMPILED, HANDLE, INPUT, NOT_IN_FORTRAN, OK, PLAN, WRITE

from tradewind.fieldserver.files.manifest import Manifest
from tradewind.fieldserver.server.messages import PROTOCOL


@pytest.mark.one_level
@pytest.mark.parametrize(
    ("ranks", "servers", "options", "more"),
    [
        (3, 1, (), '[[rule]]\nsink = "messages"\nfields = "m"\nsteps = [2]'),
        pytest.param(1, 2, ("--transport", "shared", "--packing", "direct"), 'deal = "names"', marks=pytest.mark.slow),
        pytest.param(4, 3, ("--packing", "datatype"), 'deal = "steps"\nblock = 2', marks=pytest.mark.slow),
        pytest.param(2, 1, ("--transport", "shared"), 'queue = "12KiB"', marks=pytest.mark.slow),
    ],
)
def test_fields_of_every_layout_in_c(beside, plan, ranks, servers, options, more):
    """They are in the files, and read again from them. In a short queue fields wait for those of other forms."""
    plan(more=more)
    printed = beside(ranks, "field_servers_c", servers, 2, "output", options=options).stdout
    assert "all right" in printed
    assert "wrong" not in printed
    assert "wants" not in printed
    for name, shape in SHAPES.items():
        for step in (0, 2):
            np.testing.assert_array_equal(values(name, step).reshape(shape), wanted(step, *shape), name)
    with xarray.open_dataset("output/t/002.nc") as data:
        assert (data.t.units, data.t.long_name) == ("degC", 'temperature "of blocks"')
        assert sorted(data.level.values) == [500, 850, 1000]
    lie_where_they_were_defined()
    if more.startswith("[[rule]]"):
        messages_are_right("output/2.grib2")


def messages_are_right(path: str) -> None:
    """Those of the mesh have its UUID and numbers, and those in degrees Celsius are in kelvin."""
    found = {}
    with open(path, "rb") as stream:
        while (handle := eccodes.codes_grib_new_from_file(stream)) is not None:
            keys = ["gridType", "shortName", "units"]
            if eccodes.codes_get(handle, "gridType") == "unstructured_grid":
                keys += ["uuidOfHGrid", "numberOfGridUsed", "numberOfGridInReference"]
            first = round(float(eccodes.codes_get_values(handle)[0]))
            found[first] = [eccodes.codes_get(handle, key, str) for key in keys]
    assert {first: names for first, names in found.items() if first % 1000 == 273} == {
        2000273 + 1000 * level: ["regular_ll", "t", "K"] for level in range(3)
    }
    mesh = ["unstructured_grid", "unknown", "unknown", "123456789abcdef0123456789abcdef0", "42", "1"]
    assert {first: names for first, names in found.items() if first % 1000 == 0} == {
        2000000 + 1000 * level: mesh for level in range(3)
    }


@pytest.mark.one_level
@pytest.mark.parametrize(
    ("ranks", "options", "more"),
    [
        (2, (), ""),
        pytest.param(
            3, ("--transport", "shared", "--packing", "direct"), 'deal = "levels"\nblock = 2', marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.slow
def test_fields_go_without_a_copy(beside, plan, ranks, options, more):
    """From arrays with gaps, of every layout, which are the model's again when it has waited for them."""
    plan(more=more)
    assert "all right" in beside(ranks, "field_servers_c", 1, 4, "output", "start", options=options).stdout
    are_right(0, 2, 4)


@pytest.mark.one_level
@pytest.mark.slow
def test_a_field_that_is_started_takes_no_memory_of_its_own(beside, plan):
    plan(more='queue = "100MiB"')
    grown = {}
    for call in ("write", "start"):
        shutil.rmtree("output", ignore_errors=True)
        printed = beside(1, "output_memory_c", 1, call, options=("--packing", "direct")).stdout
        found = re.search(r"grown (\d+) of (\d+)", printed)
        assert found, printed
        grown[call], field = map(int, found.groups())
        np.testing.assert_array_equal(values("t", 0).ravel(), np.arange(2048 * 2048))
    assert grown["start"] < field / 4
    assert grown["write"] > field * 3 / 4


@pytest.mark.one_level
@pytest.mark.slow
def test_each_level_in_a_file_of_its_own(beside, plan):
    """Arrays with all levels, and those written level by level; dealt by levels, beside files of all levels."""
    plan("history", "levels", more='deal = "levels"')
    assert "all right" in beside(2, "field_servers_c", 2, 2).stdout
    for name, (levels, points) in SHAPES.items():
        numbers = (1000, 850, 500) if name == "t" else range(1, levels + 1)
        for place, number in enumerate(numbers):
            with xarray.open_dataset(f"output/{name}-{number:04}/2.nc") as data:
                np.testing.assert_array_equal(data[name].values.ravel(), wanted(2, levels, points)[place], name)
        np.testing.assert_array_equal(values(name, 2).reshape(levels, points), wanted(2, levels, points), name)


def are_as_fortran_wrote_them(*steps: int) -> None:
    """The fields of `server_kinds` at these steps."""
    for name in ("t", "u", "q", "m", "n"):
        for step in steps:
            np.testing.assert_array_equal(values(name, step).reshape(3, 48), wanted(step, 3, 48), f"{name} at {step}")


@pytest.mark.slow
def test_arrays_of_fortran(beside, plan):
    plan()
    printed = beside(2, "server_kinds_fortran", 1, "output").stdout
    assert "all right" in printed
    are_as_fortran_wrote_them(0, 2, 4, 6)
    lie_where_they_were_defined(polar=True)
    np.testing.assert_array_equal(values("p", 0).ravel(), 1000 + np.arange(48))
    np.testing.assert_array_equal(values("r", 0).ravel(), 2000 + np.arange(48))


@pytest.mark.one_level
@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "fortran"])
def test_an_example_goes_on_from_its_file(beside, plan, language):
    """GRIB and NetCDF of the example, by cfgrib and netCDF4; a second run begins with a file of the first one."""
    plan(more='existing = "replace"')
    assert "4 steps on 2 ranks are written" in beside(2, f"field_server_{language}", 1, 4).stdout
    shutil.copy("output/2.grib2", "in.grib2")
    beside(3, f"field_server_{language}", 1, 2, "in.grib2")
    expected = np.broadcast_to(np.roll(250.0 + np.arange(36), 4), (3, 18, 36))
    with xarray.open_dataset("output/2.grib2", engine="cfgrib", backend_kwargs={"indexpath": ""}) as data:
        np.testing.assert_array_equal(data.t, expected)
    with netCDF4.Dataset("output/t/002.nc") as data:
        np.testing.assert_array_equal(data["t"][0], expected)


@pytest.mark.slow
@pytest.mark.one_level
def test_arrays_of_fortran_compiled_together_with_the_module(beside, plan, together):
    """Where the compiler sees into the module, and might move what a program does to an array beyond its wait."""
    plan()
    program = together(ROOT / "tests" / "languages" / "programs" / "server_kinds.f90", "-O3 -flto -fipa-pta")
    assert "all right" in beside(2, program, 1, "output").stdout
    are_as_fortran_wrote_them(0, 2, 4, 6)


def test_models_and_servers_have_one_protocol():
    header = (ROOT / "src" / "fieldserver" / "control_channel.hpp").read_text()
    assert f"server_protocol = {PROTOCOL};" in header


@pytest.mark.one_level
@pytest.mark.parametrize(("language", "without"), [("c", set()), *slow(("fortran", NOT_IN_FORTRAN))])
def test_wrong_calls_leave_the_server_as_it_was(met_beside, plan, language, without):
    plan()
    for found in met_beside("all", language=language):
        for case, (status, text) in (CALLS | COMPILED).items():
            if case in without:
                continue
            assert found[case][0] == status, (case, found[case])
            assert text in found[case][1], case
    np.testing.assert_array_equal(values("t", 2), np.zeros((2, 48)))


@pytest.mark.one_level
def test_a_model_that_finalizes_mpi_without_close(met_beside, plan):
    plan()
    for found in met_beside("finalize"):
        assert found["end_step"] == (OK, "")
    np.testing.assert_array_equal(values("t", 0), np.zeros((2, 48)))
    assert Manifest(Path("output")).steps() == [0]


@pytest.mark.one_level
@pytest.mark.slow
def test_an_error_of_one_rank_is_told_to_the_other(met_beside, plan):
    plan()
    first, second = met_beside("one")
    text = "field t: an array of 8 x 1 x 2 points: 8 x 3 x 2 is this rank's part"
    assert second["write"] == (INPUT, text)
    assert first["end_step"] == (PLAN, "rank 1: " + text)
    for found in (first, second):
        assert found["write_again"] == (PLAN, "rank 1: " + text)
        assert found["close"] == (OK, "")


@pytest.mark.one_level
@pytest.mark.slow
def test_calls_in_another_order(met_beside, plan):
    plan()
    for found in met_beside("order"):
        assert found["end_step"][0] == PLAN
        calls = "rank 1: its call 3 is 'write t 4 -1', and call 3 of rank 0 is 'write t 2 -1': all ranks of the model"
        assert found["end_step"][1].startswith(calls)


@pytest.mark.one_level
@pytest.mark.slow
@pytest.mark.parametrize("local", [False, True])
def test_what_cannot_be_written_is_an_error_and_later_steps_are_written(met_beside, plan, local):
    plan()
    for found in met_beside("write", local=local):
        assert found["write"] == (OK, "")
        status, text = next(found[case] for case in ("end_step", "finish") if found[case][0] != OK)
        assert status == WRITE
        assert "t" in text
        assert found["write_next"] == found["end_next"] == found["close"] == (OK, "")
    with xarray.open_dataset("output/2.grib2", engine="cfgrib", backend_kwargs={"indexpath": ""}) as data:
        assert [float(abs(each).max()) for each in data.data_vars.values()] == [0]
    assert not Path("output/0.grib2").exists()


@pytest.mark.one_level
def test_no_server(met_beside):
    for found in met_beside("open", 0):
        assert found["open"][0] == INPUT
        assert "mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml, or name a plan file" in found["open"][1]
        assert found["closed"][0] == HANDLE


@pytest.mark.one_level
@pytest.mark.slow
def test_a_plan_with_mistakes_is_refused_on_all_ranks(met_beside, plan):
    plan("histori", more="blok = 3")
    for found in met_beside("open", fails="refuse"):
        status, text = found["open"]
        assert status == INPUT
        assert "plan.toml:4: unknown key 'blok'; did you mean 'block'?" in text
        assert "unknown sink 'histori'; did you mean 'history'?" in text


@pytest.mark.one_level
@pytest.mark.parametrize(
    ("further", "printed"),
    [
        (("other.toml",), "the server of rank 3 has another plan file than the first one"),
        (("none.toml",), "the server of rank 3: cannot read none.toml: No such file or directory"),
        (("plan.toml", "--transport", "shared"), "the server of rank 3 has another transport than the first one"),
    ],
)
@pytest.mark.slow
def test_servers_that_were_started_with_other_plans_are_refused(met_beside, plan, further, printed):
    plan()
    Path("other.toml").write_text(Path("plan.toml").read_text().replace("every = 2", "every = 4"))
    for found in met_beside("open", further=further, fails="refuse"):
        assert found["open"][0] == INPUT
        assert found["open"][1].startswith(printed)
    assert not Path("output").exists()


@pytest.mark.one_level
@pytest.mark.slow
def test_the_last_server_that_raises_ends_the_output(met_beside, plan):
    """Its error comes to all ranks of the model, which close, and the job ends."""
    plan()
    for found in met_beside("write", fails="raise"):
        first = next(status for status in ("end_step", "finish") if found[status][0] != OK)
        assert found[first] == (PLAN, "server 0 is lost: RuntimeError: the disk is on fire" + LOST)
        assert found["write_next"] == found["close"] == found[first]


@pytest.mark.one_level
@pytest.mark.slow
def test_a_server_that_stops_is_found_out(beside, plan):
    """The model goes on to the end of the job, which it must end itself: MPI does not without the server."""
    plan(more='patience = "1s"')
    beside(2, "field_servers_c", 1, 2, fails="stop")
    printed = "".join(path.read_text() for path in Path().glob("failed-*"))
    assert "status 2: server 0 is lost: it " in printed
    assert LOST in printed


@pytest.mark.one_level
@pytest.mark.slow
def test_one_server_after_the_other_is_lost(beside, plan):
    """The second one in what it writes for the first."""
    plan()
    beside(2, "field_servers_c", 2, 4, fails="raise")
    # One of the first, which ends the job, or both; or no more than the name of the file of the other.
    printed = [text for path in Path().glob("failed-*") if (text := path.read_text())]
    assert printed
    for each in printed:
        assert re.fullmatch(r"status 2: server [01] is lost: RuntimeError: the disk is on fire" + LOST + "\n", each)


@pytest.mark.one_level
@pytest.mark.parametrize(
    ("fails", "how"),
    [
        ("raise:1:block:5", ()),
        pytest.param("stop:0:end:2", ("output",), marks=pytest.mark.slow),
        pytest.param("stop:1:block:1", ("-", "start"), marks=pytest.mark.slow),
        pytest.param("raise:1:prefetch:1", ("output",), marks=pytest.mark.slow),
        pytest.param("stop:1:send:2", ("output",), marks=pytest.mark.slow),
        pytest.param("stop:1:bound:3", (), marks=pytest.mark.slow),
        pytest.param("stop:0:give:2", ("output",), marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_another_server_takes_over(beside, plan, fails, how):
    """In the middle of a step, between steps, of input, and within what both do together.

    One that was stopped goes on before the end.
    """
    patience = 30 if fails.startswith("raise") else 5  # one that raises says so at once
    plan(more=f'patience = "{patience}s"\nblock = 4')
    done = beside(2, "field_servers_c", 2, 4, *how, fails=fails, ends=True)
    assert "all right" in done.stdout
    assert "wrong" not in done.stdout
    kind, number = fails.split(":")[:2]
    why = "RuntimeError: the disk is on fire" if kind == "raise" else "PlanError: "
    assert f"server {number}: {why}" in done.stderr
    are_right(0, 2, 4)


@pytest.mark.one_level
@pytest.mark.slow
@pytest.mark.parametrize(
    ("fails", "how", "more"),
    [("raise:1:end:1", (), 'queue = "6KiB"'), ("raise:1:block:4", ("-", "start"), "block = 4")],
)
def test_a_step_whose_memory_was_used_again_does_not_look_whole(beside, plan, fails, how, more):
    """For want of room, and by the model after a wait for its arrays. It gets the error; later steps are whole."""
    plan(more=more)
    beside(2, "field_servers_c", 2, 4, *how, fails=fails, ends=True)
    for rank in range(2):
        printed = Path(f"failed-{rank}").read_text()
        assert printed == "status 6: step 0 is not whole: server 1 was lost with fields of it\n"
    are_right(2, 4)


@pytest.mark.one_level
@pytest.mark.slow
def test_a_server_that_does_not_come_back_ends_the_job_with_all_steps_written(beside, plan):
    plan(more='patience = "5s"')
    beside(2, "field_servers_c", 2, 4, "-", "write", "gone", fails="stop:1:end:2")
    printed = "".join(path.read_text() for path in Path().glob("failed-*"))
    assert "status 2: server 1 does not answer: others have written its fields" in printed
    are_right(0, 2, 4)
