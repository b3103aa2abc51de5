"""The options of simulations: one record, which commands about patterns, programs and dwarfs take."""

import json

import pytest
from command_line import run_tradewind

from tradewind.cli import command_for
from tradewind.dwarfs.diffusion import Diffusion
from tradewind.workload.simulation_options import options_of_simulations

OF_EXCHANGES = {"--transport", "--packing"}
MACHINE = {"topology.shape": "[4, 4, 4]", "node.flops": "1TFlop/s", "node.cores": "8"}
DWARF = ["diffusion", "-n", "64", "--grid", "64x64x4", "--strategy", "overlap"]


@pytest.mark.parametrize(
    ("command", "kind", "others"),
    [
        ("simulate", "halo", {"--mpi-progress"}),  # of open exchanges
        ("simulate", "program", {"--model", *OF_EXCHANGES}),  # its exchanges have transports; loggp knows no open ones
        ("run", "diffusion", {"--threads"}),  # those of the dwarf, whose transport is an option of its own, too
    ],
)
def test_all_commands_that_simulate_take_the_options_of_one_record(command, kind, others):
    flags = {flag for each in command_for(command, [kind]).parameters for flag in each.flags}
    record = {each.flag for each in options_of_simulations().values() if each.on_command_line}
    beside = {"--set", "--links", "--congestion", "--force"}
    assert (record | beside) - others <= flags


def test_a_dwarf_is_simulated_with_every_option(tmp_path):
    links, line = (str(tmp_path / name) for name in ("links.csv", "line"))
    options = {
        "routing": "valiant",
        "buffers": "unbounded",
        "protocol": "put",
        "packet": "1KiB",
        "posting": "sendrecv",
        "order": "seed=2",
        "mpi_progress": "thread",
        "placement": "blocks",
        "seed": 7,
        "ranks_per_node": 2,
        "timeline_ranks": "0:3",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    arguments += [word for key, value in MACHINE.items() for word in ("--set", f"{key}={value}")]
    asked = ["run", *DWARF, "--simulate", "torus-M", *arguments, "--links", links, "--timeline", line]
    found = run_tradewind(*asked, "--json").json
    dwarf = Diffusion(64, (64, 64, 4), strategy="overlap")
    wanted = dwarf.simulate("torus-M", settings=MACHINE, timeline=tmp_path / "other", **options)
    cost = ("wall_s", "packet_hops_per_s", "peak_rss_bytes", "timeline")
    assert {key: found[key] for key in wanted if key not in cost} == {
        key: value for key, value in wanted.items() if key not in cost
    }
    assert (tmp_path / "line").read_bytes() == (tmp_path / "other").read_bytes()
    assert (tmp_path / "links.csv").read_text().startswith("kind,")
    assert f"pictures in {links}: this is a file" in run_tradewind(*asked, "--congestion", links).err


def test_a_dwarf_is_simulated_without_congestion():
    settings = [word for key, value in MACHINE.items() for word in ("--set", f"{key}={value}")]
    asked = ["run", *DWARF[:-2], "--simulate", "torus-M", *settings, "--model", "loggp", "--simulation-threads", "1"]
    result = run_tradewind(*asked, "--json").json
    assert (result["model"], result["messages"]) == ("loggp", 64 * 4)


def test_options_of_a_simulation_are_refused_without_one():
    result = run_tradewind("run", *DWARF, "--seed", "3", "--force", "--json")
    assert result.code == 2
    assert "--seed, --force: only for simulations" in json.loads(result.out)["error"]


@pytest.mark.parametrize("command", ["simulate allreduce --ranks 65", "run diffusion -n 65 --grid 65x4x4 --split 65x1"])
def test_ranks_that_need_more_nodes_are_refused_with_the_option_that_is_missing(command):
    machine = "--simulate" if command.startswith("run") else "--machine"
    settings = [word for key, value in MACHINE.items() for word in ("--set", f"{key}={value}")]
    asked = [*command.split(), machine, "torus-M", "--set", "topology.nodes_per_switch=1", *settings]
    result = run_tradewind(*asked)
    assert result.code == 2
    assert "65 ranks with 1 per node need 65 nodes; the machine has 64: increase --ranks-per-node" in result.err
    assert "(`cores`: the 8 of a node)" in result.err
    assert run_tradewind(*asked, "--ranks-per-node", "cores").code == 0
    result = run_tradewind(*asked, "--ranks-per-node", "core")
    assert "ranks per node 'core': 1..2147483647 are allowed, or 'cores'" in result.err


def test_cores_that_the_machine_does_not_name():
    result = run_tradewind("simulate", "allreduce", "--ranks", 8, "--machine", "torus-M", "--ranks-per-node", "cores")
    assert result.code == 2
    assert "the machine torus-M does not say node.cores" in result.err
