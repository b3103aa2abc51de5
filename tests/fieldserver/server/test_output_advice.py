"""Advice on output: which way to write, by closed forms, and from what is measured."""

from __future__ import annotations

import pytest
from command_line import run_tradewind
from output_plans import Q, T, plan

from tradewind.base.errors import InputError
from tradewind.cli import run as run_command
from tradewind.cli.kinds import Asked
from tradewind.cli.ranks import RankPlace
from tradewind.fieldserver.files.manifest import committed_steps
from tradewind.fieldserver.plan.plan_file import load_plan
from tradewind.fieldserver.server.advice import Load, advise, best, ways
from tradewind.launch.output_advice import steps_between


def chosen(cores, threads=1, **load):
    return best(
        ways(Load(**{"work_s": 10.0, "encode_s": 0.0, "disk_s": 0.0, "handover_s": 0.0} | load), cores, threads)
    )


def test_little_output_is_written_in_place():
    assert chosen(100, encode_s=0.01).name == "in place"


def test_a_slow_disk_wants_a_server_where_cores_are_many_and_threads_where_they_are_few():
    assert chosen(1000, disk_s=8.0).servers == 0  # threads wait for it as well, and take no core
    assert chosen(1000, disk_s=8.0, encode_s=0.0).name == "threads"
    assert chosen(2, disk_s=8.0).name == "threads"


def test_servers_are_as_many_as_encoding_needs():
    # Files of one writer at a time: in place one core encodes 95 s of every 10.
    found = ways(Load(10.0, 95.0, 0.0, 0.0), 1000)
    by_servers = {way.servers: way for way in found if way.servers}
    assert by_servers[9].bottleneck == "encoding"
    assert by_servers[9].interval_s == pytest.approx(95 / 9)
    assert by_servers[10].bottleneck == "model"
    assert by_servers[10].interval_s == pytest.approx(10 * 1000 / 990)
    assert by_servers[20].interval_s > by_servers[10].interval_s
    halved = {way.servers: way for way in ways(Load(10.0, 95.0, 0.0, 0.0), 1000, threads=2) if way.servers}
    assert halved[5].bottleneck == "model"


def test_the_disk_bounds_every_way():
    found = ways(Load(10.0, 1.0, 50.0, 0.0), 100)
    assert min(way.interval_s for way in found) == 50
    assert {way.bottleneck for way in found if way.servers < 50} == {"disk"}


def test_rates_are_measured_here(tmp_path):
    pytest.importorskip("eccodes")
    found = advise(plan(tmp_path), [T, Q], 4, work_s=100.0)
    assert found["rates"]["raw_bytes"] == T.bytes + Q.bytes
    assert found["load"]["encode_s"] > 0
    assert found["load"]["files"] == 3
    assert found["best"] in {way["name"] for way in found["results"]}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="0 cores"):
        ways(Load(1.0, 1.0, 1.0, 1.0), 0)


def test_the_command(tmp_path):
    pytest.importorskip("eccodes")
    (tmp_path / "plan.toml").write_text(plan(tmp_path / "out").text)
    request = f"advise output --plan {tmp_path / 'plan.toml'} -n 8 --interval 2s --grid O8 --levels 3 --fields t,q"
    done = run_tradewind(*request.split(), "--json")
    assert done.json["load"]["work_s"] == 2
    assert "best:" in run_tradewind(*request.split()).out


WRITTEN = """
folder = "{folder}"
durable = false
step = "60s"

[[sink]]
name = "history"
format = "netcdf"
path = "{{step}}.nc"
"""


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (["every = 1"], (1, 0)),
        (["every = 6", "every = 4"], (4, 0)),
        (["steps = [3, 9, 24]"], (6, 3)),
        (["steps = [5]", "every = 8"], (8, 0)),
        (["steps = [8]", 'fields = ["t"]\nevery = 8'], (8, 8)),
    ],
)
def test_the_steps_between_two_outputs_are_those_of_the_plan(rules, expected):
    text = WRITTEN.format(folder="out") + "".join(f'[[rule]]\nsink = "history"\n{rule}\n' for rule in rules)
    assert steps_between(load_plan("plan.toml", text), ["t", "q"]) == expected


@pytest.mark.ranks
def test_a_dwarf_writes_as_is_advised(tmp_path):
    pytest.importorskip("mpi4py.MPI")
    path = tmp_path / "plan.toml"
    path.write_text(WRITTEN.format(folder=tmp_path / "out") + '[[rule]]\nsink = "history"\n')
    request = f"run diffusion -n 2 --grid 16x12x3 --steps 2 --output {path} --servers auto"
    done = run_tradewind(*request.split(), "--json")
    advice, output = done.json["advice"], done.json["output"]
    assert advice["load"]["work_s"] == pytest.approx(advice["step_s"] * advice["steps_between"])
    assert advice["taken"] in (0, 1, "threads")
    beside = advice["taken"] if isinstance(advice["taken"], int) else 0
    assert (output["servers"], done.json["ranks"]) == (beside, 2 - beside)
    assert committed_steps(tmp_path / "out") == [0, 1, 2]


def test_ranks_that_a_dwarf_cannot_have_are_not_advised(tmp_path, monkeypatch):
    """Seven ranks do not divide 6 x 4 columns: of the other ways the next best is taken."""
    ways = [{"name": f"{n} servers", "servers": n, "interval_s": n} for n in (1, 7, 2)]
    found = {"servers": 1, "best": "1 servers", "bottleneck": "model", "results": ways}
    found |= {"step_s": 1.0, "steps_between": 1, "load": {}, "rates": {}}
    monkeypatch.setattr("tradewind.launch.output_advice.advise_dwarf", lambda dwarf, plan: found)
    asked = Asked({"grid": "6x4x1"})
    advice, taken = run_command._advised("diffusion", asked, RankPlace(8), tmp_path / "plan.toml")
    assert (taken, advice["taken"]) == (7, 7)
