"""Comparison of results: verdicts, factors, exit codes, and what cannot be compared."""

from __future__ import annotations

import json

import h5py
import pandas as pd
import pytest
from command_line import run_tradewind
from dataset.bench_results import HALO, WHERE, around, bench, saved
from dataset.test_tidy_table import KEPT, SIMULATED

from tradewind.base.errors import InputError
from tradewind.dataset.claim_changes import claim_changes, claim_sentences
from tradewind.dataset.comparison import compare
from tradewind.dataset.open_table import open_table

SWEEP, DIRECT = "sweep,isend-irecv,buffer", "direct,isend-irecv,buffer"
OLD = bench({SWEEP: around(1e-5), DIRECT: around(2e-5)})


@pytest.fixture
def old(tmp_path):
    return saved(tmp_path / "old.json", OLD)


@pytest.mark.parametrize(
    ("times", "verdicts", "code"),
    [
        ((1e-5, 2e-5), ["not distinguishable"] * 2, 0),
        ((0.8e-5, 2e-5), ["faster", "not distinguishable"], 0),
        ((1.03e-5, 2e-5), ["slower", "not distinguishable"], 0),  # by less than the threshold
        ((1.2e-5, 1e-5), ["slower", "faster"], 1),
    ],
)
def test_verdicts_and_exit_codes(tmp_path, old, times, verdicts, code):
    new = saved(tmp_path / "new.json", bench({SWEEP: around(times[0]), DIRECT: around(times[1])}))
    result = run_tradewind("compare", old, new, "--json")
    assert result.code == code, result.out
    assert [case["verdict"] for case in result.json["cases"]] == verdicts
    assert [case["ratio"] for case in result.json["cases"]] == pytest.approx([times[0] / 1e-5, times[1] / 2e-5])
    assert result.json["slower"] == (code == 1)
    for case in result.json["cases"]:
        assert case["interval"][0] <= case["ratio"] <= case["interval"][1]


def test_the_threshold_needs_confidence(tmp_path, old):
    """A median that is 10 % longer, of samples so far apart that it may be none."""
    new = saved(tmp_path / "new.json", bench({SWEEP: around(1.1e-5, 7, spread=0.5)}))
    assert run_tradewind("compare", old, new).code == 0
    near = saved(tmp_path / "near.json", bench({SWEEP: around(1.1e-5)}))
    assert run_tradewind("compare", old, near).code == 1
    assert run_tradewind("compare", old, near, "--threshold", "20%").code == 0
    assert run_tradewind("compare", old, near, "--threshold", "0.2").code == 0


def test_the_words(tmp_path, old):
    new = saved(tmp_path / "new.json", bench({SWEEP: around(1.5e-5)}))
    text = run_tradewind("compare", old, new, columns=80).out
    assert "old.json is 1.5 times as fast as new.json (ratio of times 1.500; 95 %" in text
    assert "slower by more than 5 %: 1 case; the slowest took 1.5 times as long" in text
    assert "left out, as only one result has them: 1 case of old.json, 0 cases of" in text
    assert max(map(len, text.splitlines())) <= 80


def test_simulated_times_are_exact_and_machines_are_named(tmp_path):
    one = saved(tmp_path / "one.json", SIMULATED)
    two = saved(tmp_path / "two.json", SIMULATED | {"machine": "fattree-M", "routing": "d-mod-k", "time_s": 4e-6})
    result = run_tradewind("compare", one, two, "--json")
    assert (result.code, result.json["ratio"], result.json["interval"]) == (1, 2.0, None)
    assert result.json["differences"]["machine"] == ["torus-M", "fattree-M"]
    assert run_tradewind("compare", two, one).code == 0
    assert "simulated times have no spread" in run_tradewind("compare", two, one).out
    same = compare(one, one)
    assert [case.verdict for case in same.cases] == ["equal"]


def test_a_time_of_zero_is_equal_to_zero_only(tmp_path):
    zero = saved(tmp_path / "zero.json", SIMULATED | {"time_s": 0.0})
    assert compare(zero, zero).mean.value == 1
    both = saved(tmp_path / "both.json", [SIMULATED | {"time_s": 0.0}, SIMULATED | {"seed": 2}])
    twice = saved(tmp_path / "twice.json", [SIMULATED | {"time_s": 0.0}, SIMULATED | {"seed": 2, "time_s": 4e-6}])
    assert compare(both, twice).mean.value == 2
    with pytest.raises(InputError, match="are 0 s and 2e-06 s: both above 0, or both 0 are allowed"):
        compare(zero, saved(tmp_path / "one.json", SIMULATED))


