"""Files of a plan, dealt among the shares of an output: one writer for each, and what is forgotten of steps."""

from __future__ import annotations

import pytest
from output_plans import plan

pytest.importorskip("mpi4py.MPI")

from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.fieldserver.server.plan_message import packed_plan
from tradewind.mpi.library import _mpi

SINK = '[[sink]]\nname = "a"\nformat = "{form}"\npath = "{path}"\n'
RULE = '[[rule]]\nsink = "a"\n'


def read(folder, deal, form, path):
    text = SINK.format(form=form, path=path) + RULE
    return load_plan("plan.toml", f'folder = "{folder}"\ndeal = "{deal}"\n{text}')


def dealt(made, shares, bytes_of=lambda path, step: 1):
    return _mpi.Dealing(packed_plan(made), shares, bytes_of)


def test_files_are_dealt_to_one_writer_each(tmp_path):
    made = plan(tmp_path, 'deal = "size"')
    dealing = dealt(made, 2, lambda path, step: 100 if "grib" in path else 60)
    owners = {}
    for step in range(4):
        for name in ("t", "q"):
            for request in made.requests(name, step):
                owners.setdefault(request.path, set()).add(dealing.share_of(name, step, request.sink.name))
    assert all(len(each) == 1 for each in owners.values())
    assert {min(each) for each in owners.values()} == {0, 1}


@pytest.mark.parametrize("deal", ["size", "steps"])
def test_files_of_steps_that_have_ended_are_forgotten_and_later_ones_dealt_as_before(tmp_path, deal):
    dealing = dealt(read(tmp_path, deal, "netcdf", "{step}.nc"), 3)
    shares = []
    for step in range(9):
        shares.append(dealing.share_of("t", step, "a"))
        assert dealing.share_of("t", step, "a") == shares[-1]
        dealing.end_step(step)
    assert shares == [0, 1, 2] * 3
    assert dealing.is_empty


def test_a_store_of_all_steps_has_one_share(tmp_path):
    dealing = dealt(read(tmp_path, "size", "zarr", "run.zarr"), 3)
    for step in range(3):
        assert dealing.share_of("t", step, "a") == 0
        dealing.end_step(step)


def test_levels_have_files_of_their_own_and_one_share_each(tmp_path):
    made = read(tmp_path, "levels", "grib2", "{name}-{level:04}-{step}.grib2")
    requests = [(name, level, made.requests(name, 7)[0]) for name in ("t", "q") for level in (1.0, 2.0, 0.5, 1000.0)]
    paths = [each.at(level).path for _, level, each in requests]
    assert paths == [f"{name}-{level}-7.grib2" for name in "tq" for level in ("0001", "0002", "00.5", "1000")]
    dealing = dealt(made, 3)
    assert [dealing.share_of(name, 7, "a", level) for name, level, _ in requests] == [0, 1, 2, 0] * 2
