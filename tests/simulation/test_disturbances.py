"""Imbalance, noise and other jobs as options: on the command line, in Python, in studies and in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_tradewind

import tradewind as tw
from tradewind.base.noise import NAMED, SOURCES
from tradewind.machine import load_machine
from tradewind.study.cases.expand import expand
from tradewind.study.plan.load import load_study
from tradewind.study.plan.planned import simulation_options

SUM = ["simulate", "allreduce", "--ranks", "16", "--machine", "torus-M"]
PROGRAM = """
ranks = 16
[[step]]
label = "physics"
compute = "rank"
seconds = "1ms"
imbalance = { distribution = "uniform", spread = 0.1 }
[[step]]
allreduce = 1
"""


def simulated(*more: str) -> dict:
    return run_tradewind(*SUM, *more, "--json").json


def test_results_name_what_disturbs_and_are_slower():
    quiet = simulated()
    assert not {"noise", "background", "compute_imbalance"} & set(quiet)
    noisy = simulated("--noise", "1kHz,900us,scattered")
    assert noisy["noise"] == "1000Hz,900us,scattered"
    assert noisy["time_s"] > 10 * quiet["time_s"]
    assert simulated("--noise", "none") | COST == quiet | COST
    assert simulated("--noise", "linux-tick")["noise"] == NAMED["linux-tick"].text == "1000Hz,10us"
    shown = run_tradewind(*SUM, "--noise", "linux-osnoise", "--background", "0.25").out
    assert "noise 1000Hz,2.1us: detours take 0.21% of the time of each CPU" in shown
    assert "other jobs take 25% of the bandwidth of all links between switches" in shown


COST = {"wall_s": 0, "packet_hops_per_s": 0, "peak_rss_bytes": 0}


def test_other_jobs_take_their_fraction_of_links_and_of_nothing_else():
    """A message of 8 MB: links of 10 GB/s, three quarters of which are taken, against NICs of the same."""
    million = ["--count", "1000000", "--algorithm", "ring", "--buffers", "unbounded", "--placement", "random"]
    taken, whole = simulated(*million, "--background", "0.75"), simulated(*million)
    slower = simulated(*million, "--set", "link.bandwidth=2.5GB/s")
    assert taken["background"] == 0.75
    assert taken["time_s"] == slower["time_s"] > whole["time_s"]
    assert taken["bound_s"] == slower["bound_s"]


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (("--noise", "100,250us"), "noise '100,250us': '100' has no unit: write a frequency as \"100Hz\""),
        (("--noise", "100Hz,250"), "'250' has no unit"),
        (("--noise", "linux-tik"), "noise 'linux-tik'; did you mean 'linux-tick'?"),
        (("--noise", "100Hz,20ms"), "takes 200% of the time from a rank; less than all of it is allowed"),
        (("--noise", "0Hz,20us"), "frequency 0Hz: 0.001Hz to 1MHz are allowed"),
        (("--noise", "100Hz,20us,often"), "100Hz,250us,scattered"),
        (("--noise", "linux-tick", "--model", "loggp"), "noise linux-tick: only the packet model knows detours"),
        (("--background", "1"), "background 1: 0 or more, and less than 1 is allowed"),
        (("--background", "-0.1"), "background -0.1: 0 or more are allowed"),
        (("--background", "0.5", "--model", "loggp"), "background 0.5: only the packet model knows links"),
        (("--compute-imbalance", "normal"), "imbalance 'normal': distribution and spread are allowed"),
        (("--compute-imbalance", "normal,-0.1"), "spread -0.1: 0 to 0.333 is allowed for normal"),
        (("--compute-imbalance", "gauss,0.1"), "unknown distribution 'gauss'"),
        (("--compute-imbalance", "normal,0.1"), "has no computation"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(asked, problem):
    result = run_tradewind(*SUM, *asked, "--json")
    assert result.code == 2
    assert problem in json.loads(result.out)["error"]


def test_an_imbalance_of_a_file_and_one_of_the_command_line(tmp_path):
    """That of the file counts where it has one; the expected maximum of 16 factors is 1.15."""
    path = tmp_path / "step.toml"
    path.write_text(PROGRAM)
    program = tw.load_program(path)
    (compute,) = program.computes
    assert compute.imbalance == tw.Imbalance("uniform", 0.1)
    own = [tw.simulate(program, "torus-M", seed=seed)["time_s"] for seed in range(1, 31)]
    assert sum(own) / 30 == pytest.approx(1e-3 * (1 + 0.1 * 3**0.5 * 15 / 17), rel=0.01)
    assert tw.simulate(program, "torus-M", compute_imbalance="exponential,1")["time_s"] == own[0]
    path.write_text(PROGRAM.replace("imbalance", "# imbalance"))
    asked = ["simulate", "program", path, "--machine", "torus-M", "--compute-imbalance", "uniform,0.1"]
    found = run_tradewind(*asked, "--json").json
    assert (found["compute_imbalance"], found["time_s"]) == ("uniform,0.1", own[0])


@pytest.mark.parametrize(
    ("was", "written", "problem"),
    [
        ("0.1", "-0.1", "spread -0.1: 0 to 0.577 is allowed for uniform"),
        ("0.1", '"5%"', "spread = '5%': "),
        ("uniform", "unifrom", "unknown distribution 'unifrom'; did you mean 'uniform'?"),
        ("spread", "width", "unknown key 'width'"),
        ("spread = 0.1", 'spread = 0.1, per = "node"', "unknown per 'node'"),
    ],
)
def test_a_wrong_imbalance_of_a_file_has_its_line(was, written, problem, tmp_path):
    path = tmp_path / "step.toml"
    path.write_text(PROGRAM.replace(was, written))
    with pytest.raises(tw.InputError) as error:
        tw.load_program(path)
    assert any(f"{path}:7: " in found and problem in found for found in error.value.problems), error.value.problems


def test_a_machine_has_noise_of_its_own(tmp_path):
    path = tmp_path / "noisy.toml"
    text = (Path(__file__).parents[2] / "machines" / "torus-M.toml").read_text()
    tables = text.split("\n[", 1)
    path.write_text(f'{tables[0]}\n[noise]\nfrequency = "1kHz"\nduration = "900us"\n\n[{tables[1]}')
    quiet = {**load_machine("torus-M").machine.source}
    assert "noise" not in quiet
    with pytest.raises(tw.InputError, match=r"noise\.frequency has no source"):
        load_machine(path)
    path.write_text(path.read_text() + '\nnoise = "assumed: much, so that it shows"\n')
    own = tw.simulate(tw.Exchange("allreduce", 16), path)
    assert own["noise"] == "1000Hz,900us"
    assert own["time_s"] == simulated("--noise", "1kHz,900us")["time_s"]
    assert tw.simulate(tw.Exchange("allreduce", 16), path, noise="none")["time_s"] == simulated()["time_s"]


def test_sweeps_vary_them(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        """
title = "Disturbed"
[[sweep]]
name = "sums"
kind = "simulate"
pattern = "allreduce"
machine = "torus-M"
ranks = 16
noise = ["none", "linux-tick"]
background = [0, 0.5]
"""
    )
    cases, _ = expand(load_study(path).study)
    asked = [simulation_options(case) for case in cases]
    assert [(each["noise"], each["background"]) for each in asked] == [
        (noise, taken) for noise in ("none", "linux-tick") for taken in (0, 0.5)
    ]
    path.write_text(path.read_text().replace("0.5", "1.5"))
    with pytest.raises(tw.InputError, match=r"study\.toml:\d+: .*background 1\.5: .*less than 1 is allowed"):
        load_study(path)


def test_every_published_noise_names_its_source():
    assert set(SOURCES) == set(NAMED)
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "computing-time.md").read_text()
    for name, noise in NAMED.items():
        assert noise.problems() == []
        assert f"`{name}`" in page