def over_sizes(slower_by):
    """Return the result of `bench --sizes` of two sizes of messages, the larger one slower by a factor."""
    times = {1024: 1e-5, 2048: 2e-5 * slower_by}
    sizes = [
        {"message_bytes": size, **bench({SWEEP: around(time)}, grid=[size // 8, 8, 1])} for size, time in times.items()
    ]
    return {"pattern": "halo", "ranks": 2, "sizes": sizes, "provenance": WHERE}


def test_sizes_of_messages_are_named_and_not_the_grids_that_they_gave(tmp_path):
    old, new = (saved(tmp_path / f"{name}.json", over_sizes(by)) for name, by in (("old", 1), ("new", 2)))
    text = run_tradewind("compare", old, new).out
    assert "the slowest took 2 times as long (message bytes 2 KiB)" in text
    first, *_ = text.split()
    assert first == "message"
    assert "grid" not in text
    sizes = [case["labels"] for case in run_tradewind("compare", old, new, "--json").json["cases"]]
    assert sizes == [{"message_bytes": "1024"}, {"message_bytes": "2048"}]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({}, {}, []),
        (
            {"a": "confirmed", "b": "contradicted"},
            {"a": "confirmed", "b": "contradicted"},
            ["claims: all 2 in both results have the same verdict"],
        ),
        (
            {"a": "reproduced", "b": "confirmed", "c": "confirmed"},  # the first by the word of an earlier version
            {"a": "contradicted", "b": "contradicted", "d": "confirmed", "e": "confirmed"},
            [
                "claims: verdicts that changed, of 2 in both results: 2 confirmed → contradicted; 1 in one only; 2 in "
                "two only"
            ],
        ),
    ],
)
def test_claims_with_another_verdict(tmp_path, old, new, words):
    for name, verdicts in (("one", old), ("two", new)):
        with h5py.File(tmp_path / f"{name}.nc", "w") as file:
            found = [{"figure": "1", "claim": claim, "verdict": v, "because": ""} for claim, v in verdicts.items()]
            file.attrs["findings"] = json.dumps(found)
    changes = claim_changes(tmp_path / "one.nc", tmp_path / "two.nc")
    assert claim_sentences(changes, "one", "two") == words
    assert [each.new.claim for each in changes.changed] == (["a", "b"] if "d" in new else [])


def test_a_kept_study_equals_itself():
    found = compare(KEPT, KEPT)
    assert (len(found.cases), found.count("equal"), found.mean.value) == (330, 330, 1)


def test_a_case_of_two_sweeps_counts_once(tmp_path, old):
    table = open_table(old)
    again = table.assign(sweep="two", case=table["case"] + 2)
    pd.concat([table.assign(sweep="one"), again]).to_csv(tmp_path / "twice.csv", index=False)
    once, twice = (compare(path, path) for path in (old, tmp_path / "twice.csv"))
    assert [case.samples for case in twice.cases] == [case.samples for case in once.cases]


def test_differences_of_one_study_are_not_those_of_the_results(tmp_path):
    table = open_table(saved(tmp_path / "one.json", SIMULATED)).assign(case=0)
    for name, machines in (("old", ("torus-M", "torus-M")), ("new", ("fattree-M", "torus-S"))):
        of = [table.assign(case=i, study=str(i), machine=machine, model=name) for i, machine in enumerate(machines)]
        pd.concat(of).to_csv(tmp_path / f"{name}.csv", index=False)
    found = compare(tmp_path / "old.csv", tmp_path / "new.csv")
    assert found.differences == {"model": ("old", "new")}
    assert [case.differences["machine"][1] for case in found.cases] == ["fattree-M", "torus-S"]


ENTRY = """[[entry]]
pattern = "halo"
grid = [64, 64, 4]
split = [2, 1]
width = 3
periodic = ""
ranks = 2
fields = 1
dtype = "f8"
host = "here"
cpu = "a CPU"
mpi = "an MPI"
ranks_per_node = 2
oversubscribed = false
algorithm = "{algorithm}"
transport = "shared"
packing = "buffer"
median_s = {time}
min_s = {time}
trials = 20
date = 2026-11-29T12:00:00Z
tradewind = "0.1.0"
"""


def test_tuning_files_are_compared_by_the_chosen_methods(tmp_path):
    for name, algorithm, time in (("old", "sweep", 1e-5), ("new", "direct", 1.5e-5)):
        (tmp_path / f"{name}.toml").write_text(ENTRY.format(algorithm=algorithm, time=time))
    result = run_tradewind("compare", tmp_path / "old.toml", tmp_path / "new.toml", "--json")
    assert result.code == 1, result.out
    (case,) = result.json["cases"]
    assert (case["ratio"], case["interval"]) == (pytest.approx(1.5), None)
    assert "these files keep no samples" in result.json["summary"][0]


MACHINE = """source = "imaginary"
title = "a machine"
routing = "direct"
[topology]
kind = "crossbar"
nodes = 4
[link]
bandwidth = "{rate}"
latency = "{latency}"
[nic]
injection_bandwidth = "10GB/s"
ejection_bandwidth = "10GB/s"
latency = "100ns"
send_overhead = "0ns"
receive_overhead = "0ns"
[node]
memory_bandwidth = "100GB/s"
[packet]
size = "4KiB"
"""


@pytest.mark.parametrize(
    ("rate", "latency", "code", "slowdowns"),
    [
        ("10GB/s", "0.1us", 0, {}),
        ("5GB/s", "50ns", 1, {"link.bandwidth": 2.0, "link.latency": 0.5}),
        ("20GB/s", "102ns", 0, {"link.bandwidth": 0.5, "link.latency": 1.02}),
    ],
)
def test_machine_files(tmp_path, rate, latency, code, slowdowns):
    old, new = tmp_path / "old.toml", tmp_path / "new.toml"
    old.write_text(MACHINE.format(rate="10GB/s", latency="100ns"))
    new.write_text(MACHINE.format(rate=rate, latency=latency))
    result = run_tradewind("compare", old, new, "--json")
    assert result.code == code, result.out
    assert {each["key"]: each["slowdown"] for each in result.json["values"]} == pytest.approx(slowdowns)
    assert ("same 12 values" in run_tradewind("compare", old, new).out) == (not slowdowns)


def test_machines_by_name():
    text = run_tradewind("compare", "torus-M", "fattree-M").out
    assert "topology.kind" in text
    assert "values of torus-M and fattree-M differ" in text


@pytest.mark.parametrize(
    ("new", "options", "message"),
    [
        (bench({SWEEP: [1e-5]}), "", "1 samples at most, and 6 of each are needed"),
        (bench({SWEEP: around(1e-5)}, ranks=4, grid=[8, 8, 8]), "", "no case in common: ranks 2 and 4; grid"),
        (OLD, "--threshold five", "--threshold 'five': a fraction like 5% or 0.05 is allowed"),
        (OLD, "--threshold 5", "--threshold '5': 5% or 0.05 is allowed"),
        (OLD, "--confidence 95", "--confidence '95': 95% or 0.95 is allowed"),
        (OLD, "--threshold=-1%", "a fraction like 5% or 0.05 is allowed"),
        (OLD, "--confidence 0.1", "confidence 0.1: 0.5 or more, and less than 1, is allowed"),
        ({"error": "no"}, "", "the command has failed"),
    ],
)
def test_what_cannot_be_compared(tmp_path, old, new, options, message):
    result = run_tradewind("compare", old, saved(tmp_path / "new.json", new), *options.split(), "--json")
    assert result.code == 2
    assert message in result.json["error"]


def test_a_machine_and_a_result(old):
    result = run_tradewind("compare", "torus-M", old)
    assert (result.code, "torus-M is a machine, " in result.err) == (2, True)
    assert run_tradewind("compare", old, "none.json").code == 2


def test_export(tmp_path, old):
    assert run_tradewind("export", old).out.startswith("case,command,kind,")
    written = run_tradewind("export", old, old, "-o", tmp_path / "rows.csv")
    assert written.out.endswith("rows of 4 cases\n")
    assert run_tradewind("compare", old, tmp_path / "rows.csv").code == 0
    assert run_tradewind("export", old, "-o", tmp_path / "rows.txt").code == 2
    assert HALO["pattern"] in (tmp_path / "rows.csv").read_text()
